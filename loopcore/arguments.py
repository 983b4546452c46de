"""Do arguments fit their tool? Coerced where the meaning is plain, then validated.

Models write "3" for 3. What is valid as it stands is never touched, null never coerced,
and a schema, whoever wrote it, can neither raise here nor reach for the network.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any, Final, TypeAlias, TypeGuard
from urllib.parse import unquote

from attrs import field, frozen
from jsonschema_rs import (
    FancyRegexOptions,
    ValidationError,
    ValidationErrorKind,
    Validator,
    ValidatorMap,
    validator_for,
    validator_map_for,
)
from returns.result import Failure, Success

from loopcore.frozen import FrozenDict, Json, dump_json, parse_json
from loopcore.tools import ToolSpec

Fitting: TypeAlias = Success[FrozenDict[Json]] | Failure[str]

STEPS: Final = 10_000
"""How many places coercion looks at: schemas can refer to themselves without end."""

SHOWN: Final = 50
"""How many problems, at most, a model is told of at once."""

BACKTRACKS: Final = 10_000
"""How far a pattern may search back, so that none can hang: half a millisecond."""

NUMBER: Final = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
LONGEST_NUMBER: Final = 400
EXACT: Final = 2**53


def arguments_for(spec: ToolSpec, arguments: FrozenDict[Json]) -> Fitting:
    """The arguments as the tool is to get them, or what the model reads instead.

    If nothing had to be coerced, the very same object comes back.
    """
    try:
        fitted = fit(spec.parameters, arguments)
    except BrokenSchema as broken:
        return Failure(_broken(spec, str(broken)))
    if isinstance(fitted, Success):
        return fitted
    return Failure(_misfit(spec, arguments, fitted.failure()))


class BrokenSchema(ValueError):
    """A schema that says nothing, since it is no JSON Schema."""


def fit(
    schema: FrozenDict[Json], value: Json, name: str = "the arguments"
) -> Success[Any] | Failure[list[str]]:
    """The value as the schema wants it, coerced where that is plain, or every problem.

    Raises:
        BrokenSchema: saying what is wrong with the schema.
    """
    text = dump_json(schema)
    whole = _whole_check(text)
    if isinstance(whole, str):
        raise BrokenSchema(whole)
    if whole.is_valid(value):
        return Success(value)
    fitted = _fit(_Place(_shape(text)), value)
    problems = [_sentence(problem, name) for problem in whole.iter_errors(fitted)]
    return Failure(problems) if problems else Success(fitted)


# The sentences.


def _broken(spec: ToolSpec, problem: str) -> str:
    return (
        f"The tool {spec.name!r} cannot be called: the schema of its parameters is "
        f"broken ({problem}). No arguments would fit; go on without this tool."
    )


def _misfit(spec: ToolSpec, arguments: FrozenDict[Json], problems: list[str]) -> str:
    more = [f"... and {len(problems) - SHOWN} more"] if len(problems) > SHOWN else []
    listed = "\n".join(f"- {problem}" for problem in problems[:SHOWN] + more)
    return (
        f"The arguments do not fit the tool {spec.name!r}; it was not run:\n{listed}\n"
        f"Received: {_short(dump_json(arguments), 2000)}\n"
        "Call it again with arguments that fit."
    )


def _sentence(problem: ValidationError, whole: str) -> str:
    return f"{_path(problem.instance_path) or whole}: {_reason(problem)}"


def _path(steps: Iterable[str | int]) -> str:
    said = "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in steps)
    return said and repr(said.removeprefix("."))


def _reason(problem: ValidationError) -> str:
    kind = problem.kind
    if not isinstance(kind, ALTERNATIVES):
        return _short(problem.message)
    tried = (branch[0].message for branch in kind.context[:5] if branch)
    return f"fits none of its alternatives ({'; '.join(map(_short, tried))})"


ALTERNATIVES: Final = (ValidationErrorKind.AnyOf, ValidationErrorKind.OneOfNotValid)


def _short(text: str, most: int = 200) -> str:
    return text if len(text) <= most else f"{text[:most]}... ({len(text)} characters)"


# Schemas, compiled once each. They are known by their text, because as Python values
# {"const": 1} and {"const": true} are equal.


@lru_cache(maxsize=512)
def _whole_check(schema: str) -> Validator | str:
    """The validator, or what is wrong with the schema."""
    try:
        return validator_for(parse_json(schema), **RULES)
    except ValidationError as problem:
        return _sentence(problem, "at its top")
    except ValueError as problem:  # pragma: no cover  # no way to it is known
        return _short(str(problem))


@frozen
class _Shape:
    """A schema to coerce by: `checks` has a validator for each subschema's pointer."""

    schema: Json
    checks: ValidatorMap


