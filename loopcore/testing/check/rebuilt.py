"""Copies of records that share nothing with them, down to the texts."""

from collections.abc import Callable
from typing import Any, Final

import attrs
from pyrsistent import PVector
from returns.result import Failure, Success

from loopcore.frozen import FrozenDict, evolve, vector


def rebuilt(value: Any) -> Any:  # noqa: ANN401  # any record, and what it may hold
    """An equal value; nothing of it is the same object, where that can be seen."""
    for kinds, rebuild in REBUILD:
        if isinstance(value, kinds):
            return rebuild(value)
    kind: type = value.__class__
    return _record(value) if attrs.has(kind) else value


def _record(record: Any) -> Any:  # noqa: ANN401  # a record
    fields: tuple[attrs.Attribute[Any], ...] = attrs.fields(record.__class__)
    given = {str(f.alias): rebuilt(getattr(record, f.name)) for f in fields}
    return evolve(record, **given) if given else record


def _text(text: str) -> str:
    return text[:1] + text[1:]


REBUILD: Final[tuple[tuple[Any, Callable[[Any], Any]], ...]] = (
    (str, _text),
    (FrozenDict, lambda v: FrozenDict((_text(k), rebuilt(i)) for k, i in v.items())),
    (tuple, lambda v: tuple(map(rebuilt, v))),
    (PVector, lambda v: vector(map(rebuilt, v))),
    (Success, lambda v: Success(rebuilt(v.unwrap()))),
    (Failure, lambda v: Failure(rebuilt(v.failure()))),
)
