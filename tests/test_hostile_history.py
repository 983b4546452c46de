"""Requests of histories that nobody would write, and that some adapter, hook or server does."""

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest
from attrs import evolve

import loopcore_adapters
from loopcore import (
    AssistantMessage,
    CallModel,
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    ToolSpec,
    UserMessage,
)
from loopcore_adapters import responses
from loopcore_adapters.connect import WIRES
from loopcore_adapters.providers import PROVIDERS
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
    {"allOf": [{"required": True}, {"required": [[], "a"]}, 7], "properties": 7},
    {"anyOf": {"a": 1}, "$ref": 7},
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


# Pictures that no server could read: it would refuse the conversation for ever.

ODD_PICTURES: Final = [
    Image("", "image/png"),
    Image("!!", "image/png"),
    Image("Y2F0\ud800", "image/png"),
    Image("Z", "image/png"),
    Image("Y2F0", "image/svg+xml"),
    Image("Y2F0", "text/html"),
    Image("Y2F0", ""),
    Image("Y2F0", "image/\ud800"),
]
READABLE: Final = [
    CAT,
    Image("Y2F0\n", "image/png"),
    Image("Y2 F0\r\n", "IMAGE/PNG"),
    Image("Y2F0", " image/jpg "),
    Image("_-8", "image/webp"),
]


@pytest.mark.parametrize("outcome", ["ok", "error"])
@pytest.mark.parametrize("picture", [*ODD_PICTURES, *READABLE], ids=repr)
@pytest.mark.parametrize("wire", WIRES)
def test_a_picture_anywhere_can_be_sent(
    wire: str, picture: Image, outcome: Json
) -> None:
    """Alone, and beside others, of a user, a result and the model."""
    call = ToolCall("look", {}, "c1")
    said: list[Message] = [
        UserMessage([picture, picture, CAT]),
        AssistantMessage([picture, call], model=MODELS[wire], finish="tools"),
        ToolResultMessage("c1", "look", [picture], outcome),
        UserMessage([picture]),
        AssistantMessage([picture], model=MODELS[wire]),
        AssistantMessage([call, call], model=MODELS[wire], finish="tools"),
        ToolResultMessage("c1", "look", [picture, Text("a"), CAT, picture], outcome),
    ]
    request = encoder(wire)(asked(wire, *said))
    assert broken(wire, request) == []
    seen = b"[Left out: an image, which this model cannot see.]" in request.body
    assert seen is (picture in ODD_PICTURES)


# Signatures that somebody changed, or that were kept over another wire.


def sealed(**item: Json) -> str:
    """The signature of a thought over Responses."""
    whole: Json = {"type": "reasoning", "summary": [], "encrypted_content": "e", **item}
    return json.dumps(whole, separators=(",", ":"))


SIGNATURES: Final = [
    *("", "c2ln", "\ud800", "{", "[]", "7", "x" * 100_000, "fc_1", "fc_\ud800"),
    *(sealed(id=name) for name in ("rs_1", "", 7, None, "r" * 65)),
    *(sealed(summary=one) for one in (7, [7], [{"text": "a"}], {"a": 1})),
    sealed(id="rs_1", summary=[{"type": "summary_text", "text": 7}]),
    sealed(id="rs_1", content=[{"type": "reasoning_text"}]),
    *('{"id":"msg_1","phase":"odd"}', '{"id":7}', '{"google":{"a":1}}'),
    '[{"type":"reasoning.text","text":"x","signature":"s"}]',
    '{"gemini":{"executableCode":{"code":"1"}}}',
    '{"gemini":{"executableCode":{"code":"1"},"thoughtSignature":"!!"}}',
    *('{"gemini":{"thoughtSignature":"!"}}', '{"gemini":{"text":"x"}}'),
    *('{"gemini":7}', '{"gemini":{}}', '{"gemini":{"thoughtSignature":7}}'),
]


@pytest.mark.parametrize("signature", SIGNATURES, ids=lambda one: repr(one)[:200])
@pytest.mark.parametrize("wire", ["responses", "messages", "gemini"])
def test_no_signature_breaks_a_request(wire: str, signature: str) -> None:
    """Whoever the history says made it: it may have been edited, or be another wire's."""
    parts: list[Json] = [
        Thinking("Hm.", signature),
        Text("a", signature=signature),
        CAT,
        Thinking("", signature, redacted=True),
        evolve(ToolCall("look", {}, "c1"), signature=signature),
        Text("", signature=signature),
    ]
    said: list[Message] = [
        UserMessage([Text("", signature=signature), Text("hi", signature=signature)]),
        AssistantMessage(parts, model=MODELS[wire], finish="tools"),
    ]
    assert broken(wire, encoder(wire)(asked(wire, *said))) == []


def test_what_another_wire_keeps_is_no_signature_of_messages() -> None:
    """One model may be reached over several wires."""
    thought = Thinking("Hm.", '[{"type":"reasoning.text","text":"Hm."}]')
    said = AssistantMessage([thought, Text("a")], model=MODELS["messages"])
    body = json.loads(encoder("messages")(asked("messages", HI, said, HI)).body)
    assert [one["type"] for one in body["messages"][1]["content"]] == ["text"]


@pytest.mark.parametrize("name", ["\ud800", "a b", "a?b#c", "../x", "é", "a:b"])
@pytest.mark.parametrize("wire", WIRES)
def test_any_name_of_a_model_can_be_sent(wire: str, name: str) -> None:
    """Names are checked against no list: the server says what it knows."""
    request = WIRES[wire].encoder({})(CallModel("i", f"mine:{name}", [HI]))
    assert request.path.isascii()
    assert request.path.count("?") == (wire == "gemini")
    assert json.loads(request.body.decode())


