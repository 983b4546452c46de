"""Agent core rows about what goes over the wire of Gemini, and Mistral's ids."""

import json
from typing import Any

from loopcore import (
    AssistantMessage,
    CallModel,
    Message,
    Text,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from loopcore_adapters import gemini
from loopcore_adapters.chat import encode
from loopcore_adapters.chat.dialects import MISTRAL

GEMINI = "gemini:gemini-3-flash"


def test_an_empty_text_with_a_signature_is_kept() -> None:
    """Row 114: what Gemini 3 thought hangs on it."""
    reply = AssistantMessage([Text("a"), Text("", signature="c2ln")], model=GEMINI)
    history = UserMessage("hi"), reply, UserMessage("more")
    body = gemini.encode(CallModel("r.1.1.model.1", GEMINI, history)).body

    assert json.loads(body)["contents"][1]["parts"] == [
        {"text": "a"},
        {"text": "", "thoughtSignature": "c2ln"},
    ]


def mistral_ids(*call_ids: str) -> list[str]:
    """The ids that Mistral is sent for these; its results have the same."""
    calls = AssistantMessage([ToolCall("a", id=call_id) for call_id in call_ids])
    results = [ToolResultMessage(call_id, "a", "ok") for call_id in call_ids]
    history: list[Message] = [UserMessage("hi"), calls, *results]
    body = encode(CallModel("r.1.1.model.1", "mistral:m", history), MISTRAL).body
    sent: list[Any] = json.loads(body)["messages"]
    asked = [made["id"] for said in sent for made in said.get("tool_calls", ())]
    assert asked == [said["tool_call_id"] for said in sent if said["role"] == "tool"]
    return asked


def test_ids_that_come_to_the_same_are_told_apart_for_mistral() -> None:
    """Row 115: nine letters and digits each, and the same in each request."""
    (taken,) = mistral_ids("call_1|fc_2")
    both = mistral_ids(taken, "call_1|fc_2")

    assert [len(one) for one in both] == [9, 9]
    assert all(one.isalnum() for one in both)
    assert both[0] == taken
    assert both[1] != taken
    assert both == mistral_ids(taken, "call_1|fc_2")
