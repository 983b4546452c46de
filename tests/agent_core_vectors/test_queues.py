"""Agent core rows about steering, follow-ups, and continuing with them."""

import pytest

from loopcore import (
    Abort,
    AssistantMessage,
    Consult,
    Continue,
    FollowUp,
    Input,
    Prompt,
    Steer,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    Withdraw,
)
from loopcore.hooks import Hooks, Need
from loopcore.hooks.points import PointName
from tests.driving import Run, begin, call, config, words
from tests.hooked import hooked

HISTORY = [UserMessage("hi"), AssistantMessage("hello")]
RESULT = [
    UserMessage("hi"),
    AssistantMessage([ToolCall("a", id="a")]),
    ToolResultMessage("a", "a", "A"),
]
TWO = Steer("one"), Steer("two")
THREE = (*TWO, Steer("three"))


def last(run: Run) -> list[list[str]]:
    """What each request shows after the last reply or result in it."""
    return [_after_reply(words(request.messages)) for request in run.requests]


def _after_reply(shown: list[str]) -> list[str]:
    users = [n for n, said in enumerate(shown) if not said.startswith("user:")]
    return shown[users[-1] + 1 :] if users else shown


def asks(point: PointName) -> Hooks:
    """A hook that needs an answer once at this point, in the first turn."""

    def ask(view: object) -> Need | None:
        answered = getattr(view, "answers", {})
        first = getattr(view, "turn", 0) == 1
        return Need.service("q", "oracle") if first and not answered else None

    return hooked("ask", **{point: ask})


def answered(run: Run) -> Run:
    """The run, its hook's need answered."""
    return run.give(run.one(Consult).reply("yes"))


def queued(run: Run) -> list[str]:
    """What still waits."""
    waiting = (*run.state.steering, *run.state.follow_ups)
    return [said.removeprefix("user: ") for q in waiting for said in words(q.messages)]


def test_a_steer_from_before_the_run_comes_after_its_prompt() -> None:
    """Row 38: in the first request."""
    assert last(begin(config(), Steer("now"), Prompt("go"))) == [
        ["user: go", "user: now"]
    ]


def test_a_steer_during_a_batch_comes_after_it() -> None:
    """Row 39: both tools finish, then it is said."""
    run = begin(config()).says(call("a"), call("b")).give(Steer("now"))
    run = run.ran("a", "A").ran("b", "B")

    assert run.script[2:] == ["a ok: A", "b ok: B", "user: now"]


@pytest.mark.parametrize(
    ("mode", "shown"),
    [
        ("one", [["user: one"], ["user: two"], ["user: three"]]),
        ("all", [["user: one", "user: two", "user: three"]]),
    ],
)
def test_three_steers_are_one_a_turn_or_one_turn(
    mode: str, shown: list[list[str]]
) -> None:
    """Rows 41, 42: by the config; in order."""
    run = begin(config(steering=mode)).give(*THREE)
    while not run.reason:
        run = run.says("yes")

    assert last(run)[1:] == shown


def test_a_follow_up_waits_until_no_steer_is_left() -> None:
    """Row 43: one a turn."""
    run = begin(config()).give(FollowUp("later"), *TWO)
    run = run.says("a").says("b").says("c")

    assert last(run)[1:] == [["user: one"], ["user: two"], ["user: later"]]


def test_a_follow_up_waits_until_no_call_is_left() -> None:
    """Row 44: it comes after a turn without calls."""
    run = begin(config()).says(call("a")).give(FollowUp("later")).ran("a").says("done")

    assert last(run)[1:] == [[], ["user: later"]]


def test_a_follow_up_after_the_end_starts_nothing() -> None:
    """Row 45: whoever hears of the end is too late for this run (D3)."""
    run = begin(config()).says("done").give(FollowUp("later"))

    assert (run.reason, queued(run), run.state.waiting) == ("done", ["later"], ())


def test_a_steer_while_the_next_turn_is_prepared_is_in_it() -> None:
    """Row 46: nothing was queued before (D2)."""
    run = begin(config(asks("prepare_next_turn"))).says(call("a")).ran("a")
    run = answered(run.give(Steer("now")))

    assert last(run)[1:] == [["user: now"]]


def test_a_steer_while_another_waits_is_in_a_later_turn() -> None:
    """Row 47: one at a time, the earlier one first."""
    run = begin(config(asks("prepare_next_turn"))).says(call("a")).give(Steer("one"))
    run = answered(run.ran("a").give(Steer("two")))

    assert (last(run)[1:], queued(run)) == ([["user: one"]], ["two"])


def test_a_steer_while_a_request_is_prepared_is_not_in_it() -> None:
    """Row 48: it is in the next one (D1)."""
    run = begin(config(asks("transform_context"))).give(Steer("now"))
    run = answered(run).says("hm")

    assert last(run) == [["user: go"], ["user: now"]]


def test_an_abort_leaves_what_was_queued_before_the_answer_was_taken() -> None:
    """Row 76: the reply is stored, the steer was not looked at."""
    run = begin(config(asks("prepare_next_turn"))).give(Steer("now")).says("hello")
    run = run.give(Abort())

    assert (run.script[-1], queued(run)) == ("assistant: hello", ["now"])


def test_an_abort_keeps_the_order_of_the_queue() -> None:
    """Row 77: what comes later stands behind."""
    run = begin(config(asks("prepare_next_turn"))).give(*TWO).says("hello")
    run = run.give(Abort()).give(Steer("three"))

    assert queued(run) == ["one", "two", "three"]


def test_messages_are_taken_together_or_not_at_all() -> None:
    """Row 78: a step is not interrupted, so none of three is between queue and history."""
    waiting = begin(config(steering="all")).give(*THREE)
    taken = waiting.says("hello").give(Abort())

    assert queued(waiting.give(Abort())) == ["one", "two", "three"]
    assert (queued(taken), taken.script[2:]) == (
        [],
        ["user: one", "user: two", "user: three"],
    )


def test_what_was_withdrawn_does_not_come_back() -> None:
    """Row 79: neither by the answer nor by an abort (D7)."""
    run = begin(config(asks("prepare_next_turn"))).give(*TWO).says("hello")
    run = run.give(Withdraw())

    assert queued(run.give(Abort())) == []
    assert answered(run).reason == "done"


def test_looking_at_a_queue_takes_nothing() -> None:
    """Row 80: a queue is data in the state; what it would give next is a steer."""
    run = begin(config()).give(FollowUp("later"), Steer("now"))

    assert queued(run) == queued(run) == ["now", "later"]
    assert last(run.says("hello"))[1:] == [["user: now"]]


def continued(*given: Input, mode: str = "one", history: object = HISTORY) -> Run:
    """A run that goes on from a history."""
    return begin(config(steering=mode), *given, Continue(), transcript=history)


def test_a_continue_takes_steers_one_a_turn() -> None:
    """Row 87: two requests."""
    run = continued(*TWO).says("a")

    assert last(run) == [["user: one"], ["user: two"]]


def test_a_continue_takes_all_steers_at_once() -> None:
    """Row 88: one request has both."""
    run = continued(*TWO, mode="all").says("a")

    assert (last(run), run.reason) == ([["user: one", "user: two"]], "done")


def test_a_continue_takes_a_follow_up_as_its_prompt() -> None:
    """Row 89: if no steer waits (D10)."""
    assert last(continued(FollowUp("later"))) == [["user: later"]]


def test_a_continue_answers_results_before_a_follow_up() -> None:
    """Row 90: which comes when the run would end."""
    run = continued(FollowUp("later"), history=RESULT).says("done")

    assert last(run) == [[], ["user: later"]]