# What a provider's models and endpoints take of what is asked for.


def sent_to(provider: str, wire: str, name: str, **more: Json) -> Json:
    """The body of a request to this model."""
    call = CallModel("i", f"{provider}:{name}", [HI], **more)
    return json.loads(PROVIDERS[provider].wires[wire].encoder({})(call).body)


@pytest.mark.parametrize(
    ("name", "effort"),
    [
        *(("gpt-5.2", "none"), ("gpt-5.1", "none"), ("gpt-5.1-2025-11-13", "none")),
        *(("gpt-5", "minimal"), ("gpt-5-nano", "minimal"), ("gpt-6", "none")),
        *(("gpt-5-mini-2025-08-07", "minimal"), ("gpt-5-codex", "low")),
        *(("o3", "low"), ("o4-mini", "low"), ("o1-2024-12-17", "low")),
        *(("gpt-5-pro", "high"), ("gpt-4o", None), ("gpt-5-chat-latest", None)),
        *(("gpt-4.1-mini", None), ("ft:gpt-4o:me", None)),
    ],
)
def test_no_thinking_is_asked_for_as_the_model_knows_it(
    name: str, effort: str | None
) -> None:
    """Models before GPT-5.1 refuse "none", and what never thinks refuses any effort."""
    body = sent_to("openai", "responses", name, thinking="off")
    assert body.get("reasoning", {}).get("effort") == effort
    body = sent_to("openai", "chat", name, thinking="off")
    assert body.get("reasoning_effort") == effort


def test_where_a_schema_is_passed_over_it_is_a_part_of_the_prompt() -> None:
    """Anthropic's endpoint for OpenAI's SDKs ignores `response_format`."""
    body = sent_to("anthropic", "chat", "claude-sonnet-4-5", output={"type": "object"})
    assert "response_format" not in body
    assert "JSON Schema" in body["messages"][0]["content"]


def test_where_a_schema_is_refused_beside_tools_it_is_a_part_of_the_prompt() -> None:
    asks: Json = {"output": {"type": "object"}, "tools": (LOOK,)}
    body = sent_to("gemini", "chat", "gemini-2.5-flash", **asks)
    assert "response_format" not in body
    assert "JSON Schema" in body["messages"][0]["content"]


ONE_CALL: Final[dict[str, Json]] = {
    "chat": {"tool_choice": "required", "parallel_tool_calls": False},
    "responses": {"tool_choice": "required", "parallel_tool_calls": False},
    "messages": {"tool_choice": {"type": "any", "disable_parallel_tool_use": True}},
    "gemini": {"tool_config": {"functionCallingConfig": {"mode": "ANY"}}},
}


@pytest.mark.parametrize("wire", WIRES)
def test_what_is_said_of_tools_is_said_only_where_there_are_some(wire: str) -> None:
    """A hook may take a run's tools away, for its last turn."""
    encode = WIRES[wire].encoder(ONE_CALL[wire])
    with_tools = encode(asked(wire, HI))
    without = encode(CallModel("i", MODELS[wire], [HI]))
    assert (broken(wire, with_tools), broken(wire, without)) == ([], [])
    words = [b"tool_choice", b"parallel_tool_calls", b"toolConfig"]
    assert any(word in with_tools.body for word in words)
    assert not any(word in without.body for word in words)


@pytest.mark.parametrize("name", ["enum", "default", "const", "examples", "$ref"])
def test_an_argument_may_have_the_name_of_a_keyword(name: str) -> None:
    """Beside a reference Gemini takes nothing, whatever the property is called."""
    pointer = {"$ref": "#/$defs/A", "description": "an A"}
    schema: Json = {"type": "object", "properties": {name: pointer}, "$defs": DEFS}
    call = CallModel("i", MODELS["gemini"], [HI], tools=(ToolSpec("a", "", schema),))
    request = encoder("gemini")(call)
    assert broken("gemini", request) == []
    (tool,) = json.loads(request.body)["tools"]
    (declared,) = tool["functionDeclarations"]
    sent = declared["parametersJsonSchema"]["properties"][name]
    assert sent == {"anyOf": [{"$ref": "#/$defs/A"}], "description": "an A"}


NAMES: Final = (
    *("stream", "tools", "tool_choice", "thinking", "reasoning", "text", "system"),
    *("output_config", "generation_config", "tool_config", "messages", "contents"),
    *("input", "instructions", "max_tokens", "cache_control", "response_format"),
    *("stream_options", "include", "model", "thinking_config"),
)
"""Options that requests have fields for, or that are looked at."""

VALUES: Final[list[Json]] = [
    *(None, True, 0, 2.5, "", "x", [], [1], [None], {}, {"a": 1}, {"type": "x"}),
    {"\ud800": "\udfff"},
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("wire", WIRES)
def test_any_option_goes_as_it_is_or_is_left_out(wire: str, name: str) -> None:
    """What makes no sense is the server's to refuse: the call itself never raises."""
    tools = (LOOK,)
    for value in VALUES:
        encode = WIRES[wire].encoder({name: value})
        for more in ((), tools):
            call = CallModel("i", MODELS[wire], [HI], tools=more, thinking="low")
            given: dict[str, Json] = {"options": {name: value}, "output": {}}
            later = evolve(call, **given)
            bodies = [encode(one).body.decode() for one in (call, later)]
            assert all(isinstance(json.loads(body), dict) for body in bodies)
