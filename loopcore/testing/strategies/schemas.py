"""Values that a JSON Schema allows, drawn the way that the schema is written."""

import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from attrs import frozen
from hypothesis import strategies as st

from loopcore.fan import is_array, is_object
from loopcore.frozen import EMPTY, FrozenDict, Json
from loopcore.testing.strategies.plain import KEYS, Drawn, jsons, texts

DEEPEST: Final = 12
"""How deep a value follows a schema that refers to itself."""


def values(schema: Json) -> Drawn[Json]:
    """Values for this schema; some may miss what it says in rarer words."""
    return _Reading(schema).values(schema, DEEPEST)


@frozen
class _Reading:
    """A schema, for those of its parts that refer to others."""

    whole: Json

    def values(self, schema: Json, depth: int) -> Drawn[Json]:
        """Values for a part of it."""
        if depth < 0 or schema is False:
            return st.nothing()
        if not is_object(schema) or not schema:
            return jsons(2)
        for word, read in WORDS.items():
            if word in schema:
                made: Drawn[Json] = read(self, schema, depth)
                return made
        return self.typed(schema, _types(schema), depth)

    def typed(
        self, schema: FrozenDict[Json], types: Iterable[str], depth: int
    ) -> Drawn[Json]:
        """Values of these types, one after the other."""
        made = (TYPES[name](self, schema, depth) for name in types if name in TYPES)
        return st.one_of(*made)

    def target(self, reference: str) -> Json:
        """What a reference within the schema stands for; anything, for others."""
        found = self.whole
        for name in reference.removeprefix("#").split("/")[1:]:
            key = name.replace("~1", "/").replace("~0", "~")
            found = found.get(key, True) if is_object(found) else True
        return found


def _types(schema: FrozenDict[Json]) -> tuple[str, ...]:
    """The types that it names, or else those that its words are about."""
    named = schema.get("type")
    if isinstance(named, str):
        return (named,)
    if is_array(named):
        return tuple(named)
    meant = tuple(kind for word, kind in ABOUT.items() if word in schema)
    return tuple(dict.fromkeys(meant)) or tuple(TYPES)


ABOUT: Final = {
    "properties": "object",
    "required": "object",
    "additionalProperties": "object",
    "items": "array",
    "prefixItems": "array",
    "minLength": "string",
    "maxLength": "string",
    "pattern": "string",
    "format": "string",
    "minimum": "number",
    "maximum": "number",
}


def _reference(reading: _Reading, schema: FrozenDict[Json], depth: int) -> Drawn[Json]:
    target = reading.target(schema["$ref"])
    return st.deferred(lambda: reading.values(target, depth - 1))


def _constant(_: _Reading, schema: FrozenDict[Json], __: int) -> Drawn[Json]:
    return st.just(schema["const"])


def _listed(_: _Reading, schema: FrozenDict[Json], __: int) -> Drawn[Json]:
    return st.sampled_from(schema["enum"]) if schema["enum"] else st.nothing()


def _alternatives(word: str) -> "Callable[[_Reading, FrozenDict[Json], int], Any]":
    def read(reading: _Reading, schema: FrozenDict[Json], depth: int) -> Drawn[Json]:
        rest = schema.without(word)
        branches = (
            FrozenDict({**rest, **b}) for b in schema[word] if is_object(b) and b
        )
        return st.one_of(*(reading.values(branch, depth - 1) for branch in branches))

    return read


def _all(reading: _Reading, schema: FrozenDict[Json], depth: int) -> Drawn[Json]:
    """All branches as one: what two of them say differently is the later one's."""
    joined: dict[str, Json] = dict(schema.without("allOf"))
    for branch in schema["allOf"]:
        found = reading.target(branch["$ref"]) if "$ref" in branch else branch
        properties = {**joined.get("properties", {}), **found.get("properties", {})}
        required = (*joined.get("required", ()), *found.get("required", ()))
        joined |= dict(found)
        joined |= {"properties": FrozenDict(properties)} if properties else {}
        joined |= {"required": required} if required else {}
    return reading.values(FrozenDict(joined), depth - 1)


WORDS: Final[dict[str, Callable[[_Reading, FrozenDict[Json], int], Any]]] = {
    "$ref": _reference,
    "const": _constant,
    "enum": _listed,
    "allOf": _all,
    "anyOf": _alternatives("anyOf"),
    "oneOf": _alternatives("oneOf"),
}


def _object(reading: _Reading, schema: FrozenDict[Json], depth: int) -> Drawn[Json]:
    properties: FrozenDict[Json] = schema.get("properties", EMPTY)
    required: tuple[str, ...] = schema.get("required", ())
    made = {
        name: reading.values(properties.get(name, True), depth - 1)
        for name in (*properties, *required)
    }
    needed = {name: made[name] for name in required}
    optional = {
        name: one
        for name, one in made.items()
        if name not in needed and one is not NONE
    }
    known = st.fixed_dictionaries(needed, optional=optional)
    more = schema.get("additionalProperties", True)
    if more is False:
        return known.map(FrozenDict)
    few = 0 if properties and more is True else 3
    least = max(0, schema.get("minProperties", 0) - len(needed))
    others = st.dictionaries(
        KEYS, reading.values(more, depth - 1), min_size=least, max_size=max(few, least)
    )
    return st.builds(_joined, known, others)


