"""Copies of records: what `evolve` compiles for a class goes when the class goes."""

import gc
import weakref
from typing import Any, Final

import attrs
import pytest
from attrs import frozen

from loopcore.frozen import evolve


def slim() -> type[Any]:
    """A class like those of a state, whose copies are made by a twin."""

    @frozen(weakref_slot=False)
    class Slim:
        a: int = 1
        b: int = 2

    return Slim


def plain() -> type[Any]:
    """A class as attrs makes it by default."""

    @frozen
    class Plain:
        a: int = 1
        b: int = 2

    return Plain


def loose() -> type[Any]:
    """A class without slots."""

    @frozen(slots=False)
    class Loose:
        a: int = 1
        b: int = 2

    return Loose


def half() -> type[Any]:
    """A class without slots of its own, below one that has them."""

    @frozen(slots=False)
    class Half(plain()):  # type: ignore[misc]  # made here
        c: int = 3

    return Half


KINDS: Final = {"slim": slim, "plain": plain, "loose": loose, "half": half}


def sub(kind: type[Any]) -> type[Any]:
    """A class below it, with a field of its own."""
    fields = {"c": attrs.field(default=3)}
    return attrs.make_class(
        "Sub", fields, (kind,), frozen=True, slots=True, weakref_slot=False
    )


def evolved(kind: type[Any]) -> None:
    """Have it copied in every way."""
    for changes in ({}, {"a": 5}, {"b": 6}, {"a": 5, "b": 6}, {"b": 6, "a": 5}):
        assert attrs.evolve(kind(), **changes) == evolve(kind(), **changes)


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_a_class_that_is_copied_is_not_kept(make: Any) -> None:
    kind = make()
    evolved(kind)
    gone = weakref.ref(kind)

    del kind
    gc.collect()

    assert gone() is None


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_a_class_does_not_keep_those_below_it(make: Any) -> None:
    kind = make()
    evolved(kind)
    below = sub(kind)
    evolved(below)
    gone = weakref.ref(below)

    del below
    gc.collect()

    assert gone() is None
    evolved(kind)


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("first", ["above", "below"])
def test_a_class_and_one_below_it_are_copied_each_in_its_way(
    make: Any, first: str
) -> None:
    kind = make()
    below = sub(kind)
    for one in (kind, below) if first == "above" else (below, kind):
        evolved(one)

    assert kind is type(evolve(kind(), a=5))
    assert below(5, 2, 7) == evolve(below(c=7), a=5)
    assert kind(5, 2) == evolve(kind(), a=5)


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_a_name_that_is_no_field_is_refused(make: Any) -> None:
    for _ in range(2):
        with pytest.raises(TypeError, match="has no field 'z'"):
            evolve(make()(), z=1)
