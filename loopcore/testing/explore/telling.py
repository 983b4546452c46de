"""Saying how far it is, to whoever watches."""

import sys
from collections.abc import Callable
from typing import TypeAlias

Tell: TypeAlias = Callable[[str], object]


def to_terminal() -> Tell:
    """A line that is written over and over, if there is a terminal to write it to."""
    return _overwrite if sys.stderr.isatty() else _silent


def _overwrite(line: str) -> None:
    sys.stderr.write(f"\r{line}\x1b[K")
    sys.stderr.flush()


def _silent(line: str) -> None:
    """Nobody is watching."""
