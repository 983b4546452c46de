"""Lifecycle vectors about the calls of one reply: together, one by one, cut off."""

import pytest

from loopcore import Abort, FollowUp, RunTool, Steer, ToolOutput, UserMessage
from loopcore.events import Ended, MessageAdded
from loopcore.hooks import Hooks
from tests.driving import Run, Spy, begin, call, config, spec
from tests.hooked import hooked


def two_calls(*hooks: Hooks, parallel: bool = True) -> Run:
    """A run whose reply called two tools."""
    return begin(config(*hooks, parallel=parallel)).says(call("a"), call("b"))


def test_the_calls_of_a_batch_run_together() -> None:
    """Vector 29: both are wanted before either is over; results are in source order."""
    run = two_calls()
    both = [effect.call.id for effect in run.all(RunTool)]
    run = run.ran("b", "B").ran("a", "A")

    assert both == ["a", "b"]
    assert run.script[2:] == ["a ok: A", "b ok: B"]


@pytest.mark.parametrize("tool", ["a", "b"])
def test_the_calls_of_a_sequential_run_run_one_by_one(tool: str) -> None:
    """Vectors 30, 31: by the config, or because one tool of the batch wants it."""
    tools = [spec(n, execution="sequential" if n == tool else "parallel") for n in "ab"]
    for cfg in (config(parallel=False), config(tools=tools)):
        run = begin(cfg).says(call("a"), call("b"))
        at_once = [len(run.all(RunTool)), len(run.ran("a").all(RunTool))]

        assert at_once == [1, 1]
        assert run.ran("a").started == ["a", "b"]


def test_an_abort_in_a_sequential_batch_answers_the_rest() -> None:
    """Vector 32: the first is cancelled, the second is not started; one result each."""
    run = two_calls(parallel=False).give(Abort())

    assert (run.started, run.cancelled) == (["a"], ("r.1.1.run.0",))
    assert run.outcomes == {"a": "cancelled", "b": "cancelled"}
    assert [e.message for e in run.events(MessageAdded)][2:] == list(run.results)


def test_an_abort_in_a_parallel_batch_waits_for_nobody() -> None:
    """Vector 33: the sibling does not run to its end, it is cancelled (T4)."""
    run = two_calls().ran("b", "B").give(Abort())

    assert run.cancelled == ("r.1.1.run.0",)
    assert run.outcomes == {"a": "cancelled", "b": "ok"}


def test_an_abort_asks_no_turn_hook_and_makes_no_request() -> None:
    """Vector 34: the source engine does both (T4)."""
    spy = Spy()
    turn = hooked("turn", prepare_next_turn=spy, should_stop_after_turn=spy)
    run = two_calls(turn).give(Abort())

    assert (spy.views, len(run.requests), run.reason) == ([], 1, "aborted")


def test_an_abort_leaves_the_queues_as_they_are() -> None:
    """Vectors 35, 36: no steer is taken that nobody answers; a follow-up stays (T4)."""
    given = Steer("one"), Steer("two"), FollowUp("three")
    run = two_calls().give(*given).give(Abort())

    left = (*run.state.steering, *run.state.follow_ups)
    assert [queued.messages for queued in left] == [
        (UserMessage("one"),),
        (UserMessage("two"),),
        (UserMessage("three"),),
    ]


def test_an_abort_never_ends_as_a_success() -> None:
    """Vector 37: a tool that ignores it cannot undo it (T4)."""
    run = two_calls().ran("a", ToolOutput("A", terminate=True)).give(Abort("stop"))

    assert (run.reason, run.stop.detail) == ("aborted", "stop")
    assert run.refuses(two_calls().tool("b").reply("B")).kind == "stranger"


def test_every_tool_that_started_ends_once() -> None:
    """Vector 86: with an error, by a cancel, by a panic."""
    run = begin(config()).says(call("a", "1"), call("a", "2"), call("b", "3"))
    run = run.ran("1", ToolOutput("no", outcome="error"))
    run = run.ran("2", ToolOutput("panic", outcome="raised")).give(Abort())

    ends = [e for e in run.events(Ended) if isinstance(e.effect, RunTool)]
    assert [(e.effect.id, e.cancelled) for e in ends] == [
        ("r.1.1.run.0", False),
        ("r.1.1.run.1", False),
        ("r.1.1.run.2", True),
    ]
