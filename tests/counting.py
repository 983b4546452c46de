"""How much work something is: counted, since a clock tells of the machine."""

import itertools
import sys
from collections.abc import Callable
from typing import Final

FOR_EVER: Final = 30.0
"""Seconds of processor time. What hangs takes more than anybody has, on any machine."""


def calls(do: Callable[[], object]) -> int:
    """How many functions are called to do this."""
    called = itertools.count()

    def count(_frame: object, _event: str, _about: object) -> None:
        next(called)

    sys.setprofile(count)
    try:
        do()
    finally:
        sys.setprofile(None)
    return next(called)
