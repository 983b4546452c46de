"""Agent core rows about what goes over the wire of Messages."""

import json
from typing import Any

import pytest

from loopcore import (
    AssistantMessage,
    CallModel,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from loopcore_adapters.messages import encode

MADE_BY = "anthropic:claude-sonnet-4-5"
OTHERS = ["anthropic:claude-haiku-4-5", "openai:gpt-5.2"]
USER = UserMessage("hi")


def sent(*history: Message, model: str = MADE_BY) -> list[Any]:
    """The messages of a request."""
    options = {"cache_control": None}
    body = encode(CallModel("r.1.1.model.1", model, history, options=options)).body
    return list(json.loads(body)["messages"])


def thought(part: Thinking, model: str) -> list[Any]:
    """What is sent to this model of a reply that began with this."""
    reply = AssistantMessage([part, Text("a")], model=MADE_BY)
    return list(sent(USER, reply, USER, model=model)[1]["content"])


def test_signed_thinking_goes_back_though_it_is_empty() -> None:
    """Row 96: the signature carries it."""
    first, _ = thought(Thinking("", "sig"), MADE_BY)

    assert {"type": "thinking", "thinking": "", "signature": "sig"} == first


@pytest.mark.parametrize("model", OTHERS)
def test_thinking_of_another_model_is_left_out(model: str) -> None:
    """Row 97: not sent as text either, which a reader would take for the answer.

    The lifecycle engine does so too (7.4), and so does every wire here.
    """
    assert [{"type": "text", "text": "a"}] == thought(Thinking("abc", "sig"), model)


@pytest.mark.parametrize("model", OTHERS)
def test_redacted_thinking_of_another_model_is_gone(model: str) -> None:
    """Row 98: nobody else can read it."""
    redacted = Thinking("", "Em0=", redacted=True)

    assert [{"type": "text", "text": "a"}] == thought(redacted, model)


def test_an_id_of_another_wire_is_cut_in_the_call_and_in_its_result() -> None:
    """Row 99: what is not taken is replaced, and it has at most 64 characters."""
    long = f"call_{'x' * 200}|fc_{'y' * 240}"
    asked = AssistantMessage([ToolCall("a", {}, long)], model="openai:gpt-5.2")
    _, call, result = sent(USER, asked, ToolResultMessage(long, "a", "ok"))
    call_id = call["content"][0]["id"]

    assert 64 == len(call_id)
    assert call_id.startswith("call_xxx")
    assert call_id == result["content"][0]["tool_use_id"]


def test_a_user_message_of_spaces_is_dropped() -> None:
    """Row 109: the service refuses blank text."""
    assert sent(USER) == sent(USER, UserMessage("   "))
