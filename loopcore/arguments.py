"""Do arguments fit their tool? Coerced where the meaning is plain, then validated.

Models write "3" for 3. What is valid as it stands is never touched, null never coerced.
"""

import math
import re
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from returns.result import Failure, Success

from loopcore.fan import is_array, is_object
from loopcore.frozen import FrozenDict, Json, dump_json
from loopcore.misfits import listed, misfits
from loopcore.schemas import (
    BrokenSchema,
    Place,
    Shape,
    shape_at,
    short,
    whole_check,
)
from loopcore.tools import ToolSpec

Fitting: TypeAlias = Success[FrozenDict[Json]] | Failure[str]

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


def fit(
    schema: FrozenDict[Json], value: Json, name: str = "the arguments"
) -> Success[Any] | Failure[list[str]]:
    """The value as the schema wants it, coerced where that is plain, or every problem.

    Raises:
        BrokenSchema: saying what is wrong with the schema.
    """
    text = dump_json(schema)
    whole = whole_check(text)
    if isinstance(whole, str):
        raise BrokenSchema(whole)
    if whole.is_valid(value):
        return Success(value)
    shape = shape_at(text)
    fitted = _coerced(shape, value)
    if whole.is_valid(fitted):
        return Success(fitted)
    return Failure(misfits(whole, shape, fitted, name))


def _coerced(shape: Shape, value: Json) -> Json:
    try:
        return _fit(Place(shape), value)
    except RecursionError:
        return value


# The sentences.


def _broken(spec: ToolSpec, problem: str) -> str:
    return (
        f"The tool {spec.name!r} cannot be called: the schema of its parameters is "
        f"broken ({problem}). No arguments would fit; go on without this tool."
    )


def _misfit(spec: ToolSpec, arguments: FrozenDict[Json], problems: list[str]) -> str:
    return (
        f"The arguments do not fit the tool {spec.name!r}; it was not run:\n"
        f"{listed(problems)}\n"
        f"Received: {short(dump_json(arguments), 2000)}\n"
        "Call it again with arguments that fit."
    )


def _fit(place: Place, value: Json) -> Json:
    """The value, made to fit where that takes no guessing; itself if it fits."""
    if place.accepts(value) or next(place.steps, None) is None:
        return value
    schema = place.schema
    for keyword, fit in KEYWORDS.items() if is_object(schema) else ():
        if keyword in schema:
            value = fit(place, schema[keyword], value)
    return value


def _fit_reference(place: Place, target: Json, value: Json) -> Json:
    found = place.target(target)
    return _fit(found, value) if found else value


def _fit_all(place: Place, branches: Json, value: Json) -> Json:
    for n in range(len(branches)):
        value = _fit(place.beside("allOf", n), value)
    return value


def _fit_any(keyword: str) -> "_Fit":
    """The first branch under which the coerced value is valid."""

    def fit(place: Place, branches: Json, value: Json) -> Json:
        places = [place.beside(keyword, n) for n in range(len(branches))]
        if any(branch.accepts(value) for branch in places):
            return value
        made = ((branch, _fit(branch, value)) for branch in places)
        return next((new for branch, new in made if branch.accepts(new)), value)

    return fit


def _fit_type(place: Place, types: Json, value: Json) -> Json:
    """The first type that gives a valid value; if none does, the first it can be."""
    names = (types,) if isinstance(types, str) else types
    if any(_is(name, value) for name in names):
        return value
    made = [new for name in names if (new := _cast(name, value)) is not None]
    return next((new for new in made if place.accepts(new)), made[0] if made else value)


def _fit_properties(place: Place, properties: Json, value: Json) -> Json:
    if not is_object(value):
        return value
    return _each(value, {key: ("properties", key) for key in properties}, place)


def _fit_others(place: Place, _: Json, value: Json) -> Json:
    if not is_object(value) or "patternProperties" in place.schema:
        return value
    others = value.keys() - place.schema.get("properties", {}).keys()
    return _each(value, dict.fromkeys(others, ("additionalProperties",)), place)


def _each(
    value: FrozenDict[Json], paths: dict[str, tuple[str, ...]], place: Place
) -> FrozenDict[Json]:
    made = {
        key: _fit(place.below(*paths[key]), item) if key in paths else item
        for key, item in value.items()
    }
    same = all(made[key] is value[key] for key in value)
    return value if same else FrozenDict(made)


def _fit_items(keyword: str) -> "_Fit":
    """Item by item: several schemas are for the first ones, one is for the rest."""

    def fit(place: Place, schemas: Json, value: Json) -> Json:
        if not is_array(value):
            return value
        if is_array(schemas):
            places = [place.below(keyword, n) for n in range(len(schemas))]
            return _first_items(places, value)
        first = place.schema.get("prefixItems")
        start = len(first) if is_array(first) else 0
        return _first_items([place.below(keyword)] * len(value), value, start)

    return fit


def _first_items(places: list[Place], value: Json, start: int = 0) -> Json:
    rest = value[start:]
    made = tuple(map(_fit, places, rest))
    if all(map(_same, made, rest)):
        return value
    return (*value[:start], *made, *rest[len(made) :])


def _same(one: object, other: object) -> bool:
    return one is other


_Fit: TypeAlias = Callable[[Place, Json, Json], Json]
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
