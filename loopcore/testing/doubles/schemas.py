"""A JSON Schema read as one plain set of demands: references followed, choices made."""

import math
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

from attrs import define

from loopcore.fan import is_array, is_object
from loopcore.frozen import EMPTY, FrozenDict, Json, dump_json

Schema: TypeAlias = Any
"""True, False, or an object of keywords."""

LOOKS: Final = 5_000
"""How many subschemas are looked at for one value: schemas may lead to themselves."""


class NoValue(ValueError):
    """Why nothing can be made of a schema along the way that was chosen."""


DEEPEST: Final = 60
"""How deep references and alternatives may lead into each other."""


@define
class Reading:
    """A schema being read, with what all its references start from."""

    root: Schema
    looks: int = 0
    depth: int = 0

    def flat(self, schema: Schema, random: Random, *, plain: bool) -> FrozenDict[Json]:
        """Its demands in one object; of alternatives the plainest, or one by chance.

        Raises:
            NoValue: if they contradict each other, or go on without end.
        """
        self.looks += 1
        if schema is False:
            raise NoValue(NOTHING)
        if self.looks > LOOKS:
            raise NoValue(TOO_LARGE)
        if self.depth > DEEPEST:
            raise NoValue(ENDLESS)
        if not is_object(schema):
            return EMPTY
        self.depth += 1
        demands = self._all(schema, random, plain=plain)
        self.depth -= 1
        return demands

    def _all(
        self, schema: FrozenDict[Json], random: Random, *, plain: bool
    ) -> FrozenDict[Json]:
        own = {key: value for key, value in schema.items() if key not in JOINING}
        demands = FrozenDict(own)
        for part in self._parts(schema, random):
            demands = both(demands, self.flat(part, random, plain=plain))
        for keyword in ALTERNATIVES:
            if schema.get(keyword):
                options = _ordered(schema[keyword], random, plain=plain)
                demands = self._first(demands, options, random, plain=plain)
        return demands

    def _parts(self, schema: FrozenDict[Json], random: Random) -> Iterator[Schema]:
        """What has to fit as well."""
        for keyword in REFERENCES:
            if keyword in schema:
                yield self._target(schema[keyword])
        yield from schema.get("allOf", ())
        if "if" in schema:
            yield from _branch(schema, random)

    def _first(
        self,
        demands: FrozenDict[Json],
        options: list[Schema],
        random: Random,
        *,
        plain: bool,
    ) -> FrozenDict[Json]:
        """The demands with the first alternative that does not contradict them."""
        problem, depth = NoValue("it has no alternatives"), self.depth
        for option in options:
            self.depth = depth
            try:
                return both(demands, self.flat(option, random, plain=plain))
            except NoValue as found:
                problem = found
        raise problem

    def _target(self, reference: str) -> Schema:
        """Where a reference leads, within this schema."""
        _, _, place = unquote(reference).partition("#")
        found: Schema = self.root
        if place and not place.startswith("/"):
            found = _anchored(self.root, place)
        for name in place.split("/")[1:]:
            found = _below(found, name.replace("~1", "/").replace("~0", "~"))
        if found is None:
            message = f"its reference {reference!r:.80} leads nowhere in the schema"
            raise NoValue(message)
        return found


NOTHING: Final = "nothing fits a part of it that is false"
TOO_LARGE: Final = f"it is too large: it has more than {LOOKS:,} parts to be made"
ENDLESS: Final = "it leads to itself without end"
REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
ALTERNATIVES: Final = ("anyOf", "oneOf")
BRANCHES: Final = ("if", "then", "else")
JOINING: Final = frozenset(
    (*REFERENCES, *ALTERNATIVES, *BRANCHES, "allOf", "$defs", "definitions")
)


def _branch(schema: FrozenDict[Json], random: Random) -> Iterator[Schema]:
    """Either what is asked and what follows from it, or the other way."""
    if random.getrandbits(1):
        yield schema["if"]
        yield schema.get("then", True)
    else:
        yield schema.get("else", True)


