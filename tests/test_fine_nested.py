"""Small things of nested runs that no other test would miss, as in `test_fine_points`."""

import pytest
from attrs import evolve
from returns.result import Success

from loopcore import AssistantMessage, CallModel, LoopConfig, Sleep, State, deliver
from loopcore.events import Ended
from loopcore.journal.renaming import renamed
from tests.driving import Run, call, config, spec

TOOLS = [spec("search"), spec("look")]
DEEP = LoopConfig(model="test:deep", tools=TOOLS)
DIG = DEEP.as_tool("dig", "Digs.", timeout=9)
INNER = LoopConfig(model="test:inner", tools=[*TOOLS, DIG])
OUTER = config(tools=[INNER.as_tool("dig", "Digs.", timeout=9)])
DIGS = (call("dig", prompt="here"), call("dig", "there", prompt="there"))
SEARCHES = AssistantMessage([call("search"), call("look")])


def dug(depth: int, run_id: str = "r") -> Run:
    """Two runs side by side in a run, at this depth, each with its time."""
    run = Run(OUTER, State.start(OUTER, run_id=run_id)).give("go")
    for level in range(depth):
        run = run.says(*DIGS[: 1 + (level + 1 == depth)])
    return run


def forked(run: Run) -> Run:
    """The same run under another name: what waits has its ids from before."""
    return evolve(run, state=renamed(run.state, "fork"))


@pytest.mark.parametrize("depth", [1, 2])
def test_a_nested_run_that_ends_leaves_the_time_of_the_one_beside_it(
    depth: int,
) -> None:
    run = dug(depth)
    first, second = run.all(CallModel)

    ended = run.give(first.reply("found"))

    assert ended.cancelled == (first.id.removesuffix(".1.1.model.1"),)
    assert second.id.removesuffix(".1.1.model.1") in {e.id for e in ended.all(Sleep)}


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("n", [0, 1])
def test_in_a_fork_an_answer_reaches_the_run_that_asked(depth: int, n: int) -> None:
    run = forked(dug(depth))
    asked = run.all(CallModel)[n]

    answered = run.give(asked.reply("found"))

    assert asked.id in {event.effect.id for event in answered.events(Ended)}
    assert run.all(CallModel)[1 - n] in answered.state.waiting


@pytest.mark.parametrize("depth", [1, 2])
def test_a_fork_that_was_given_an_answer_is_saved_before_it_is_stepped(
    depth: int,
) -> None:
    run = forked(dug(depth))
    state = deliver(run.state, run.all(CallModel)[1].reply("found")).unwrap()

    assert State.loads(state.dumps()) == Success(state)


@pytest.mark.parametrize("depth", [1, 2])
def test_in_a_fork_what_a_nested_run_was_answered_is_known(depth: int) -> None:
    """D15"""
    run = dug(depth)
    run = run.give(run.all(CallModel)[0].reply(SEARCHES))
    answer = run.tool("search").reply("seen")

    assert forked(run.give(answer)).refuses(answer).kind == "duplicate"


def test_an_answer_of_a_turn_of_a_nested_run_that_is_over_is_known() -> None:
    """D15: its name says so, when nothing else does."""
    run = dug(1)
    answer = run.all(CallModel)[1].reply(SEARCHES)
    run = run.give(answer).ran("search").ran("look")

    assert run.refuses(answer).kind == "duplicate"


def test_the_time_of_a_nested_run_is_no_pause_whatever_a_run_was_called() -> None:
    """A run may be called as a part of an id is."""
    run = forked(dug(1, run_id="night.sleep.study"))
    run = run.give(run.all(Sleep)[0].done())

    assert "night.sleep.study.1.1.run.0.1.1.model.1" in run.cancelled
