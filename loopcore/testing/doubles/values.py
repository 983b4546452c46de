"""Values that fit a JSON Schema, chosen by a seeded generator and always validated."""

import math
import re
from collections.abc import Callable, Iterable, Iterator
from random import Random
from typing import Final

from attrs import define, field

from loopcore.fan import is_array, is_object
from loopcore.frozen import EMPTY, FrozenDict, Json, dump_json, freeze
from loopcore.schemas import path, sentence, whole_check
from loopcore.testing.doubles.numbers import bounds, span, whole_step
from loopcore.testing.doubles.schemas import NoValue, Reading, Schema, kinds
from loopcore.testing.doubles.texts import NoPattern, matching, text_for, word

TRIES: Final = 60
"""How many values are made until one is valid."""

DEEP: Final = 4
"""Below this depth a value holds no more than it must."""

DEEPEST: Final = 40

MORE: Final = 2
"""How many items an array has, at most, beyond those that it must have."""


MANY: Final = 2_000
"""How many items or properties are made, at most, in one place."""

TOO_MANY: Final = "it wants {:,} {} or more, and {:,} at most are made"


class CannotMake(ValueError):
    """No value of a schema could be made: the sentence says what was in the way."""


def value_for(schema: Json, seed: object) -> Json:
    """A value that fits this schema; the same one for the same seed.

    Raises:
        CannotMake: if the schema is broken, or nothing that was tried fits it.
    """
    schema = freeze(schema)
    check = whole_check(dump_json(schema))
    if isinstance(check, str):
        message = f"the schema is broken: {check}"
        raise CannotMake(message)
    problem = ""
    for n in range(TRIES):
        making = _Making(Reading(schema), Random(f"{seed}.{n}"))  # noqa: S311  # to be repeated
        try:
            value = making.value(schema)
        except (NoValue, NoPattern, OverflowError) as found:
            why = BEYOND if isinstance(found, OverflowError) else found
            problem = f"{_where(making.steps)}: {why}"
            continue
        if check.is_valid(value):
            return value
        misfit = sentence(next(iter(check.iter_errors(value))), "all of it")
        problem = f"the last of {TRIES} that were tried does not fit, {misfit}"
    raise CannotMake(problem)


BEYOND: Final = "its numbers are beyond those that are made here"


def _where(steps: list[str | int]) -> str:
    return path(steps[:NAMED]) or "all of it"


NAMED: Final = 8
"""How many steps of a place are named."""


