"""Requests of histories that nobody would write, and that some adapter, hook or server does."""

import re
from pathlib import Path
from typing import Any, Final

import pytest

import loopcore_adapters
from loopcore import (
    AssistantMessage,
    CallModel,
    Image,
    Message,
    ToolCall,
    ToolResultMessage,
    ToolSpec,
    UserMessage,
)
from loopcore_adapters import responses
from loopcore_adapters.connect import WIRES
from loopcore_adapters.responses.dialect import LOCAL
from tests import responses_rules
from tests.wire_rules import MODELS, broken, encoder

Json = Any

HI: Final = UserMessage("hi")
CAT: Final = Image("Y2F0", "image/png")
LOOK: Final = ToolSpec("look", "Looks.")


def asked(wire: str, *messages: Message, **more: Json) -> CallModel:
    """A call of the model that is spoken to over this wire."""
    return CallModel("i", MODELS[wire], messages, tools=(LOOK,), **more)


def rounds(wire: str, *ids: str, outcome: Json = "ok") -> list[Message]:
    """A reply of the model's own with these calls, and what came of them: a picture each."""
    calls = [ToolCall("look", {}, name) for name in ids]
    results = [ToolResultMessage(name, "look", [CAT], outcome) for name in ids]
    return [AssistantMessage(calls, model=MODELS[wire], finish="tools"), *results]


# Ids that our own words are.

OWN_WORDS: Final = sorted(
    {"seen", "images", "pictures"}
    | {
        word
        for file in Path(loopcore_adapters.__file__).parent.rglob("*.py")
        for word in re.findall(r'"([A-Za-z_]{1,40})"', file.read_text())
    }
)
"""Every word of the adapters: some of them may be a key that something is kept under."""


@pytest.mark.parametrize("outcome", ["ok", "error"])
@pytest.mark.parametrize("wire", WIRES)
def test_an_id_of_a_call_is_no_key_of_ours(wire: str, outcome: str) -> None:
    """What is kept of one message under one key is never served for another."""
    said = rounds(wire, *OWN_WORDS, outcome=outcome)
    assert broken(wire, encoder(wire)(asked(wire, HI, *said))) == []


def test_an_id_of_a_call_is_no_key_where_pictures_follow_results() -> None:
    said = rounds("responses", *OWN_WORDS)
    request = responses.Encoder(LOCAL)(asked("responses", HI, *said))
    server = responses_rules.Server(result_images=False)
    assert responses_rules.broken(request.body, server) == []


# Schemas whose root says little.

DEFS: Final[Json] = {
    "A": {"type": "object", "properties": {"next": {"$ref": "#/$defs/A"}}},
    "B": {"$ref": "#/$defs/A"},
    "C": {"$ref": "#/$defs/C"},
    "a/b %": {"type": "object", "properties": {"n": {"type": "integer"}}},
    "N": {"type": "array", "items": {"$ref": "#/$defs/A"}},
}
ONE: Final = {"type": "object", "properties": {"kind": {"const": 1}, "a": {}}}
TWO: Final = {"type": "object", "properties": {"kind": {"const": 2}, "b": {}}}
SCHEMAS: Final[list[Json]] = [
    {"type": "object"},
    *({"$ref": f"#/$defs/{name}", "$defs": DEFS} for name in ("A", "B", "C", "N")),
    {"$ref": "#/$defs/a~1b%20%25", "$defs": DEFS, "description": "d"},
    {"$ref": "#/$defs/missing", "$defs": DEFS},
    {"$ref": "https://example.org/schema"},
    {"$ref": "#/$defs/A", "type": "object", "properties": {"n": {}}, "$defs": DEFS},
    *({"type": "object", word: [ONE, TWO]} for word in ("anyOf", "oneOf", "allOf")),
    {"anyOf": [ONE, {"$ref": "#/$defs/A"}], "$defs": DEFS},
    {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    {"type": "array", "items": {"$ref": "#/$defs/A"}, "$defs": DEFS},
    {"type": "integer"},
    {"enum": ["a", "b"]},
    {"type": "object", "not": {"required": ["a"]}},
    {"type": ["object", "null"], "properties": {}},
    {},
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
@pytest.mark.parametrize("tools", [(), (LOOK,)], ids=["alone", "with tools"])
@pytest.mark.parametrize("wire", WIRES)
def test_any_output_can_be_asked_for(
    wire: str, tools: tuple[ToolSpec, ...], schema: Json
) -> None:
    """A class is a reference at the root; OpenAI's servers want to see an object there."""
    call = CallModel("i", MODELS[wire], [HI], tools=tools, output=schema)
    assert broken(wire, encoder(wire)(call)) == []


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
@pytest.mark.parametrize("wire", ["chat", "responses", "messages"])
def test_any_schema_of_a_tool_is_that_of_an_object(wire: str, schema: Json) -> None:
    """Servers of MCP have tools with combinations at the root."""
    call = CallModel("i", MODELS[wire], [HI], tools=(ToolSpec("look", "", schema),))
    assert broken(wire, encoder(wire)(call)) == []