@lru_cache(maxsize=512)
def _shape(schema: str) -> _Shape:
    parsed = parse_json(schema)
    return _Shape(parsed, validator_map_for(parsed, **RULES))


RULES: Final[dict[str, Any]] = {
    "offline": True,
    "pattern_options": FancyRegexOptions(backtrack_limit=BACKTRACKS),
}


# Coercion. A place is where in the schema a value is looked at.


@frozen
class _Place:
    shape: _Shape
    at: str = "#"
    seen: frozenset[str] = frozenset()
    steps: Iterator[int] = field(factory=lambda: iter(range(STEPS)))

    @property
    def schema(self) -> Json:
        return _find(self.shape.schema, self.at)

    def below(self, *names: str | int, seen: frozenset[str] = frozenset()) -> "_Place":
        """A subschema. What was `seen` counts only while the value is the same one."""
        at = "/".join((self.at, *map(_escape, names)))
        return _Place(self.shape, at, seen, self.steps)

    def beside(self, *names: str | int) -> "_Place":
        """A subschema for the same value."""
        return self.below(*names, seen=self.seen)

    def accepts(self, value: Json) -> bool:
        check = self.shape.checks.get(self.at)
        return check is None or check.is_valid(value)


def _escape(name: str | int) -> str:
    return str(name).replace("~", "~0").replace("/", "~1")


def _find(schema: Json, pointer: str) -> Json:
    for name in pointer.split("/")[1:]:
        name = name.replace("~1", "/").replace("~0", "~")  # noqa: PLW2901  # unescaped
        schema = schema[int(name) if _is_array(schema) else name]
    return schema


def _fit(place: _Place, value: Json) -> Json:
    """The value, made to fit where that takes no guessing; itself if it fits."""
    if place.accepts(value) or next(place.steps, None) is None:
        return value
    schema = place.schema
    for keyword, fit in KEYWORDS.items() if _is_object(schema) else ():
        if keyword in schema:
            value = fit(place, schema[keyword], value)
    return value


def _fit_reference(place: _Place, target: Json, value: Json) -> Json:
    target = unquote(target)
    if target in place.seen or target not in place.shape.checks:
        return value
    return _fit(_Place(place.shape, target, place.seen | {target}, place.steps), value)


def _fit_all(place: _Place, branches: Json, value: Json) -> Json:
    for n in range(len(branches)):
        value = _fit(place.beside("allOf", n), value)
    return value


def _fit_any(keyword: str) -> "_Fit":
    """The first branch under which the coerced value is valid."""

    def fit(place: _Place, branches: Json, value: Json) -> Json:
        places = [place.beside(keyword, n) for n in range(len(branches))]
        if any(branch.accepts(value) for branch in places):
            return value
        made = ((branch, _fit(branch, value)) for branch in places)
        return next((new for branch, new in made if branch.accepts(new)), value)

    return fit


def _fit_type(place: _Place, types: Json, value: Json) -> Json:
    """The first type that gives a valid value; if none does, the first it can be."""
    names = (types,) if isinstance(types, str) else types
    if any(_is(name, value) for name in names):
        return value
    made = [new for name in names if (new := _cast(name, value)) is not None]
    return next((new for new in made if place.accepts(new)), made[0] if made else value)


