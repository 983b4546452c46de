"""A whole configuration as a test case: what `loop_machine` does, finds and says."""

import itertools
import os
import re
import subprocess
import sys
import time
import unittest
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from returns.result import Success

from loopcore import (
    Abort,
    Answer,
    AssistantMessage,
    Continue,
    FollowUp,
    LoopConfig,
    Prompt,
    RunTool,
    State,
    Steer,
    ToolCall,
    ToolResultMessage,
    ToolSpec,
    Withdraw,
    advance,
)
from loopcore.frozen import EMPTY, evolve
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
from loopcore.journal import Journal, replay
from loopcore.policies import limits, retry
from loopcore.testing import loop_machine
from loopcore.testing.invariants import LAWS, Broken, Moment, Watch, hold, laws_of
from loopcore.testing.machine import shrink
from loopcore.testing.machine.case import BY_CHANCE
from loopcore.testing.machine.moves import Reaction
from loopcore.testing.machine.run import MachineRun
from loopcore.testing.machine.shrink import Way

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


def broken(case: type[unittest.TestCase], more: int = 0) -> Broken:
    """What a test case finds broken, as it finds it first; other `more`, other examples."""
    with pytest.raises(Broken) as found:
        played(
            case,
            max_examples=200,
            phases=(Phase.generate,),
            stateful_step_count=40 + more,
        )
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


def test_what_is_no_configuration_is_refused() -> None:
    with pytest.raises(TypeError, match="takes a LoopConfig first; it got 'x'"):
        loop_machine(TEXT)


TEXT: Any = "x"


def test_a_class_is_no_law() -> None:
    with pytest.raises(TypeError, match=r"Waiting is a class; give an instance"):
        loop_machine(config(), type(LAWS[0]))


def test_a_hook_that_reads_a_clock_is_found() -> None:
    def stamp(_: TurnView) -> StopUpdate:
        return StopUpdate(f"at {time.perf_counter_ns()}")

    found = broken(loop_machine(config(Hooks("stamp", should_stop_after_turn=stamp))))

    assert found.law.startswith("1: a step, taken twice")
    assert "follow from its view alone (check_hooks names" in str(found)


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


# How short what is found is told.

BOOK: Final = ToolSpec("book", "", {"properties": {"to": {}}}, needs_approval=True)
SEARCH: Final = ToolSpec("search", "", {"properties": {"q": {"type": "string"}}})
AGENT: Final = LoopConfig(
    model="test:m", tools=[BOOK, SEARCH], hooks=[retry(2), limits(turns=6)]
)


def few_errors(state: State) -> bool:
    """Not more than one result is an error."""
    results = [m for m in state.transcript if isinstance(m, ToolResultMessage)]
    return sum(result.is_error for result in results) < 2


def few_messages(state: State) -> bool:
    """No conversation is long."""
    return len(state.transcript) < 4


def cheap(state: State) -> bool:
    """Nothing costs much."""
    return state.usage.output < 100


def nothing_is_asked_of_people(state: State) -> bool:
    """Nobody is asked."""
    return not state.approvals


def nobody_says_no(state: State) -> bool:
    """Nothing is rejected."""
    results = [m for m in state.transcript if isinstance(m, ToolResultMessage)]
    return "rejected" not in [result.outcome for result in results]


def models_answer(state: State) -> bool:
    """No model fails."""
    return state.stop is None or state.stop.reason != "model_error"


def queues_are_short(state: State) -> bool:
    """Nobody says two things at once."""
    return len(state.steering) + len(state.follow_ups) < 2


SHORTEST: Final[dict[Callable[[State], bool], int]] = {
    few_errors: 2,
    few_messages: 1,
    cheap: 2,
    nothing_is_asked_of_people: 2,
    nobody_says_no: 3,
    models_answer: 2,
    queues_are_short: 2,
}


@pytest.mark.parametrize("check", SHORTEST)
@pytest.mark.parametrize("more", [0, 7])
def test_what_is_found_is_as_short_as_it_can_be(
    check: Callable[[State], bool], more: int
) -> None:
    """Whatever was found first, no input, part, text or number of it can be left out."""
    found = broken(loop_machine(AGENT, check), more)

    way = found.counterexample
    assert SHORTEST[check] == len(way.inputs)
    texts = re.findall(r"Text\('(.*?)'\)|ModelError\('(.*?)'", str(found))
    assert {word for words in texts for word in words} <= {"", "go", "done", "ok"}
    assert len(str(found)) < 600, str(found)


