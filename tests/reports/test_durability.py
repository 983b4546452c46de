"""Reports about pauses, saved runs, records and their growth."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from returns.result import Failure

from loopcore import (
    Abort,
    AssistantMessage,
    Continue,
    Effects,
    Interpreter,
    LoopConfig,
    Message,
    Prompt,
    Rejected,
    RequestApproval,
    RunTool,
    State,
    Text,
    ToolCall,
    ToolResultMessage,
    ToolSpec,
    UserMessage,
    project,
    run_sync,
)
from loopcore.codec import DecodeError
from loopcore.events import Ended
from loopcore.hooks import Ask, Hooks, ToolCallView
from loopcore.journal import (
    Journal,
    JournalError,
    Recorder,
    diff,
    explain,
    fork,
    replay,
    verify,
)
from loopcore.journal.digests import Digests
from loopcore.journal.ledger import Ledger
from loopcore.policies import compact, limits, sliding_window
from loopcore.testing import ScriptedModel, ScriptedTools
from tests.driving import MODEL, Run, begin, call, config, spec, words


def asking(*names: str) -> list[Any]:
    """Tools that a person is asked about."""
    return [spec(name, needs_approval=True) for name in names]


def reloaded(run: Run) -> Run:
    """The run as another process has it."""
    return evolve(run, state=State.loads(run.state.dumps()).unwrap())


def gone_on(journal: Journal, run: Run) -> State:
    return replay(run.config, journal).unwrap().result.state


# Pauses.


def test_nothing_runs_again_until_every_question_is_answered() -> None:
    """Report 130: and each question is asked once."""
    seen: list[str] = []

    def gate(view: ToolCallView) -> Ask:
        seen.append(view.call.id)
        return Ask()

    run = begin(config(Hooks(before_tool_call=gate))).says(call("a"), call("b"))
    run = run.give(run.asked("a").approve())

    assert seen == ["a", "b"]
    assert [asked.call.id for asked in run.state.approvals] == ["b"]
    run = run.give(run.asked("b").approve())
    assert seen == ["a", "b"]
    assert sorted(run.started) == ["a", "b"]


def test_one_pause_may_be_gone_on_with_twice() -> None:
    """Report 131: each time with its own answer."""
    paused = begin(config(tools=asking("a"))).says(call("a"))
    data = paused.state.dumps()

    outcomes = []
    for yes in (True, False):
        again = evolve(paused, state=State.loads(data).unwrap())
        asked = again.asked("a")
        again = again.give(asked.approve() if yes else asked.reject("no"))
        outcomes.append(again.outcomes or again.started)

    assert outcomes == [["a"], {"a": "rejected"}]


def test_every_pause_is_to_be_seen_in_the_order_of_the_calls() -> None:
    """Report 132."""
    run = begin(config(tools=asking("a", "b", "c"))).says(
        call("b"), call("a"), call("c")
    )

    assert [asked.call.id for asked in run.state.approvals] == ["b", "a", "c"]


def test_an_answer_reaches_its_own_call_in_any_order() -> None:
    """Report 133: the id of a question is made of its call's place."""
    run = begin(config(tools=asking("a", "b"))).says(call("a"), call("b"))
    a, b = run.state.approvals

    run = run.give(b.reject("not b")).give(a.approve()).ran("a", "A")

    assert a.id != b.id
    assert run.outcomes == {"a": "ok", "b": "rejected"}


def test_a_class_that_is_gone_is_named() -> None:
    """Report 134: with its place; nothing is loaded."""
    saved = begin(config()).says(call("a")).state.dumps()

    match State.loads(saved.replace(b'"type":"ToolCall"', b'"type":"Vanished"')):
        case Failure(problem):
            assert isinstance(problem, DecodeError)
            assert "transcript[1].parts[0]" in str(problem) or "turn" in str(problem)
            assert "Vanished" in str(problem)
        case _:
            raise AssertionError


