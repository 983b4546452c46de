"""What a real llama.cpp server said over Messages, byte for byte, and what it was asked."""

import json
from pathlib import Path
from random import Random
from typing import Final

import pytest

from loopcore import (
    AssistantMessage,
    CallModel,
    Message,
    ToolCall,
    ToolResultMessage,
    ToolSpec,
    Usage,
    UserMessage,
)
from loopcore_adapters.faults import http_fault
from loopcore_adapters.loose import Json
from loopcore_adapters.messages import encode
from tests.chat_reading import MODEL
from tests.messages_reading import error, feed, reply
from tests.reading import cut

RECORDINGS: Final = Path(__file__).parent / "data" / "recordings"
CALL_ID: Final = "zU72vbfDW9CMT8WuwwCmIy4QlYPNnq8Y"
PARIS: Final = '{"city": "Paris", "unit": "celsius"}'
RAIN: Final = "The weather in Paris is currently light rain."
SORRY: Final = "I'm sorry, but I can't assist with that."


def recorded(name: str) -> bytes:
    return (RECORDINGS / f"q05__{name}.txt").read_bytes()


def meta(name: str) -> Json:
    return json.loads((RECORDINGS / f"q05__{name}.meta.json").read_text())


def said(text: str, usage: Usage, finish: Json = "end") -> AssistantMessage:
    return AssistantMessage(text, model=MODEL, finish=finish, usage=usage)


def called(call_id: str) -> AssistantMessage:
    call = ToolCall.parse("get_weather", PARIS, call_id)
    usage = Usage(1, 28, 196)
    return AssistantMessage([call], model=MODEL, finish="tools", usage=usage)


REPLIES: Final = {
    "msg_01_text": said("Hello!", Usage(13, 3, 24)),
    "msg_02_nonstream": said("Hello!", Usage(1, 3, 23)),
    "msg_03_tool_any": called(CALL_ID),
    "msg_03_tool_any_2": said(RAIN, Usage(1, 10, 113)),
    "msg_04_tool_auto": called("bhEPs4iAju3bMnU34sY3cqfSqj1r1LGu"),
    "msg_05_length": said("1, 2, 3,", Usage(1, 8, 38), "length"),
    "msg_06_err_no_max_tokens": said(SORRY, Usage(14, 13, 24)),
}


@pytest.mark.parametrize("name", REPLIES)
def test_a_recorded_reply_is_read_however_it_is_cut(name: str) -> None:
    """Whole, byte by byte, and at twenty random sets of places."""
    body = recorded(name)
    random = Random(name)  # noqa: S311  # a test's dice, the same each time
    assert reply(body) == REPLIES[name]
    for _ in range(20):
        places = random.sample(range(1, len(body)), random.randrange(1, 40))
        assert feed(cut(body, places)) == REPLIES[name]


@pytest.mark.parametrize("end", [b"\r\n", b"\r"])
@pytest.mark.parametrize("name", ["msg_01_text", "msg_03_tool_any"])
def test_a_recorded_reply_is_the_same_with_other_line_ends(
    name: str, end: bytes
) -> None:
    assert reply(recorded(name).replace(b"\n", end)) == REPLIES[name]


@pytest.mark.parametrize("name", ["msg_01_text", "msg_03_tool_any"])
def test_a_recorded_reply_that_breaks_off_is_a_fault(name: str) -> None:
    body = recorded(name)
    for place in range(7, body.index(b'"stop_reason":"'), 97):
        assert error(body[:place]).kind == "cut_stream"


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("msg_07_err_bad", "server", "'messages' is required"),
        ("msg_08_err_ctx", "context_overflow", "request (9030 tokens) exceeds"),
    ],
)
def test_a_recorded_error_is_of_a_kind(name: str, kind: str, message: str) -> None:
    status = meta(name)["response"]["status"]
    found = http_fault(status, {}, recorded(name), 0.0)
    assert (found.kind, found.status) == (kind, status)
    assert found.message.startswith(message)
    assert error(recorded(name)).kind == kind


def blocks(content: Json) -> Json:
    """Text stands for one block of text."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def spelled_out(body: Json) -> Json:
    """The same request with every text as a block."""
    messages = [{**m, "content": blocks(m["content"])} for m in body["messages"]]
    for message in messages:
        for block in message["content"]:
            if block["type"] == "tool_result":
                block["content"] = blocks(block["content"])
    return {**body, "messages": messages, "system": blocks(body["system"])}


@pytest.mark.parametrize(
    ("name", "history"),
    [
        ("msg_04_tool_auto", ()),
        (
            "msg_03_tool_any_2",
            (
                REPLIES["msg_03_tool_any"],
                ToolResultMessage(
                    CALL_ID,
                    "get_weather",
                    '{"city": "Paris", "temp_c": 17, "sky": "light rain"}',
                ),
            ),
        ),
    ],
)
def test_a_recorded_request_is_what_is_sent(
    name: str, history: tuple[Message, ...]
) -> None:
    """The server took exactly this; one block of text may be written as text."""
    body = meta(name)["request"]["body"]
    (tool,) = body["tools"]
    spec = ToolSpec(tool["name"], tool["description"], tool["input_schema"])
    call = CallModel(
        "i",
        "local:local",
        [UserMessage("What is the weather in Paris right now?"), *history],
        body["system"],
        (spec,),
        options={n: body[n] for n in ("temperature", "max_tokens") if n in body},
    )
    assert json.loads(encode(call).body) == spelled_out(body)
