"""Hooks that reach the world or keep something where it is hard to see."""

import _thread
import locale
import os
import queue
import random
import threading
import time
import uuid
from array import array
from collections import UserDict
from collections.abc import Callable
from datetime import date, datetime
from functools import cache
from io import StringIO
from pathlib import Path
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


def sampled(view: TurnView) -> None:
    """Chance of the run's seed, of the generator that the whole program has."""
    random.seed(view.state.seed)
    assert random.random() < 1  # noqa: S311  # what it is about


def unseeded(view: TurnView) -> None:  # noqa: ARG001  # as above
    """Chance of a generator of its own that has no seed."""
    assert random.Random().randint(1, 6)  # noqa: S311  # what it is about


def reseeded(view: TurnView) -> None:
    """And of one that has lost it."""
    chance = random.Random(view.state.seed)  # noqa: S311  # as above
    chance.seed()
    assert chance.gauss() < 99


def day(view: TurnView) -> None:
    """A time in the zone that the machine is set to."""
    assert datetime.fromtimestamp(view.now or 0).year  # noqa: DTZ006  # the mistake


def date_there(view: TurnView) -> None:
    """A day in that zone."""
    assert date.fromtimestamp(view.now or 0).year  # noqa: DTZ012  # as above


def hour(view: TurnView) -> None:
    """The same, by its fields."""
    assert time.localtime(view.now or 0).tm_year


def deadline(view: TurnView) -> None:  # noqa: ARG001  # as above
    """A time that is told without its zone."""
    assert datetime.fromisoformat("2030-01-02 03:04").timestamp()


def moved(view: TurnView) -> None:  # noqa: ARG001  # as above
    """A time that is moved to the zone that the machine is set to."""
    assert datetime.fromisoformat("2030-01-02 03:04Z").astimezone().year


def there(view: TurnView) -> None:  # noqa: ARG001  # as above
    """Whether a file is there."""
    assert Path(__file__).exists()


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
LOCAL: Final = threading.local()
WAITING: Final[queue.Queue[int]] = queue.Queue()
SIMPLE: Final[queue.SimpleQueue[int]] = queue.SimpleQueue()
OWN: Final[UserDict[str, int]] = UserDict()


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


def in_thread(view: TurnView) -> None:  # noqa: ARG001  # as above
    """In what each thread has of its own."""
    LOCAL.n = getattr(LOCAL, "n", 0) + 1


def in_queue(view: TurnView) -> None:
    """In a queue that others read."""
    WAITING.put(view.turn)


def in_simple_queue(view: TurnView) -> None:
    """In one of another kind."""
    SIMPLE.put(view.turn)


def in_user_dict(view: TurnView) -> None:
    """In a dict that is written in Python."""
    OWN["n"] = OWN.get("n", 0) + view.turn


@cache
def started() -> float:
    """A time that is read once."""
    return time.time()


def since_start(view: TurnView) -> None:  # noqa: ARG001  # as above
    """A clock behind a cache."""
    assert started()


@cache
def is_strict() -> bool:
    """A setting that is read once."""
    return os.environ.get("STRICT") == "1"


def by_setting(view: TurnView) -> bool:
    """The environment behind a cache."""
    return is_strict() and view.turn > 1


CALLS: Final[dict[Callable[[Any], Any], str]] = {
    gettime: "time.clock_gettime()",
    time_id: "uuid.uuid1()",
    thread: "_thread.start_new_thread()",
    how_many: "reads os.environ",
    language: "locale.setlocale()",
    there: "pathlib.Path.exists()",
    unseeded: "random.randint()",
    reseeded: "random.gauss()",
    sampled: "seeds the generator that all share",
    day: "datetime.fromtimestamp()",
    date_there: "date.fromtimestamp()",
    hour: "time.localtime()",
    deadline: "datetime.timestamp()",
    moved: "datetime.astimezone()",
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
    in_thread: "the module global 'LOCAL'",
    in_queue: "the module global 'WAITING'",
    in_simple_queue: "the module global 'SIMPLE'",
    in_user_dict: "the module global 'OWN'",
}
