"""Random runs on a virtual clock: what passes in them, what goes wrong, and what is found."""

import re
import shutil
import time
import warnings
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from attrs import define
from returns.result import Success

from loopcore import (
    Abort,
    Answer,
    AssistantMessage,
    CallModel,
    Edit,
    FollowUp,
    Input,
    Interpreter,
    LoopConfig,
    Prompt,
    Rejected,
    RequestApproval,
    RunTool,
    State,
    Steer,
    Stop,
    Text,
    ToolCall,
    ToolResultMessage,
    ToolSpec,
    advance,
    run_sync,
)
from loopcore.hooks import ContextUpdate, ContextView, Hooks, Need
from loopcore.journal import Journal, TornLine, replay
from loopcore.policies import retry
from loopcore.testing import AutoModel, FunctionModel, ScriptedTools, faults, simulate
from loopcore.testing.explore.choices import BOTH, Choices
from loopcore.testing.faults import FAULTS, draw
from loopcore.testing.invariants import LAWS, Broken, Moment, Tokens, hold
from loopcore.testing.simulate import Simulation
from loopcore.testing.simulate.plan import Plan
from loopcore.testing.simulate.process import Memory
from loopcore.testing.simulate.recorded import Recorded
from loopcore.testing.simulate.run import SimulatedRun, simulated
from tests.driving import MODEL, config, spec, spoken

A, B = ToolCall("a", {"x": 1}, "c1"), ToolCall("b", id="c2")
BOTH_CALLS: list[Any] = [[A, B], "done"]
OK: dict[str, list[Any]] = {"a": ["ok"], "b": ["ok"], "pay": ["paid"]}
AB: dict[str, list[Any]] = {"a": ["ok"], "b": ["ok"]}
CFG = config()
PAY = config(tools=[spec("pay", needs_approval=True)])
SEEDS = range(40)


def played(
    *hooks: Hooks,
    used: LoopConfig[Any] | None = None,
    replies: Any = BOTH_CALLS,
    tools: Any = None,
    seeds: Iterable[object] = SEEDS,
    **more: Any,
) -> tuple[Simulation, list[State]]:
    """A simulation of two calls, and the state in which each run ended."""
    states: list[State] = []

    def see(state: State) -> None:
        if state.inputs == 1:
            states.append(state)
        states[-1] = state

    more.setdefault("check", see)
    cfg = used or config(*hooks)
    known = {spec.name for spec in cfg.settings.tools}
    found = simulate(
        cfg,
        "go",
        replies=replies,
        tools=tools or {name: OK[name] for name in OK if name in known},
        seeds=seeds,
        **more,
    )
    return found, states


def results(states: Iterable[State], *calls: str) -> Counter[str]:
    """The outcomes of these calls over all runs."""
    return Counter(
        m.outcome
        for state in states
        for m in state.transcript
        if isinstance(m, ToolResultMessage) and m.name in calls
    )


def words(state: State) -> list[str]:
    return [spoken(message) for message in state.transcript]


# What passes in a run.


def test_runs_come_to_their_end_and_are_counted() -> None:
    found, states = played()

    assert found.counterexample is None, found
    assert (found.runs, found.inputs) == (40, 200)
    assert found.reasons == {"done": 40}
    assert found.faults == {}
    assert {tuple(words(state)) for state in states} == {
        (
            "user: go",
            "assistant: →c1 →c2",
            "c1 ok: ok",
            "c2 ok: ok",
            "assistant: done",
        )
    }


def test_hours_pass_that_nobody_waits_for() -> None:
    began = time.monotonic()
    found, states = played(used=PAY, replies=[ToolCall("pay"), "done"])

    assert found.seconds > 10 * 3600
    assert time.monotonic() - began < 3600  # however slow the machine is
    times = [state.now for state in states if state.now is not None]
    assert sum(times) == pytest.approx(found.seconds)


def test_the_same_seed_gives_the_same_run_and_another_one_another() -> None:
    tools = {"a": ["one", "two"], "b": ["ok", TimeoutError()]}
    (_, first), (_, second) = (
        played(tools=tools, faults=faults.ALL, seeds=[*range(20), "a text"])
        for _ in range(2)
    )

    assert first == second
    assert len({state.now for state in first}) == 21