NONE: Final = st.nothing()


def _joined(known: dict[str, Json], others: dict[str, Json]) -> FrozenDict[Json]:
    return FrozenDict({**others, **known})


def _array(reading: _Reading, schema: FrozenDict[Json], depth: int) -> Drawn[Json]:
    first = schema.get("prefixItems", ())
    head = st.tuples(*(reading.values(item, depth - 1) for item in first))
    rest = schema.get("items", True)
    least = max(0, schema.get("minItems", 0) - len(first))
    most = schema.get("maxItems", len(first) + least + 3) - len(first)
    if rest is False or most <= 0:
        return head
    unique = {"unique_by": repr} if schema.get("uniqueItems") else EMPTY
    items = st.lists(
        reading.values(rest, depth - 1),
        min_size=least,
        max_size=min(most, least + 3),
        **unique,
    )
    return st.tuples(head, items).map(lambda both: (*both[0], *both[1]))


def _text(_: _Reading, schema: FrozenDict[Json], __: int) -> Drawn[Json]:
    if "pattern" in schema:
        return _matching(schema["pattern"])
    if "contentEncoding" in schema:
        return st.sampled_from(("", "aGk="))
    if schema.get("format") in FORMATS:
        return FORMATS[schema["format"]]
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    if most is None and least <= SHORT:
        return texts(least)
    return st.text(min_size=least, max_size=most if most is not None else least + SHORT)


SHORT: Final = 8


def _matching(pattern: str) -> Drawn[Json]:
    try:
        return st.from_regex(re.compile(pattern))
    except re.error:  # it is written in a dialect of its own
        return texts()


FORMATS: Final[dict[str, Drawn[str]]] = {
    "date": st.dates().map(lambda day: day.isoformat()),
    "date-time": st.datetimes().map(lambda at: at.isoformat() + "Z"),
    "time": st.times().map(lambda at: at.isoformat() + "Z"),
    "uuid": st.uuids().map(str),
    "email": st.emails(),
    "decimal": st.integers(-999, 999).map(str),
    "duration": st.integers(0, 99).map(lambda days: f"P{days}D"),
    "uri": st.sampled_from(("https://example.org", "https://example.org/a?b=c")),
    "ipv4": st.ip_addresses(v=4).map(str),
    "ipv6": st.ip_addresses(v=6).map(str),
}


def _bounds(schema: FrozenDict[Json], gap: float) -> tuple[Any, Any]:
    """The least and the greatest number, `gap` inside of what is excluded."""
    least = [schema["minimum"]] if "minimum" in schema else []
    most = [schema["maximum"]] if "maximum" in schema else []
    if "exclusiveMinimum" in schema:
        least.append(schema["exclusiveMinimum"] + gap)
    if "exclusiveMaximum" in schema:
        most.append(schema["exclusiveMaximum"] - gap)
    return max(least, default=None), min(most, default=None)


def _whole(_: _Reading, schema: FrozenDict[Json], __: int) -> Drawn[Json]:
    least, most = _bounds(schema, 1)
    step = schema.get("multipleOf", 1)
    if step != 1:
        low = -9 if least is None else -(-least // step)
        high = low + 18 if most is None else most // step
        return st.integers(int(low), int(high)).map(lambda n: n * step)
    low = None if least is None else -int(-least // 1)
    high = None if most is None else int(most // 1)
    near = st.integers(*_near(low, high))
    return near | st.integers(low, high) if low is None or high is None else near


def _near(low: int | None, high: int | None) -> tuple[int, int]:
    """A range that a person would think of."""
    if low is None:
        return (-FEW, FEW) if high is None else (high - FEW, high)
    return (low, low + FEW) if high is None else (low, high)


FEW: Final = 100


def _number(reading: _Reading, schema: FrozenDict[Json], depth: int) -> Drawn[Json]:
    if "multipleOf" in schema:
        return _whole(reading, schema, depth)
    least, most = _bounds(schema, 1e-6)
    fractions = st.floats(least, most, allow_nan=False, allow_infinity=False)
    return (
        fractions
        if least is not None or most is not None
        else st.integers(-9, 9) | fractions
    )


TYPES: Final[dict[str, Callable[[_Reading, FrozenDict[Json], int], Any]]] = {
    "object": _object,
    "string": _text,
    "integer": _whole,
    "number": _number,
    "boolean": lambda _, __, ___: st.booleans(),
    "null": lambda _, __, ___: st.none(),
    "array": _array,
}