def test_a_settled_call_is_not_settled_again_by_a_resume() -> None:
    """Report 136."""
    tools = [*asking("a"), spec("b")]
    run = begin(config(tools=tools)).says(call("a"), call("b"), call("nosuch"))
    run = reloaded(run.ran("b", "B"))

    run = run.give(run.asked("a").approve()).ran("a", "A")

    assert run.outcomes == {"a": "ok", "b": "ok", "nosuch": "unknown_tool"}
    assert run.one_request.id == "r.1.2.model.1"


def test_what_is_new_is_what_came_after_the_given_history() -> None:
    """Report 137: the results of a turn that paused are part of it."""
    history = [UserMessage("before"), AssistantMessage("yes")]
    tools = [*asking("a"), spec("b")]
    run = begin(config(tools=tools), transcript=history).says(call("a"), call("b"))
    run = reloaded(run.ran("b", "B"))
    run = run.give(run.asked("a").approve()).ran("a", "A").says("done")

    assert [*run.state.new] == [*run.state.transcript][2:]
    assert words(run.state.new)[2:4] == ["a ok: A", "b ok: B"]


def test_a_call_that_somebody_else_answers_runs_nothing_here() -> None:
    """Report 138."""
    run = begin(config(tools=[spec("a", elsewhere=True)])).says(call("a"))
    run = reloaded(run)
    (asked,) = run.all(RunTool)

    run = run.give(asked.reply("from outside"))

    assert run.outcomes == {"a": "ok"}
    assert run.started == ["a"]
    assert run.results[0].text == "from outside"


def test_a_decision_is_part_of_the_run() -> None:
    """Report 139: nothing that a caller brings along holds it."""
    run = reloaded(begin(config(tools=asking("a"))).says(call("a")))
    run = reloaded(run.give(run.asked("a").approve()))

    assert [type(effect) for effect in run.state.waiting] == [RunTool]


def test_a_nested_run_that_waits_is_saved_whole() -> None:
    """Report 140."""
    child = config(tools=asking("a")).as_tool("child", "Do it.")
    outer = config(tools=[child])
    run = reloaded(begin(outer).says(call("child", prompt="go")).says(call("a")))

    (asked,) = run.state.approvals
    run = run.give(asked.approve())
    run = reloaded(run).ran("a", "A").says("inner").says("outer")

    assert run.reason == "done"
    assert run.outcomes == {"child": "ok"}


def test_two_states_of_one_pause_are_independent() -> None:
    """Report 141."""
    run = begin(config(tools=asking("a"))).says(call("a"))
    one, other = run, run

    one = one.give(one.asked("a").approve())

    assert one.started == ["a"]
    assert [type(effect) for effect in other.state.waiting] == [RequestApproval]


def test_a_nested_run_whose_configuration_was_renamed_says_so() -> None:
    """Report 142: it can be decided on, and ends in a sentence."""
    child = config(tools=asking("a"))
    outer = config(tools=[child.as_tool("x", "Do it.")])
    renamed = config(tools=[child.as_tool("y", "Do it.")])
    run = reloaded(begin(outer).says(call("x", prompt="go")).says(call("a")))

    run = run.under(renamed)
    run = run.give(run.state.approvals[0].approve())

    assert run.outcomes == {"x": "error"}
    assert "The configuration of this nested run is gone" in run.results[0].text


def test_a_pause_with_an_output_type_goes_on_alike_from_memory_and_json() -> None:
    """Report 143."""
    run = begin(config(tools=[*asking("a"), spec("b")], output=int))
    run = run.says(call("b")).ran("b").says(call("a"))

    ended: list[State] = []
    for one in (run, reloaded(run)):
        again = one.give(one.asked("a").approve()).ran("a").says("41")
        ended.append(again.state)

    assert ended[0] == ended[1]
    assert str(ended[0].stop) == "done"