def test_a_seed_alone_gives_the_run_that_it_gives_among_others() -> None:
    _, all_of_them = played(faults=faults.ALL)
    _, (alone,) = played(faults=faults.ALL, seeds=[7])

    assert alone == all_of_them[7]


def test_answers_arrive_in_every_order() -> None:
    orders: set[tuple[str, ...]] = set()

    def see(state: State) -> None:
        inner = list(state.turn.slots) if state.turn else []
        orders.add(tuple(type(slot).__name__ for slot in inner))

    played(check=see)

    assert {("Settled", "Running"), ("Running", "Settled")} <= orders


def call_id(effect: RunTool) -> str:
    return effect.call.id


def test_a_call_ends_in_each_way_that_it_may() -> None:
    tools: Any = {"a": ["ok", TimeoutError()], "b": [ValueError("no"), call_id]}
    _, states = played(tools=tools)

    assert set(results(states, "a")) == {"ok", "timeout"}
    assert set(results(states, "b")) == {"raised", "ok"}
    assert any("c2 ok: c2" in words(state) for state in states)


def test_only_the_outcome_that_comes_of_a_call_is_asked_for() -> None:
    asked: list[str] = []

    def told(what: str) -> Any:
        def say(_: object) -> str:
            asked.append(what)
            return what

        return say

    played(tools={"a": [told("one"), told("two")], "b": [""]})

    assert len(asked) == 40
    assert set(asked) == {"one", "two"}


def test_people_decide_in_each_way_that_they_may() -> None:
    script = [ToolCall("pay"), "done"]
    _, states = played(used=PAY, replies=script)
    _, never = played(used=PAY, replies=script, decisions=[RequestApproval.reject])

    assert set(results(states, "pay")) == {"ok", "rejected"}
    assert set(results(never, "pay")) == {"rejected"}


def nothing(asked: RequestApproval) -> Answer:
    """An edit that leaves all arguments out."""
    return Answer(asked.id, Edit({}))


def test_an_edit_that_does_not_fit_becomes_a_rejection() -> None:
    asks = ToolSpec("pay", "", {"required": ["x"]}, needs_approval=True)
    _, states = played(
        used=config(tools=[asks]),
        replies=[ToolCall("pay", {"x": 1}), "done"],
        decisions=[RequestApproval.edit],
    )
    _, broken = played(
        used=config(tools=[asks]),
        replies=[ToolCall("pay", {"x": 1}), "done"],
        decisions=[nothing],
    )

    assert set(results(states, "pay")) == {"ok"}
    assert set(results(broken, "pay")) == {"rejected"}


def system(effect: CallModel) -> str:
    return effect.system


def test_services_and_models_that_hooks_need_answer_too() -> None:
    def consult(view: ContextView) -> Any:
        if "law" not in view.answers:
            return Need.service("law", "law")
        if "said" not in view.answers:
            return Need.model("said", "what is it?")
        return ContextUpdate(system=view.answers["said"].unwrap().text)

    found, states = played(
        Hooks("asking", transform_context=consult),
        replies=[system],
        services={"law": [{"yes": 1}, OSError("away")], "asking": ["in short"]},
    )

    assert found.counterexample is None, found
    assert {state.transcript[-1].text for state in states} == {"in short"}


def test_nested_runs_have_models_of_their_own() -> None:
    inner = LoopConfig(model=MODEL, tools=[spec("a")]).as_tool("ask", "Asks.")
    found, states = played(
        used=LoopConfig(model=MODEL, tools=[inner]),
        replies=[ToolCall("ask", {"prompt": "?"}), "outer"],
        tools={"a": ["ok"], "ask": [A, "inner"]},
    )

    assert found.counterexample is None, found
    assert "inner" in {m.text for state in states for m in state.transcript}


def test_an_auto_model_makes_other_calls_for_each_seed() -> None:
    tools = [ToolSpec(n, "", {"properties": {"x": {"type": "integer"}}}) for n in "ab"]
    found, states = played(
        used=LoopConfig(model=MODEL, tools=tools), replies=AutoModel()
    )

    assert found.reasons == {"done": 40}
    said = (m for state in states for m in state.transcript)
    calls = {m.calls for m in said if isinstance(m, AssistantMessage)}
    assert len(calls) > 20


