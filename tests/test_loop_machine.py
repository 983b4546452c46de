"""A whole configuration as a test case: what `loop_machine` does, finds and says."""

import time
import unittest
from collections.abc import Callable
from typing import Any, Final

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st

from loopcore import (
    Answer,
    AssistantMessage,
    FollowUp,
    LoopConfig,
    Prompt,
    RunTool,
    State,
    ToolResultMessage,
    ToolSpec,
    Withdraw,
)
from loopcore.hooks import (
    Ask,
    Block,
    Hooks,
    Need,
    StopUpdate,
    ToolCallView,
    TurnUpdate,
    TurnView,
)
from loopcore.testing import loop_machine
from loopcore.testing.invariants import LAWS, Broken, Moment, Watch, hold
from loopcore.testing.machine.run import MachineRun

ADD: Final = ToolSpec("add")
PAY: Final = ToolSpec("pay", needs_approval=True)
FEW: Final = 15


def config(*hooks: Hooks, **more: Any) -> LoopConfig:
    """A configuration with a tool, and one that needs approval."""
    return LoopConfig(model="test:m", tools=[ADD, PAY], hooks=hooks, **more)


def played(case: type[unittest.TestCase], **more: Any) -> None:
    """Run a test case, the same every time."""
    made: Any = case
    more = {"max_examples": FEW, "derandomize": True, "database": None, **more}
    made.settings = settings(made.settings, **more)
    made("runTest").runTest()


def broken(case: type[unittest.TestCase]) -> Broken:
    """What a test case finds broken, as it finds it first."""
    with pytest.raises(Broken) as found:
        played(case, max_examples=200, phases=(Phase.generate,))
    return found.value


def test_a_test_case_can_be_run_by_unittest() -> None:
    case: Any = loop_machine(config())
    case.settings = settings(case.settings, max_examples=2, database=None)
    result = unittest.TestResult()

    unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)

    assert result.wasSuccessful()
    assert 1 == result.testsRun


def test_a_configuration_of_every_kind_holds() -> None:
    """Approvals, needs, stops, injected messages and a run inside, all at once."""

    def gate(view: ToolCallView) -> Ask | Block | Need | None:
        if "verdict" not in view.answers:
            return Need.service("verdict", "policy")
        return Ask("sure?") if view.turn == 1 else Block("no more")

    def more(view: TurnView) -> TurnUpdate | None:
        return TurnUpdate("and then?") if view.turn == 2 else None

    def enough(view: TurnView) -> StopUpdate:
        return StopUpdate(view.turn > 3)

    rules = Hooks(
        "rules",
        before_tool_call=gate,
        prepare_next_turn=more,
        should_stop_after_turn=enough,
    )
    inner = config(steering="all").as_tool("inner", "Asks.", timeout=5.0)
    outer = LoopConfig(model="test:m", tools=[ADD, inner], hooks=[rules], output=int)

    played(loop_machine(outer))


def test_a_drawn_configuration_holds() -> None:
    parallel = st.builds(config, parallel=st.booleans())

    played(loop_machine(parallel), max_examples=5)


def test_a_check_that_does_not_hold_is_told_with_the_way_to_it() -> None:
    def nobody_says_no(state: State) -> bool:
        results = [m for m in state.transcript if isinstance(m, ToolResultMessage)]
        return "rejected" not in [result.outcome for result in results]

    found = broken(loop_machine(config(), nobody_says_no))

    assert "nobody_says_no" == found.law
    _, many, first, _, last, _ = str(found).splitlines()
    assert ("It takes 3 inputs:", "  1. Prompt([UserMessage([Text('go')])])") == (
        many,
        first,
    )
    assert "Reject(" in last


def test_a_law_of_ones_own_sees_every_step() -> None:
    class Cheap:
        """Nothing is paid."""

        def see(self, moment: Moment) -> "Cheap":
            paid = [e for e in moment.effects.perform if isinstance(e, RunTool)]
            hold(all(e.spec.name != "pay" for e in paid), "{} is run", paid)
            return self

    found = broken(loop_machine(config(), Cheap()))

    assert "Nothing is paid" == found.law
    assert found.said.startswith("[RunTool(")


def test_a_class_is_no_law() -> None:
    with pytest.raises(TypeError, match=r"Waiting is a class; give an instance"):
        loop_machine(config(), type(LAWS[0]))


def test_a_hook_that_reads_a_clock_is_found() -> None:
    def stamp(_: TurnView) -> StopUpdate:
        return StopUpdate(f"at {time.perf_counter_ns()}")

    found = broken(loop_machine(config(Hooks("stamp", should_stop_after_turn=stamp))))

    assert found.law.startswith("1: a step, taken twice")


@pytest.fixture(name="run")
def _run() -> MachineRun:
    run = MachineRun.of(config(), LAWS)
    run.give(Prompt("begin"))
    return run


def test_what_is_refused_is_told_and_changes_nothing(run: MachineRun) -> None:
    before = run.state
    refused = run.give(Withdraw("a"))

    assert refused is not None
    assert ("taken", before) == (refused.kind, run.state)


def test_a_fork_goes_its_own_way(run: MachineRun) -> None:
    fork = run.fork()
    fork.give(FollowUp("more"))

    assert (0, 1) == (len(run.state.follow_ups), len(fork.state.follow_ups))


def test_a_run_that_is_answered_everything_comes_to_an_end(run: MachineRun) -> None:
    run.settle(backwards=True)

    assert "done" == str(run.state.stop)


WRONG: Final[dict[str, Callable[[MachineRun], None]]] = {
    "D15": lambda run: run.refuse(run.state.waiting[0].fail("?"), "stranger"),
    "13": lambda run: run.expect(Answer("r.9", None)),
}


@pytest.mark.parametrize("law", WRONG)
def test_an_answer_is_taken_if_and_only_if_it_is_waited_for(
    law: str, run: MachineRun
) -> None:
    with pytest.raises(Broken) as found:
        WRONG[law](run)

    assert found.value.law.startswith(law)


def test_a_run_under_laws_is_the_run_itself() -> None:
    watch = Watch.of(config(), run_id="r").take("go").unwrap()
    said = AssistantMessage("done", model="test:m")
    after = watch.take(Answer("r.1.1.model.1", said)).unwrap()

    assert ["go", "done"] == [message.text for message in after.state.transcript]
    assert watch.state.stop is None
