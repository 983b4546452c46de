"""Keys, one by one, as a person presses them."""

import os
import re
import select
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

NAMES: Final = {
    "\x1b[D": "left",
    "\x1bOD": "left",
    "\x1b[C": "right",
    "\x1bOC": "right",
    "\x1b[A": "up",
    "\x1bOA": "up",
    "\x1b[B": "down",
    "\x1bOB": "down",
    "\x1b[H": "home",
    "\x1bOH": "home",
    "\x1b[1~": "home",
    "\x1b[F": "end",
    "\x1bOF": "end",
    "\x1b[4~": "end",
    "\x1b": "escape",
    "\x04": "q",
}
"""What terminals send for the keys that are not characters."""

ONE: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z~]|\x1bO[A-Za-z]|.", re.DOTALL)

PAUSE: Final = 0.5
"""Seconds without a key after which it is looked whether the window is another size."""

Keys: TypeAlias = Callable[[], str | None]
"""The next key; "" if none came for a while, None once there are no more."""


def named(text: str) -> Iterator[str]:
    r"""The keys that a terminal sent.

    >>> list(named("\x1b[Dq"))
    ['left', 'q']
    """
    for key in ONE.findall(text):
        yield NAMES.get(str(key), str(key))


@contextmanager
def pressed() -> Generator[Keys]:
    """The keys of the terminal, each as it is pressed and without being shown."""
    try:
        import termios  # noqa: PLC0415  # only where there is one
        import tty  # noqa: PLC0415
    except ImportError:  # pragma: no cover  # only Windows has none
        yield _of_windows()
        return
    end = sys.stdin.fileno()
    before = termios.tcgetattr(end)
    try:
        tty.setcbreak(end)
        yield _of(end)
    finally:
        termios.tcsetattr(end, termios.TCSADRAIN, before)


def _of(end: int) -> Keys:
    waiting = list[str]()

    def key() -> str | None:
        if waiting:
            return waiting.pop(0)
        if not select.select([end], [], [], PAUSE)[0]:
            return ""
        data = os.read(end, 64)
        waiting.extend(named(data.decode(errors="replace")))
        return waiting.pop(0) if waiting else None

    return key


def _of_windows() -> Keys:  # pragma: no cover  # its console is nowhere else
    import msvcrt  # noqa: PLC0415  # only there

    console: Any = msvcrt
    arrows = {
        "H": "up",
        "P": "down",
        "K": "left",
        "M": "right",
        "G": "home",
        "O": "end",
    }

    def key() -> str | None:
        first = console.getwch()
        if first in ("\x00", "\xe0"):
            return arrows.get(console.getwch(), "")
        return next(named(first))

    return key
