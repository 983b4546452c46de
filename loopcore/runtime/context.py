"""What a running tool may ask for: its effect id, whether to stop, a way to report."""

import asyncio
import concurrent.futures
from collections.abc import Callable, Generator

from attrs import field, frozen

from loopcore.frozen import Json


class Cancelled:
    """Whether a tool was told to stop: ask it, wait for it in a thread, or await it.

    >>> bool(Cancelled())
    False
    """

    def __init__(self) -> None:
        self._told = concurrent.futures.Future[None]()

    def set(self) -> None:
        """Tell the tool to stop. Telling it twice is harmless."""
        if not self._told.done():
            self._told.set_result(None)

    def wait(self, timeout: float | None = None) -> bool:
        """Block this thread until told, or so many seconds; whether it was told."""
        concurrent.futures.wait([self._told], timeout)
        return bool(self)

    def __bool__(self) -> bool:
        return self._told.done()

    def __await__(self) -> Generator[None, None, None]:
        # Shielded: to stop waiting must not look like being told.
        return asyncio.shield(asyncio.wrap_future(self._told)).__await__()


def _nowhere(word: Json) -> None:
    """Progress of a tool that nobody watches."""


@frozen
class ToolContext:
    """A parameter that a tool may ask for, by annotating it so. No model sees it.

    Args:
        effect_id: stable under replay and resume: the idempotency key of this call.
        cancelled: true once the tool should stop; a thread can be told in no other way.
        progress: reports text or JSON to whoever watches, from any thread.
    """

    effect_id: str
    cancelled: Cancelled = field(factory=Cancelled, eq=False)
    progress: Callable[[Json], None] = field(default=_nowhere, eq=False)