@define
class _Making:
    """One value being made."""

    reading: Reading
    random: Random
    steps: list[str | int] = field(factory=list[str | int])

    def value(self, schema: Schema) -> Json:
        """A value of a schema, here."""
        flat = self.flat(schema)
        if "const" in flat:
            return flat["const"]
        if "enum" in flat:
            return self._choice(flat)
        return MAKERS[self.random.choice(_kinds(flat))](self, flat)

    def _choice(self, flat: FrozenDict[Json]) -> Json:
        """One of its choices, of those that fit what else it says."""
        choices: tuple[Json, ...] = flat["enum"]
        rest = FrozenDict({k: v for k, v in flat.items() if k in PLAIN})
        check = whole_check(dump_json(rest))
        if rest and not isinstance(check, str):
            choices = tuple(filter(check.is_valid, choices))
        if not choices:
            raise NoValue(NO_CHOICE)
        return self.random.choice(choices)

    def below(self, step: str | int, schema: Schema) -> Json:
        """A value of a schema, one step further down."""
        if len(self.steps) > DEEPEST:
            message = f"it nests more than {DEEPEST} deep"
            raise NoValue(message)
        self.steps.append(step)
        value = self.value(schema)
        self.steps.pop()
        return value

    @property
    def deep(self) -> bool:
        """Whether to put in no more than has to be."""
        return len(self.steps) >= DEEP

    def flat(self, schema: Schema) -> FrozenDict[Json]:
        """The demands of a schema, alternatives chosen."""
        return self.reading.flat(schema, self.random, plain=self.deep)

    # Objects.

    def object(self, schema: FrozenDict[Json]) -> FrozenDict[Json]:
        """Its required properties and some of the others, in the schema's order."""
        schema = self._depending(schema, self._names(schema))
        names = self._names(schema)
        known = [name for name in schema.get("properties", EMPTY) if name in names]
        return FrozenDict(
            (name, self.below(name, _schema_of(schema, name)))
            for name in dict.fromkeys((*known, *names))
        )

    def _names(self, schema: FrozenDict[Json]) -> list[str]:
        known = schema.get("properties", EMPTY)
        required = list(schema.get("required", ()))
        optional = [n for n in known if n not in required and known[n] is not False]
        wanted = (
            [] if self.deep else [n for n in optional if self.random.getrandbits(1)]
        )
        most = schema.get("maxProperties", math.inf)
        least = schema.get("minProperties", 0)
        if least > MANY:
            raise NoValue(TOO_MANY.format(least, "properties", MANY))
        names = required + wanted[: max(0, int(min(most, len(known))) - len(required))]
        spare = [name for name in optional if name not in names]
        names += spare[: max(0, least - len(names))]
        names += self._made_up(schema, least - len(names))
        return list(dict.fromkeys((*names, *_dependent(schema, names))))

    def _made_up(self, schema: FrozenDict[Json], missing: int) -> Iterator[str]:
        """Names of no property, for an object that needs more than it has of these."""
        patterns = tuple(schema.get("patternProperties", EMPTY))
        for n in range(missing):
            if "propertyNames" in schema:
                naming = (FrozenDict(type="string"), schema["propertyNames"])
                yield str(self.value(FrozenDict(allOf=naming)))
            elif patterns:
                yield matching(patterns[0], self.random)
            else:
                yield f"{word(self.random)}_{n}"

    def _depending(
        self, schema: FrozenDict[Json], names: Iterable[str]
    ) -> FrozenDict[Json]:
        """The schema, with what it asks for where it has these names."""
        rules = _rules(schema)
        added = tuple(rules[name] for name in names if is_object(rules.get(name)))
        return self.flat(FrozenDict(allOf=(schema, *added))) if added else schema

    # Arrays.

    def array(self, schema: FrozenDict[Json]) -> tuple[Json, ...]:
        """As many items as it must have, and a few more."""
        first, rest = _items(schema)
        held = schema.get("minContains", 1) if "contains" in schema else 0
        size = self._size(schema, held, len(first), closed=rest is False)
        again = TRIES if schema.get("uniqueItems") else 1
        seen = set[str]()
        items = list[Json]()
        for n in range(size):
            of = first[n] if n < len(first) else rest
            if n >= size - held:
                of = FrozenDict(allOf=(of, schema["contains"]))
            items.append(self._item(n, of, seen, again))
        return tuple(items)

    def _size(
        self, schema: FrozenDict[Json], held: int, first: int, *, closed: bool
    ) -> int:
        least = max(schema.get("minItems", 0), held)
        if least > MANY:
            raise NoValue(TOO_MANY.format(least, "items", MANY))
        most = first if closed else max(least, first, 1) + MORE
        most = max(least, min(schema.get("maxItems", most), most))
        return least if self.deep else self.random.randint(least, most)

    def _item(self, n: int, of: Schema, seen: set[str], tries: int) -> Json:
        """Item n; within so many tries, one that was not seen."""
        value = self.below(n, of)
        for _ in range(tries - 1):
            if dump_json(value) not in seen:
                break
            value = self.below(n, of)
        seen.add(dump_json(value))
        return value

    # Scalars.

    def string(self, schema: FrozenDict[Json]) -> str:
        """A text of its pattern, encoding, format or length."""
        return text_for(schema, self.random)

    def integer(self, schema: FrozenDict[Json]) -> int:
        """A whole number within its bounds."""
        step = whole_step(schema.get("multipleOf", 1))
        low, high = bounds(schema, step)
        return self.random.randint(low, high) * step

    def number(self, schema: FrozenDict[Json]) -> float:
        """A number within its bounds, with two digits if there is room for them."""
        if "multipleOf" in schema:
            step = schema["multipleOf"]
            low, high = bounds(schema, step)
            return float(round(self.random.randint(low, high) * step, 10))
        least, most = span(schema)
        value = round(self.random.uniform(least, most), 2)
        return value if least < value < most else (least + most) / 2

    def boolean(self, _: FrozenDict[Json]) -> bool:
        """Either."""
        return bool(self.random.getrandbits(1))

    def null(self, _: FrozenDict[Json]) -> None:
        """Nothing."""