def test_a_record_that_was_altered_before_a_decision_is_refused(tmp_path: Path) -> None:
    """Report 144: what a person was shown is bound to the record by its chain."""
    path = tmp_path / "r.jsonl"
    cfg = config(tools=asking("a"))
    model = ScriptedModel(call("a", path="notes/a"), id=MODEL)
    tools = ScriptedTools(cfg, {"a": []})
    run_sync(cfg, Interpreter(model, *tools), "go", journal=path)
    path.write_bytes(path.read_bytes().replace(b"notes/a", b"."))

    match Journal.read(path):
        case Failure(problem):
            assert problem.line == 3
        case _:
            raise AssertionError


# Records.


PROGRAM = """
import sys
from loopcore import *
from loopcore.journal import Journal, replay
from loopcore.policies import sliding_window, limits
tool_ = ToolSpec("a", "A.", {"type": "object"})
hooks = [sliding_window(3), limits(turns=9)]
config = LoopConfig(model="test:model", tools=[tool_], hooks=hooks)
again = replay(config, Journal.read(sys.argv[1]).unwrap()).unwrap()
print([effect.id for step in again.steps for effect in step.effects.perform])
"""


def limited() -> LoopConfig:
    """The configuration of the program above."""
    tool = ToolSpec("a", "A.", {"type": "object"})
    hooks = [sliding_window(3), limits(turns=9)]
    return LoopConfig(model=MODEL, tools=[tool], hooks=hooks)


def recorded(path: Path, replies: int = 3) -> Journal:
    """A run that was recorded: so many turns with a tool."""
    model = ScriptedModel(*[call("a")] * replies, "done", id=MODEL)
    tools = ScriptedTools(limited(), {"a": ["A"] * replies})
    interpreter = Interpreter(model, *tools)
    run_sync(limited(), interpreter, "go", run_id="r", journal=path)
    return Journal.read(path).unwrap()


@pytest.mark.parametrize("seed", ["0", "1", "2"])
def test_a_replay_in_a_fresh_process_asks_the_same(tmp_path: Path, seed: str) -> None:
    """Report 145: a step depends on its run's own record, and on nothing else."""
    path = tmp_path / "r.jsonl"
    asked = [a["id"] for e in recorded(path).entries for a in e.led.get("ask", ())]
    env = {**os.environ, "PYTHONHASHSEED": seed}

    told = subprocess.run(  # noqa: S603  # our own program
        [sys.executable, "-c", PROGRAM, path],
        capture_output=True,
        text=True,
        env=env,
        check=True,
    )

    assert told.stdout.strip() == str(asked)


def test_ids_are_positions() -> None:
    """Report 146: a rule that is added moves none of them."""
    bare = begin(config()).says(call("a")).ran("a").says("done")
    more = (
        begin(config(sliding_window(9), compact(99)))
        .says(call("a"))
        .ran("a")
        .says("done")
    )

    assert [e.id for e in bare.performed] == [e.id for e in more.performed]


def test_to_look_at_a_run_changes_nothing() -> None:
    """Report 147."""
    cfg = config()
    journal = Journal.of(cfg, State.start(cfg, run_id="r"), ["go"]).unwrap()
    run = begin(cfg)

    explain(cfg, journal, "message 1")
    diff(cfg, journal, journal)
    fork(cfg, journal, at=1, run_id="other").unwrap()
    repr(run.state)
    run.state.dumps()

    assert gone_on(journal, run) == run.state


def test_effects_are_numbered_by_call_and_not_by_completion() -> None:
    """Report 148."""
    run = begin(config(tools="abc")).says(call("a"), call("b"), call("c"))
    orders = (("a", "b", "c"), ("c", "a", "b"))

    ended = []
    for order in orders:
        one = run
        for name in order:
            one = one.ran(name, name.upper())
        ended.append(one)

    assert ended[0].one_request == ended[1].one_request
    assert [e.id for e in run.all(RunTool)] == [
        "r.1.1.run.0",
        "r.1.1.run.1",
        "r.1.1.run.2",
    ]


