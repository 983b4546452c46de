"""The judge of Chat Completions requests sees each rule that is broken."""

import json
from typing import Any, Final

import pytest

from tests.chat_rules import STRICT, Server, broken

USER: Final = {"role": "user", "content": "hi"}
SAID: Final = {"role": "assistant", "content": "hello"}
RESULT: Final = {"role": "tool", "tool_call_id": "1", "content": "ok"}
FUNCTION: Final = {"name": "look", "parameters": {"type": "object"}}
TOOL: Final = {"type": "function", "function": FUNCTION}
GOOD: Final = {"model": "m", "messages": [USER], "tools": [TOOL], "stream": True}


def call(call_id: Any = "1", name: str = "look", arguments: str = "{}") -> Any:
    function = {"name": name, "arguments": arguments}
    return {"id": call_id, "type": "function", "function": function}


def asks(*calls: Any) -> Any:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def picture(url: str) -> Any:
    return [{"type": "image_url", "image_url": {"url": url}}]


def found(server: Server = STRICT, **fields: Any) -> list[str]:
    return broken(json.dumps({**GOOD, **fields}).encode(), server)


@pytest.mark.parametrize(
    "messages",
    [
        [USER],
        [{"role": "system", "content": "Be kind."}, USER],
        [USER, asks(call("1"), call("2")), RESULT, {**RESULT, "tool_call_id": "2"}],
        [{"role": "user", "content": picture("data:image/png;base64,aGk=")}],
    ],
)
def test_a_sound_request_breaks_none(messages: Any) -> None:
    assert found(messages=messages) == []


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [{"role": "robot", "content": "hi"}],
        [{"role": "user"}],
        [{"role": "user", "content": []}],
        [{**USER, "odd": 1}],
        [{"role": "user", "content": picture("https://x/y.png")}],
        [{"role": "user", "content": picture("data:image/png;base64,?")}],
        [{"role": "system", "content": picture("data:image/png;base64,aGk=")}],
        [{"role": "user", "content": [{"type": "text"}]}],
        [{"role": "assistant", "content": None}],
        [{"role": "assistant", "content": "a", "tool_calls": []}],
        [RESULT],
        [asks(call()), RESULT, RESULT],
        [asks(call())],
        [asks(call()), USER, RESULT],
        [asks(call(), call()), RESULT, RESULT],
        [asks(call()), RESULT, asks(call()), RESULT],
        [asks(call(7)), RESULT],
        [asks(call(name="not a name")), RESULT],
        [asks(call(arguments="")), RESULT],
        [asks(call(arguments="[]")), RESULT],
        [asks(call(arguments='{"a":NaN}')), RESULT],
        [asks({**call(), "extra": 1}), RESULT],
        [asks({**call(), "type": "odd"}), RESULT],
        [asks(call()), {**RESULT, "content": " "}],
        [{**USER, "content": " "}],
        [USER, {"role": "assistant", "content": ""}, USER],
        [{"role": "user", "content": [{"type": "text", "text": "\n"}]}],
        [USER, {"role": "system", "content": "Be kind."}, USER],
    ],
)
def test_a_message_that_breaks_a_rule_is_seen(messages: Any) -> None:
    assert found(messages=messages) != []


@pytest.mark.parametrize(
    "fields",
    [
        {"model": ""},
        {"odd": 1},
        {"tools": []},
        {"tools": [TOOL, TOOL]},
        {"tools": [{"type": "function", "function": {**FUNCTION, "name": "a b"}}]},
        {"tools": [{"type": "function", "function": {"name": "look"}}]},
        {"tool_choice": "odd"},
        {"tools": None, "tool_choice": "auto"},
        {"stream": False, "stream_options": {}},
        {"response_format": {"type": "odd"}},
        {"response_format": {"type": "json_object"}},
        {"response_format": {"type": "json_schema", "json_schema": {"name": "a"}}},
        {"response_format": {"type": "json_schema", "json_schema": {"schema": {}}}},
    ],
)
def test_a_field_that_breaks_a_rule_is_seen(fields: dict[str, Any]) -> None:
    assert found(**fields) != []


def test_a_body_that_is_no_json_is_seen() -> None:
    assert broken(b'"\xed\xa0\x80"') != []


def test_a_server_may_take_no_images() -> None:
    seen = [{"role": "user", "content": picture("data:image/png;base64,aGk=")}]
    assert found(Server(images=False), messages=seen) != []


def test_a_server_may_let_the_system_speak_at_any_time() -> None:
    told = [USER, {"role": "system", "content": "Be kind."}, USER]
    assert found(Server(system_once=False), messages=told) == []


@pytest.mark.parametrize(
    "messages",
    [
        [asks(call()), RESULT, USER],
        [asks(call()), RESULT, {"role": "system", "content": "Be kind."}],
        [SAID, {"role": "system", "content": "Be kind."}, USER],
    ],
)
def test_a_server_may_want_an_order(messages: Any) -> None:
    assert found(Server(system_once=False), messages=messages) == []
    assert found(Server(system_once=False, ordered=True), messages=messages) != []


def test_no_server_goes_on_with_a_reply() -> None:
    assert found(messages=[USER, SAID]) == ["the assistant speaks last"]
