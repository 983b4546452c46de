"""What a hook reaches beside its view is noted, with its line; what is pure is not."""

import cProfile
import datetime as dt
import functools
import itertools
import logging
import os
import random
import re
import secrets
import subprocess
import sys
import time
import uuid
from collections import deque
from collections.abc import Callable
from contextvars import ContextVar
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import attrs
import pytest

from loopcore.runtime.purity import Lookout, blame

VARIABLE: Final = ContextVar("VARIABLE", default=0)
NUMBERS: Final = itertools.count()
GENERATOR: Final = random.Random(7)  # noqa: S311  # a global one
LIMITS: Final = {"turns": 3}
WORD: Final = re.compile(r"\w+")


@functools.cache
def squared(number: int) -> int:
    """A function that remembers, and is pure for all that."""
    return number * number


@attrs.define
class Counter:
    """An object that is called, and counts."""

    calls: int = 0

    def __call__(self, view: object) -> None:
        self.calls += view is None

    def method(self, view: object) -> None:
        """The same by a method."""
        self.calls += view is None


def helper() -> dt.datetime:
    """Somewhere in the same program."""
    return dt.datetime.now(dt.UTC)


REACHES: Final[dict[str, tuple[str, Callable[[Any], object]]]] = {
    "time.time()": ("clock", lambda _: time.time()),
    "time.monotonic()": ("clock", lambda _: time.monotonic()),
    "time.localtime()": ("clock", lambda _: time.localtime()),
    "time.strftime()": ("clock", lambda _: time.strftime("%Y")),
    "datetime.now()": ("clock", lambda _: dt.datetime.now(dt.UTC)),
    "date.today()": ("clock", lambda _: dt.date.today()),  # noqa: DTZ011
    "random.random()": ("randomness", lambda _: random.random()),  # noqa: S311
    "random.choice()": ("randomness", lambda _: random.choice([1, 2])),  # noqa: S311
    "random.gauss()": ("randomness", lambda _: random.Random().gauss()),  # noqa: S311
    "uuid.uuid4()": ("randomness", lambda _: uuid.uuid4()),
    "secrets.token_hex()": ("randomness", lambda _: secrets.token_hex(2)),
    "os.urandom()": ("randomness", lambda _: os.urandom(2)),
    "os.getenv()": ("environment", lambda _: os.getenv("HOME")),
    "os.getcwd()": ("environment", lambda _: os.getcwd()),  # noqa: PTH109
    "os.getpid()": ("environment", lambda _: os.getpid()),
    "open()": ("I/O", lambda _: open(os.devnull).close()),  # noqa: PTH123
    "pathlib.Path.read_text()": (
        "I/O",
        lambda _: Path(__file__).read_text(encoding="utf-8"),
    ),
    "os.listdir()": ("I/O", lambda _: os.listdir("/")),  # noqa: PTH208
    "subprocess.run()": ("I/O", lambda _: subprocess.run(["true"], check=True)),  # noqa: S607
    "print()": ("I/O", lambda _: print(end="")),  # noqa: T201
    "logging.Logger.warning()": (
        "I/O",
        lambda _: logging.getLogger("loopcore.purity").warning("x"),
    ),
    "time.sleep()": ("I/O", lambda _: time.sleep(0)),
    "ContextVar.get()": ("global state", lambda _: VARIABLE.get()),
}


def found(function: Callable[[Any], object]) -> list[tuple[str, str]]:
    """What a function reaches: the world, and how."""
    with Lookout(function) as watch:
        function(None)
    return [(reach.world, reach.how) for reach in watch.found]


@pytest.mark.parametrize("how", REACHES)
def test_what_reaches_the_world_is_noted(how: str) -> None:
    world, function = REACHES[how]

    assert (world, f"calls {how}") in found(function)


def test_reading_the_environment_is_noted_however_it_is_written() -> None:
    def by_key(_: object) -> str:
        return os.environ["PATH"]

    def if_there(_: object) -> bool:
        return "PATH" in os.environ

    def perhaps(_: object) -> str | None:
        return os.environ.get("NOWHERE")

    for function in (by_key, if_there, perhaps):
        assert [("environment", "reads os.environ")] == found(function)


def test_what_is_left_changed_is_noted() -> None:
    count, kept = 0, list[int]()

    def closed_over(_: object) -> None:
        nonlocal count
        count += 1

    def into_a_list(_: object) -> None:
        kept.append(1)

    counter = Counter()
    around = "a variable of the function around it,"

    assert [("global state", f"changes 'count', {around}")] == found(closed_over)
    assert [("global state", f"changes 'kept', {around}")] == found(into_a_list)
    assert [("global state", "changes 'calls', an attribute of its own,")] == found(
        counter
    )
    owned = "changes 'calls', an attribute of the object that it belongs to,"
    assert [("global state", owned)] == found(counter.method)


def test_a_generator_or_a_count_that_moves_on_is_noted() -> None:
    moved = found(lambda _: next(NUMBERS))
    drew = found(lambda _: GENERATOR.random())

    assert [("global state", "changes the module global 'NUMBERS'")] == moved
    assert ("randomness", "calls random.random()") in drew


class Named(float):
    """A number of a class of its own."""


class Holding:
    """An object of the program."""

    def __init__(self, held: object) -> None:
        self.held = held


