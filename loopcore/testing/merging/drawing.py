"""Values of whatever a field may be annotated with, as updates of one's own hold them."""

import collections
import dataclasses
import types
import typing
from collections import abc
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

import attrs
from hypothesis import strategies as st
from pyrsistent import PVector

from loopcore.frozen import FrozenDict, evolve, vector
from loopcore.messages import Usage
from loopcore.testing.strategies import changing
from loopcore.testing.strategies.plain import KEYS, Drawn, jsons, usages

AS_MANY: Final = 256


@lru_cache(maxsize=AS_MANY)
def of(annotation: Any) -> Drawn[Any]:  # noqa: ANN401  # any annotation
    """Values of this annotation.

    What holds others and what is a record is made up here, of what it holds: whatever else
    is installed may have taught Hypothesis odd values of a bare `list`.
    """
    return st.deferred(lambda: _of(annotation))


@lru_cache(maxsize=AS_MANY)
def _of(annotation: Any) -> Drawn[Any]:  # noqa: ANN401  # as above
    origin, inside = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation in KNOWN:
        return KNOWN[annotation]()
    if annotation in changing.KNOWN:
        return changing.of(annotation)
    if origin in (typing.Union, types.UnionType):
        return st.one_of(*(_part(part, inside) for part in inside))
    if isinstance(annotation, typing.NewType):
        return of(annotation.__supertype__)
    held = _held(origin or annotation, inside)
    if held is not None:
        return held
    record = _record(annotation)
    return changing.of(annotation).filter(_is_itself) if record is None else record


def _is_itself(value: Any) -> bool:  # noqa: ANN401  # any value
    """No law of what is equal holds of a value that does not equal itself."""
    try:
        return bool(value == value)  # noqa: PLR0124  # as of a NaN
    except Exception:  # noqa: BLE001  # as of a signalling one
        return False


def exact(least: int = -4096) -> Drawn[float]:
    """Quarters, and now and then so many times a large power of two.

    Sums and products of three of them are exact: rounding breaks laws of every sum, and
    is no fault of a rule.
    """
    quarters = st.integers(max(least, 0), 36) | st.integers(least, 4096)
    large = st.integers(least, 4096).map(lambda n: n * LARGE)
    return quarters.map(lambda n: n / 4) | large


def _usages() -> Drawn[Usage]:
    """Tokens at a cost that adds up."""
    return st.builds(_at_cost, usages(), exact(0))


def _at_cost(usage: Usage, cost: float) -> Usage:
    return usage if usage.cost is None else evolve(usage, cost=cost)


LARGE: Final = 2.0**20
CENTS: Final = st.integers(0, 99) | st.integers(-(10**6), 10**6)
KNOWN: Final[Mapping[Any, Callable[[], Drawn[Any]]]] = {
    object: lambda: jsons(3),
    float: exact,
    Decimal: lambda: CENTS.map(lambda n: Decimal(n) / 100),
    complex: lambda: st.builds(complex, exact(), exact()),
    Usage: _usages,
}
"""What is made up in another way here than for hooks."""

NUMBERS: Final = st.integers(0, 9) | st.integers(-(2**16), 2**16)
"""Integers that stay exact where they meet floats."""


def _part(part: Any, union: tuple[Any, ...]) -> Drawn[Any]:  # noqa: ANN401  # as above
    return NUMBERS if part is int and float in union else of(part)


def parts_of(annotation: Any) -> tuple[Any, ...]:  # noqa: ANN401  # any type
    """What a union is of; else the annotation alone."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return typing.get_args(annotation)
    return (annotation,)


ROWS: Final[Mapping[Any, Callable[[list[Any]], Any]]] = {
    PVector: vector,
    collections.deque: collections.deque,
    frozenset: frozenset,
    list: list,
    set: set,
    tuple: tuple,
    **dict.fromkeys((abc.Collection, abc.Iterable, abc.Sequence), tuple),
    **dict.fromkeys((abc.Set, abc.MutableSet), set),
    abc.MutableSequence: list,
}
"""What holds values one after the other, and how it is made of a list."""

TABLES: Final[Mapping[Any, Callable[[dict[Any, Any]], Any]]] = {
    FrozenDict: FrozenDict,
    **dict.fromkeys((dict, abc.Mapping, abc.MutableMapping), dict),
}
"""What holds values under keys, and how it is made of a dict."""


def _held(origin: Any, inside: tuple[Any, ...]) -> Drawn[Any] | None:  # noqa: ANN401  # a class
    """What holds others; None for another class."""
    if origin in TABLES:
        keys = KEYS if len(inside) < 2 or inside[0] is str else of(inside[0])  # noqa: PLR2004  # key and value
        table = st.dictionaries(keys, of(inside[-1] if inside else Any), max_size=2)
        return table.map(TABLES[origin])
    if origin not in ROWS:
        return None
    if origin is tuple and inside and inside[-1] is not Ellipsis:
        return st.tuples(*map(of, inside))
    row = st.lists(of(inside[0] if inside else Any), max_size=3)
    return row.map(ROWS[origin])


def aliases(kind: Any) -> dict[str, str]:  # noqa: ANN401  # any class
    """The fields of a class, and what they are called where one is made."""
    if attrs.has(kind):
        return {f.name: f.alias or f.name for f in attrs.fields(kind) if f.init}
    if dataclasses.is_dataclass(kind):
        return {f.name: f.name for f in dataclasses.fields(kind) if f.init}
    return {}


def _record(kind: Any) -> Drawn[Any] | None:  # noqa: ANN401  # any annotation
    """Some of an attrs class or a dataclass; None for any other, or if it has no hints."""
    if not isinstance(kind, type) or not aliases(kind):
        return None
    try:
        hints = typing.get_type_hints(kind)
    except Exception:  # noqa: BLE001  # annotations may be any code
        return None
    if any(name not in hints for name in aliases(kind)):
        return None
    return made(kind, {name: of(hints[name]) for name in aliases(kind)})


def made(kind: "type[Any]", values: Mapping[str, Drawn[Any]]) -> Drawn[Any]:
    """Some of a class, each field that has a default left out now and then."""
    called = aliases(kind)
    needed = _needed(kind)
    given = st.fixed_dictionaries(
        {called[name]: held for name, held in values.items() if name in needed},
        optional={called[n]: held for n, held in values.items() if n not in needed},
    )
    found = given.map(lambda wrote: tried(kind, wrote))
    return found.filter(lambda one: one is not None)


def _needed(kind: Any) -> set[str]:  # noqa: ANN401  # any class
    """The fields without a default."""
    if attrs.has(kind):
        return {f.name for f in attrs.fields(kind) if f.default is attrs.NOTHING}
    missing, fields = dataclasses.MISSING, dataclasses.fields(kind)
    return {f.name for f in fields if f.default is f.default_factory is missing}


def tried(kind: "type[Any]", wrote: dict[str, Any]) -> Any:  # noqa: ANN401  # one, or None
    """One of a class, if it takes this."""
    try:
        return kind(**wrote)
    except (TypeError, ValueError):
        return None
