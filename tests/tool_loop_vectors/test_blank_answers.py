"""Tool loop vectors about blank answers.

A blank reply is an answer unless a rule asks again: `nudge`, which counts in a row.
"""

import json
from typing import Any

import pytest

from loopcore import AssistantMessage, CallModel
from loopcore.events import TurnEnd
from loopcore.policies import nudge
from loopcore_adapters.chat import Dialect, encode
from loopcore_adapters.chat.dialects import MISTRAL, OPENAI
from tests.driving import call, config
from tests.ways import every_way, output, scripted

AGAIN = "Do one concrete thing."
BLANK = AssistantMessage(" ")


@every_way
def test_a_blank_answer_is_an_answer(way: str) -> None:
    """Vector 84."""
    played = scripted(way, config(), BLANK)

    assert (" ", 1, "done") == (output(played), played.state.turns, played.reason)
    assert " " == played.state.transcript[-1].text


@every_way
def test_a_nudge_asks_once_more(way: str) -> None:
    """Vector 85."""
    played = scripted(way, config(nudge(AGAIN)), BLANK, "ok")

    assert ("ok", 2) == (output(played), played.state.turns)
    assert 1 == played.script.count(f"user: {AGAIN}")


@every_way
def test_a_second_blank_answer_in_a_row_is_an_answer(way: str) -> None:
    """Vector 86: theirs is an error, that starts the whole loop again."""
    played = scripted(way, config(nudge(AGAIN)), BLANK, BLANK)

    assert (" ", "done") == (output(played), played.reason)


@every_way
def test_a_tool_call_forgives_a_blank_answer_before_it(way: str) -> None:
    """Vector 87."""
    replies = BLANK, call("a"), BLANK, "ok"
    played = scripted(way, config(nudge(AGAIN)), *replies, tools={"a": ["A"]})

    assert "ok" == output(played)
    assert 2 == played.script.count(f"user: {AGAIN}")


def sent(request: CallModel, dialect: Dialect) -> list[Any]:
    """The roles of what goes over the wire, and the last text."""
    messages = json.loads(encode(request, dialect).body)["messages"]
    return [*(message["role"] for message in messages), messages[-1]["content"]]


@every_way
def test_an_empty_reply_is_stored_as_it_was_and_not_sent(way: str) -> None:
    """Vector 88: theirs puts a placeholder into the history; ours is left out of requests."""
    played = scripted(way, config(nudge(AGAIN)), AssistantMessage(()), "ok")

    assert ["user: go", "assistant:", f"user: {AGAIN}"] == played.script[:3]
    assert ["user", "user", AGAIN] == sent(played.requests[1], OPENAI)


@every_way
@pytest.mark.parametrize(
    ("dialect", "between"), [(OPENAI, []), (MISTRAL, ["assistant"])]
)
def test_what_stands_between_a_result_and_a_nudge_is_the_wires_affair(
    way: str, dialect: Dialect, between: list[str]
) -> None:
    """Vector 89: a reply is put between them only where a server wants one."""
    replies = call("a"), AssistantMessage(()), "ok"
    played = scripted(way, config(nudge(AGAIN)), *replies, tools={"a": ["A"]})

    roles = ["user", "assistant", "tool", *between, "user", AGAIN]
    assert roles == sent(played.requests[2], dialect)


@every_way
def test_the_turn_of_a_blank_answer_ends_like_any_other(way: str) -> None:
    """Vector 90: theirs has no afterIteration for it."""
    played = scripted(way, config(nudge(AGAIN)), BLANK, "ok")

    assert [" ", "ok"] == [
        turn.message.text for turn in played.events(TurnEnd) if turn.message
    ]