def test_inputs_happen_beside_at_any_moment() -> None:
    also = [Steer("hurry"), FollowUp("and then?")]
    _, states = played(also=also)

    said = [words(state) for state in states]
    places = {known.index("user: hurry") for known in said if "user: hurry" in known}
    assert len(places) > 1
    queued = sum(len(state.steering) + len(state.follow_ups) for state in states)
    users = [word for known in said for word in known if word.startswith("user: ")]
    assert len(users) + queued == 40 * 3


def test_an_abort_beside_keeps_what_was_streamed() -> None:
    _, states = played(replies=["Long it is."], also=[Abort("enough")])

    ends = Counter(state.stop for state in states)
    assert ends[Stop("aborted", "enough")] > 0
    kept = {words(s)[-1] for s in states if s.stop == Stop("aborted", "enough")}
    assert "assistant: Long " in kept


def test_a_prompt_beside_comes_after_the_run_if_not_before() -> None:
    _, states = played(replies=["one"], also=[Prompt("two?")])

    assert {"user: two?"} <= {word for state in states for word in words(state)}


# What goes wrong.


def test_a_rate_limit_is_waited_for_and_the_reply_comes_then() -> None:
    limit = faults.RateLimit(0.5, retry_after=40)
    found, states = played(retry(20), faults=[limit])

    assert found.faults["RateLimit"] > 10
    assert found.reasons == {"done": 40}
    assert {words(state)[-1] for state in states} == {"assistant: done"}
    limited = [state for state in states if state.requests > 2]
    assert all(state.now and state.now > 40 for state in limited)


def test_a_rate_limit_ends_a_run_that_does_not_try_again() -> None:
    found, states = played(faults=[faults.RateLimit(1.0)])

    assert found.reasons == {"model_error": 40}
    assert "rate_limit 429: too many requests" in str(states[0].stop)


def test_a_stream_breaks_off_and_leaves_what_had_come() -> None:
    found, states = played(replies=["It is so."], faults=[faults.CutStream(1.0)])

    assert found.faults == {"CutStream": 40}
    assert words(states[0])[-1] == "assistant: It i"


def test_a_slow_tool_runs_into_its_timeout_if_it_has_one() -> None:
    tools = [spec("a", timeout=100), spec("b")]
    slow = faults.SlowTool(1.0, seconds=1_000)
    found, states = played(used=config(tools=tools), faults=[slow])

    assert found.faults == {"SlowTool": 80}
    assert results(states, "a") == {"timeout": 40}
    assert results(states, "b") == {"ok": 40}
    assert all(state.now and state.now > 1_000 for state in states)


def test_what_comes_twice_or_too_late_changes_nothing() -> None:
    twice = [faults.Duplicate(1.0), faults.Late(0.5)]
    found, states = played(faults=twice, also=[Abort()])
    _, plain = played()

    assert found.counterexample is None, found
    assert found.faults["Late"] > 10
    assert found.faults["Duplicate"] > 40
    done = {tuple(words(s)) for s in states if s.stop == Stop("done")}
    assert done == {tuple(words(plain[0]))}


RETRIED = config(tools=[spec("a", on_interrupt="retry"), spec("b")])


def test_a_run_goes_on_after_its_process_ended() -> None:
    """D82: what had been started is reported, or run again under its id; nothing is lost."""
    calls: list[str] = []

    def ran(effect: Any) -> str:
        calls.append(effect.id)
        return "ok"

    found, states = played(
        used=RETRIED,
        tools={"a": [ran], "b": ["ok"]},
        faults=[faults.Crash(0.3)],
        seeds=range(150),
    )

    assert found.counterexample is None, found
    assert found.reasons == {"done": 150}
    assert found.faults["Crash"] > 100
    assert set(results(states, "b")) == {"ok", "interrupted"}
    assert results(states, "a") == {"ok": 150}
    assert len(calls) > 150
    assert set(calls) == {"r.1.1.run.0"}


