"""The judge of Responses requests sees each rule that is broken."""

import json
from typing import Any, Final

import pytest

from tests.responses_rules import STRICT, Server, broken

USER: Final = {"role": "user", "content": [{"type": "input_text", "text": "hi"}]}
SAID: Final = {"type": "message", "role": "assistant", "content": "hi"}
TOOL: Final = {
    "type": "function",
    "name": "look",
    "description": "",
    "parameters": {"type": "object"},
    "strict": False,
}
GOOD: Final = {
    "model": "m",
    "input": [USER],
    "tools": [TOOL],
    "include": ["reasoning.encrypted_content"],
    "store": False,
    "stream": True,
}
THOUGHT: Final = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "hm"}],
    "encrypted_content": "xx",
}
OUTPUT: Final = {"type": "function_call_output", "call_id": "c1", "output": "ok"}


def call(**fields: Any) -> Any:
    return {
        "type": "function_call",
        "call_id": "c1",
        "name": "look",
        "arguments": "{}",
        **fields,
    }


def own_call(item_id: str = "fc_1") -> Any:
    return call(id=item_id, status="completed")


def own_message(*content: Any, **fields: Any) -> Any:
    return {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": list(content),
        **fields,
    }


TEXT: Final[dict[str, Any]] = {"type": "output_text", "text": "hi", "annotations": []}
PICTURE: Final = {
    "type": "input_image",
    "detail": "auto",
    "image_url": "data:image/png;base64,aGk=",
}


def user(*content: Any) -> Any:
    return {"role": "user", "content": list(content)}


def found(server: Server = STRICT, **fields: Any) -> list[str]:
    """The rules that this breaks; a field that is None is left out."""
    body = {n: value for n, value in {**GOOD, **fields}.items() if value is not None}
    return broken(json.dumps(body).encode(), server)


@pytest.mark.parametrize(
    "items",
    [
        [USER],
        [{**USER, "role": "developer"}, USER, SAID, USER],
        [user(PICTURE)],
        [USER, call(), OUTPUT],
        [USER, THOUGHT, own_call(), OUTPUT, USER],
        [USER, THOUGHT, call(), OUTPUT],
        [
            USER,
            THOUGHT,
            own_message(TEXT, {"type": "refusal", "refusal": "no"}),
            own_call(),
            OUTPUT,
        ],
        [call(), call(call_id="c2"), {**OUTPUT, "call_id": "c2"}, OUTPUT],
        [call(), {**OUTPUT, "output": [PICTURE]}],
        [{**SAID, "phase": "commentary"}, USER],
    ],
)
def test_a_sound_request_breaks_none(items: Any) -> None:
    assert [] == found(input=items)


@pytest.mark.parametrize(
    "items",
    [
        [],
        [{"type": "item_reference", "id": "msg_1"}],
        [{**USER, "role": "robot"}],
        [{**USER, "odd": 1}],
        [user()],
        [{"role": "user", "content": "hi"}],
        [user({"type": "input_text", "text": ""})],
        [user({"type": "output_text", "text": "hi"})],
        [user({**PICTURE, "image_url": "data:image/png;base64,?"})],
        [user({**PICTURE, "image_url": "https://x/y.png"})],
        [user({**PICTURE, "detail": "odd"})],
        [{"role": "developer", "content": [PICTURE]}],
        [{**SAID, "content": ""}],
        [{**SAID, "content": []}],
        [{**SAID, "phase": "odd"}],
        [{**SAID, "status": "completed"}],
        [own_message(TEXT)],
        [THOUGHT, own_message()],
        [THOUGHT, own_message({"type": "output_text", "text": "hi"})],
        [THOUGHT, own_message(TEXT, status=None)],
        [THOUGHT, own_message(TEXT, id="m")],
        [THOUGHT, own_message(TEXT), own_message(TEXT)],
        [THOUGHT],
        [THOUGHT, USER],
        [THOUGHT, {**THOUGHT, "id": "rs_2"}, SAID],
        [THOUGHT, SAID, THOUGHT, SAID],
        [{**THOUGHT, "encrypted_content": ""}, SAID],
        [{**THOUGHT, "summary": None}, SAID],
        [{**THOUGHT, "summary": [{"type": "text"}]}, SAID],
        [{**THOUGHT, "status": "completed"}, SAID],
        [own_call(), OUTPUT],
        [THOUGHT, call(), OUTPUT, own_call(), OUTPUT],
        [THOUGHT, own_call("call_1"), OUTPUT],
        [call()],
        [call(), USER, OUTPUT],
        [OUTPUT],
        [call(), OUTPUT, OUTPUT],
        [call(), call(), OUTPUT, OUTPUT],
        [call(call_id=""), {**OUTPUT, "call_id": ""}],
        [call(name="not a name"), OUTPUT],
        [call(arguments=""), OUTPUT],
        [call(arguments="[]"), OUTPUT],
        [call(arguments='{"a":NaN}'), OUTPUT],
        [call(arguments={}), OUTPUT],
        [call(status="completed"), OUTPUT],
        [call(), {**OUTPUT, "output": " "}],
        [call(), {**OUTPUT, "output": []}],
        [call(), {**OUTPUT, "status": "completed"}],
    ],
)
def test_an_item_that_breaks_a_rule_is_seen(items: Any) -> None:
    assert [] != found(input=items)


@pytest.mark.parametrize(
    "fields",
    [
        {"model": ""},
        {"odd": 1},
        {"instructions": []},
        {"store": None},
        {"stream": "yes"},
        {"include": ["odd"]},
        {"prompt_cache_key": "k" * 65},
        {"tools": []},
        {"tools": [TOOL, TOOL]},
        {"tools": [{**TOOL, "type": "odd"}]},
        {"tools": [{**TOOL, "name": "a b"}]},
        {"tools": [{**TOOL, "parameters": None}]},
        {"tools": [{**TOOL, "strict": True}]},
        {"tools": [{**TOOL, "function": {}}]},
        {"tools": None, "tool_choice": "auto"},
        {"reasoning": {"effort": "odd"}},
        {"reasoning": {"summary": "odd"}},
        {"reasoning": {"odd": 1}},
        {"text": {"format": {"type": "odd"}}},
        {"text": {"format": {"type": "json_schema", "name": "a"}}},
        {"text": {"format": {"type": "json_schema", "schema": {}}}},
        {"text": {"format": {"type": "json_schema", "json_schema": {}}}},
    ],
)
def test_a_field_that_breaks_a_rule_is_seen(fields: dict[str, Any]) -> None:
    assert [] != found(**fields)


def test_a_body_that_is_no_json_is_seen() -> None:
    assert [] != broken(b'"\xed\xa0\x80"')


def test_a_server_may_take_fewer_images_and_open_thoughts() -> None:
    shown = [call(), {**OUTPUT, "output": [PICTURE]}]
    assert [] != found(Server(images=False), input=[user(PICTURE)])
    assert [] != found(Server(result_images=False), input=shown)
    opened = {"type": "reasoning", "summary": [], "content": [{"text": "hm"}]}
    assert [] != found(input=[opened, SAID])
    assert [] == found(Server(open_thoughts=True), input=[opened, SAID])


@pytest.mark.parametrize("role", ["system", "developer"])
def test_a_server_may_take_instructions_apart_alone(role: str) -> None:
    told = [USER, {**USER, "role": role}]
    assert [] == found(input=told)
    assert [] != found(Server(instructions=False), input=told)
