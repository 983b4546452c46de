"""A JSON Schema is cut to what the structured mode of Messages takes, or not said there."""

from typing import Final

import pytest

from loopcore.frozen import freeze_object
from loopcore_adapters.loose import Json
from loopcore_adapters.messages.schema import cut

NUMBER: Final = {"type": "integer"}
OPEN: Final = {"type": "object", "properties": {"a": NUMBER}}
CLOSED: Final = {**OPEN, "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (OPEN, CLOSED),
        (OPEN | {"additionalProperties": NUMBER}, CLOSED),
        (OPEN | {"title": "A", "$schema": "x", "default": {}}, CLOSED),
        (OPEN | {"required": ["a"]}, CLOSED | {"required": ["a"]}),
        (
            {"type": "object", "additionalProperties": False},
            {"type": "object", "properties": {}, "additionalProperties": False},
        ),
        ({"type": ["string", "null"]}, {"type": ["string", "null"]}),
        ({"enum": ["a", 1, None]}, {"enum": ["a", 1, None]}),
        ({"const": "a"}, {"const": "a"}),
        ({"oneOf": [NUMBER, {"const": 1}]}, {"anyOf": [NUMBER, {"const": 1}]}),
        ({"allOf": [NUMBER]}, {"anyOf": [NUMBER]}),
        (
            {"anyOf": [NUMBER], "oneOf": [{"const": 1}]},
            {"anyOf": [NUMBER], "description": '{"oneOf":[{"const":1}]}'},
        ),
        (
            {"type": "string", "format": "email", "pattern": "a"},
            {"type": "string", "format": "email", "description": '{"pattern":"a"}'},
        ),
        (
            {"type": "string", "format": "odd", "description": "An odd one."},
            {"type": "string", "description": 'An odd one.\n\n{"format":"odd"}'},
        ),
        (
            {"type": "array", "items": NUMBER, "minItems": 1},
            {"type": "array", "items": NUMBER, "minItems": 1},
        ),
        (
            {"type": "array", "items": NUMBER, "minItems": 2},
            {"type": "array", "items": NUMBER, "description": '{"minItems":2}'},
        ),
        (
            {"$ref": "#/$defs/A", "$defs": {"A": OPEN}},
            {"$ref": "#/$defs/A", "$defs": {"A": CLOSED}},
        ),
        (
            {"anyOf": [{"$ref": "#/$defs/A"}, NUMBER], "$defs": {"A": {"const": 1}}},
            {"anyOf": [{"$ref": "#/$defs/A"}, NUMBER], "$defs": {"A": {"const": 1}}},
        ),
    ],
)
def test_what_the_mode_knows_is_said(schema: Json, said: Json) -> None:
    """The rest becomes a note: a reply is checked against the whole schema anyway."""
    assert cut(schema) == said
    assert cut(freeze_object(schema)) == said


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"description": "anything"},
        {"type": "object"},
        {"type": "object", "additionalProperties": NUMBER},
        {"type": ["object", "null"]},
        {"type": "array"},
        {"type": "array", "prefixItems": [NUMBER]},
        {"type": "array", "items": True},
        {"type": "object", "properties": {"a": {}}},
        {"enum": [{"a": 1}]},
        {"const": [1]},
        {"allOf": [OPEN, OPEN]},
        {**OPEN, "anyOf": [OPEN, CLOSED]},
        {"$ref": "https://example.com/schema"},
        {"$ref": "#/definitions/A", "definitions": {"A": NUMBER}},
        {"$ref": "#/$defs/B", "$defs": {"A": NUMBER}},
        {"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}},
        {
            "$ref": "#/$defs/A",
            "$defs": {
                "A": {"type": "array", "items": {"$ref": "#/$defs/B"}},
                "B": {"anyOf": [NUMBER, {"$ref": "#/$defs/A"}]},
            },
        },
    ],
)
def test_what_the_mode_has_no_word_for_is_not_said_there(schema: Json) -> None:
    """Anything at all, maps, tuples, parts that contain themselves."""
    assert cut(schema) is None


def test_a_schema_that_is_too_deep_is_not_said_there() -> None:
    schema: Json = NUMBER
    for _ in range(2_000):
        schema = {"type": "array", "items": schema}
    assert cut(schema) is None