def _fit_properties(place: _Place, properties: Json, value: Json) -> Json:
    if not _is_object(value):
        return value
    return _each(value, {key: ("properties", key) for key in properties}, place)


def _fit_others(place: _Place, _: Json, value: Json) -> Json:
    if not _is_object(value) or "patternProperties" in place.schema:
        return value
    others = value.keys() - place.schema.get("properties", {}).keys()
    return _each(value, dict.fromkeys(others, ("additionalProperties",)), place)


def _each(
    value: FrozenDict[Json], paths: dict[str, tuple[str, ...]], place: _Place
) -> FrozenDict[Json]:
    made = {
        key: _fit(place.below(*paths[key]), item) if key in paths else item
        for key, item in value.items()
    }
    same = all(made[key] is value[key] for key in value)
    return value if same else FrozenDict(made)


def _fit_items(keyword: str) -> "_Fit":
    """Item by item: several schemas are for the first ones, one is for the rest."""

    def fit(place: _Place, schemas: Json, value: Json) -> Json:
        if not _is_array(value):
            return value
        if _is_array(schemas):
            places = [place.below(keyword, n) for n in range(len(schemas))]
            return _first_items(places, value)
        first = place.schema.get("prefixItems")
        start = len(first) if _is_array(first) else 0
        return _first_items([place.below(keyword)] * len(value), value, start)

    return fit


def _first_items(places: list[_Place], value: Json, start: int = 0) -> Json:
    rest = value[start:]
    made = tuple(map(_fit, places, rest))
    if all(map(_same, made, rest)):
        return value
    return (*value[:start], *made, *rest[len(made) :])


def _same(one: object, other: object) -> bool:
    return one is other


def _is_object(value: Json) -> TypeGuard[FrozenDict[Json]]:
    return isinstance(value, FrozenDict)


def _is_array(value: Json) -> TypeGuard[tuple[Json, ...]]:
    return isinstance(value, tuple)


_Fit: TypeAlias = Callable[[_Place, Json, Json], Json]
KEYWORDS: Final[dict[str, _Fit]] = {
    "$ref": _fit_reference,
    "allOf": _fit_all,
    "anyOf": _fit_any("anyOf"),
    "oneOf": _fit_any("oneOf"),
    "type": _fit_type,
    "properties": _fit_properties,
    "additionalProperties": _fit_others,
    "prefixItems": _fit_items("prefixItems"),
    "items": _fit_items("items"),
}


# Scalars.


def _is(name: str, value: Json) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    if isinstance(value, float) and name == "integer":
        return value.is_integer()
    return isinstance(value, KINDS[name])


KINDS: Final[dict[str, type | tuple[type, ...]]] = {
    "null": type(None),
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "string": str,
    "array": tuple,
    "object": FrozenDict,
}


def _cast(name: str, value: Json) -> Json:
    """The scalar as this type, None if that would be a guess."""
    made: Json = None
    match name, value:
        case "string", bool() | int() | float():
            made = dump_json(value)
        case (("number" | "integer"), bool()):
            made = int(value)
        case "number", str():
            made = _number(value)
        case "integer", str():
            made = _whole(_number(value))
        case "boolean", "true" | "false":
            made = value == "true"
        case "boolean", 0 | 1:
            made = bool(value)
        case _:
            pass
    return made


def _number(text: str) -> int | float | None:
    if len(text) > LONGEST_NUMBER or not NUMBER.fullmatch(text):
        return None
    if text.removeprefix("-").isdigit():
        return int(text)
    return number if math.isfinite(number := float(text)) else None


def _whole(number: float | None) -> int | None:
    if not isinstance(number, float):
        return number
    return int(number) if number.is_integer() and abs(number) < EXACT else None
