"""Values that the doubles make of JSON Schemas: each one fits, or the sentence says why not."""

import datetime as dt
import uuid
from typing import Any, Final, Literal

import pytest
from jsonschema_rs import validator_for
from pydantic import Base64Bytes, BaseModel, Field, HttpUrl, IPvAnyAddress

from loopcore.frozen import freeze
from loopcore.testing.doubles.values import CannotMake, value_for

NODE = {
    "type": "object",
    "properties": {
        "v": {"type": "integer"},
        "left": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]},
        "all": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
    },
    "required": ["v", "left", "all"],
}
ENDLESS = {
    "type": "object",
    "properties": {"n": {"$ref": "#/$defs/Node"}},
    "required": ["n"],
}


def needing(**properties: object) -> dict[str, Any]:
    """An object that has all of these."""
    return {"type": "object", "properties": properties, "required": [*properties]}


def text(pattern: str) -> dict[str, Any]:
    return {"type": "string", "pattern": pattern}


SCHEMAS: dict[str, Any] = {
    "anything": {},
    "a choice": {"enum": ["a", 1, None]},
    "a constant": {"const": {"a": [1]}},
    "one of several types": {"type": ["string", "null"]},
    "optional properties": {"properties": {"a": {"type": "integer"}, "b": {}}},
    "a narrow integer": {"exclusiveMinimum": 0, "exclusiveMaximum": 2},
    "an integer between strict bounds": needing(
        a={"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 2}
    ),
    "a number with little room": {"minimum": 1, "maximum": 1.001},
    "a number between strict bounds": {"exclusiveMinimum": 0, "exclusiveMaximum": 0.1},
    "only a highest number": {"type": "integer", "maximum": -5},
    "multiples": {"type": "integer", "multipleOf": 7, "minimum": 50, "maximum": 60},
    "multiples of a part": {"type": "number", "multipleOf": 0.01},
    "whole multiples of a part": {"type": "integer", "multipleOf": 1.5, "minimum": 1},
    "a long text": {"type": "string", "minLength": 30, "maxLength": 31},
    "no text": {"type": "string", "maxLength": 0},
    "base64": {"type": "string", "contentEncoding": "base64"},
    "a pattern": text(r"^[A-Z]{2}\d{4}-(foo|bar)+[^a-z]\.?$"),
    "a pattern with looks ahead": text(r"^(?=.*[A-Z])(?=.*\d).{8,}$"),
    "a pattern with classes": text(r"^\w\s\D\S\W[\d_][^\d]$"),
    "a pattern with a name": text(r"^(?<year>\d{4})-\d{2}$"),
    "a pattern of letters": text(r"^\p{Lu}[\p{L}\p{N}]*$"),
    "a pattern that repeats itself": text(r"^([ab]+)-\1$"),
    "a tree": {"$defs": {"Node": NODE}, "$ref": "#/$defs/Node"},
    "the older word for it": {
        "definitions": {"a/b": {"type": "integer"}},
        "properties": {"a": {"$ref": "#/definitions/a~1b"}},
        "required": ["a"],
    },
    "an anchor": {
        "$defs": {"a": {"$anchor": "here", "type": "integer"}},
        **needing(x={"$ref": "#here"}),
    },
    "all of several": {
        "allOf": [needing(a={"type": "number"}), needing(a={"type": "integer"}, b={})],
    },
    "bounds of all": {
        "allOf": [
            {"type": ["number", "string"], "minimum": 3, "multipleOf": 2},
            {"type": "integer", "maximum": 13, "multipleOf": 3},
        ],
    },
    "shared choices": {"allOf": [{"enum": [1, 2, 3]}, {"enum": [3, 4]}]},
    "one of two shapes": {
        "oneOf": [
            {**needing(k={"const": "x"}, v={}), "additionalProperties": False},
            {**needing(k={"const": "y"}, w={"type": "boolean"}), "minProperties": 2},
        ],
    },
    "alternatives of which one contradicts": {
        "type": "integer",
        "anyOf": [{"type": "string"}, {"minimum": 4}],
    },
    "one way or the other": {
        **needing(c={"enum": ["US", "CA"]}, z={"type": "string"}),
        "if": {"properties": {"c": {"const": "US"}}},
        "then": {"properties": {"z": {"pattern": r"^\d{5}$"}}},
        "else": {"properties": {"z": {"pattern": r"^[A-Z]\d[A-Z]$"}}},
    },
    "not something": {"type": "integer", "not": {"multipleOf": 2}},
    "items": {"items": {"type": "boolean"}, "minItems": 2, "maxItems": 2},
    "items that differ": {
        "type": "array",
        "items": {"enum": [1, 2, 3, 4]},
        "uniqueItems": True,
        "minItems": 4,
    },
    "items that it must contain": {
        "type": "array",
        "items": {"type": "integer"},
        "contains": {"const": 7},
        "minContains": 2,
        "minItems": 3,
    },
    "a tuple": {
        "prefixItems": [{"type": "string"}, {"type": "integer"}],
        "items": False,
        "minItems": 2,
    },
    "an open tuple": {"prefixItems": [{"type": "null"}], "items": {"type": "boolean"}},
    "names by pattern": {
        "patternProperties": {"^x_[a-z]{3}$": {"type": "integer"}},
        "additionalProperties": False,
        "minProperties": 2,
    },
    "names that fit": {
        "propertyNames": {"pattern": r"^k\d$"},
        "minProperties": 2,
        "additionalProperties": {"type": "boolean"},
    },
    "any names": {"type": "object", "minProperties": 3},
    "few names": {
        "properties": {"a": {}, "b": {}, "c": False},
        "required": ["a"],
        "maxProperties": 1,
    },
    "names that need others": {
        "properties": {"a": {"type": "integer"}},
        "required": ["a"],
        "dependentRequired": {"a": ["b"]},
        "dependentSchemas": {"b": needing(q={"type": "null"})},
    },
}


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_a_value_fits_its_schema_and_is_the_same_for_the_same_seed(schema: Any) -> None:
    check = validator_for(schema)

    made = [value_for(freeze(schema), seed) for seed in range(40)]

    assert all(map(check.is_valid, made))
    assert made == [value_for(freeze(schema), seed) for seed in range(40)]


def test_values_of_other_seeds_differ() -> None:
    made = {value_for(freeze({"type": "integer"}), seed) for seed in range(40)}

    assert len(made) > 20


FORMATS = (
    *("date", "time", "date-time", "duration", "email", "hostname", "ipv4", "ipv6"),
    *("uri", "uri-reference", "iri", "uuid", "json-pointer", "regex", "uri-template"),
    *("relative-json-pointer", "idn-email", "idn-hostname", "iri-reference"),
)


@pytest.mark.parametrize("name", FORMATS)
def test_a_text_has_its_format(name: str) -> None:
    schema = {"type": "string", "format": name}
    check = validator_for(schema, validate_formats=True)

    assert all(check.is_valid(value_for(freeze(schema), seed)) for seed in range(40))
    assert not check.is_valid("no: \x00 such % thing, {")


@pytest.mark.parametrize(
    "name", ["byte", "binary", "password", "path", "json-string", "decimal", "our-own"]
)
def test_other_formats_are_texts(name: str) -> None:
    assert value_for(freeze({"type": "string", "format": name}), 1)


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"type": "strng"}, "the schema is broken: 'type'"),
        (False, "all of it: nothing fits a part of it that is false"),
        (needing(a=False), "'a': nothing fits a part of it that is false"),
        (
            needing(a={"type": "integer", "minimum": 5, "maximum": 4}),
            "'a': no multiple of 1 lies between 5 and 4",
        ),
        ({"type": "integer", "multipleOf": 0.0001234}, "no integer is a multiple of"),
        (
            {"allOf": [{"type": "string"}, {"type": "integer"}]},
            "two of its parts have no types in common",
        ),
        (
            {"anyOf": [{"type": "string"}], "type": "integer"},
            "two of its parts have no types in common",
        ),
        (
            {"allOf": [{"enum": [1]}, {"enum": [2]}]},
            "two of its parts have no choices in common",
        ),
        ({"$defs": {"Node": ENDLESS}, "$ref": "#/$defs/Node"}, "nests more than 40"),
        ({"$ref": "#"}, "it leads to itself without end"),
        ({"$ref": "#/$defs/none"}, "none"),
        (text(r"^\cA$"), "cannot be read: bad escape"),
        (text(r"^\p{Greek}$"), "'Greek'|Greek"),
        (text(r"[^\w\s.,:/-]"), "leaves no plain letter"),
        (
            {"type": "string", "not": {"minLength": 0}},
            "the last of 60 that were tried does not fit, all of it: ",
        ),
        ({"type": "string", "not": {"type": "string"}}, "leaves none of its types"),
        ({"type": "integer", "not": {"type": "number"}}, "leaves none of its types"),
        ({"enum": []}, "all of it: none of its choices fits what else it says"),
        ({"enum": [1, 2], "type": "string"}, "none of its choices fits what else"),
        ({"type": "number", "minimum": 10**400}, "beyond those that are made here"),
        ({"type": "number", "maximum": -(10**400)}, "beyond those that are made here"),
        (
            {"type": "number", "multipleOf": 0.5, "minimum": 10**400},
            "beyond those that",
        ),
        (
            {"type": "array", "minItems": 10**6},
            "wants 1,000,000 items or more, and 2,000",
        ),
        (
            {"contains": {"const": 1}, "minContains": 10**9},
            "1,000,000,000 items or more",
        ),
        (
            {"type": "object", "minProperties": 10**7},
            "10,000,000 properties or more, and 2,000 at most are made",
        ),
        (
            {"type": "string", "minLength": 10**9},
            "a text of 1,000,000,000 characters or more, and 10,000 at most are made",
        ),
        (text("^a{20000}$"), "a text of 20,000 characters or more"),
        (
            {"type": "array", "minItems": 1000, "items": {"minItems": 1000}},
            "it is too large: it has more than 5,000 parts to be made",
        ),
    ],
)
def test_what_cannot_be_made_is_said(schema: Any, why: str) -> None:
    with pytest.raises(CannotMake, match=why):
        value_for(freeze(schema), 0)