def plan_of(used: LoopConfig[Any] | None = None, **more: Any) -> Plan:
    """A plan of two calls."""
    told: dict[str, Any] = {
        "config": used or config(),
        "given": (Prompt("go"),),
        "choices": Choices.among(BOTH_CALLS, OK, {}, BOTH),
        "beside": (),
        "faults": (),
        "laws": (),
        "checks": (),
        "watched": 0.0,
        "seed": 0,
    }
    return Plan(**told | more)


def crashing(write: int, **more: Any) -> Plan:
    """A plan whose process ends at this write and at no other."""
    others = frozenset(f"Crash at write {n}" for n in range(99) if n != write)
    return plan_of(RETRIED, faults=(faults.Crash(1.0),), without=others, **more)


def test_a_process_ends_before_a_write_in_its_middle_and_after_it(
    tmp_path: Path,
) -> None:
    plans = [crashing(write, seed=seed) for write in range(1, 7) for seed in range(9)]
    ends = [simulated(plan, tmp_path / "run.jsonl") for plan in plans]
    told = [one.word for end in ends for one in end.happened if one.given is None]
    crashes = [re.fullmatch(CRASHED, word) for word in told[::2]]
    parts = {int(found[1]) / int(found[2]) for found in crashes if found}

    assert {0.0, 1.0} < parts
    assert len(parts) > 10
    assert set(told[1::2]) == {"another process goes on"}


CRASHED = r"crash at write \d, of which (\d+) of (\d+) bytes are there"


def test_a_full_disk_leaves_nothing_of_what_it_had_no_room_for() -> None:
    found, states = played(faults=[faults.FullDisk(0.3)], used=RETRIED)

    assert found.counterexample is None, found
    assert found.faults["FullDisk"] > 20
    assert found.reasons == {"done": 40}
    assert results(states, "a") == {"ok": 40}


def test_all_faults_at_once_break_nothing() -> None:
    found, _ = played(
        retry(5),
        faults=faults.ALL,
        also=[Steer("hurry"), FollowUp("more?"), Abort()],
        seeds=range(60),
        watched=1.0,
    )

    assert found.counterexample is None, found
    assert set(found.faults) == {kind.__name__ for kind in FAULTS}


def test_what_somebody_else_answers_is_not_lost_in_a_crash() -> None:
    """D82: what was left to somebody else had not been run here."""
    elsewhere = config(tools=[spec("a", elsewhere=True), spec("b", elsewhere=True)])
    found, states = played(used=elsewhere, faults=[faults.Crash(0.2)])

    assert found.counterexample is None, found
    assert results(states, "a", "b")["ok"] > 40


class Kept(Recorded):
    """A process that leaves a copy of its journal when it ends."""

    def resume(self) -> frozenset[str]:
        shutil.copy(self.path, self.path.with_suffix(".copy"))
        return super().resume()


def reply_to(effect: CallModel) -> Any:
    """The script of the simulated run, by turn."""
    return BOTH_CALLS[int(effect.id.split(".")[2]) - 1]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("write", range(2, 7))
def test_a_real_run_goes_on_as_a_simulated_one_does(
    write: int, seed: int, tmp_path: Path
) -> None:
    """D82: the driver and a simulation make the same of a journal that was left."""
    plan = crashing(write, seed=seed)
    process = Kept(plan, tmp_path / "run.jsonl", Memory.of(plan))
    SimulatedRun(plan, process).go()
    process.close()
    left = tmp_path / "run.copy"

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TornLine)
        state = replay(RETRIED, Journal.read(left).unwrap()).unwrap().result.state
    model = FunctionModel(reply_to, id=MODEL)
    tools = ScriptedTools(RETRIED, {"a": ["ok"] * 2, "b": ["ok"] * 2})
    real = run_sync(RETRIED, Interpreter(model, *tools), state=state, journal=left)

    assert words(real.state) == words(process.state)
    assert real.stop == Stop("done")


# What is found.


def short(state: State) -> bool:
    return len(state.transcript) < 4