def test_which_answer_came_first_is_recorded() -> None:
    """Report 149: a replay has no latencies, and needs none."""
    cfg = config()
    run = begin(cfg).says(call("a"), call("b"))
    happened: list[Any] = ["go", *_answers(run, "b", "a")]

    journal = Journal.of(cfg, State.start(cfg, run_id="r"), happened).unwrap()
    again = replay(cfg, journal).unwrap()

    told = [event for step in again.steps for event in step.effects.tell]
    ended = [event.effect.id for event in told if isinstance(event, Ended)]
    assert ended == ["r.1.1.model.1", "r.1.1.run.1", "r.1.1.run.0"]


def _answers(run: Run, *names: str) -> list[Any]:
    (asked,) = begin(run.config).all(type(run.requests[0]))
    reply = AssistantMessage([call("a"), call("b")], model="")
    return [asked.reply(evolve(reply)), *(run.tool(name).reply(name) for name in names)]


def test_a_run_that_is_over_is_had_again_without_running_anything(
    tmp_path: Path,
) -> None:
    """Report 150: by replay, and by a run that is given its state."""
    journal = recorded(tmp_path / "r.jsonl")
    cfg = limited()
    model = ScriptedModel(id=MODEL)
    tools = ScriptedTools(cfg, {"a": []})

    state = replay(cfg, journal).unwrap().result.state
    again = run_sync(cfg, Interpreter(model, *tools), state=state)

    assert (again.state, again.output) == (state, "done")
    assert model.requests == []


def test_the_order_of_keys_is_part_of_a_request() -> None:
    """Report 152: models are shown it, and prompt caches keep by it."""
    digests = Digests()

    assert digests.of({"a": 1, "b": 2}) != digests.of({"b": 2, "a": 1})
    assert digests.of({"a": 1, "b": 2}) == Digests().of({"a": 1, "b": 2})


def test_two_messages_that_are_equal_are_two() -> None:
    """Report 153: they are known by their places."""
    cfg = config()
    start = State.start(cfg, run_id="r")
    same = Prompt([UserMessage("again"), UserMessage("again")])
    journal = Journal.of(cfg, start, [same]).unwrap()

    state = replay(cfg, journal).unwrap().result.state

    assert words(state.transcript) == ["user: again", "user: again"]


def test_one_writer_appends_in_order(tmp_path: Path) -> None:
    """Report 157: another one is refused, and so is a result without its call."""
    path = tmp_path / "r.jsonl"
    start = State.start(config(), run_id="r")
    with Recorder(path).open(config(), start) as recording:
        state, _ = recording.advance(config(), start, "go").unwrap()
        with pytest.raises(JournalError, match="somebody else writes to it"):
            Recorder(path).open(config(), state)

    orphan = ToolResultMessage("c1", "a", "A")
    with pytest.raises(Rejected, match="not paired"):
        State.start(config(), run_id="r", transcript=[orphan])


def test_a_reply_that_was_cut_is_no_final_one() -> None:
    """Report 158: it is stored as failed, never shown, and the run goes on."""
    partial = AssistantMessage([Text("I w"), ToolCall("a", {}, "c1")])
    run = begin(config())
    run = run.give(Abort(partials={run.one_request.id: partial}))
    run = reloaded(run)

    again = run.give(Continue())

    assert [getattr(m, "finish", "") for m in again.state.transcript][1] == "aborted"
    assert words(project(again.one_request.messages)) == ["user: go"]
    assert again.state.phase == "model"


# Growth.


def grown(turns: int) -> tuple[list[int], Run]:
    """How long each line of a journal is, turn by turn, and the run."""
    cfg = config(sliding_window(10))
    run, sizes = begin(cfg), list[int]()
    ledger = Ledger(Digests())
    for _ in range(turns):
        run = run.says(call("a")).ran("a", "A")
        led = ledger.entry(run.state, Effects(perform=run.fresh))
        sizes.append(len(json.dumps(led)))
    return sizes, run


