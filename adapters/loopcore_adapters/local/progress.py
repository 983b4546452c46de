"""What a long download says while it runs."""

import sys
import time
from collections.abc import Callable
from typing import Final, Protocol, TextIO

from attrs import define, field

MB: Final = 1_000_000
WIDTH: Final = 28
REDRAW: Final = 0.1
"""How many seconds a bar on a terminal stays as it is."""


class Progress(Protocol):
    """Is told what happens, and how many of how many bytes are there."""

    def say(self, line: str) -> None:
        """Something happened."""
        ...

    def at(self, done: int, size: int) -> None:
        """So many bytes are there."""
        ...


@define
class Meter:
    """Progress on standard error: a bar on a terminal, else a line each quarter."""

    out: TextIO = field(factory=lambda: sys.stderr)
    clock: Callable[[], float] = time.monotonic
    _from: tuple[int, float] | None = field(default=None, init=False)
    _drawn: float = field(default=-REDRAW, init=False)
    _quarter: int = field(default=0, init=False)
    _open: bool = field(default=False, init=False)

    def say(self, line: str) -> None:
        """A line of its own, under the bar if there is one."""
        end, self._open = "\n" if self._open else "", False
        print(f"{end}{line}", file=self.out, flush=True)

    def at(self, done: int, size: int) -> None:
        """Draw the bar anew, or say that another quarter is there."""
        now = self.clock()
        begun, since = self._from = self._from or (done, now)
        if self.out.isatty():
            self._bar(done, size, (done - begun) / max(now - since, REDRAW))
        elif 4 * done // size > max(self._quarter, 4 * begun // size):
            self._quarter = 4 * done // size
            self.say(f"  {_share(done, size)}")

    def _bar(self, done: int, size: int, speed: float) -> None:
        now = self.clock()
        if now < self._drawn + REDRAW and done < size:
            return
        full = WIDTH * done // size
        bar = "█" * full + "·" * (WIDTH - full)
        text = f"\r  {bar} {_share(done, size)}, {speed / MB:.0f} MB/s "
        print(text, end="", file=self.out, flush=True)
        self._drawn, self._open = now, True


def _share(done: int, size: int) -> str:
    return f"{100 * done // size} %: {done / MB:.0f} of {size / MB:.0f} MB"