NO_CHOICE: Final = "none of its choices fits what else it says"
PLAIN: Final = frozenset(
    (
        *("type", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
        *("multipleOf", "minLength", "maxLength", "pattern", "minItems", "maxItems"),
        *("required", "minProperties", "maxProperties", "uniqueItems"),
    )
)
"""What can be said of a choice without a look at other parts of the schema."""

MAKERS: Final[dict[str, Callable[[_Making, FrozenDict[Json]], Json]]] = {
    "object": _Making.object,
    "array": _Making.array,
    "string": _Making.string,
    "integer": _Making.integer,
    "number": _Making.number,
    "boolean": _Making.boolean,
    "null": _Making.null,
}

SAID: Final = {
    "properties": "object",
    "required": "object",
    "additionalProperties": "object",
    "patternProperties": "object",
    "propertyNames": "object",
    "minProperties": "object",
    "dependentRequired": "object",
    "items": "array",
    "prefixItems": "array",
    "contains": "array",
    "minItems": "array",
    "maxItems": "array",
    "uniqueItems": "array",
    "minimum": "number",
    "maximum": "number",
    "exclusiveMinimum": "number",
    "exclusiveMaximum": "number",
    "multipleOf": "number",
}
"""The type that a schema means which names none, by its keywords."""


def _kinds(schema: FrozenDict[Json]) -> tuple[str, ...]:
    """The types that its values may have."""
    if "type" in schema:
        found = kinds(schema["type"])
    else:
        meant = (SAID[keyword] for keyword in schema if keyword in SAID)
        usual = tuple(MAKERS) if "not" in schema else ("string",)
        found = next(((kind,) for kind in meant), usual)
    left = tuple(kind for kind in found if kind not in _refused(schema))
    if not left:
        raise NoValue(NO_TYPE)
    return left


NO_TYPE: Final = "its `not` leaves none of its types"


def _refused(schema: FrozenDict[Json]) -> tuple[str, ...]:
    """The types that its `not` is about, where it says nothing else."""
    refused = schema.get("not")
    if not is_object(refused) or not refused.keys() <= {"type", "title", "description"}:
        return ()
    named = kinds(refused.get("type", ()))
    return (*named, "integer") if "number" in named else named


def _schema_of(schema: FrozenDict[Json], name: str) -> Schema:
    """What a property has to fit: its own, and that of each pattern it matches."""
    patterns = schema.get("patternProperties", EMPTY)
    found = [patterns[pattern] for pattern in patterns if _matches(pattern, name)]
    known = schema.get("properties", EMPTY)
    found += [known[name]] if name in known else []
    rest = schema.get("additionalProperties", schema.get("unevaluatedProperties", True))
    return FrozenDict(allOf=tuple(found)) if found else rest


def _matches(pattern: str, name: str) -> bool:
    try:
        return re.search(pattern, name) is not None
    except re.error:
        return False


def _rules(schema: FrozenDict[Json]) -> dict[str, Json]:
    """What depends on which property, by the older keyword and the newer ones."""
    keywords = ("dependencies", "dependentSchemas", "dependentRequired")
    return {k: rule for key in keywords for k, rule in schema.get(key, EMPTY).items()}


def _dependent(schema: FrozenDict[Json], names: Iterable[str]) -> Iterator[str]:
    """The names that have to be there besides these."""
    rules = _rules(schema)
    for name in names:
        if is_array(rules.get(name)):
            yield from rules[name]


def _items(schema: FrozenDict[Json]) -> tuple[tuple[Schema, ...], Schema]:
    """The schemas of the first items, and that of all others."""
    items = schema.get("items", True)
    if is_array(items):
        return tuple(items), schema.get("additionalItems", True)
    return tuple(schema.get("prefixItems", ())), items
