"""Hooks that reach the world or keep something where it is hard to see."""

import _thread
import locale
import os
import time
import uuid
from array import array
from collections.abc import Callable
from functools import cache
from io import StringIO
from types import SimpleNamespace
from typing import Any, Final

from loopcore.hooks import TurnView
from tests import impure_state


def gettime(view: TurnView) -> None:  # noqa: ARG001  # whatever it sees
    """A clock by its number."""
    assert time.clock_gettime(0)


def time_id(view: TurnView) -> None:  # noqa: ARG001  # as above
    """An id made of the time."""
    assert str(uuid.uuid1())


def thread(view: TurnView) -> None:  # noqa: ARG001  # as above
    """Another thread."""
    _thread.start_new_thread(print, ())


def how_many(view: TurnView) -> None:  # noqa: ARG001  # as above
    """How large the environment is."""
    assert len(os.environ)


def language(view: TurnView) -> None:  # noqa: ARG001  # as above
    """What the machine is set to."""
    assert locale.setlocale(locale.LC_CTYPE)


class Counter:
    """Counts in its class."""

    n = 0
    seen: Final[dict[str, int]] = {}

    def by_type(self, view: TurnView) -> None:  # noqa: ARG002  # as above
        """In the class of the object."""
        type(self).n += 1

    def in_dict(self, view: TurnView) -> None:  # noqa: ARG002  # as above
        """In what its class holds."""
        self.seen["n"] = self.seen.get("n", 0) + 1


def by_name(view: TurnView) -> None:  # noqa: ARG001  # as above
    """In a class that it names."""
    Counter.n += 1


def in_module(view: TurnView) -> None:  # noqa: ARG001  # as above
    """In another module."""
    impure_state.count += 1


SPACE: Final = SimpleNamespace(n=0)
NUMBERS: Final = array("i", [0])
TEXT: Final = StringIO()
KEPT: Final = (n for n in range(10**9))
DEEP: Final[list[Any]] = [[[[[[[[[[0]]]]]]]]]]
BIG: Final = dict.fromkeys(range(6_000), 0)
AFTER: Final = {"n": 0}


def in_namespace(view: TurnView) -> None:  # noqa: ARG001  # as above
    """In a namespace."""
    SPACE.n += 1


def in_array(view: TurnView) -> None:  # noqa: ARG001  # as above
    """In an array."""
    NUMBERS[0] += 1


def in_text(view: TurnView) -> None:  # noqa: ARG001  # as above
    """In a stream in memory."""
    TEXT.write("x")


def in_generator(view: TurnView) -> None:  # noqa: ARG001  # as above
    """In a generator that is kept, from its first value on."""
    next(KEPT)


def deep_down(view: TurnView) -> None:  # noqa: ARG001  # as above
    """Far inside of a list."""
    inner: Any = DEEP
    for _ in range(9):
        inner = inner[0]
    inner[0] += 1


def after_much(view: TurnView) -> None:  # noqa: ARG001  # as above
    """In a dict that is named after a large one."""
    assert BIG
    AFTER["n"] += 1


@cache
def started() -> float:
    """A time that is read once."""
    return time.time()


def since_start(view: TurnView) -> None:  # noqa: ARG001  # as above
    """A clock behind a cache."""
    assert started()


CALLS: Final[dict[Callable[[Any], Any], str]] = {
    gettime: "time.clock_gettime()",
    time_id: "uuid.uuid1()",
    thread: "_thread.start_new_thread()",
    how_many: "reads os.environ",
    language: "locale.setlocale()",
}
CHANGES: Final[dict[Callable[[Any], Any], str]] = {
    by_name: "the module global 'Counter'",
    Counter().by_type: "'n', an attribute of its class,",
    Counter().in_dict: "'seen', an attribute of its class,",
    in_module: "the module global 'impure_state'",
    in_namespace: "the module global 'SPACE'",
    in_array: "the module global 'NUMBERS'",
    in_text: "the module global 'TEXT'",
    in_generator: "the module global 'KEPT'",
    deep_down: "the module global 'DEEP'",
    after_much: "the module global 'AFTER'",
}
