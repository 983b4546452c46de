"""Tool loop vectors about inspectors: which moments they are told of, in every mode.

beforeLlmCall is `on_model_start`, afterLlmCall `on_model_end`, afterToolResult
`on_tool_result`, afterIteration `on_turn_end`; the call inspector's two are
`on_tool_start` and `on_tool_end`.
"""

import logging
from typing import Any

import pytest
from returns.result import Failure

from loopcore import (
    AssistantMessage,
    CallModel,
    Inspector,
    RunTool,
    ToolResultMessage,
)
from loopcore.events import Ended, MessageAdded, RunEnd, RunStart, Started, TurnEnd
from loopcore.hooks import Hooks
from tests.driving import Spy, call, config, spec, words
from tests.ways import every_way, output, scripted


class Moments(Inspector):
    """Notes each moment, with what the document's context has."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, Any]] = []

    def on_run_start(self, event: RunStart) -> None:
        self.seen.append(("run start", words(event.messages)))

    def on_model_start(self, event: Started, effect: CallModel) -> None:
        self.seen.append(("before model", (event.turn, effect)))

    def on_model_end(self, event: Ended, effect: CallModel) -> None:
        self.seen.append(("after model", (event.value, effect)))

    def on_tool_start(self, event: Started, effect: RunTool) -> None:
        self.seen.append(("before tool", (event.turn, effect)))

    def on_tool_end(self, event: Ended, effect: RunTool) -> None:
        self.seen.append(("after tool", (event.value, effect)))

    def on_tool_result(self, event: MessageAdded, message: ToolResultMessage) -> None:
        self.seen.append(("result", (event.turn, message)))

    def on_turn_end(self, event: TurnEnd) -> None:
        self.seen.append(("turn end", event))

    def on_run_end(self, event: RunEnd) -> None:
        self.seen.append(("run end", str(event.stop)))

    @property
    def names(self) -> list[str]:
        """The moments, in order."""
        return [name for name, _ in self.seen]

    def all(self, name: str) -> list[Any]:
        """What was noted at each of these moments."""
        return [noted for known, noted in self.seen if known == name]


def watched(way: str, *replies: Any, **more: Any) -> Moments:
    """What one inspector noted of a run with the tools a and b."""
    moments = Moments()
    cfg = config(*more.pop("hooks", ()), parallel=more.pop("parallel", True))
    scripted(way, cfg, *replies, inspectors=[moments], **more)
    return moments


@every_way
def test_before_a_model_call_there_are_turn_messages_and_tools(way: str) -> None:
    """Vector 17."""
    ((turn, effect),) = watched(way, "hi").all("before model")

    assert (1, ["user: go"]) == (turn, words(effect.messages))
    assert (spec("a"), spec("b")) == effect.tools


@every_way
def test_after_a_model_call_there_is_the_reply_beside_what_was_shown(way: str) -> None:
    """Vector 18."""
    ((reply, effect),) = watched(way, "hi").all("after model")

    assert ("hi", ["user: go"]) == (reply.text, words(effect.messages))


@every_way
def test_the_turn_of_an_answer_ends_without_results(way: str) -> None:
    """Vector 19."""
    (turn,) = watched(way, "hi").all("turn end")

    assert ("hi", (), ()) == (turn.message.text, turn.message.calls, turn.results)


@every_way
def test_the_moments_of_a_tool_round_and_an_answer_are_in_this_order(way: str) -> None:
    """Vector 20: the documents' seven, and ours round a run and a tool."""
    moments = watched(way, call("a"), "ok", tools={"a": ["A"]})

    assert [
        "run start",
        "before model",
        "after model",
        "before tool",
        "after tool",
        "result",
        "turn end",
        "before model",
        "after model",
        "turn end",
        "run end",
    ] == moments.names


@every_way
def test_two_inspectors_are_told_the_same(way: str) -> None:
    """Vector 21."""
    one, other = Moments(), Moments()
    scripted(
        way, config(), call("a"), "ok", tools={"a": ["A"]}, inspectors=[one, other]
    )

    assert 11 == len(one.seen)
    assert one.seen == other.seen


NAMED = (
    "on_run_start",
    "on_model_start",
    "on_model_end",
    "on_tool_start",
    "on_tool_end",
    "on_tool_result",
    "on_turn_end",
    "on_run_end",
    "on_event",
)


def broken_at(moment: str) -> Inspector:
    """An inspector that raises at this moment."""

    def fail(_: Inspector, *seen: object) -> None:
        message = f"no room for {len(seen)}"
        raise OSError(message)

    kind: type[Inspector] = type("Broken", (Inspector,), {moment: fail})
    return kind()


@every_way
@pytest.mark.parametrize("moment", NAMED)
def test_an_inspector_that_raises_touches_neither_the_run_nor_the_others(
    way: str, moment: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Vector 22: it is logged as a warning, once for each kind of event."""
    other = Moments()
    with caplog.at_level(logging.WARNING, "loopcore"):
        played = scripted(
            way,
            config(),
            call("a"),
            "ok",
            tools={"a": ["A"]},
            inspectors=[broken_at(moment), other],
        )

    assert ("ok", 11) == (output(played), len(other.seen))
    said = [record.getMessage() for record in caplog.records]
    assert said
    assert len(set(said)) == len(said)
    assert all("Broken" in line for line in said)


@every_way
def test_each_result_is_told_in_order_and_the_turns_end_has_all(way: str) -> None:
    """Vector 23."""
    tools = {"a": ["A"], "b": ["B"]}
    moments = watched(way, [call("a"), call("b")], "ok", tools=tools)

    told = [message for _, message in moments.all("result")]
    first, final = moments.all("turn end")
    assert ["A", "B"] == [message.text for message in told]
    assert (tuple(told), ()) == (first.results, final.results)
    assert ["a", "b"] == [made.id for made in first.message.calls]


@every_way
@pytest.mark.parametrize("parallel", [True, False])
def test_a_hook_at_the_second_result_sees_the_first_beside_the_history(
    way: str, *, parallel: bool
) -> None:
    """Vector 24: theirs is in the history by then; a batch of ours is stored together."""
    spy = Spy()
    watched(
        way,
        [call("a"), call("b")],
        "ok",
        tools={"a": ["A"], "b": ["B"]},
        hooks=[Hooks("spy", after_tool_result=spy)],
        parallel=parallel,
    )

    _, second = spy.views
    assert ["user: go", "assistant: →a →b"] == words(second.transcript)
    assert ["a ok: A"] == words(second.state.turn.results)


@every_way
def test_a_failure_is_told_as_one_before_and_after_it_is_stored(way: str) -> None:
    """Vector 25: no decorator flattens it, and no prefix tells it."""
    moments = watched(way, call("a"), "ok", tools={"a": [Failure("m")]})

    ((value, _),) = moments.all("after tool")
    ((_, message),) = moments.all("result")
    assert ("error", "m") == (value.outcome, value.text)
    assert ("error", "m") == (message.outcome, message.text)


@every_way
def test_what_an_inspector_is_told_cannot_be_changed_by_it(way: str) -> None:
    """Vector 17: their lists are copies with shared elements; ours are values."""

    class Meddling(Inspector):
        """Tries to change a reply."""

        def on_model_end(self, event: Ended, effect: CallModel) -> None:
            assert isinstance(event.value, AssistantMessage)
            event.value.parts = effect.messages[0].parts  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]  # it is frozen

    played = scripted(way, config(), "hi", inspectors=[Meddling()])

    assert "hi" == output(played)
