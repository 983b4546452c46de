"""Strategies made from annotations: any value that a record's field may hold."""

import types
import typing
from functools import cache
from typing import Any, Final, Literal

import attrs
from hypothesis import strategies as st
from pyrsistent import PVector

from loopcore import State, effects, events, inputs, messages, settings, state, tools
from loopcore.frozen import UNSET, FrozenDict, Unset, freeze, vector
from loopcore.hooks import merge, points, updates
from property_tests.resting import RESTING

MODULES: Final = (messages, tools, settings, inputs, effects, events, state, merge)
RECORDS: Final[tuple[type, ...]] = tuple(
    found
    for module in (*MODULES, updates)
    for found in vars(module).values()
    if isinstance(found, type)
    and attrs.has(found)
    and found.__module__ == module.__name__
    and (module is not updates or issubclass(found, updates.Update))
)
"""Every kind of record that a state or a stream of events may hold."""

TEXT: Final = st.text(min_size=1, max_size=6)
KEYS: Final[st.SearchStrategy[str]] = st.sampled_from(
    ("a", "b c", "type", "json", "$record", "é")
)
SCALARS: Final[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=6),
)
JSON: Final[Any] = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)
    ),
    max_leaves=6,
).map(freeze)

PLAIN: Final[dict[Any, Any]] = {
    Any: JSON,
    str: TEXT,
    int: st.integers(-(2**70), 2**70),
    float: st.floats(allow_nan=False, allow_infinity=False) | st.integers(0, 99),
    bool: st.booleans(),
    type(None): st.none(),
    Unset: st.just(UNSET),
    State: st.sampled_from([resting for _, resting in RESTING.values()]),
}


def values(kind: Any) -> st.SearchStrategy[Any]:
    """Any value of this kind."""
    return _values(kind)


@cache
def _values(kind: Any) -> st.SearchStrategy[Any]:  # an annotation
    if kind in PLAIN:
        return st.deferred(lambda: PLAIN[kind])
    if isinstance(kind, type) and attrs.has(kind):
        return st.deferred(lambda: _records(kind))
    origin, inside = typing.get_origin(kind), typing.get_args(kind)
    if origin is Literal:
        return st.sampled_from(inside)
    if origin in (typing.Union, types.UnionType):
        return st.one_of(*map(values, inside))
    if origin is FrozenDict:
        entries = st.dictionaries(KEYS, values(inside[0]), max_size=3)
        return entries.map(_frozen_dict)
    items = st.lists(values(inside[0]), max_size=3)
    return items.map(vector if origin is PVector else tuple)


def _frozen_dict(entries: Any) -> FrozenDict[Any]:
    return FrozenDict(entries)


def _records(cls: type) -> st.SearchStrategy[Any]:
    kinds = typing.get_type_hints(cls)
    fields: tuple[attrs.Attribute[Any], ...] = attrs.fields(cls)
    given = {f.alias or f.name: _field(f, kinds[f.name]) for f in fields}
    needed = {f.alias or f.name for f in fields if f.default is attrs.NOTHING}
    return st.fixed_dictionaries(
        {name: made for name, made in given.items() if name in needed},
        optional={name: made for name, made in given.items() if name not in needed},
    ).map(lambda arguments: cls(**arguments))


NARROWER: Final[dict[str, Any]] = {
    "reason": st.sampled_from(events.REASONS),
    "delay": st.just(UNSET) | st.floats(0, 1e6),
    "timeout": st.none() | st.floats(0, 1e6),
}
"""What fields whose validators are stricter than their annotations hold."""


def _field(field: "attrs.Attribute[Any]", kind: Any) -> st.SearchStrategy[Any]:
    if field.name == "update":
        return values(Any) | st.one_of(
            *(values(p.update) for p in points.POINTS.values())
        )
    return (
        NARROWER[field.name]
        if field.name in NARROWER and field.validator
        else values(kind)
    )
