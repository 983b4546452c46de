"""Reports about tool calls over the wire of Messages."""

import json
from typing import Any

import pytest

from loopcore import AssistantMessage, CallModel, Text, ToolCall, ToolOutput
from loopcore_adapters.messages import encode
from tests.driving import begin, call, config
from tests.messages_rules import problems
from tests.ways import every_way, output, scripted

BROKEN = ToolCall.parse("a", '{"a": 1 "b"}', "c1")


def sent(request: CallModel) -> list[Any]:
    """The messages of a request that the service would take."""
    body = encode(request).body
    assert problems(body) == []
    return list(json.loads(body)["messages"])


@every_way
def test_arguments_that_are_no_json_are_sent_as_an_object(way: str) -> None:
    """Report 84: where the service takes nothing else, with the error beside it."""
    played = scripted(way, config(), BROKEN, "ok")
    _, reply, answered = sent(played.requests[1])

    assert ({"c1": "invalid_arguments"}, "ok") == (played.outcomes, output(played))
    assert {} == reply["content"][0]["input"]
    assert answered["content"][0]["is_error"] is True


def test_the_results_of_a_turn_are_one_message_before_any_text() -> None:
    """Report 94: the service refuses results that are apart, or behind a text."""
    reply = AssistantMessage([call("a"), call("b")], finish="tools")
    run = begin(config())
    run = run.give(run.one_request.reply(reply))
    run = run.ran("b", ToolOutput("B")).ran("a", ToolOutput("A"))
    *_, last = sent(run.one_request)

    assert "user" == last["role"]
    assert ["tool_result"] * 2 == [block["type"] for block in last["content"]]
    assert ["A", "B"] == [block["content"][0]["text"] for block in last["content"]]


@pytest.mark.parametrize("text", ["", "   "])
def test_a_tool_turn_without_text_keeps_its_call_and_its_result(text: str) -> None:
    """Report 117: and has no empty text."""
    reply = AssistantMessage([Text(text), call("a")], finish="tools")
    run = begin(config())
    run = run.give(run.one_request.reply(reply)).ran("a", ToolOutput("A"))
    _, *turns = sent(run.one_request)

    kinds = [[block["type"] for block in turn["content"]] for turn in turns]
    assert [["tool_use"], ["tool_result"]] == kinds