def test_what_a_check_says_no_of_is_found_and_made_small() -> None:
    """A counterexample is a program of a few lines."""
    found, _ = played(
        retry(5),
        check=short,
        faults=faults.ALL,
        also=[Steer("hurry")],
        replies=[[A, B], [A, B], [A, B], "done"],
        tools={"a": ["one", "two"], "b": ["ok"]},
    )

    assert found.counterexample is not None
    assert found.counterexample.law == "short"
    assert found.counterexample.faults == ()
    assert len(found.counterexample.inputs) <= 4


def test_a_counterexample_is_printed_with_its_seed() -> None:
    def never(state: State) -> None:
        if state.stop:
            raise AssertionError(state.stop)

    found, _ = played(check=never, replies=["one", "two"], seeds=["dawn"])

    assert repr(found) == (
        "never: done\n"
        "Seed 'dawn' leads to it (seeds=['dawn']). As small as could be found, with 0 "
        "faults:\n"
        "         0.0 s  Prompt([UserMessage([Text('go')])])\n"
        "         1.0 s  Answer('r.1.1.model.1', AssistantMessage([Text('one')], "
        "model='test:model'), 1.0)\n"
        "Before the last of them it was <run r: waiting for r.1.1.model.1; turn 1, 1 "
        "messages>.\n"
        "(1 run (1 done), 2 inputs, 0 faults, 0.0 simulated hours.)"
    )


def says_d(_: CallModel) -> str:
    return "d"


SCRIPTS: list[Any] = [
    *(["d"], ["c", "d"], [[A, B], "d"], [[A], [B], "d"], [says_d]),
    AutoModel(1),
]


@pytest.mark.parametrize("replies", SCRIPTS)
def test_a_counterexample_says_only_what_was_given(replies: Any) -> None:
    """'done' is what the kit says after calls: not where nobody needs it."""

    def never_stops(state: State) -> bool:
        return state.stop is None

    found, _ = played(check=never_stops, replies=replies, seeds=[1])

    assert found.counterexample is not None
    assert "Text('done')" not in repr(found.counterexample)
    assert len(found.counterexample.inputs) <= (2 if isinstance(replies, list) else 9)


def test_a_counterexample_of_a_script_that_ends_in_calls_may_say_done() -> None:
    """So does the run that is simulated."""

    def never_stops(state: State) -> bool:
        return state.stop is None

    found, _ = played(check=never_stops, replies=[[A, B]], seeds=[1])

    assert found.counterexample is not None
    assert "Text('done')" in repr(found.counterexample)
    assert len(found.counterexample.inputs) == 2


def test_the_seed_of_a_counterexample_leads_to_it_again() -> None:
    def rare(state: State) -> bool:
        return not any(m.text == "two" for m in state.transcript)

    more: Any = {"tools": {"a": ["one"] * 9 + ["two"], "b": [""]}, "check": rare}
    first, _ = played(**more)

    assert first.counterexample is not None
    assert first.runs > 1
    again, _ = played(**more, seeds=[first.counterexample.seed])
    assert again.runs == 1
    assert again.counterexample is not None
    assert again.counterexample.happened == first.counterexample.happened


def test_a_counterexample_is_a_journal_that_can_be_kept(tmp_path: Path) -> None:
    found = simulate(
        config(), "go", replies=BOTH_CALLS, tools=AB, seeds=[1], check=short
    ).counterexample
    assert found is not None
    path = tmp_path / "found.jsonl"

    found.write(path)

    journal = Journal.read(path).unwrap()
    assert found.inputs == journal.inputs
    assert found.happened[-1].at == journal.entries[-1].at
    assert not short(replay(config(), journal).unwrap().result.state)


def test_the_journal_of_a_counterexample_has_what_was_taken() -> None:
    """Neither what was refused nor what a crash had lost."""

    def unhurt(state: State) -> bool:
        return not results([state], "b")["interrupted"]

    found, _ = played(check=unhurt, faults=faults.ALL, seeds=range(200))
    assert found.counterexample is not None
    journal = found.counterexample.journal

    state = replay(config(), journal).unwrap().result.state
    assert results([state], "b")["interrupted"]


def test_equal_simulations_are_equal() -> None:
    def twice(**more: Any) -> bool:
        first, second = (
            simulate(CFG, "go", replies=BOTH_CALLS, tools=AB, **more) for _ in range(2)
        )
        return first == second and first is not second

    assert twice(seeds=SEEDS)
    assert twice(seeds=SEEDS, check=short)


