"""A hook that does not come back: who it is, and about what."""

import signal
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

from loopcore.hooks.code import base
from loopcore.runtime.purity import is_own
from loopcore.testing.check.asking import ask, place
from loopcore.testing.check.broken import Breach, broken
from loopcore.testing.strategies.listening import Listening

LIMIT: Final = 20.0
"""Seconds that one call of a hook may take: far more than any that ends."""

TICKS: Final = 4
"""A call is over the limit when it has been the same one so many times in a row."""

ASKS: Final = (ask.__code__, Listening.__call__.__code__)


class NeverBack(BaseException):
    """Raised inside a hook that does not come back; no hook takes it for its own."""

    def __init__(self, found: Breach) -> None:
        super().__init__(found)
        self.broken = found


class _Watch:
    """Looks now and then at which call of a hook is going on."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.times = seconds, 0
        self.call: FrameType | None = None

    def look(self, _: int, frame: FrameType | None) -> None:
        """The same call for the last time: it is ended.

        Raises:
            NeverBack: naming the hook and its view.
        """
        call = _call(frame)
        self.times = self.times + 1 if call is self.call and call else 0
        self.call = call
        if call and self.times >= TICKS and not _is_debugged():
            self.times = 0
            raise NeverBack(_told(call, frame, self.seconds))


def _is_debugged() -> bool:
    """Whether somebody may look at the hook in peace; what measures coverage does not."""
    trace = sys.gettrace()
    owner = getattr(trace, "__self__", trace)
    return trace is not None and not type(owner).__module__.startswith("coverage")


def _call(frame: FrameType | None) -> FrameType | None:
    """The call of a hook that a frame is in."""
    while frame and frame.f_code not in ASKS:
        frame = frame.f_back
    return frame


def _told(call: FrameType, frame: FrameType | None, seconds: float) -> Breach:
    held: Any = call.f_locals
    about = held.get("self", None)
    hook = about.hook if about else held["hook"]
    point = about.point if about else held["point"]
    at = _line(call, frame)
    sentence = (
        f"Hook {hook.name!r} did not answer within {seconds:g} seconds at {point} "
        f"({place(hook, point)}); it was at {at}."
    )
    return broken("total", hook.name, sentence, held["view"])


def _line(call: FrameType, frame: FrameType | None) -> str:
    """The innermost line that is the hook's own, or the program's."""
    within, one = frame, frame
    while one and one is not call:
        if is_own(one.f_code.co_filename):
            within = one
            break
        one = one.f_back
    return f"{base(within.f_code.co_filename)}:{within.f_lineno}" if within else "?"


@contextmanager
def limited(seconds: float) -> Generator[None]:
    """End a call of a hook that takes longer, if that can be done here.

    It can in the main thread of systems that have interval timers, while nobody else uses
    theirs.
    """
    if not _can():
        yield
        return
    before = signal.signal(signal.SIGALRM, _Watch(seconds).look)
    signal.setitimer(signal.ITIMER_REAL, seconds / TICKS, seconds / TICKS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _can() -> bool:
    is_main = threading.current_thread() is threading.main_thread()
    return (
        is_main
        and hasattr(signal, "setitimer")
        and signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    )