CAN: Final[list[dict[str, Any]]] = [
    *({"pattern": "^[0-9a-f]+$", "minLength": n, "maxLength": n} for n in (1, 40, 64)),
    {"pattern": "^a*$", "minLength": 50},
    {"pattern": "^(ab)+$", "minLength": 51, "maxLength": 60},
    {"pattern": "^[a-z]+-[0-9]+$", "minLength": 30, "maxLength": 32},
    {"pattern": "^[a-z]{2,80}$", "maxLength": 2},
    {"pattern": "^[a-z]*$", "maxLength": 0},
    {"pattern": "^(x+)+$", "minLength": 2000},
    {"type": "string", "minLength": 10_000},
    {"type": "string", "maxLength": 0},
    {"type": "integer", "enum": list(range(1000)), "minimum": 999},
    {"enum": [*range(1000), "x"], "type": "string"},
    {"enum": ["a", "bb", *map(str, range(500))], "pattern": "^b", "maxLength": 2},
    {"enum": [1, "a", None], "not": {"type": "integer"}},
    {"not": {"type": "string"}},
    {"not": {"type": ["string", "null", "boolean"]}},
    {"type": ["string", "integer"], "not": {"type": "string"}},
    {"not": {"required": ["a"]}},
    {"type": "integer", "not": {"const": 5}},
    {"type": "integer", "minimum": 10**400},
    {"type": "integer", "maximum": -(10**30), "multipleOf": 7},
    {"type": "integer", "multipleOf": 10**400},
    {"type": "array", "minItems": 2000, "items": {"type": "integer"}},
]