def _ordered(options: Json, random: Random, *, plain: bool) -> list[Schema]:
    listed = list(options)
    if plain:
        return sorted(listed, key=_size)
    random.shuffle(listed)
    return listed


def _size(schema: Schema) -> tuple[int, int]:
    """How much there is to it; most of all where it leads on."""
    text = dump_json(schema)
    return text.count('"$ref"'), len(text)


def _below(schema: Json, name: str) -> Json:
    if is_object(schema):
        return schema.get(name)
    inside = is_array(schema) and name.isdecimal() and int(name) < len(schema)
    return schema[int(name)] if inside else None


def _anchored(schema: Json, name: str) -> Schema:
    """The first subschema that calls itself by this name."""
    if is_object(schema):
        if name in (schema.get("$anchor"), schema.get("$dynamicAnchor")):
            return schema
        schema = tuple(schema.values())
    inner = schema if is_array(schema) else ()
    return next((f for s in inner if (f := _anchored(s, name)) is not None), None)


# Two sets of demands as one.


def both(one: FrozenDict[Json], other: FrozenDict[Json]) -> FrozenDict[Json]:
    """What fits this has to fit each of them, as far as keywords can say it together.

    Raises:
        NoValue: for types or choices that have nothing in common.
    """
    if not one or not other:
        return one or other
    shared = {
        key: JOINS.get(key, _later)(one[key], other[key]) for key in one if key in other
    }
    return FrozenDict({**one, **other, **shared})


def _later(_: Json, new: Json) -> Json:
    return new


def kinds(found: Json) -> tuple[str, ...]:
    """Types, as a schema names one or several."""
    return (found,) if isinstance(found, str) else tuple(found)


def _types(one: Json, other: Json) -> Json:
    first, second = kinds(one), kinds(other)
    if "number" in first or "number" in second:
        first, second = _with_integers(first), _with_integers(second)
    return _some([kind for kind in first if kind in second], "types")


def _with_integers(found: tuple[str, ...]) -> tuple[str, ...]:
    return (
        (*found, "integer") if "number" in found and "integer" not in found else found
    )


def _choices(one: Json, other: Json) -> Json:
    texts = set(map(dump_json, other))
    return _some([value for value in one if dump_json(value) in texts], "choices")


def _some(shared: list[Json], what: str) -> Json:
    if not shared:
        message = f"two of its parts have no {what} in common"
        raise NoValue(message)
    return tuple(shared)


def _every(one: Json, other: Json) -> Json:
    return FrozenDict(allOf=(one, other))


def _each(one: Json, other: Json) -> Json:
    shared = {name: _every(one[name], other[name]) for name in one if name in other}
    return FrozenDict({**one, **other, **shared})


def _union(one: Json, other: Json) -> Json:
    return tuple(dict.fromkeys((*one, *other)))


def _multiple(one: Json, other: Json) -> Json:
    whole = isinstance(one, int) and isinstance(other, int)
    return math.lcm(one, other) if whole else max(one, other)


def _either(one: Json, other: Json) -> Json:
    return one or other


JOINS: Final[dict[str, Callable[[Json, Json], Json]]] = {
    "type": _types,
    "enum": _choices,
    "required": _union,
    "properties": _each,
    "patternProperties": _each,
    "additionalProperties": _every,
    "propertyNames": _every,
    "items": _every,
    "contains": _every,
    "uniqueItems": _either,
    "multipleOf": _multiple,
    **dict.fromkeys(("minimum", "minLength", "minItems", "minProperties"), max),
    **dict.fromkeys(("maximum", "maxLength", "maxItems", "maxProperties"), min),
    **dict.fromkeys(("exclusiveMinimum", "minContains"), max),
    **dict.fromkeys(("exclusiveMaximum", "maxContains"), min),
}
