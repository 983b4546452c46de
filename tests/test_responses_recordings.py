"""What a real server of Responses sent, and was sent: llama.cpp with Qwen2.5-Coder-0.5B."""

import json
from pathlib import Path
from random import Random
from typing import Any, Final

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
from loopcore_adapters.faults import http_fault
from loopcore_adapters.responses import encode
from loopcore_adapters.responses.dialect import LLAMACPP
from tests.reading import cut
from tests.responses_reading import MODEL, error, feed, reply

Json = Any
RECORDINGS: Final = Path(__file__).parent / "data" / "recordings"
PARIS: Final = '{"city": "Paris", "unit": "celsius"}'
RAIN: Final = "The weather in Paris is currently light rain."


def recorded(name: str) -> bytes:
    return (RECORDINGS / f"q05__{name}.txt").read_bytes()


def meta(name: str) -> Json:
    return json.loads((RECORDINGS / f"q05__{name}.meta.json").read_text())


def said(text: str, usage: Usage) -> AssistantMessage:
    return AssistantMessage(text, model=MODEL, usage=usage)


def called(call_id: str) -> AssistantMessage:
    call = ToolCall.parse("get_weather", PARIS, f"call_{call_id}")
    usage = Usage(1, 28, 196)
    return AssistantMessage([call], model=MODEL, finish="tools", usage=usage)


REPLIES: Final = {
    "resp_01_text": said("Hello!", Usage(12, 3, 25)),
    "resp_02_nonstream": said("Hello!", Usage(21, 3, 3)),
    "resp_03_tool_required": called("VoSRW3zaPHV1CvENiOt5JsZeX9jHXYfu"),
    "resp_03_tool_required_2": said(RAIN, Usage(1, 10, 113)),
    "resp_04_tool_auto": called("vZa2PbYLUi8Vn8GtbfPpioH5HDuFuJUN"),
    "resp_05_json_schema": said("Alice is 31 and lives in Oslo.", Usage(17, 11, 24)),
    # This server says "completed" of a reply that was cut.
    "resp_06_length": said("1, 2, 3,", Usage(15, 8, 24)),
}


@pytest.mark.parametrize("name", REPLIES)
def test_a_recorded_reply_is_read_however_it_is_cut(name: str) -> None:
    """Whole, byte by byte, and at twenty random sets of places."""
    body = recorded(name)
    random = Random(name)  # noqa: S311  # a test's dice, the same each time
    assert REPLIES[name] == reply(body)
    for _ in range(20):
        places = random.sample(range(1, len(body)), random.randrange(1, 40))
        assert REPLIES[name] == feed(cut(body, places))


@pytest.mark.parametrize("name", [n for n in REPLIES if not n.endswith("nonstream")])
@pytest.mark.parametrize("end", [b"\r", b"\r\n"])
def test_a_recorded_reply_may_have_other_line_ends(name: str, end: bytes) -> None:
    body = recorded(name).replace(b"\n", end)
    assert REPLIES[name] == reply(b"\xef\xbb\xbf: beat", end, end, body)


@pytest.mark.parametrize("name", [n for n in REPLIES if not n.endswith("nonstream")])
def test_a_recorded_reply_that_was_cut_off_is_a_fault(name: str) -> None:
    body = recorded(name)
    found = error(body[: body.index(b"event: response.completed")])
    assert "cut_stream" == found.kind
    assert found.partial
    assert REPLIES[name].parts == found.partial.parts


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("resp_07_err_prev_id", "bad_request", "llama.cpp does not support"),
        ("resp_08_err_ctx", "context_overflow", "request (9030 tokens) exceeds"),
    ],
)
def test_a_recorded_error_is_of_a_kind(name: str, kind: str, message: str) -> None:
    status = meta(name)["response"]["status"]
    found = http_fault(status, {}, recorded(name), 0.0)
    assert (kind, status) == (found.kind, found.status)
    assert found.message.startswith(message)


SKY: Final = '{"city": "Paris", "temp_c": 17, "sky": "light rain"}'


@pytest.mark.parametrize(
    ("name", "history"),
    [
        ("resp_04_tool_auto", ()),
        (
            "resp_03_tool_required_2",
            (
                REPLIES["resp_03_tool_required"],
                ToolResultMessage(
                    "call_VoSRW3zaPHV1CvENiOt5JsZeX9jHXYfu", "get_weather", SKY
                ),
            ),
        ),
    ],
)
def test_a_recorded_request_is_what_is_sent(
    name: str, history: tuple[Message, ...]
) -> None:
    """The server took this; the ids of items, which serve nothing, are not sent."""
    body = meta(name)["request"]["body"]
    (tool,) = body["tools"]
    kept = {n: tool[n] for n in ("name", "description", "parameters")}
    call = CallModel(
        "i",
        "local:local",
        [UserMessage(Text("What is the weather in Paris right now?")), *history],
        body["instructions"],
        (ToolSpec(**kept),),
        options={"temperature": 0, "max_output_tokens": 128},
    )
    for item in body["input"]:
        for name_of_field in ("id", "status"):
            item.pop(name_of_field, None)
    asked = {"store": False, "include": ["reasoning.encrypted_content"]}
    assert body | asked == json.loads(encode(call, LLAMACPP).body)