def test_a_fault_that_it_takes_stays_in_the_counterexample() -> None:
    def unhurt(state: State) -> bool:
        return not results([state], "b")["interrupted"]

    found, _ = played(check=unhurt, faults=faults.ALL, seeds=range(200))

    assert found.counterexample is not None
    assert [fault.split()[0] for fault in found.counterexample.faults] == ["Crash"]
    told = repr(found)
    assert "crash at write" in told
    assert "another process goes on" in told
    assert "# was under way" in told


def test_a_reply_that_is_a_whole_message_is_made_smaller_too() -> None:
    whole = AssistantMessage([Text("Well."), A, B], model=MODEL, finish="tools")
    found, _ = played(replies=[whole, "done"], check=few)

    told = repr(found)
    assert "AssistantMessage" in told
    assert "Well." not in told
    assert "c1" not in told or "c2" not in told


def few(state: State) -> bool:
    return len(state.transcript) < 3


def test_only_what_is_needed_of_outcomes_and_inputs_is_left() -> None:
    def nobody_hurries(state: State) -> bool:
        said = {m.text for m in state.transcript}
        return not {"hurry", "two"} <= said

    found, _ = played(
        check=nobody_hurries,
        also=[Steer("slowly"), Steer("hurry"), FollowUp("more?")],
        tools={"a": ["one", "two"], "b": ["", "no"]},
        seeds=range(200),
    )

    assert found.counterexample is not None
    told = repr(found)
    assert "hurry" in told
    assert "slowly" not in told
    assert "more?" not in told
    assert "c2" not in told


def test_a_law_of_ones_own_sees_every_step() -> None:
    @define
    class NoApproval:
        """Nobody is asked."""

        def see(self, moment: Moment) -> "NoApproval":
            hold(not moment.after.approvals, "somebody is asked")
            return self

    found, _ = played(used=PAY, replies=[ToolCall("pay"), "done"], check=NoApproval())

    assert found.counterexample is not None
    assert (found.counterexample.law, found.counterexample.said) == (
        "Nobody is asked",
        "somebody is asked",
    )


def test_laws_see_a_share_of_the_runs() -> None:
    def shares(watched: float) -> float:
        plans = [plan_of(laws=LAWS, watched=watched, seed=seed) for seed in range(200)]
        return sum(bool(plan.watching) for plan in plans) / 200

    assert (shares(0), shares(1)) == (0, 1)
    assert 0.05 < shares(0.1) < 0.15


def test_a_hook_that_is_not_pure_is_found_by_a_crash() -> None:
    """2: a journal gives back the run that was written to it."""
    asked: list[int] = []

    def impure(_: ContextView) -> ContextUpdate:
        asked.append(1)
        return ContextUpdate(system=f"asked {len(asked)} times")

    hooks = [Hooks("impure", transform_context=impure)]
    found, _ = played(*hooks, faults=[faults.Crash(0.2)], laws=())

    assert found.counterexample is not None
    assert found.counterexample.law.startswith("2: a journal gives back the run")
    assert "system" in found.counterexample.said
    assert "impure" in found.counterexample.said


def test_a_run_that_never_ends_is_found() -> None:
    def again(_: CallModel) -> ToolCall:
        return A

    found, _ = played(replies=[again], seeds=[1], laws=())

    assert found.counterexample is not None
    assert found.counterexample.law == "a run ends"
    assert "after 1000 inputs it is <run r: " in found.counterexample.said


def test_a_process_that_ends_again_and_again_gets_nowhere() -> None:
    found, _ = played(faults=[faults.FullDisk(1.0, down=1)], seeds=[1])

    assert found.counterexample is not None
    assert "its process ended 50 times" in found.counterexample.said


def test_what_nobody_says_is_found() -> None:
    found, _ = played(tools={"a": ["ok"]})

    assert found.counterexample is not None
    assert found.counterexample.said == (
        "'b' is asked here; tools= does not say what may come of it"
    )


# Laws that a run itself keeps, shown with processes that break them.


