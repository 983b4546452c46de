"""Where a value does not fit its schema, in sentences, within a bounded number of looks."""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, Final, TypeAlias

from attrs import define, field
from jsonschema_rs import ValidationError, Validator, validator_for

from loopcore.fan import is_array, is_object
from loopcore.frozen import FrozenDict, Json
from loopcore.schemas import (
    ALTERNATIVES,
    RULES,
    Place,
    Shape,
    path,
    reason,
    sentence,
    short,
)

SHOWN: Final = 50
"""How many problems, at most, a model is told of at once."""

Steps: TypeAlias = tuple[str | int, ...]


def listed(problems: list[str]) -> str:
    """The problems, one a line, as many as anybody reads."""
    more = [f"... and {len(problems) - SHOWN} more"] if len(problems) > SHOWN else []
    return "\n".join(f"- {problem}" for problem in problems[:SHOWN] + more)


def misfits(whole: Validator, shape: Shape, value: Json, name: str) -> list[str]:
    """Every problem of a value that does not fit.

    A validator lists them itself, but of alternatives it says no more than that none fits,
    and along nested ones its list doubles with each level of the value: these are walked.
    """
    found = () if shape.walked else tuple(whole.iter_errors(value))
    if found and not any(isinstance(problem.kind, ALTERNATIVES) for problem in found):
        return [sentence(problem, name) for problem in found]
    walk = _Walk(name)
    try:
        walk.look(Place(shape), value, ())
    except RecursionError:
        walk.note((), "does not fit")
    return list(walk.problems) or [f"{name}: does not fit"]


@define
class _Walk:
    """Only what does not fit is followed, and of alternatives only the one meant."""

    name: str
    problems: dict[str, None] = field(factory=dict[str, None])
    noted: int = 0

    def note(self, steps: Steps, problem: str) -> None:
        """Say it once."""
        self.noted += 1
        self.problems[f"{path(steps) or self.name}: {problem}"] = None

    def look(self, place: Place, value: Json, steps: Steps) -> None:
        """Note what is wrong here and below."""
        if place.accepts(value) or next(place.steps, None) is None:
            return
        before, schema = self.noted, place.schema
        for problem in _own_problems(place, value):
            self.note((*steps, *problem.instance_path), reason(problem))
        for keyword, look in LOOKS.items() if is_object(schema) else ():
            if keyword in schema:
                look(self, place, value, steps)
        if self.noted == before:
            self._look_whole(place, value, steps)

    def _look_whole(self, place: Place, value: Json, steps: Steps) -> None:
        """Note what a validator says, where it is under a keyword that is not walked."""
        listed = () if place.shape.walked else place.problems(value)
        for problem in listed:
            self.note((*steps, *problem.instance_path), reason(problem))
        if not listed:
            self.note(steps, _unexplained(place.schema))


def _unexplained(schema: Json) -> str:
    others = [repr(k) for k in schema if k in OTHERS] if is_object(schema) else []
    return f"does not fit what its schema says under {', '.join(others) or 'its name'}"


OTHERS: Final = frozenset(
    (
        "not",
        "if",
        "dependentSchemas",
        "dependencies",
        "contains",
        "propertyNames",
        "patternProperties",
        "unevaluatedProperties",
        "unevaluatedItems",
        "additionalItems",
        "$dynamicRef",
        "$ref",
    )
)


# What a schema says of a value itself, without its parts.


def _own_problems(place: Place, value: Json) -> Iterable[ValidationError]:
    check = _own_check(place.shape, place.at, OWN)
    return check.iter_errors(value) if check else ()


@lru_cache(maxsize=4096)
def _own_check(shape: Shape, at: str, keywords: frozenset[str]) -> Validator | None:
    """A validator of these keywords alone."""
    schema = Place(shape, at).schema
    if not is_object(schema):
        return validator_for(schema) if isinstance(schema, bool) else None
    own: dict[str, Any] = {k: v for k, v in schema.items() if k in keywords}
    if keywords is OWN and schema.get("additionalProperties") is False:
        own |= {"additionalProperties": False, **_allowed(schema)}
    if is_object(shape.schema) and "$schema" in shape.schema:
        own["$schema"] = shape.schema["$schema"]
    try:
        return validator_for(own, **RULES)
    except ValueError:
        return None


def _allowed(schema: FrozenDict[Json]) -> dict[str, Json]:
    names = ("properties", "patternProperties")
    found = [n for n in names if is_object(schema.get(n))]
    return {n: dict.fromkeys(schema[n], True) for n in found}


