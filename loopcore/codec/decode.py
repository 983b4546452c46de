"""From JSON to records."""

import typing
from collections.abc import Iterable
from typing import Any, Final, Literal, TypeVar, overload

import attrs
from pyrsistent import PVector

from loopcore.codec.error import (
    DecodeError,
    missing,
    none_of,
    not_json,
    refused,
    too_deep,
    unknown,
    wrong,
)
from loopcore.codec.kinds import (
    JSON,
    RECORD,
    REGISTERED,
    SPECIAL,
    TAG,
    Code,
    Kind,
    Pack,
    as_it_is,
    fields_of,
    freezes,
    is_record,
    is_tagged,
    json_types,
    members_of,
    origin_of,
)
from loopcore.codec.plain import (
    SCALARS,
    array,
    as_object,
    frozen_json,
    json_object,
    literal,
    mapping,
)
from loopcore.frozen import FrozenDict, Json, NotJson, Unset

T = TypeVar("T")

_made: Final[dict[tuple[Kind, bool], Code]] = {}


@overload
def from_json(kind: type[T], data: Json, path: str = "") -> T: ...
@overload
def from_json(kind: Kind, data: Json, path: str = "") -> Any: ...  # noqa: ANN401  # of any kind
def from_json(kind: Kind, data: Json, path: str = "") -> Any:
    """What this JSON is the form of, where this kind is declared.

    Args:
        kind: a class of records, or a union of them.
        data: JSON as the standard library reads it.
        path: where it was found, for the error.

    Raises:
        DecodeError: naming the place, for whatever is unknown, missing or wrong.
    """
    try:
        return decoder(kind)(data)
    except DecodeError as problem:
        raise problem.below(path) from None
    except RecursionError:
        raise too_deep(path) from None


def decoder(kind: Kind, *, tagged: bool = False) -> Code:
    """What decodes a kind."""
    key = kind, tagged
    if key not in _made:
        if is_record(kind):
            return _record(kind, tag=TAG if tagged else None)
        _made[key] = _other(kind)
    return _made[key]


def _other(kind: Kind) -> Code:
    origin, members = origin_of(kind), members_of(kind)
    if kind is Any:
        return _any
    if origin is typing.Union:
        return _choice(_tagged(members) if is_tagged(members) else _by_type(members))
    if origin is Literal:
        return literal(members)
    if origin is FrozenDict:
        return json_object if members[0] is Any else mapping(decoder(members[0]))
    if origin is tuple or origin is PVector:
        return array(origin, decoder(members[0]))
    return SCALARS[kind]


# Records.


def _record(cls: type, *, tag: str | None) -> Code:
    plan: dict[str, tuple[str, Code]] = {}

    def decode(data: Json) -> object:
        given = _fields(plan, data, tag)
        try:
            return cls(**given)
        except (TypeError, ValueError) as problem:
            raise _blame(cls, given, problem) from None

    # Known before its fields are looked at, as records may hold their own kind.
    code = _packed(SPECIAL[cls][1], decode) if cls in SPECIAL else decode
    _made[cls, tag is not None] = code
    for field, kind in fields_of(cls):
        argument = field.alias or field.name
        part = as_it_is if freezes(field) else decoder(kind)
        plan[field.name] = argument, part
    return code


def _packed(unpack: Pack, decode: Code) -> Code:
    return lambda data: unpack(data, decode)


def _fields(
    plan: dict[str, tuple[str, Code]], data: Json, tag: str | None
) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for name, value in as_object(data).items():
        found = plan.get(name)
        if found is None and name == tag:
            continue
        if found is None:
            raise unknown(name)
        try:
            given[found[0]] = found[1](value)
        except DecodeError as problem:
            raise problem.under(name) from None
    return given


def _blame(cls: type, given: dict[str, Any], problem: Exception) -> DecodeError:
    """Name the field: a constructor does not say which one it refuses."""
    found = (_fault(cls, field, given) for field, _ in fields_of(cls))
    return next(filter(None, found), refused(problem))


def _fault(
    cls: type, field: "attrs.Attribute[Any]", given: dict[str, Any]
) -> DecodeError | None:
    """What is wrong with one field, if anything is."""
    argument = field.alias or field.name
    if argument not in given:
        return missing(field.name) if field.default is attrs.NOTHING else None
    try:
        _check(cls, field, given[argument])
    except NotJson as problem:
        return not_json(problem).under(field.name)
    except (TypeError, ValueError) as problem:
        return refused(problem).under(field.name)
    return None


def _check(cls: type, field: "attrs.Attribute[Any]", value: object) -> None:
    """What a constructor does with one field."""
    convert = typing.cast("Any", field.converter)
    value = convert(value) if convert else value
    if field.validator:
        field.validator(object.__new__(cls), field, value)


# Unions. What is meant is known by the type of what is there.


def _choice(table: dict[type, Code]) -> Code:
    def decode(data: object) -> Any:  # noqa: ANN401  # a member
        code = table.get(type(data))
        if code is None:
            raise wrong(table, data)
        return code(data)

    return decode


def _by_type(members: Iterable[Kind]) -> dict[type, Code]:
    kinds = [kind for kind in members if kind is not Unset]
    return {found: decoder(kind) for kind in kinds for found in json_types(kind)}


def _tagged(members: tuple[Kind, ...]) -> dict[type, Code]:
    """Objects say what they are; what is no object is known by its type."""
    records = {m.__name__: decoder(m, tagged=True) for m in members if is_record(m)}
    others = _by_type(m for m in members if not is_record(m) and m is not Any)
    others[dict] = others[FrozenDict] = _by_tag(records, wrapped=Any in members)
    return others


def _by_tag(records: dict[str, Code], *, wrapped: bool) -> Code:
    def decode(data: dict[str, Json]) -> Any:  # noqa: ANN401  # a member
        name = data.get(TAG)
        code = records.get(name) if isinstance(name, str) else None
        if code:
            return code(data)
        if TAG in data:
            raise none_of(records, name).under(TAG)
        if wrapped:
            return _wrapped(data)
        raise missing(TAG)

    return decode


# Anything.


def _any(data: Json) -> Any:  # noqa: ANN401  # any JSON, any registered record
    if not isinstance(data, dict) or RECORD not in data:
        return frozen_json(data)
    data = as_object(data)
    rest = {name: value for name, value in data.items() if name != RECORD}
    name = data[RECORD]
    if name is None:
        return _wrapped(rest)
    if not isinstance(name, str) or name not in REGISTERED:
        raise none_of(REGISTERED, name).under(RECORD)
    return decoder(REGISTERED[name])(rest)


def _wrapped(data: dict[str, Json]) -> Json:
    for name in data:
        if name != JSON:
            raise unknown(name)
    if JSON not in data:
        raise missing(JSON)
    try:
        return frozen_json(data[JSON])
    except DecodeError as problem:
        raise problem.under(JSON) from None
