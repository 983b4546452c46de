"""How often, at most, checking against a schema looks at one value.

A few hundred characters of JSON Schema can ask for more looks than there is time: each of
forty definitions need only name the next one twice.
"""

from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias, TypeGuard
from urllib.parse import unquote

from attrs import define, field, frozen

from loopcore.frozen import FrozenDict, Json

MOST: Final = 10_000
"""Looks at one value. Schemas that people write need some tens."""

DEEPEST: Final = 120
"""How many schemas may lie in, or refer to, one another before one repeats."""

Names: TypeAlias = dict[str, list[Json]]

REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
ANCHORS: Final = ("$anchor", "$dynamicAnchor")
IDS: Final = ("$id", "id")
LISTS: Final = ("allOf", "anyOf", "oneOf")
SINGLES: Final = ("not", "if", "then", "else")
MAPS: Final = ("dependentSchemas", "dependencies")


@frozen
class Fan:
    """How often one value is looked at (above MOST: how often is unknown).

    What `repeats` is counted once, since validators remember what they said of a value.
    """

    looks: int
    repeats: bool


def fan(schema: Json) -> Fan:
    """How wide a schema spreads."""
    count = _Count(schema, _named(schema))
    return Fan(count.at(schema), count.repeats)


@define
class _Count:
    """Each schema is counted once, known by its identity."""

    whole: Json
    names: Names
    known: dict[int, int] = field(factory=dict[int, int])
    open: list[int] = field(factory=list[int])
    repeats: bool = False

    def at(self, schema: Json) -> int:
        if not is_object(schema):
            return 1
        key = id(schema)
        self.repeats = self.repeats or key in self.open
        if key not in self.known:
            self.known[key] = self._first(schema, key)
        return self.known[key]

    def _first(self, schema: FrozenDict[Json], key: int) -> int:
        if len(self.open) > DEEPEST:
            return MOST + 1
        self.known[key] = 1
        self.open.append(key)
        count = 1 + self._beside(schema) + self._below(schema)
        self.open.pop()
        return min(count, MOST + 1)

    def _beside(self, schema: FrozenDict[Json]) -> int:
        """What looks at the same value adds up."""
        branches = [b for name in LISTS for b in _items(schema, name)]
        branches += [schema[name] for name in SINGLES if name in schema]
        branches += [b for name in MAPS for b in _values(schema, name)]
        total = 0
        for branch in branches:
            total += self.at(branch)
        for name in REFERENCES:
            total += self._most(_targets(self.whole, self.names, schema.get(name)))
        return total

    def _below(self, schema: FrozenDict[Json]) -> int:
        """Each part of a value has one property's schema, but all patterns may match."""
        keys = self._most(_values(schema, "properties"))
        for branch in _values(schema, "patternProperties"):
            keys += self.at(branch)
        others = self._of(schema, "additionalProperties")
        first = self._most(_items(schema, "prefixItems") + _items(schema, "items"))
        rest = max(self._of(schema, "items"), self._of(schema, "additionalItems"))
        found = self._of(schema, "contains") + self._of(schema, "unevaluatedItems")
        named = self._of(schema, "propertyNames")
        members = max(keys, others) + self._of(schema, "unevaluatedProperties")
        return named + max(members, max(first, rest) + found)

    def _of(self, schema: FrozenDict[Json], name: str) -> int:
        return self.at(schema[name]) if name in schema else 0

    def _most(self, schemas: Iterable[Json]) -> int:
        most = 0
        for schema in schemas:
            most = max(most, self.at(schema))
        return most


def _items(schema: FrozenDict[Json], name: str) -> list[Json]:
    found = schema.get(name)
    return list(found) if is_array(found) else []


def _values(schema: FrozenDict[Json], name: str) -> list[Json]:
    found = schema.get(name)
    return list(found.values()) if is_object(found) else []


# References. One that could mean several schemas counts as the widest.


def _named(whole: Json) -> Names:
    """Every schema that has a name, and "" for whatever pointers may start from."""
    names: Names = {"": [whole]}
    for here in _objects_in(whole):
        for name in _names_of(here):
            names.setdefault(name, []).append(here)
    return names


def _objects_in(whole: Json) -> Iterator[FrozenDict[Json]]:
    left = [whole]
    while left:
        here = left.pop()
        if is_array(here):
            left += here
        elif is_object(here):
            left += here.values()
            yield here


def _names_of(schema: FrozenDict[Json]) -> list[str]:
    anchors = [f"#{schema[a]}" for a in ANCHORS if isinstance(schema.get(a), str)]
    ids = [schema[i] for i in IDS if isinstance(schema.get(i), str)]
    return [*anchors, *(_last(i) for i in ids), *(["", *ids] if ids else [])]


def _last(uri: str) -> str:
    """The end of an address: what it is relative to is not looked at."""
    base, _, fragment = uri.partition("#")
    return base.rpartition("/")[2] or f"#{fragment}"


def _targets(whole: Json, names: Names, reference: Json) -> list[Json]:
    if not isinstance(reference, str):
        return []
    base, _, fragment = unquote(reference).partition("#")
    starts = names.get(_last(base) if base else "", [whole])
    if fragment and not fragment.startswith("/"):
        return names.get(f"#{fragment}", [])
    found = [_pointed(start, fragment) for start in starts]
    return [target for target in found if target is not None]


def _pointed(schema: Json, pointer: str) -> Json:
    """What a pointer leads to, None if nothing is there."""
    for name in pointer.split("/")[1:]:
        schema = _part(schema, name.replace("~1", "/").replace("~0", "~"))
    return schema


def _part(schema: Json, name: str) -> Json:
    if is_object(schema):
        return schema.get(name)
    items = list(schema) if is_array(schema) else []
    found = name.isdecimal() and len(name) <= MOST_DIGITS and int(name) < len(items)
    return items[int(name)] if found else None


MOST_DIGITS: Final = 6


# Kinds of JSON.


def is_object(value: Json) -> TypeGuard[FrozenDict[Json]]:
    """Whether it is a JSON object."""
    return isinstance(value, FrozenDict)


def is_array(value: Json) -> TypeGuard[tuple[Json, ...]]:
    """Whether it is a JSON array."""
    return isinstance(value, tuple)
