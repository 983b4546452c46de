"""What a real llama.cpp server said, byte for byte, and what it was asked."""

import json
from pathlib import Path
from random import Random
from typing import Final

import pytest

from loopcore import (
    AssistantMessage,
    CallModel,
    Message,
    Text,
    ToolCall,
    ToolResultMessage,
    ToolSpec,
    Usage,
    UserMessage,
)
from loopcore_adapters.chat import encode
from loopcore_adapters.faults import http_fault
from loopcore_adapters.loose import Json
from tests.chat_reading import MODEL, error, feed, reply
from tests.reading import cut

RECORDINGS: Final = Path(__file__).parent / "data" / "recordings"
PARIS: Final = '{"city": "Paris", "unit": "celsius"}'
TOKYO: Final = '{"city": "Tokyo", "unit": "celsius"}'
RAIN: Final = "The weather in Paris is currently light rain."
AS_TEXT: Final = (
    '```json\n{"name": "get_weather", "arguments": {"city": "Paris", "unit": "celsius"}}'
    "\n```"
)
ALICE: Final = (
    '{\n  "name": "Alice",\n  "age": 31,\n  "city": "Oslo",\n  "pets": ["Tom"]\n}'
)


def recorded(name: str) -> bytes:
    return (RECORDINGS / f"q05__{name}.txt").read_bytes()


def meta(name: str) -> Json:
    return json.loads((RECORDINGS / f"q05__{name}.meta.json").read_text())


def said(text: str, usage: Usage, finish: Json = "end") -> AssistantMessage:
    return AssistantMessage(text, model=MODEL, finish=finish, usage=usage)


def called(arguments: str, call_id: str, usage: Usage) -> AssistantMessage:
    call = ToolCall.parse("get_weather", arguments, call_id)
    return AssistantMessage([call], model=MODEL, finish="tools", usage=usage)


REPLIES: Final = {
    "chat_01_text": said("Hello!", Usage(32, 3, 5)),
    "chat_02_text_nonstream": said("Hello!", Usage(1, 3, 36)),
    "chat_03_length": said("1, 2, 3,", Usage(15, 8, 24), "length"),
    "chat_04_tool_auto": called(
        PARIS, "ZfEnnN5iN86ZUOH7KwF7o6iqLyZqXAma", Usage(192, 28, 5)
    ),
    "chat_04_tool_auto_2": said(RAIN, Usage(98, 10, 16)),
    "chat_05_tool_required": called(
        PARIS, "sMKDEvy5Eefb3LJqZGcLJdfM90V1MBEk", Usage(119, 28, 137)
    ),
    "chat_05_tool_required_2": said(RAIN, Usage(1, 10, 113)),
    "chat_06_tool_named": called(
        TOKYO, "UhCAoDVgBs5ZeCDTO5moyjqx8sq3nM7X", Usage(10, 29, 242)
    ),
    "chat_07_tool_none": said(AS_TEXT, Usage(60, 28, 137)),
    "chat_08_tool_parallel": called(
        PARIS, "9MgJPB9nRTHc9QHdRx8ZR2RwvGFWZVJZ", Usage(17, 28, 189)
    ),
    "chat_08b_tool_parallel_required": called(
        PARIS, "iq5Em29C98n3miabiEQSZ0hSaWMgdIzM", Usage(1, 28, 205)
    ),
    "chat_09_json_schema": said(ALICE, Usage(25, 38, 24)),
    "chat_10_json_object": said(
        '{\n  "a": "value1",\n  "b": "value2"\n}', Usage(15, 19, 24)
    ),
    "chat_11_tool_nonstream": called(
        PARIS, "uvGKHVfeB94Gj97fuEjMZReSP3ZwSWFQ", Usage(8, 28, 189)
    ),
    "chat_12_logprobs": said("Hello! How can I assist", Usage(8, 6, 24), "length"),
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


def test_a_server_that_was_killed_leaves_a_part() -> None:
    found = error(recorded("fault_server_killed_midstream"))
    assert found.kind == "cut_stream"
    assert found.partial
    assert found.partial.text == "As the sun began to set, the ship was slowly drifting"


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("err_01_bad_json", "bad_request", "[json.exception.parse_error.101]"),
        ("err_02_no_messages", "bad_request", "'messages' is required"),
        ("err_03_ctx_overflow", "context_overflow", "request (9030 tokens) exceeds"),
        ("err_04_bad_role", "bad_request", "Expected 'content' to be a string"),
        ("err_05_bad_schema", "bad_request", "Unable to generate parser"),
        ("err_06_404", "bad_request", "File Not Found"),
        ("err_07_bad_tool_choice", "bad_request", "Invalid tool_choice: banana"),
    ],
)
def test_a_recorded_error_is_of_a_kind(name: str, kind: str, message: str) -> None:
    status = meta(name)["response"]["status"]
    found = http_fault(status, {}, recorded(name), 0.0)
    assert (found.kind, found.status) == (kind, status)
    assert found.message.startswith(message)


@pytest.mark.parametrize(
    ("name", "history"),
    [
        ("chat_04_tool_auto", ()),
        (
            "chat_04_tool_auto_2",
            (
                REPLIES["chat_04_tool_auto"],
                ToolResultMessage(
                    "ZfEnnN5iN86ZUOH7KwF7o6iqLyZqXAma",
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
    """The server took exactly this."""
    body = meta(name)["request"]["body"]
    (function,) = (tool["function"] for tool in body["tools"])
    call = CallModel(
        "i",
        "local:local",
        [UserMessage(Text("What is the weather in Paris right now?")), *history],
        body["messages"][0]["content"],
        (ToolSpec(**function),),
        options={"temperature": 0, "seed": 1, "max_tokens": 128},
    )
    assert json.loads(encode(call).body) == body
