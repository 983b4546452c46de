"""From records to JSON."""

import typing
from operator import attrgetter
from typing import Any, Final, cast

import attrs
from pyrsistent import PVector

from loopcore.codec.kinds import (
    JSON,
    RECORD,
    REGISTERED,
    SPECIAL,
    TAG,
    Code,
    Kind,
    Pack,
    fields_of,
    freezes,
    is_record,
    is_tagged,
    members_of,
    origin_of,
    value_type,
)
from loopcore.frozen import UNSET, FrozenDict, Json, default

_made: Final[dict[tuple[Kind, bool], Code | None]] = {}
_NOTHING: Final = object()


def to_json(value: object, kind: Kind = None) -> Json:
    """The JSON form of what is declared as this kind, by default as its own class."""
    encode = encoder(type(value) if kind is None else kind)
    return encode(value) if encode else value


def encoder(kind: Kind, *, tagged: bool = False) -> Code | None:
    """What encodes a kind; None where values are their own JSON form."""
    key = kind, tagged
    if key not in _made:
        if is_record(kind):
            return _record(kind, tagged=tagged)
        _made[key] = _other(kind)
    return _made[key]


def _other(kind: Kind) -> Code | None:
    origin = origin_of(kind)
    if kind is Any:
        return _any
    if origin is typing.Union:
        return _union(members_of(kind))
    if origin is tuple or origin is PVector:
        return _array(encoder(members_of(kind)[0]))
    if origin is FrozenDict:
        return _object(members_of(kind)[0])
    return None


def _record(cls: type, *, tagged: bool) -> Code:
    plan: list[tuple[str, Code, object, Code | None]] = []

    def encode(record: object) -> dict[str, Json]:
        data: dict[str, Json] = {TAG: cls.__name__} if tagged else {}
        for name, get, usual, part in plan:
            value = get(record)
            if value is usual or value is UNSET or value == usual:
                continue
            data[name] = part(value) if part else value
        return data

    # Known before its fields are looked at, as records may hold their own kind.
    code = _packed(SPECIAL[cls][0], encode) if cls in SPECIAL else encode
    _made[cls, tagged] = code
    for field, kind in fields_of(cls):
        part = None if freezes(field) else encoder(kind)
        plan.append((field.name, attrgetter(field.name), _usual(field), part))
    return code


def _packed(pack: Pack, encode: Code) -> Code:
    return lambda record: pack(record, encode)


def _usual(field: "attrs.Attribute[Any]") -> object:
    return _NOTHING if field.default is attrs.NOTHING else default(field)


def _union(members: tuple[Kind, ...]) -> Code | None:
    tagged = is_tagged(members)
    table = {value_type(m): encoder(m, tagged=tagged) for m in members if m is not Any}
    if Any in members:
        return _or_json(table)
    if not any(table.values()):
        return None

    def encode(value: object) -> Json:
        code = table.get(type(value))
        return code(value) if code else value

    return encode


def _or_json(table: dict[type, Code | None]) -> Code:
    def encode(value: object) -> Json:
        code = table.get(type(value))
        return code(value) if code else {JSON: value}

    return encode


def _any(value: object) -> Json:
    cls = type(value)
    if cls in (dict, FrozenDict) and RECORD in cast("dict[str, Json]", value):
        return {RECORD: None, JSON: value}
    if not attrs.has(cls):
        return value
    name = cls.__name__
    if REGISTERED.get(name) is not cls:
        message = f"a {name} has no JSON form where anything may stand: register it"
        raise TypeError(message)
    return {RECORD: name, **to_json(value)}


def _array(item: Code | None) -> Code:
    return (lambda values: [item(value) for value in values]) if item else list


def _object(kind: Kind) -> Code | None:
    item = None if kind is Any else encoder(kind)
    return (lambda value: {k: item(v) for k, v in value.items()}) if item else None
