"""From code that is not asynchronous."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def run_here(work: Callable[[], Coroutine[Any, Any, T]], name: str, instead: str) -> T:
    """What this work gives, in an event loop of its own that is cleaned up.

    Raises:
        RuntimeError: where an event loop already runs, saying what to write instead.
    """
    if _is_running():
        message = (
            f"{name} cannot be used here: an event loop is already running (notebooks have "
            f"one). Write `{instead}`."
        )
        raise RuntimeError(message)
    with asyncio.Runner() as runner:
        return runner.run(work())


def _is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
