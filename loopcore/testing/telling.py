"""Saying how far a search is, to whoever watches."""

import sys
import time
from collections.abc import Callable
from typing import Final, TypeAlias

from attrs import define, field

Tell: TypeAlias = Callable[[str], object]

EVERY: Final = 1.0
"""How often it is told how far it is, in seconds."""


def to_terminal() -> Tell:
    """A line that is written over and over, if there is a terminal to write it to."""
    return _overwrite if sys.stderr.isatty() else _silent


def _overwrite(line: str) -> None:
    sys.stderr.write(f"\r{line}\x1b[K")
    sys.stderr.flush()


def _silent(line: str) -> None:
    """Nobody is watching."""


@define(eq=False)
class Progress:
    """How far a search is, told about once a second."""

    tell: Tell = field(factory=to_terminal)
    _told: float = field(factory=time.monotonic, init=False)
    _has_told: bool = field(default=False, init=False)

    def say(self, line: str) -> None:
        """Tell this, unless something was told just now."""
        now = time.monotonic()
        if now - self._told >= EVERY:
            self._told, self._has_told = now, True
            self.tell(line)

    def over(self) -> None:
        """Leave no line behind."""
        if self._has_told:
            self.tell("")
