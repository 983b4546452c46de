"""Structured output: the schema a reply has to fit, and how a value is read from its text."""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, TypeAlias

from attrs import frozen
from returns.result import Failure, Success

from loopcore.arguments import fit
from loopcore.frozen import (
    FrozenDict,
    Json,
    NotJson,
    freeze,
    freeze_object,
    refuse_constant,
    repeatable,
)
from loopcore.misfits import listed
from loopcore.schemas import BrokenSchema, short
from loopcore.shapes import Shape, plain, reason, shape_of

MOST_STARTS: Final = 100
"""How many places of a text are tried: text can be hostile."""

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
        why = str(problem).splitlines()[-1]
    except Exception as problem:  # noqa: BLE001  # pydantic's, or that of a name nobody knows
        why = str(problem).splitlines()[0]
    hint = next((hint for part, hint in HINTS.items() if part in why), "")
    raise TypeError(NO_TYPE.format(why) + hint)


NO_TYPE: Final = (
    "LoopConfig(output=...) takes a type that JSON has something like, such as a dataclass "
    "or list[str]: {}"
)


HINTS: Final = {
    "unions may not contain": ". Of such unions, take pydantic models or msgspec structs "
    "with a tag",
    "is not defined": ". What it is made of is looked up in its module: define that there",
    "is not supported": ". It and all in it are best of one kind, such as pydantic models",
}
"""What to do, by what msgspec, pydantic or Python say."""


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
    for found in _found(text):
        match found if isinstance(found, Broken) else _one(want, found):
            case Success() as fine:
                return fine
            case Broken(why) | Failure(why):
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


@frozen
class Broken:
    """What begins as a JSON value but is none, and why; empty if it is no JSON at all."""

    why: str = ""


def values(text: str) -> Iterator[Json]:
    """The JSON values in a text, in order: the whole of it, or what is balanced in it.

    What stands inside a broken value is a part of something else, and never a value.

    >>> list(values('Here you are: {"a": [1]}, not {this}, nor {"b": [2],}.'))
    [{'a': (1,)}]
    """
    return (found for found in _found(text) if not isinstance(found, Broken))


def _found(text: str) -> Iterator[Json | Broken]:
    try:
        yield freeze(json.loads(text, parse_constant=refuse_constant))
    except (ValueError, NotJson, RecursionError):
        yield from _inside(text)


def _inside(text: str) -> Iterator[Json | Broken]:
    at = _next(text, 0)
    for _ in range(MOST_STARTS):
        if at < 0:
            return
        found, end = _from(text, at)
        yield found
        at = _next(text, end)


def _from(text: str, at: int) -> tuple[Json | Broken, int]:
    """What begins at a bracket, and where to look on."""
    try:
        value, end = DECODER.raw_decode(text, at)
        return freeze(value), end
    except (ValueError, NotJson, RecursionError) as problem:
        if _is_prose(text, at, problem):
            return Broken(), at + 1
        return Broken(f"- the JSON value is broken: {problem}"), _closed(text, at)


def _is_prose(text: str, at: int, problem: Exception) -> bool:
    """Whether nothing that follows a bracket is JSON, or it opens an interval."""
    if not isinstance(problem, json.JSONDecodeError):
        return False
    if INTERVAL.match(text, at):
        return True
    read = text[at + 1 : problem.pos].strip()
    return not read and not LIKE_JSON.match(text, problem.pos)


def _closed(text: str, at: int) -> int:
    """Where the bracket at this place is closed, brackets in strings aside; else the end."""
    depth = 0
    for token in BRACKETS.finditer(text, at):
        depth += DEEPER.get(token[0], 0)
        if not depth:
            return token.end()
    return len(text)


BRACKETS: Final = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)
LIKE_JSON: Final = re.compile(r""""|'?\w+'?\s*:|\Z""")
INTERVAL: Final = re.compile(r'\[[^\[\]{}"()]*\)')
"""Such as [0, 1), which no other bracket closes: what follows would be taken as inside."""
DEEPER: Final = {"[": 1, "{": 1, "]": -1, "}": -1}


def _next(text: str, at: int) -> int:
    """Where the next object or array may begin."""
    found = [place for place in (text.find("{", at), text.find("[", at)) if place >= 0]
    return min(found, default=-1)


DECODER: Final = json.JSONDecoder(parse_constant=refuse_constant)


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
    return short(repeatable(said), LONGEST)


LONGEST: Final = 2000