TAGS: Final = frozenset(("const", "enum"))
KIND: Final = TAGS | {"type"}
OWN: Final = KIND | frozenset(
    (
        "multipleOf",
        "maximum",
        "exclusiveMaximum",
        "minimum",
        "exclusiveMinimum",
        "maxLength",
        "minLength",
        "pattern",
        "maxItems",
        "minItems",
        "uniqueItems",
        "maxProperties",
        "minProperties",
        "required",
        "dependentRequired",
        "format",
    )
)


# Its parts.

_Look: TypeAlias = Callable[[_Walk, Place, Json, Steps], None]


def _look_at_reference(walk: _Walk, place: Place, value: Json, steps: Steps) -> None:
    found = place.target(place.schema["$ref"])
    if found:
        walk.look(found, value, steps)


def _look_at_all(walk: _Walk, place: Place, value: Json, steps: Steps) -> None:
    for n in range(len(place.schema["allOf"])):
        walk.look(place.beside("allOf", n), value, steps)


def _look_at_properties(walk: _Walk, place: Place, value: Json, steps: Steps) -> None:
    for name in place.schema["properties"] if is_object(value) else ():
        if name in value:
            walk.look(place.below("properties", name), value[name], (*steps, name))


def _look_at_others(walk: _Walk, place: Place, value: Json, steps: Steps) -> None:
    schema = place.schema
    if not is_object(schema["additionalProperties"]) or "patternProperties" in schema:
        return
    for name in value if is_object(value) else ():
        if name not in schema.get("properties", {}):
            below = place.below("additionalProperties")
            walk.look(below, value[name], (*steps, name))


def _look_at_items(walk: _Walk, place: Place, value: Json, steps: Steps) -> None:
    for n, item in enumerate(value) if is_array(value) else ():
        below = _item(place, n)
        if below:
            walk.look(below, item, (*steps, n))


def _item(place: Place, n: int) -> Place | None:
    """Where item n is looked at."""
    for keyword in ("prefixItems", "items"):
        schemas = place.schema.get(keyword)
        if is_array(schemas) and n < len(schemas):
            return place.below(keyword, n)
        if schemas is not None and not is_array(schemas):
            return place.below(keyword)
    return None


def _look_at_alternatives(keyword: str) -> _Look:
    def look(walk: _Walk, place: Place, value: Json, steps: Steps) -> None:
        places = [place.beside(keyword, n) for n in range(len(place.schema[keyword]))]
        fitting = sum(branch.accepts(value) for branch in places)
        if fitting:
            if fitting > 1 and keyword == "oneOf":
                walk.note(steps, "fits several of its alternatives, not one")
            return
        meant = [branch for branch in places if _is_meant(branch, value)]
        if len(meant) == 1:
            walk.look(meant[0], value, steps)
        else:
            walk.note(steps, _none_of(meant or places, value))

    return look


def _none_of(places: list[Place], value: Json) -> str:
    tried = dict.fromkeys(w for place in places[:5] for w in _why_not(place, value))
    why = f" ({'; '.join(tried)})" if tried else ""
    return f"fits none of its alternatives{why}"


def _why_not(place: Place, value: Json) -> list[str]:
    """The first reason, if it lies in the value itself or in what tells it apart."""
    place = _resolved(place)
    for problem in _own_problems(place, value):
        return [short(problem.message)]
    for name, tag in _tags(place, value):
        for problem in _own_problems(tag, value[name]):
            return [f"{name!r}: {short(problem.message)}"]
    return []


def _is_meant(place: Place, value: Json) -> bool:
    """Whether its type and its constants are those of this alternative."""
    place = _resolved(place)
    tags = _tags(place, value)
    return _is_kind(place, value) and all(_is_kind(t, value[n]) for n, t in tags)


def _is_kind(place: Place, value: Json) -> bool:
    check = _own_check(place.shape, place.at, KIND)
    return check is None or check.is_valid(value)


def _tags(place: Place, value: Json) -> list[tuple[str, Place]]:
    """The properties of a value that have a constant to be."""
    schema = place.schema
    named = schema.get("properties") if is_object(schema) else None
    if not is_object(named) or not is_object(value):
        return []
    places = [(n, _resolved(place.below("properties", n))) for n in named if n in value]
    return [(n, p) for n, p in places if is_object(p.schema) and TAGS & p.schema.keys()]


def _resolved(place: Place) -> Place:
    """Where references lead to, as far as they lead."""
    while is_object(place.schema) and isinstance(place.schema.get("$ref"), str):
        found = place.target(place.schema["$ref"])
        if not found:
            break
        place = found
    return place


LOOKS: Final[dict[str, _Look]] = {
    "$ref": _look_at_reference,
    "allOf": _look_at_all,
    "anyOf": _look_at_alternatives("anyOf"),
    "oneOf": _look_at_alternatives("oneOf"),
    "properties": _look_at_properties,
    "additionalProperties": _look_at_others,
    "items": _look_at_items,
}
