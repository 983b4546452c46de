"""Structured output: the schema a reply has to fit, and how a value is read from its text."""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, NoReturn, TypeAlias

from attrs import frozen
from returns.result import Failure, Success

from loopcore.arguments import fit
from loopcore.frozen import FrozenDict, Json, NotJson, freeze, freeze_object
from loopcore.misfits import listed
from loopcore.schemas import BrokenSchema, short
from loopcore.shapes import Shape, plain, reason, shape_of

MOST_STARTS: Final = 100
"""How many places of a text are tried: text can be hostile."""

MOST_SCANNED: Final = 2_000_000
"""How many characters are read in vain: every start may run to the end of the text."""

NAME: Final = "output"


@frozen(eq=False)
class Wanted:
    """What a run is to come to: a shape, and its JSON Schema as a model is told it.

    Known by identity, as {"const": 1} and {"const": true} are equal in Python.
    """

    shape: Shape
    schema: FrozenDict[Json]
    optional: bool


@frozen
class Value:
    """What a reply came to; `reason` is why there is no value, where one may be missing."""

    value: Any
    reason: str = ""


Read: TypeAlias = Success[Value] | Failure[str]


def wanted(kind: Any, *, optional: bool = False) -> Wanted:  # noqa: ANN401  # any type
    """What a reply must be to come to this type.

    Raises:
        TypeError: for a type that JSON has nothing like.
    """
    shape = _shape(kind)
    schema = dict(shape.schema)
    if optional:
        schema = _or_reason(schema)
    if shape.definitions:
        schema["$defs"] = dict(shape.definitions)
    return Wanted(shape, freeze_object(schema), optional)


def _shape(kind: object) -> Shape:
    try:
        return shape_of(kind)
    except TypeError as problem:
        raise TypeError(NO_TYPE.format(str(problem).splitlines()[-1])) from None


NO_TYPE: Final = (
    "LoopConfig(output=...) takes a type that JSON has something like, such as a dataclass "
    "or list[str]: {}"
)


def _or_reason(schema: dict[str, Any]) -> dict[str, Any]:
    said = "Why there is no value, in a sentence; null if there is one."
    return {
        "type": "object",
        "properties": {
            "value": {"anyOf": [schema, {"type": "null"}]},
            "reason": {"type": ["string", "null"], "description": said},
        },
        "required": ["value", "reason"],
        "additionalProperties": False,
    }


def read(want: Wanted, text: str) -> Read:
    """The value in a reply's text: the first JSON value in it that fits.

    A failure says what is wrong with the first one, naming every place.
    """
    first = ""
    for found in values(text):
        match _one(want, found):
            case Success() as fine:
                return fine
            case Failure(why):
                first = first or why
    return Failure(first or "There is no JSON value in the reply.")


@lru_cache(maxsize=8)
def problem(want: Wanted, text: str) -> str:
    """What is wrong with a reply's text, if anything; a step asks more than once."""
    match read(want, text):
        case Success():
            return ""
        case Failure(why):
            return why


def values(text: str) -> Iterator[Json]:
    """The JSON values in a text, in order: the whole of it, or what is balanced in it.

    >>> list(values('Here you are: {"a": [1]}, not {this}.'))
    [{'a': (1,)}]
    """
    try:
        yield freeze(json.loads(text, parse_constant=_refuse))
    except (ValueError, NotJson, RecursionError):
        yield from _inside(text)


def _inside(text: str) -> Iterator[Json]:
    decoder = json.JSONDecoder(parse_constant=_refuse)
    at, left = _next(text, 0), MOST_SCANNED
    for _ in range(MOST_STARTS):
        if at < 0 or left < 0:
            return
        try:
            value, end = decoder.raw_decode(text, at)
            yield freeze(value)
        except (ValueError, NotJson, RecursionError) as problem:
            end = at + 1
            left -= _scanned(problem, len(text)) - at
        at = _next(text, end)


def _scanned(problem: Exception, size: int) -> int:
    """How far a text was read in vain, at most."""
    return problem.pos if isinstance(problem, json.JSONDecodeError) else size


def _next(text: str, at: int) -> int:
    """Where the next object or array may begin."""
    found = [place for place in (text.find("{", at), text.find("[", at)) if place >= 0]
    return min(found, default=-1)


def _refuse(name: str) -> NoReturn:
    message = f"{name} is not JSON"
    raise ValueError(message)


def _one(want: Wanted, found: Json) -> Read:
    try:
        fitted = fit(want.schema, found, "the output")
    except BrokenSchema as broken:
        return Failure(f"- the schema of the output is broken ({broken})")
    if isinstance(fitted, Failure):
        return Failure(listed(fitted.failure()))
    fitting = fitted.unwrap()
    return _chosen(want, fitting) if want.optional else _made(want, fitting)


def _chosen(want: Wanted, found: FrozenDict[Json]) -> Read:
    """A value, or the reason why not; a value counts more."""
    if found["value"] is not None:
        return _made(want, found["value"])
    said = str(found["reason"] or "").strip()
    if said:
        return Success(Value(None, said))
    return Failure("- 'value' and 'reason' are both missing: give one of them")


def _made(want: Wanted, found: Json) -> Read:
    try:
        return Success(Value(want.shape.convert(plain(found))))
    except Exception as problem:  # noqa: BLE001  # a validator may raise anything
        return Failure(f"- {_why(problem)}")


def _why(problem: Exception) -> str:
    """What a validator says, without addresses: a replay must say the same."""
    kind = f"{NAME!r}: {type(problem).__name__}"
    try:
        said = (
            reason(problem, NAME)
            if isinstance(problem, ValueError)
            else f"{kind}: {problem}"
        )
    except Exception:  # noqa: BLE001  # its own __str__ may fail
        return kind
    return short(ADDRESS.sub("", said), LONGEST)


LONGEST: Final = 2000

ADDRESS: Final = re.compile(r" at 0x[0-9a-fA-F]+")
