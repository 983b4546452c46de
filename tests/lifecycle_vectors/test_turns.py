"""Lifecycle vectors about the course of a run: requests, replies, what ends it."""

import pytest

from loopcore import AssistantMessage, FollowUp, ModelError, Steer, ToolOutput, project
from loopcore.events import (
    Ended,
    MessageAdded,
    RunEnd,
    RunStart,
    Started,
    TurnEnd,
)
from loopcore.hooks import Block, Hooks
from tests.driving import Spy, begin, call, config, words
from tests.hooked import hooked


def test_a_text_is_one_request_and_these_events() -> None:
    """Vector 1: a text-only turn."""
    run = begin(config()).says("hello")

    assert [type(event) for event in run.told] == [
        RunStart,
        MessageAdded,
        Started,
        Ended,
        MessageAdded,
        TurnEnd,
        RunEnd,
    ]
    assert words(run.state.new) == ["user: go", "assistant: hello"]
    assert len(run.requests) == 1


def test_a_call_makes_a_second_request_that_shows_its_result() -> None:
    """Vector 3: one tool call, then text."""
    run = begin(config()).says(call("a")).ran("a", "A").says("done")

    shown = ["user: go", "assistant: →a", "a ok: A"]
    assert [words(request.messages) for request in run.requests] == [shown[:1], shown]
    assert words(run.state.new) == [*shown, "assistant: done"]


TURN_POINTS = (
    "transform_context",
    "before_tool_call",
    "after_tool_call",
    "prepare_next_turn",
    "should_stop_after_turn",
)


def test_the_hooks_of_a_run_come_in_this_order() -> None:
    """Vector 4: with the tool's run between its two hooks."""
    order: list[str] = []

    def note(point: str) -> Hooks:
        def noted(view: object) -> None:  # noqa: ARG001  # a view of this point
            order.append(point)

        return hooked(point, **{point: noted})

    run = begin(config(*map(note, TURN_POINTS))).says(call("a"))
    order.append("execute")
    run = run.ran("a").says("done")

    assert order == [
        *TURN_POINTS[:2],
        "execute",
        *TURN_POINTS[2:],
        "transform_context",
        "prepare_next_turn",
        "should_stop_after_turn",
    ]


def test_hooks_see_the_context_at_these_sizes() -> None:
    """Vector 5: transform 1, before 2, after 2, prepare 3, should-stop 3, transform 3."""
    spies = {point: Spy() for point in TURN_POINTS}
    begin(config(hooked("sizes", **spies))).says(call("a")).ran("a").says("done")

    sizes = {p: [len(view.transcript) for view in s.views] for p, s in spies.items()}
    assert sizes == {
        "transform_context": [1, 3],
        "before_tool_call": [2],
        "after_tool_call": [2],
        "prepare_next_turn": [3, 4],
        "should_stop_after_turn": [3, 4],
    }


def test_a_tool_that_asks_for_the_end_gets_it() -> None:
    """Vector 16: it is alone in its batch."""
    run = begin(config()).says(call("a")).ran("a", ToolOutput("A", terminate=True))

    assert (run.reason, len(run.requests)) == ("terminated", 1)


@pytest.mark.parametrize(("second", "reason"), [(True, "terminated"), (False, "")])
def test_a_batch_ends_the_run_if_all_its_results_ask_for_it(
    second: bool,  # noqa: FBT001  # a table of booleans
    reason: str,
) -> None:
    """Vector 17: two calls, both or one of them."""
    run = begin(config()).says(call("a"), call("b"))
    run = run.ran("a", ToolOutput("A", terminate=True))
    run = run.ran("b", ToolOutput("B", terminate=second))

    assert (run.reason, len(run.requests)) == (reason, 1 if second else 2)


def test_a_blocked_sibling_lets_the_run_go_on() -> None:
    """Vector 18: a block does not ask for the end, unless it says so (D60)."""
    no = Hooks("no", before_tool_call=Spy(Block("no"))).for_tools("b")
    run = begin(config(no)).says(call("a"), call("b"))
    run = run.ran("a", ToolOutput("A", terminate=True))

    assert (run.reason, len(run.requests)) == ("", 2)


@pytest.mark.parametrize("queued", [FollowUp("more"), Steer("more")])
def test_a_queued_message_goes_on_after_a_terminating_batch(
    queued: FollowUp | Steer,
) -> None:
    """Vectors 19, 20: a follow-up, or a steer."""
    run = begin(config()).says(call("a")).give(queued)
    run = run.ran("a", ToolOutput("A", terminate=True))

    assert run.reason == ""
    assert words(run.requests[1].messages)[-2:] == ["a ok: A", "user: more"]


def test_a_failed_reply_ends_the_run_without_the_turn_hooks() -> None:
    """Vector 38: no further request; the turn is closed, then the run."""
    spy = Spy()
    hooks = Hooks("turn", prepare_next_turn=spy, should_stop_after_turn=spy)
    run = begin(config(hooks)).says("half", finish="error")

    assert (run.reason, len(run.requests)) == ("model_error", 1)
    assert [type(event) for event in run.told[-2:]] == [TurnEnd, RunEnd]
    assert spy.views == []


def test_the_calls_of_a_failed_reply_are_not_run() -> None:
    """Vector 39: nor are they left open (T3)."""
    run = begin(config()).says(call("a"), finish="error")

    assert (run.started, run.outcomes) == ([], {"a": "truncated"})


def test_the_calls_of_a_cut_reply_are_not_run() -> None:
    """Vector 40: the source engine runs them, also if they were cut in half (T2)."""
    run = begin(config()).says(call("a"), finish="length")

    assert (run.started, run.outcomes) == ([], {"a": "truncated"})
    assert len(run.requests) == 2


def test_calls_count_and_not_what_the_reply_says_of_them() -> None:
    """Vector 41: "end" with a call runs it, "tools" without one ends the run."""
    run = begin(config()).says(call("a"), finish="end").ran("a")
    run = run.says("nothing to call", finish="tools")

    assert (run.started, run.reason) == (["a"], "done")


def test_a_request_that_cannot_be_made_is_a_failed_reply() -> None:
    """Vector 42: in the transcript, and as the reason of the stop."""
    run = begin(config()).fails(ModelError("no key for test:model", "auth"))

    assert run.script == ["user: go", "assistant:"]
    assert str(run.stop) == "model_error: auth: no key for test:model"


def test_a_stream_that_breaks_off_keeps_what_had_come() -> None:
    """Vector 43: one failed reply with the partial text, not two messages (T16)."""
    partial = AssistantMessage("half a th")
    run = begin(config()).fails(ModelError("it ended", "cut_stream", partial=partial))

    assert run.added == ["user: go", "assistant: half a th"]
    assert words(project(run.state.transcript)) == ["user: go"]
