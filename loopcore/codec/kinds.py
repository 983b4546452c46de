"""Kinds: what annotations say, and which records are known by name."""

import types
import typing
from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias, cast

import attrs
from pyrsistent import PVector

from loopcore.frozen import FrozenDict, Json, freeze, freeze_object, vector

Kind: TypeAlias = Any
"""A class, or what else an annotation may be: a union, a tuple[...], a Literal."""

Code: TypeAlias = Callable[[Any], Any]
"""An encoder or a decoder of one kind."""

Pack: TypeAlias = Callable[[Any, Code], Any]
"""A class's own encoder or decoder; it is given the plain one too."""

TAG: Final = "type"
RECORD: Final = "$record"
JSON: Final = "json"

REGISTERED: Final[dict[str, type]] = {}
SPECIAL: Final[dict[type, tuple[Pack, Pack]]] = {}


def register(*classes: type) -> None:
    """Let records of these classes stand where anything may stand.

    Raises:
        ValueError: if another class is registered under the same name.
    """
    for cls in classes:
        if REGISTERED.setdefault(cls.__name__, cls) is not cls:
            message = f"another record is registered as {cls.__name__!r}: rename one"
            raise ValueError(message)


def special(cls: type, pack: Pack, unpack: Pack) -> None:
    """Give a class a form of its own, before its first record is encoded."""
    SPECIAL[cls] = pack, unpack


def is_record(kind: Kind) -> bool:
    """Whether it is a class of records."""
    return isinstance(kind, type) and attrs.has(kind)


def origin_of(kind: Kind) -> Any:  # noqa: ANN401  # a class or a special form
    """Union, tuple, PVector, FrozenDict or Literal if it is one, else itself."""
    origin: Any = typing.get_origin(kind)
    return typing.Union if origin is types.UnionType else origin or kind


def members_of(kind: Kind) -> tuple[Kind, ...]:
    """What stands in its brackets, or is joined in its union."""
    return typing.get_args(kind)


def is_tagged(members: tuple[Kind, ...]) -> bool:
    """Whether the records of a union have to say what they are."""
    return Any in members or sum(map(is_record, members)) > 1


def value_type(kind: Kind) -> type:
    """The type of the values of a kind."""
    origin: type = origin_of(kind)
    return VALUE_TYPES.get(origin, origin)


VALUE_TYPES: Final[dict[Any, type]] = {Literal: str, PVector: type(vector(()))}


def json_types(kind: Kind) -> tuple[type, ...]:
    """The types that its JSON form has, as it is read or frozen."""
    origin = origin_of(kind)
    if origin is FrozenDict or is_record(kind):
        return dict, FrozenDict
    if origin in (tuple, PVector):
        return list, tuple
    return (float, int) if kind is float else (value_type(kind),)


def fields_of(cls: type) -> "list[tuple[attrs.Attribute[Any], Kind]]":
    """The fields of a record with their kinds."""
    kinds = typing.get_type_hints(cls)
    fields: tuple[attrs.Attribute[Any], ...] = attrs.fields(cls)
    return [(field, kinds[field.name]) for field in fields]


def freezes(field: "attrs.Attribute[Any]") -> bool:
    """Whether its converter takes any JSON and does all there is to do."""
    return cast("Any", field.converter) in (freeze, freeze_object)


def as_it_is(value: Json) -> Json:
    """Itself."""
    return value
