"""Agent core rows about what goes over the wire of Chat Completions."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from loopcore import (
    AssistantMessage,
    CallModel,
    Image,
    Message,
    ModelError,
    Text,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from loopcore_adapters import connect
from loopcore_adapters.call_ids import CallIds
from loopcore_adapters.chat import encode
from loopcore_adapters.chat.dialect import PLAIN, Dialect
from loopcore_adapters.faults import http_fault
from tests.chat_server import chat_server, reply, says
from tests.reading import Told

DOT = Image("aGk=", "image/png")
BLIND = Dialect(images=False)


def sent(*history: Message, dialect: Dialect = PLAIN) -> list[Any]:
    """The messages of a request."""
    body = encode(CallModel("r.1.1.model.1", "test:model", history), dialect).body
    return list(json.loads(body)["messages"])


def asks(*ids: str) -> AssistantMessage:
    """A reply that calls these."""
    return AssistantMessage([ToolCall("a", id=call_id) for call_id in ids])


def gives(call_id: str, *parts: Text | Image) -> ToolResultMessage:
    """A result."""
    return ToolResultMessage(call_id, "a", parts)


def test_long_ids_that_begin_alike_stay_apart() -> None:
    """Row 100: where a server takes forty characters."""
    ids = CallIds(PLAIN.call_id, 40)
    names = {ids.name(f"{'x' * 80}{end}") for end in "ab"}

    assert [len(name) <= 40 for name in names] == [True, True]


def test_images_are_one_stand_in_where_none_can_be_seen() -> None:
    """Row 107: three in a row are one text."""
    result = gives("1", DOT, DOT, DOT)
    (_, tool) = sent(asks("1"), result, dialect=BLIND)

    assert tool["content"] == "[Left out: an image, which this model cannot see.]"


def test_half_a_character_is_replaced_and_a_whole_one_kept() -> None:
    """Row 108: so that every request can be encoded."""
    (_, tool) = sent(asks("1"), gives("1", Text("a\ud800b \N{GRINNING FACE}")))

    assert tool["content"] == "a\ufffdb \N{GRINNING FACE}"


def test_images_of_results_follow_in_one_message() -> None:
    """Row 110: two results, each with one."""
    messages = sent(asks("1", "2"), gives("1", DOT), gives("2", Text("B"), DOT))

    assert [said["role"] for said in messages] == ["assistant", "tool", "tool", "user"]
    kinds = [part["type"] for part in messages[-1]["content"]]
    assert kinds.count("image_url") == 2


def test_an_empty_result_says_that_there_was_no_output() -> None:
    """Row 111: and points to no image."""
    (_, tool) = sent(asks("1"), gives("1"))

    assert tool["content"] == "[The tool gave no output.]"


def fault(status: int, message: str, code: str) -> ModelError:
    """What this response means."""
    body = json.dumps({"error": {"message": message, "code": code}}).encode()
    return http_fault(status, {}, body, 0.0)


@pytest.mark.parametrize(
    ("status", "message", "code", "means"),
    [
        (400, "Throttling error: too many tokens", "", ("rate_limit", True)),
        (400, "prompt is too long: 210000 > 200000", "", ("context_overflow", False)),
        (429, "You exceeded your quota", "insufficient_quota", ("auth", False)),
    ],
)
def test_what_a_server_says_means_one_kind_of_fault(
    status: int, message: str, code: str, means: tuple[str, bool]
) -> None:
    """Rows 116, 117, 121: throttling, an overflow, an account that is used up."""
    found = fault(status, message, code)

    assert (found.kind, found.retryable) == means


def test_a_key_is_asked_for_before_each_request() -> None:
    """Row 136: a new one is used at once; keys belong to adapters (T11)."""
    keys: Iterator[str] = iter(("key-one", "key-two"))

    async def two_requests() -> list[str]:
        async with chat_server(says(reply("a")), says(reply("b"))) as server:
            model = connect("openai:m", base_url=server.url, api_key=lambda: next(keys))
            call = CallModel("r.1.1.model.1", "openai:m", [UserMessage("hi")])
            for _ in range(2):
                await model.call(call, Told())
            return [request.headers["authorization"] for request in server.requests]

    assert asyncio.run(two_requests()) == ["Bearer key-one", "Bearer key-two"]