@define
class Strange:
    """A process that takes what it should not, or forgets."""

    state: State
    moves: int = 9

    def take(self, given: Input, at: float) -> Rejected | None:
        taken = advance(config(), self.state, given, at=at)
        if self.moves and isinstance(taken, Success):
            self.state, self.moves = taken.unwrap()[0], self.moves - 1
        return None

    def started(self, *_: str) -> None:
        """It does not note it."""

    left = started


def strange(*given: faults.Fault, moves: int = 9) -> SimulatedRun:
    """A run in a strange process."""
    process: Any = Strange(State.start(config(), run_id="r"), moves)
    return SimulatedRun(plan_of(faults=given), process)


@pytest.mark.parametrize(
    ("run", "law"),
    [
        (strange(faults.Duplicate(1.0)), "D15: an answer to what does not wait"),
        (strange(moves=1), "a run ends: nothing happens any more to <run r: waiting"),
    ],
)
def test_a_process_that_does_not_keep_a_law_is_found(
    run: SimulatedRun, law: str
) -> None:
    with pytest.raises(Broken, match=law):
        run.go()


class Forgetful(Recorded):
    """A process that does not know what was under way."""

    def resume(self) -> frozenset[str]:
        super().resume()
        return frozenset()


def test_a_tool_that_would_be_run_again_is_found(tmp_path: Path) -> None:
    """D82: a tool that reports what became of it is run once."""
    plan = crashing(4)
    process = Forgetful(plan, tmp_path / "run.jsonl", Memory.of(plan))

    with pytest.raises(Broken, match=r"D82.*r\.1\.1\.run\.1 was run again"):
        SimulatedRun(plan, process).go()
    process.close()


class Lossy(Recorded):
    """A process whose disk loses what was written."""

    def resume(self) -> frozenset[str]:
        self.path.write_bytes(self.path.read_bytes()[:200])
        return super().resume()


def test_a_journal_that_lost_something_is_found(tmp_path: Path) -> None:
    plan = crashing(4)
    process = Lossy(plan, tmp_path / "run.jsonl", Memory.of(plan))

    with pytest.raises(Broken, match="2: a journal gives back the run"):
        SimulatedRun(plan, process).go()


# What cannot be simulated.


def test_what_is_given_first_may_be_refused() -> None:
    with pytest.raises(Rejected, match="nothing to stop"):
        simulate(config(), Abort(), replies=["hi"], seeds=[1])


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"replies": "done"}, r"replies= takes a list; write replies=\['done'\]"),
        ({"also": "hurry"}, "also= takes a list"),
        (
            {"faults": [faults.Crash]},
            r"faults= takes .*faults.Crash\(\).*; it got <class",
        ),
        ({"laws": [], "check": Tokens}, "is a class; give an instance"),
    ],
)
def test_what_is_no_argument_is_refused(more: Any, why: str) -> None:
    with pytest.raises(TypeError, match=why):
        played(**more)


def test_what_is_no_configuration_is_refused() -> None:
    with pytest.raises(TypeError, match="takes a LoopConfig first; it got 'often'"):
        simulate(OFTEN, "go", replies=["done"], seeds=[1])


OFTEN: Any = "often"


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: faults.Crash(2), r"Crash\(chance=...\) takes a chance from 0 to 1"),
        (
            lambda: faults.RateLimit(retry_after=-1),
            "takes seconds, 0 or more; it got -1",
        ),
        (lambda: faults.Late(OFTEN), "it got 'often'"),
    ],
)
def test_what_is_no_chance_is_refused(make: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        make()


def test_a_number_drawn_depends_on_its_names_alone() -> None:
    drawn = [draw("seed", n) for n in range(1_000)]

    assert drawn == [draw("seed", n) for n in range(1_000)]
    assert all(0 <= number < 1 for number in drawn)
    assert 0.45 < sum(drawn) / 1_000 < 0.55


def test_simulations_print_short() -> None:
    found, _ = played(seeds=range(1_000), replies=["hi"], laws=())

    assert repr(found).startswith("<1,000 runs (1,000 done), 2,000 inputs, 0 faults, ")
    assert repr(found).endswith(" simulated hours; nothing is broken>")
    assert repr(faults.RateLimit()) == "RateLimit()"
