"""Hooks that depend on the order of a set of texts, where that is hard to see."""

from collections.abc import Iterable
from functools import singledispatch
from threading import RLock
from typing import Any, Final

from loopcore.hooks import StopUpdate, TurnView

NAMES: Final = {"alpha", "beta"}


def joined(view: TurnView) -> str:  # noqa: ARG001  # whatever it sees
    """Joins a set of its module."""
    return "stop " + ",".join(NAMES)


def unique(names: Iterable[str]) -> set[str]:
    """A helper that makes a set."""
    return set(names)


def by_helper(view: TurnView) -> str:  # noqa: ARG001  # whatever it sees
    """Joins a set that a helper makes."""
    return "stop " + ",".join(unique(("alpha", "beta")))


def by_constant(view: TurnView) -> str:  # noqa: ARG001  # whatever it sees
    """Goes over a set that is written in it."""
    said = "stop"
    for name in {"alpha", "beta"}:  # noqa: PLC0208  # what is wrong with it
        said += name
    return said


def mostly_silent(view: TurnView) -> str | None:  # noqa: ARG001  # whatever it sees
    """Speaks only in processes where the set is ordered one way."""
    return None if next(iter(NAMES)) != "beta" else "stop"


def mostly_speaking(view: TurnView) -> str | None:  # noqa: ARG001  # whatever it sees
    """Speaks only where it is ordered the other way."""
    return None if next(iter(NAMES)) != "alpha" else "stop"


def two_sets(view: TurnView) -> str:
    """Its first set is asked for what it has, its second one is joined."""
    known = view.model in {"test:a", "test:b"}
    return f"{known} " + ",".join({"alpha", "beta", "gamma", "delta"})


def address(view: TurnView) -> StopUpdate:  # noqa: ARG001  # whatever it sees
    """Says where an object lies."""
    return StopUpdate(repr(THING))


THING: Final = object()


@singledispatch
def text_of(value: object) -> str:
    """A text of anything."""
    return str(value)


class Guard:
    """A rule that holds a lock."""

    def __init__(self) -> None:
        self.lock = RLock()

    def stop(self, view: TurnView) -> str | None:
        """Stops late, and holds its lock meanwhile."""
        with self.lock:
            return "late" if view.turn > 2 else None


def dispatched(view: TurnView) -> str | None:
    """Calls a function that is chosen by a type."""
    return text_of(view.turn) if view.turn > 2 else None


def counting() -> Any:
    """A rule that draws from a generator."""
    kept = (n for n in range(10**9))

    def held(view: TurnView) -> None:  # noqa: ARG001  # whatever it sees
        assert kept is not None

    return held