HELD: Final[dict[str, Callable[[Any], object]]] = {
    "itself": lambda value: value,
    "in a list": lambda value: [value],
    "in a list of others": lambda value: ["a", value, None],
    "in a list of lists": lambda value: [[value], []],
    "in a tuple": lambda value: (value,),
    "in a deque": lambda value: deque([value]),
    "in a dict": lambda value: {"a": value},
    "as a key": lambda value: {value: "a"},
    "in a set": lambda value: {value},
    "in a frozenset": lambda value: frozenset({value}),
    "in a namespace": lambda value: SimpleNamespace(a=value),
    "in an object": Holding,
}
cell: Any = None  # what the functions below read and write


@pytest.mark.parametrize("where", HELD)
@pytest.mark.parametrize("value", ["nan", "inf", "-0.0"])
@pytest.mark.parametrize("kind", [float, complex, Named])
def test_a_number_that_stays_is_not_noted_though_it_may_not_equal_itself(
    where: str, value: str, kind: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """NaN does not: it is the same even if it is computed anew."""
    monkeypatch.setitem(globals(), "cell", HELD[where](kind(value)))

    def reads(_: object) -> object:
        return cell

    def computes(_: object) -> None:
        globals()["cell"] = HELD[where](kind(value))
        assert cell is not None

    assert [] == found(reads)
    if where != "in an object":  # another object is another one
        assert [] == found(computes)


ALIKE: Final = {
    "0, False": (0, False),
    "True, 1": (True, 1),
    "1, 1.0": (1, 1.0),
    "1.0, 1+0j": (1.0, 1 + 0j),
    "0.0, -0.0": (0.0, -0.0),
    "0j, -0j": (0j, -0j),
}


@pytest.mark.parametrize("where", HELD)
@pytest.mark.parametrize("name", ALIKE)
def test_a_number_that_becomes_another_is_noted_though_both_are_equal(
    where: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, after = ALIKE[name]
    monkeypatch.setitem(globals(), "cell", HELD[where](before))

    def changes(_: object) -> None:
        global cell  # noqa: PLW0603  # what is wrong with it
        cell = HELD[where](after)

    assert ("global state", "changes the module global 'cell'") in found(changes)


def test_an_attribute_of_a_function_that_changes_is_noted() -> None:
    def counted(_: object) -> None:
        counted.__dict__["calls"] = counted.__dict__.get("calls", 0) + 1

    ((world, how),) = found(counted)

    assert ("global state", "changes 'counted', a variable of") == (world, how[:32])


PURE: Final[dict[str, Callable[[Any], object]]] = {
    "a seeded generator": lambda _: random.Random(3).random(),  # noqa: S311
    "a time that is given": lambda _: time.gmtime(0),
    "a date that is given": lambda _: dt.datetime.fromtimestamp(0, dt.UTC).isoformat(),
    "an identity from a name": lambda _: uuid.uuid5(uuid.NAMESPACE_URL, "a"),
    "a path": lambda _: Path("a") / "b" / ".." / "c.txt",
    "a stream in memory": lambda _: StringIO("text").read(),
    "a regular expression": lambda _: WORD.sub("x", "some words"),
    "a function that remembers": lambda _: squared(12),
    "a constant": lambda _: LIMITS["turns"],
    "an import": lambda _: __import__("colorsys"),
    "a log that nobody reads": lambda _: logging.getLogger("nobody").debug("x"),
    "a copy that it makes": lambda _: sorted([*LIMITS, "more"]),
}


@pytest.mark.parametrize("name", PURE)
def test_what_is_pure_is_not_noted(name: str) -> None:
    sys.modules.pop("colorsys", None)

    assert [] == found(PURE[name])


def test_a_call_in_a_helper_is_told_where_the_helper_makes_it() -> None:
    def hook(_: object) -> str:
        return helper().isoformat()

    with Lookout(hook) as watch:
        hook(None)
    (reach,) = watch.found

    line = helper.__code__.co_firstlineno + 2
    assert f"calls datetime.now() at test_purity.py:{line}" == str(reach)


def test_what_was_reached_is_told_with_what_to_write_instead() -> None:
    def hook(_: object) -> float:
        return time.time() + len(os.environ["PATH"])

    with Lookout(hook) as watch:
        hook(None)
    line = hook.__code__.co_firstlineno + 1

    assert blame(watch.found) == (
        f"It calls time.time() at test_purity.py:{line}. It reads os.environ at "
        f"test_purity.py:{line}. Use the seed and the time in the view: "
        "`view.state.seed`, `view.now`. Read it where the hook is made, outside of the "
        "function, and pass the value in."
    )


def test_a_call_that_is_made_often_is_told_once() -> None:
    def hook(_: object) -> list[float]:
        return [random.random() for _ in range(9)]  # noqa: S311

    assert [("randomness", "calls random.random()")] == found(hook)


def test_another_profiler_goes_on() -> None:
    seen: list[str] = []

    def other(frame: Any, event: str, argument: object) -> None:  # noqa: ARG001
        seen.append(event)

    sys.setprofile(other)
    try:
        reached = found(lambda _: time.time())
        assert sys.getprofile() is other
    finally:
        sys.setprofile(None)

    assert [("clock", "calls time.time()")] == reached


def test_a_profiler_in_c_is_left_alone() -> None:
    """It cannot be put back: what is left changed is noted all the same."""
    kept: list[int] = []
    with cProfile.Profile() as profile:
        reached = found(lambda _: kept.append(1))
    profile.disable()

    assert ["global state"] == [world for world, _ in reached]


def test_a_hook_that_raises_is_no_longer_watched() -> None:
    def hook(_: object) -> None:
        raise KeyError

    with pytest.raises(KeyError):
        found(hook)

    assert sys.getprofile() is None
