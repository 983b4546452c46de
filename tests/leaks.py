"""Nothing may outlast what a test ran: no task, no thread."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def alone(work: Coroutine[Any, Any, T]) -> T:
    """What this work gives or raises; no task and no thread of its own is left."""
    before = set(threading.enumerate())
    try:
        return asyncio.run(_without_tasks(work))
    finally:
        for thread in set(threading.enumerate()) - before:
            thread.join(1)  # one that has given its result is about to end
            assert not thread.is_alive()


async def _without_tasks(work: Coroutine[Any, Any, T]) -> T:
    try:
        return await work
    finally:
        assert asyncio.all_tasks() == {asyncio.current_task()}
