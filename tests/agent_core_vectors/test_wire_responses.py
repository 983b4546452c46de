"""Agent core rows about what goes over the wire of Responses."""

import json
from typing import Any

import pytest

from loopcore import (
    AssistantMessage,
    CallModel,
    Message,
    Thinking,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from loopcore_adapters.responses import encode

SEALED = '{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"}'
THOUGHT = Thinking("", SEALED, redacted=True)
CALL = ToolCall("a", {}, "c1", signature="fc_1")
MADE_BY = "openai:gpt-5.2"


def sent(*history: Message, model: str = MADE_BY) -> list[Any]:
    """The input of a request."""
    body = encode(CallModel("r.1.1.model.1", model, history)).body
    return list(json.loads(body)["input"])


@pytest.mark.parametrize("finish", ["aborted", "error", "length"])
def test_a_thought_that_led_to_nothing_is_not_sent(finish: Any) -> None:
    """Row 112: whatever cut the turn."""
    cut = AssistantMessage(THOUGHT, model=MADE_BY, finish=finish)
    (item,) = sent(cut, UserMessage("go on"))

    assert "user" == item["role"]


@pytest.mark.parametrize(
    ("model", "kinds", "item_id"),
    [
        (MADE_BY, ["reasoning", "function_call", "function_call_output"], "fc_1"),
        ("openai:gpt-5.2-mini", ["function_call", "function_call_output"], None),
    ],
)
def test_another_model_of_the_provider_gets_the_call_without_the_items_id(
    model: str, kinds: list[str], item_id: str | None
) -> None:
    """Row 113: the server would look for the thought; the call's own id stays."""
    asked = AssistantMessage([THOUGHT, CALL], model=MADE_BY, finish="tools")
    items = sent(asked, ToolResultMessage("c1", "a", "ok"), model=model)

    assert kinds == [item["type"] for item in items]
    (call,) = [item for item in items if item["type"] == "function_call"]
    assert ("c1", item_id) == (call["call_id"], call.get("id"))
