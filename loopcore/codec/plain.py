"""Decoders of what is no record: scalars, literals, arrays, objects."""

import math
from typing import Any, Final, cast

from loopcore.codec.error import DecodeError, none_of, not_json, too_large, wrong
from loopcore.codec.kinds import Code, Kind
from loopcore.frozen import (
    BITS,
    FrozenDict,
    Json,
    NotJson,
    clean,
    freeze,
    freeze_object,
    vector,
)


def frozen_json(data: Json) -> Json:
    """Any JSON."""
    try:
        return freeze(data)
    except NotJson as problem:
        raise not_json(problem) from None


def json_object(data: Json) -> FrozenDict[Json]:
    """A JSON object, as deep as one that is given: there is no record in it."""
    try:
        return freeze_object(as_object(data))
    except NotJson as problem:
        raise not_json(problem) from None


def _text(data: Json) -> str:
    if type(data) is not str:
        raise wrong((str,), data)
    return data if data.isascii() else clean(data)


def _whole(data: Json) -> int:
    if type(data) is not int:
        raise wrong((int,), data)
    if data.bit_length() > BITS:
        raise too_large()
    return data


def _number(data: Json) -> float:
    if type(data) is not float and type(data) is not int:
        raise wrong((float,), data)
    try:
        finite = math.isfinite(data)
    except OverflowError:
        finite = False
    if not finite:
        raise too_large()
    return data


def _flag(data: Json) -> bool:
    if type(data) is not bool:
        raise wrong((bool,), data)
    return data


def _null(data: Json) -> None:
    if data is not None:
        raise wrong((type(None),), data)


SCALARS: Final[dict[Kind, Code]] = {
    str: _text,
    int: _whole,
    float: _number,
    bool: _flag,
    type(None): _null,
}


def as_object(data: Json, path: str = "") -> dict[str, Json]:
    """Data that has to be an object."""
    if not isinstance(data, dict):
        raise wrong((dict,), data).below(path)
    return cast("dict[str, Json]", data)


def as_array(data: Json, path: str = "") -> list[Json]:
    """Data that has to be an array."""
    if not isinstance(data, list | tuple):
        raise wrong((list,), data).below(path)
    return cast("list[Json]", data)


def literal(options: tuple[str, ...]) -> Code:
    """One of these texts."""
    known = frozenset(options)

    def decode(data: Json) -> str:
        if type(data) is not str or data not in known:
            raise none_of(options, data)
        return data

    return decode


def array(origin: Kind, item: Code) -> Code:
    """A tuple or a vector of these."""
    build: Code = cast("Code", tuple) if origin is tuple else vector

    def decode(data: Json) -> Json:
        items = as_array(data)
        made: list[Json] = []
        add = made.append
        try:
            for value in items:
                add(item(value))
        except DecodeError as problem:
            raise problem.under(len(made)) from None
        return build(made)

    return decode


def mapping(item: Code) -> Code:
    """A frozen dict of these."""

    def decode(data: Json) -> FrozenDict[Any]:
        made: dict[str, Any] = {}
        for name, value in as_object(data).items():
            try:
                made[clean(name)] = item(value)
            except DecodeError as problem:
                raise problem.under(name) from None
        return FrozenDict(made)

    return decode