@pytest.mark.parametrize("check", [few_errors, cheap])
def test_what_is_told_does_not_depend_on_how_fast_the_machine_is(
    check: Callable[[State], bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """How long a shorter way is looked for is counted in inputs, not in seconds."""
    hours = itertools.count(0, 3600)
    monkeypatch.setattr(time, "monotonic", lambda: float(next(hours)))

    found = broken(loop_machine(AGENT, check), 7)

    assert SHORTEST[check] == len(found.counterexample.inputs)


def test_a_shorter_way_is_looked_for_with_so_many_inputs_and_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shrink, "STEPS", 0)

    found = broken(loop_machine(AGENT, few_errors), 7)

    assert SHORTEST[few_errors] < len(found.counterexample.inputs)


@pytest.mark.parametrize("ci", ["", "true"])
def test_no_more_is_printed_than_what_is_found(tmp_path: Path, ci: str) -> None:
    """Neither Hypothesis's rules nor its trace; with CI set, pytest's summary is whole."""
    (tmp_path / "test_failing.py").write_text(FAILING)
    root = Path(__file__).parents[1]
    done = subprocess.run(  # noqa: S603  # ourselves
        PYTEST,
        cwd=tmp_path,
        env={
            **os.environ,
            "CI": ci,
            "PYTHONPATH": f"{root}{os.pathsep}{root / 'adapters'}",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    shown, _, _ = done.stdout.partition("short test summary info")

    assert "broken: few: it says no of" in done.stdout
    assert "It takes 1 input:" in done.stdout
    assert len(done.stdout) < 3_000, done.stdout
    assert 1 == shown.count("broken: few: it says no of")
    for word in (
        "loopcore found",
        "Falsifying",
        "state = ",
        "reproduce",
        "v1 = ",
        "hypothesis/",
    ):
        assert word not in done.stdout


PYTEST: Final = (
    *(sys.executable, "-m", "pytest", "-p", "loopcore_pytest"),
    *("-p", "no:cacheprovider"),
)
FAILING: Final = """
from loopcore import LoopConfig, ToolSpec
from loopcore.testing import loop_machine

def few(state):
    return len(state.transcript) < 4

TestLoop = loop_machine(LoopConfig(model="test:m", tools=[ToolSpec("add")]), few)
"""


def late(view: ToolCallView) -> Block | None:
    """Nothing is run after a moment."""
    return Block("late") if (view.now or 0) >= 5 else None


def none_is_late(state: State) -> bool:
    """All was run."""
    return not any(m.text == "late" for m in state.transcript)


LATE: Final = config(Hooks("late", before_tool_call=late))


def test_what_depends_on_the_time_is_told_with_times() -> None:
    """A program without them does not lead there."""
    found = broken(loop_machine(LATE, none_is_late))

    assert found.counterexample.times == (5.0, None)
    assert "1. Prompt([UserMessage([Text('go')])])  # at=5.0\n" in str(found)
    state, way = State.start(LATE, run_id="r"), found.counterexample
    for given, at in zip(way.inputs, way.times, strict=True):
        state = advance(LATE, state, given, at=at).unwrap()[0]
    assert not none_is_late(state)


PAYS: Final = Answer("r.1.1.model.1", AssistantMessage(ToolCall("add"), finish="tools"))


@pytest.mark.parametrize(
    "begun",
    [
        ((FollowUp("more"), 5.0), (Prompt("begin"), None)),
        ((Steer("more"), None), (Continue(), 5.0)),
        ((FollowUp("more"), 5.0), (Continue(), None)),
    ],
)
def test_the_time_of_what_is_left_out_may_be_that_of_what_follows(begun: Way) -> None:
    run = MachineRun.of(LATE, (*LAWS, *laws_of(none_is_late)))
    for given, at in begun:
        run.give(given, at)
    with pytest.raises(Broken) as found:
        run.give(PAYS)

    way = found.value.counterexample
    assert (Prompt("go"), 5.0) == (way.inputs[0], way.times[0])
    assert 2 == len(way.inputs)


def test_what_is_found_is_a_journal_that_can_be_kept(tmp_path: Path) -> None:
    path = tmp_path / "found.jsonl"
    found = broken(loop_machine(AGENT, few_errors)).counterexample

    found.write(path)

    journal = Journal.read(path).unwrap()
    assert found.inputs == journal.inputs
    assert not few_errors(replay(AGENT, journal).unwrap().result.state)


def more_until(over: Callable[[TurnView], object]) -> Hooks:
    """A hook that has a run go on until something is so."""

    def more(view: TurnView) -> TurnUpdate | None:
        return None if over(view) else TurnUpdate("go on", memo=view.memo + 1)

    return Hooks("more", memo=0, prepare_next_turn=more)


def a_tool_was_called(view: TurnView) -> bool:
    return any(isinstance(m, ToolResultMessage) for m in view.transcript)


ENDING: Final[dict[str, Callable[[TurnView], object]]] = {
    "after many turns": lambda view: view.memo >= 250,
    "when a text says so": lambda view: view.message.text.endswith("DONE"),
    "when a tool was called": a_tool_was_called,
    "never": lambda _: False,
}


@pytest.mark.parametrize("over", ENDING)
def test_a_run_that_goes_on_for_long_is_not_called_endless(over: str) -> None:
    """No number of answers shows that a run never ends: it is aborted, and that ends it."""
    played(loop_machine(config(more_until(ENDING[over]))), max_examples=5)


def test_a_run_that_is_to_end_within_so_many_answers_and_does_not_is_found() -> None:
    """11: it is answered everything, and there is always more."""
    hooks = more_until(ENDING["never"])
    found = broken(loop_machine(config(hooks), ends=30))

    assert found.law.startswith(
        "11: what is answered everything it asks comes to an end"
    )
    assert "after 30 answers more (ends=30) it is <run r: waiting for " in str(found)
    assert "It takes 1 input:" in str(found)


def test_a_run_that_ends_once_each_tool_was_called_ends_within_so_many_answers() -> (
    None
):
    """What answers it does not say the same for ever: it calls each tool in turn."""

    def all_were_called(view: TurnView) -> bool:
        results = (m for m in view.transcript if isinstance(m, ToolResultMessage))
        return {"add", "pay"} <= {result.name for result in results}

    played(loop_machine(config(more_until(all_were_called)), ends=30), max_examples=5)


def test_a_run_that_ends_once_a_service_agrees_ends_within_so_many_answers() -> None:
    """A judge that is asked again says something else."""

    def judged(view: TurnView) -> Need | TurnUpdate | None:
        key = f"verdict {view.turn}"
        if key not in view.answers:
            return Need.service(key, "judge")
        said = view.answers[key]
        return TurnUpdate("go on") if said.value_or(None) is not True else None

    judge = Hooks("judge", prepare_next_turn=judged)
    played(loop_machine(config(judge), ends=30), max_examples=5)


def test_runs_end_within_at_least_one_answer() -> None:
    with pytest.raises(ValueError, match=r"ends=0: .* at least 1"):
        loop_machine(config(), ends=0)


class Deaf(Watch):
    """A run that takes no abort."""

    def take(self, given: Any, *, at: float | None = None) -> Any:
        return Success(self) if isinstance(given, Abort) else super().take(given, at=at)


def test_a_run_that_goes_on_after_an_abort_is_found() -> None:
    """5: an abort ends it."""
    endless = config(more_until(ENDING["never"]))
    watch = Deaf.of(endless, run_id="r").take("go").unwrap()
    run = MachineRun(watch, watch, ((Prompt("go"), None),))

    with pytest.raises(Broken) as found:
        run.settle(backwards=False)

    assert "5: an abort ends a run" == found.value.law
    assert found.value.said.startswith("aborted, it is <run r: waiting for ")


def test_a_run_that_asks_nothing_and_is_not_over_is_found(run: MachineRun) -> None:
    """11: nobody can have it go on."""
    run.watch = run.watch.moved(evolve(run.state, pending=EMPTY))

    with pytest.raises(Broken) as found:
        run.settle(backwards=False)

    assert found.value.law.startswith("11: ")
    assert found.value.said.startswith("it asks nothing of anybody, and is <run r: ")


def test_a_drawn_configuration_is_told_with_what_is_found() -> None:
    def few(state: State) -> bool:
        return len(state.transcript) < 4

    drawn = st.builds(config, steering=st.just("all"))
    found = broken(loop_machine(drawn, few))

    last = str(found).splitlines()[-1]
    assert last.startswith("What was drawn: LoopConfig(model='test:m', ")
    assert "steering='all'" in last
    assert "follow_ups" not in last
    assert "hooks_at" not in last


@pytest.mark.parametrize("share", [2, 20, 50, 90])
def test_a_hook_that_is_not_the_same_each_time_is_told_by_its_law(share: int) -> None:
    """Hypothesis calls it flaky, and not what is broken."""
    chance = Random(7)  # noqa: S311  # it is to be the same each time

    def sometimes(_: TurnView) -> StopUpdate | None:
        return StopUpdate("enough") if chance.randrange(100) < share else None

    case = loop_machine(config(Hooks("sometimes", should_stop_after_turn=sometimes)))
    found = broken(case)

    assert re.match("1: a step, taken twice|6: a hook that|2, 9: a state", found.law)
    assert found.law[0] != "2" or "check_hooks" in found.said
    assert "It takes " in str(found)
    assert found.counterexample.journal


@pytest.mark.parametrize(
    ("point", "say"),
    [
        ("should_stop_after_turn", StopUpdate("enough")),
        ("prepare_next_turn", TurnUpdate("go on")),
    ],
)
def test_a_state_that_is_not_its_fold_is_told_with_what_does_that(
    point: str, say: Any
) -> None:
    """2, 9: seldom said, it is seen by no step that is taken twice."""
    said: list[Any] = []

    def seldom(_: TurnView) -> Any:
        return said[-1] if said else None

    hooks: Any = {point: seldom}
    run = MachineRun.of(config(Hooks("seldom", **hooks)), LAWS)
    run.give(Prompt("begin"))
    run.react(Reaction())
    run.react(Reaction())
    said.append(say)

    with pytest.raises(Broken) as found:
        run.refold()

    assert found.value.law.startswith("2, 9: a state is the fold")
    assert "a hook that says other things from time to time does" in found.value.said
    assert "check_hooks" in found.value.said


def test_what_is_only_so_by_chance_is_said_to_be_so() -> None:
    seen: list[State] = []

    def once(state: State) -> bool:
        seen.append(state)
        return len(seen) != 300

    found = broken(loop_machine(config(), once))

    assert "once" == found.law
    assert str(found).endswith(BY_CHANCE)