def test_the_record_of_a_turn_does_not_grow_with_the_history() -> None:
    """Reports 185, 186: messages are written once, and requests tell what changed."""
    sizes, _ = grown(60)

    assert max(sizes[-10:]) <= max(sizes[10:20]) + 12


def test_a_file_grows_by_the_same_with_every_turn(tmp_path: Path) -> None:
    """Report 186."""
    sizes = []
    for turns in (20, 40, 80):
        path = tmp_path / f"{turns}.jsonl"
        cfg = config()
        model = ScriptedModel(*[call("a")] * turns, "done", id=MODEL)
        tools = ScriptedTools(cfg, {"a": ["A"] * turns})
        run_sync(cfg, Interpreter(model, *tools), "go", run_id="r", journal=path)
        sizes.append(path.stat().st_size)

    assert (sizes[2] - sizes[1]) / (sizes[1] - sizes[0]) < 2.1


class Counting(Digests):
    """Counts how often something is written out to be digested."""

    def __init__(self) -> None:
        super().__init__()
        self.made = 0

    def of(self, value: object, kind: Any = Any) -> str:
        self.made += kind is Message
        return super().of(value, kind)


def test_each_message_is_written_out_once() -> None:
    """Reports 187, 190: however many requests show it."""
    cfg = config(sliding_window(10))
    digests = Counting()
    ledger, run = Ledger(digests), Run(cfg, State.start(cfg, run_id="r"))
    told = 0
    run = run.give("go")
    for _ in range(40):
        run = run.says(call("a")).ran("a", "A")
        ledger.entry(run.state, Effects(perform=run.fresh, tell=run.told[told:]))
        told = len(run.told)

    assert digests.made <= len(run.state.transcript)


def test_a_text_stands_in_a_file_once(tmp_path: Path) -> None:
    """Report 187: reading decodes each message once."""
    path = tmp_path / "r.jsonl"
    cfg = config()
    model = ScriptedModel(*[call("a")] * 20, "done", id=MODEL)
    outputs = [f"output number {n}." for n in range(20)]
    tools = ScriptedTools(cfg, {"a": [*outputs]})
    run_sync(cfg, Interpreter(model, *tools), "go", journal=path)

    text = path.read_text()

    assert [text.count(output) for output in outputs] == [1] * 20


def test_a_fork_copies_no_history() -> None:
    """Report 188: the messages are the very same."""
    cfg = config()
    history = [UserMessage(f"{n}") for n in range(20)]
    journal = Journal.of(
        cfg, State.start(cfg, run_id="r", transcript=history), ["go"]
    ).unwrap()

    forked = fork(cfg, journal, at=0, run_id="other").unwrap()

    assert forked.transcript is journal.start.transcript


def test_a_journal_may_begin_at_a_saved_state(tmp_path: Path) -> None:
    """Report 189: then reading it costs that state, and what came after it."""
    path, later = tmp_path / "r.jsonl", tmp_path / "s.jsonl"
    cfg = config()
    tools = ScriptedTools(cfg, {"a": ["A"] * 30})
    model = ScriptedModel(*[call("a")] * 30, "done", "more", id=MODEL)
    interpreter = Interpreter(model, *tools)
    first = run_sync(cfg, interpreter, "go", journal=path)

    second = run_sync(cfg, interpreter, "and?", state=first.state, journal=later)

    journal = Journal.read(later).unwrap()
    assert len(journal.entries) == 2
    assert replay(cfg, journal).unwrap().result.state == second.state


def test_nothing_waits_to_be_written_while_a_run_goes_on(tmp_path: Path) -> None:
    """Report 191: a line is in the file before the run goes on, so memory stays flat."""
    path = tmp_path / "r.jsonl"
    cfg = config()
    state = State.start(cfg, run_id="r")
    with Recorder(path).open(cfg, state) as recording:
        for n in range(5):
            given: Any = "go" if n == 0 else state.waiting[0].fail("no")
            state, _ = recording.advance(cfg, state, given).unwrap()
            assert verify(path).unwrap() == n + 2
            if not state.waiting:
                break
