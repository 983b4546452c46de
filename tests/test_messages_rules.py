"""The validator of Messages requests refuses what the service refuses, rule by rule."""

import json
from typing import Final

import pytest

from tests.messages_rules import Json, problems

HI: Final = {"type": "text", "text": "hi"}
USER: Final = {"role": "user", "content": [HI]}
REPLY: Final = {"role": "assistant", "content": [HI]}
THOUGHT: Final = {"type": "thinking", "thinking": "", "signature": "s"}
CALL: Final[dict[str, Json]] = {
    "type": "tool_use",
    "id": "c",
    "name": "look",
    "input": {},
}
RESULT: Final = {"type": "tool_result", "tool_use_id": "c", "content": [HI]}
PICTURE: Final = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "Y2F0"},
}
BMP: Final = json.loads(json.dumps(PICTURE).replace("png", "bmp"))
TOOL: Final = {"name": "look", "input_schema": {"type": "object"}}
MARK: Final = {"cache_control": {"type": "ephemeral"}}
BUDGET: Final = {"type": "enabled", "budget_tokens": 1024}


def turns(*contents: list[Json]) -> list[Json]:
    """Messages with these contents, by turns of the user and the assistant."""
    roles = ("user", "assistant")
    return [{"role": roles[n % 2], "content": c} for n, c in enumerate(contents)]


def schema(**words: Json) -> Json:
    return {"output_config": {"format": {"type": "json_schema", "schema": words}}}


def refused(**fields: Json) -> list[str]:
    plain = {"model": "claude-sonnet-4-5", "max_tokens": 9_000, "messages": [USER]}
    return problems(json.dumps({**plain, **fields}).encode())


SOUND: Final[list[dict[str, Json]]] = [
    {},
    {"system": [HI | MARK], "tools": [TOOL | MARK], "tool_choice": {"type": "any"}},
    {"messages": turns([HI, PICTURE], [THOUGHT, HI, CALL], [RESULT, HI])},
    {"messages": turns([HI], [CALL], [RESULT | {"is_error": True}, PICTURE])},
    {"thinking": BUDGET, "messages": turns([HI], [THOUGHT, CALL], [RESULT])},
    {"model": "claude-opus-4-8", "thinking": {"type": "adaptive"}},
    {"model": "claude-sonnet-5-5", "thinking": {"type": "between_tools"}},
    {"model": "claude-opus-5-5", "output_config": {"effort": "low"}},
    schema(
        type="object", properties={"a": {"type": "string"}}, additionalProperties=False
    ),
    schema(anyOf=[{"$ref": "#/$defs/A"}], **{"$defs": {"A": {"enum": [1]}}}),
]


@pytest.mark.parametrize("fields", SOUND, ids=range(len(SOUND)))
def test_a_sound_request_has_no_problems(fields: dict[str, Json]) -> None:
    assert refused(**fields) == []


BROKEN: Final[list[tuple[str, dict[str, Json]]]] = [
    ("max_tokens: a number", {"max_tokens": None}),
    ("model: required", {"model": ""}),
    ("top: extra input", {"top": 1}),
    ("at least one message", {"messages": []}),
    ("roles must alternate", {"messages": [USER, USER]}),
    ("begin with user", {"messages": [REPLY, USER]}),
    ("end with a user message", {"messages": [USER, REPLY]}),
    ("non-whitespace text", {"system": [{"type": "text", "text": " "}]}),
    ("only text", {"system": [PICTURE]}),
    ("is not said by user", {"messages": turns([CALL])}),
    ("is not said by assistant", {"messages": turns([HI], [PICTURE], [HI])}),
    ("keys", {"messages": turns([HI | {"citations": []}])}),
    ("calls ['c'] are answered by []", {"messages": turns([HI], [CALL], [HI])}),
    ("calls [] are answered by", {"messages": turns([RESULT])}),
    (
        "are answered by ['c', 'c']",
        {"messages": turns([HI], [CALL], [RESULT, RESULT])},
    ),
    ("must come first", {"messages": turns([HI], [CALL], [HI, RESULT])}),
    (
        "ids must be unique",
        {"messages": turns([HI], [CALL], [RESULT], [CALL], [RESULT])},
    ),
    (
        "input should be",
        {"messages": turns([HI], [CALL | {"input": ""}], [RESULT])},
    ),
    ("id ''", {"messages": turns([HI], [CALL | {"id": ""}], [RESULT])}),
    ("name 'a b'", {"messages": turns([HI], [CALL | {"name": "a b"}], [RESULT])}),
    (
        "must be type text if is_error",
        {
            "messages": turns(
                [HI], [CALL], [RESULT | {"is_error": True, "content": [PICTURE]}]
            )
        },
    ),
    ("says nothing", {"messages": turns([HI], [CALL], [RESULT | {"content": []}])}),
    ("cannot be thinking", {"messages": turns([HI], [HI, THOUGHT], [HI])}),
    ("media type", {"messages": turns([BMP])}),
    ("5 marks", {"messages": turns([HI | MARK] * 5)}),
    ("cannot be marked", {"messages": turns([HI], [THOUGHT | MARK, HI], [HI])}),
    ("tools: empty", {"tools": []}),
    ("tool names must be unique", {"tools": [TOOL, TOOL]}),
    ("must be of an object", {"tools": [TOOL | {"input_schema": {}}]}),
    (
        "does not support oneOf",
        {"tools": [TOOL | {"input_schema": {"type": "object", "anyOf": []}}]},
    ),
    ("while providing tools", {"tool_choice": {"type": "auto"}}),
    (
        "when tool_choice forces",
        {"tools": [TOOL], "tool_choice": {"type": "any"}, "thinking": BUDGET},
    ),
    ("budget 1023", {"thinking": BUDGET | {"budget_tokens": 1023}}),
    ("budget 1024", {"thinking": BUDGET, "max_tokens": 1024}),
    (
        "expected thinking",
        {"thinking": BUDGET, "messages": turns([HI], [CALL], [RESULT])},
    ),
    ("adaptive is not", {"thinking": {"type": "adaptive"}}),
    ("enabled is not", {"model": "claude-opus-4-7", "thinking": BUDGET}),
    (
        "disabled is not",
        {"model": "claude-opus-5-5", "thinking": {"type": "disabled"}},
    ),
    ("effort is not", {"output_config": {"effort": "low"}}),
    ("format is not", schema(type="string") | {"model": "claude-opus-4-1"}),
    ("additionalProperties must", schema(type="object")),
    ("has no type", schema(description="x")),
    ("must have items", schema(type="array")),
    ("minItems 2", schema(type="array", items={"type": "string"}, minItems=2)),
    ("schema: {'minimum'", schema(type="integer", anyOf=[{"minimum": 1}])),
    (
        "unknown or recursive",
        schema(
            anyOf=[{"$ref": "#/$defs/A"}], **{"$defs": {"A": {"$ref": "#/$defs/A"}}}
        ),
    ),
]


@pytest.mark.parametrize(("complaint", "fields"), BROKEN)
def test_a_broken_rule_is_named(complaint: str, fields: dict[str, Json]) -> None:
    assert any(complaint in problem for problem in refused(**fields))


def test_what_is_no_json_is_refused() -> None:
    assert problems(b"{")[0].startswith("no JSON")
    assert problems(b'{"model": "\\ud800"}')[0].startswith("no JSON")