@pytest.mark.parametrize("schema", CAN, ids=lambda schema: str(schema)[:60])
@pytest.mark.parametrize("seed", range(5))
def test_what_can_be_made_is_made(schema: dict[str, Any], seed: int) -> None:
    """Where few values of a type fit, these are looked for."""
    value = value_for(schema, seed)

    assert validator_for(schema).is_valid(value)


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = Field(ge=1, le=9)


class Dog(BaseModel):
    kind: Literal["dog"]
    name: str = Field(pattern=r"^[A-Z][a-z]{2,8}$")


class Node(BaseModel):
    value: int
    kids: "list[Node]" = []
    parent: "Node | None" = None


class Everything(BaseModel, extra="forbid"):
    pet: Cat | Dog = Field(discriminator="kind")
    when: dt.datetime
    day: dt.date
    at: dt.time
    lasts: dt.timedelta
    id: uuid.UUID
    url: HttpUrl
    address: IPvAnyAddress
    numbers: dict[str, int]
    three: tuple[int, str, bool]
    several: set[int] = Field(min_length=2)
    tree: Node
    share: float = Field(gt=0, lt=1)
    fives: int = Field(multiple_of=5)
    data: Base64Bytes
    word: Literal[1, "x"] | None
    either: int | list[str] | dict[str, float]


@pytest.mark.parametrize("seed", range(30))
def test_pydantic_takes_what_is_made_of_its_schemas(seed: int) -> None:
    schema = freeze(Everything.model_json_schema())

    assert Everything.model_validate(value_for(schema, seed)).several
