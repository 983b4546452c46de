"""`run`: performs what a run wants until it stops, or waits for what is not here."""

import asyncio
import json
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loopcore import (
    Abort,
    Answer,
    AssistantMessage,
    CallModel,
    Continue,
    Effect,
    LoopConfig,
    ModelError,
    Prompt,
    Rejected,
    RequestApproval,
    RunResult,
    RunTool,
    Sleep,
    State,
    Steer,
    Stop,
    Tell,
    ToolCall,
    ToolOutput,
    ToolResultMessage,
    ToolSpec,
    advance,
    deliver,
)
from loopcore.codec import from_json
from loopcore.events import Delta, Ended, Event, Started
from loopcore.frozen import evolve
from loopcore.hooks import Hooks, RetryUpdate
from loopcore.inputs import Input
from loopcore.runtime.context import ToolContext
from loopcore.runtime.inspect import Inspector
from loopcore.runtime.interpreter import Interpreter, Perform, silent
from loopcore.runtime.model import Model
from loopcore.runtime.run import run, run_sync
from loopcore.runtime.tool import Tool, tool
from loopcore.testing import ScriptedModel
from tests.leaks import alone


class Noted(Inspector):
    """Keeps every event."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def on_event(self, event: Event) -> None:
        self.events.append(event)

    def ended(self) -> list[str]:
        """The ids of the effects that ended, in order."""
        return [e.effect.id for e in self.events if isinstance(e, Ended)]


def given_to(
    *given: Any,  # what a run takes
    tools: tuple[Tool | ToolSpec, ...] = (),
    replies: tuple[Any, ...] = ("done",),
    **more: Any,  # of Interpreter and run
) -> RunResult:
    """The result of a run of these; no task and no thread outlives it."""
    model = ScriptedModel(*replies)
    config = LoopConfig(model=model, tools=tools, hooks=more.pop("hooks", ()))
    parts = {k: more.pop(k) for k in ("approve", "inspectors") if k in more}
    able = [t for t in tools if isinstance(t, Tool)]
    interpreter = Interpreter(model, *able, **parts)
    return alone(run(config, interpreter, *given, **more))


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


@tool(needs_approval=True)
def pay(cents: int) -> str:
    """Pay."""
    return f"paid {cents}"


ADD = ToolCall("add", {"a": 1, "b": 2}, id="c1")
PAY = ToolCall("pay", {"cents": 4900}, id="c2")


def test_a_run_goes_to_its_end() -> None:
    result = given_to("go", tools=(add,), replies=(ADD, "It is 3."))

    assert result.output == "It is 3."
    assert [m.text for m in result.messages] == ["go", "", "3", "It is 3."]


def test_a_new_run_gets_an_id_of_its_own_or_the_one_given() -> None:
    assert given_to("go").state.run_id != given_to("go").state.run_id
    assert given_to("go", run_id="r1").state.run_id == "r1"


def test_time_is_the_interpreters() -> None:
    model = ScriptedModel("hi")
    interpreter = Interpreter(model).wrap(now=lambda: 7.0, new_run_id=lambda: "r7")

    state = alone(run(LoopConfig(model=model), interpreter, "go")).state

    assert (state.run_id, state.now) == ("r7", 7.0)


def test_what_cannot_be_taken_is_raised_before_anything_is_done(tmp_path: Path) -> None:
    model, journal = ScriptedModel("done"), tmp_path / "r.jsonl"
    config = LoopConfig(model=model)

    with pytest.raises(Rejected) as refused:
        alone(run(config, Interpreter(model), "go", Prompt("again"), journal=journal))

    assert refused.value.kind == "busy"
    assert model.requests == []
    assert not journal.exists()


def test_what_the_interpreter_lacks_is_said_before_the_first_request() -> None:
    """Mistake 2."""
    model = ScriptedModel("done")
    config = LoopConfig(model=model, tools=[add])

    with pytest.raises(ValueError, match="offers the tool 'add'"):
        alone(run(config, Interpreter(model), "go"))

    assert model.requests == []


def test_tools_of_a_batch_run_at_the_same_time() -> None:
    met = threading.Barrier(2)

    @tool
    def meet() -> str:
        """Meet."""
        met.wait(30)
        return "met"

    batch = [ToolCall("meet", id="a"), ToolCall("meet", id="b")]
    result = given_to("go", tools=(meet,), replies=(batch, "done"))

    assert [m.text for m in result.messages][2:4] == ["met", "met"]


def test_answers_are_delivered_as_they_arrive() -> None:
    """Report 91: the transcript has them in the order of the calls all the same."""
    second_is_done = asyncio.Event()

    @tool
    async def first() -> str:
        """Wait for the second."""
        await second_is_done.wait()
        return "one"

    @tool
    async def second() -> str:
        """Return at once."""
        return "two"

    class Watch(Noted):
        def on_event(self, event: Event) -> None:
            super().on_event(event)
            if isinstance(event, Ended) and isinstance(event.effect, RunTool):
                second_is_done.set()

    watch = Watch()
    batch = [ToolCall("first"), ToolCall("second")]
    result = given_to(
        "go",
        tools=(first, second),
        replies=(batch, "done"),
        inspectors=[watch],
        run_id="r",
    )

    assert watch.ended() == [
        "r.1.1.model.1",
        "r.1.1.run.1",
        "r.1.1.run.0",
        "r.1.2.model.1",
    ]
    assert [m.text for m in result.messages][2:4] == ["one", "two"]


def test_of_answers_that_arrive_together_the_earlier_call_is_first() -> None:
    watch = Noted()

    @tool
    async def step(turns: int) -> str:
        """Take some turns of the loop."""
        for _ in range(turns):
            await asyncio.sleep(0)
        return str(turns)

    async def together(effect: Effect, tell: Tell, inner: Perform) -> Answer | None:
        answer = await inner(effect, tell)
        if isinstance(effect, RunTool):
            await barrier.wait()
        return answer

    barrier = asyncio.Barrier(2)
    batch = [ToolCall("step", {"turns": 2}), ToolCall("step", {"turns": 0})]
    model = ScriptedModel(batch, "done")
    config = LoopConfig(model=model, tools=[step])
    interpreter = Interpreter(model, step, inspectors=[watch]).wrap(together)
    alone(run(config, interpreter, "go", run_id="r"))

    assert watch.ended()[1:3] == ["r.1.1.run.0", "r.1.1.run.1"]


def test_a_run_waits_for_what_cannot_be_had_here() -> None:
    result = given_to("go", tools=(pay, add), replies=([PAY, ADD], "done"), run_id="r")

    assert result.stop is None
    assert [e.id for e in result.waiting] == ["r.1.1.ask.0"]
    assert repr(result) == (
        "<run r: paused: pay(cents=4900) needs approval; turn 1, 2 messages>"
    )


def test_an_answer_goes_in_like_a_prompt() -> None:
    paused = given_to("go", tools=(pay,), replies=(PAY,))
    saved = State.loads(paused.state.dumps()).unwrap()

    result = given_to(saved.approvals[0].approve(), state=saved, tools=(pay,))

    assert [m.text for m in result.messages] == ["go", "", "paid 4900", "done"]


def test_with_nothing_given_a_run_performs_what_it_waits_for() -> None:
    model = ScriptedModel()
    config = LoopConfig(model=model)
    state, _ = advance(config, State.start(config, run_id="r"), "go").unwrap()

    assert given_to(state=state).output == "done"


def test_an_input_that_was_delivered_and_not_stepped_is_taken_first() -> None:
    config = LoopConfig(model=ScriptedModel())
    state = deliver(State.start(config, run_id="r"), "go").unwrap()

    assert given_to(state=state).output == "done"


def test_a_person_who_is_here_is_asked() -> None:
    result = given_to(
        "go", tools=(pay,), replies=(PAY, "done"), approve=RequestApproval.approve
    )

    assert [m.text for m in result.messages] == ["go", "", "paid 4900", "done"]


def test_an_approval_with_arguments_that_do_not_fit_is_a_reject() -> None:
    """D64: the door refuses it; whoever approves here would only say it again."""

    def approve(ask: RequestApproval) -> Answer:
        return ask.edit(cents="many")

    result = given_to("go", tools=(pay,), replies=(PAY, "done"), approve=approve)

    (refused,) = (m for m in result.messages if isinstance(m, ToolResultMessage))
    assert refused.outcome == "rejected"
    assert "do not fit" in refused.text


def test_an_answer_of_the_wrong_kind_is_a_failure_of_its_effect() -> None:
    async def around(effect: Effect, tell: Tell, inner: Perform) -> Answer | None:
        if isinstance(effect, CallModel):
            return Answer(effect.id, ToolOutput("no reply"))
        return await inner(effect, tell)

    model = ScriptedModel()
    interpreter = Interpreter(model).wrap(around)
    result = alone(run(LoopConfig(model=model), interpreter, "go", run_id="r"))

    assert result.stop is not None
    assert result.stop.reason == "model_error"
    assert "r.1.1.model.1 is CallModel" in result.stop.detail


def test_a_failed_model_is_asked_again_after_a_pause() -> None:
    patient = Hooks(on_model_error=lambda _: RetryUpdate(retry=True, delay=0))

    result = given_to("go", replies=(ModelError("busy"), "done"), hooks=[patient])

    assert result.output == "done"


def test_an_abort_ends_a_paused_run() -> None:
    paused = given_to("go", tools=(pay,), replies=(PAY,))

    result = given_to(Abort("no"), state=paused.state, tools=(pay,))

    assert result.stop == Stop("aborted", "no")


def test_a_run_can_be_continued() -> None:
    cut = given_to("go", replies=(AssistantMessage("x", finish="error"),))

    assert given_to(Continue(), state=cut.state).output == "done"


def test_the_id_of_another_run_is_refused() -> None:
    state = given_to("go", run_id="r1").state

    with pytest.raises(ValueError, match="run_id='r2' names a new run, but the state"):
        given_to("again", state=state, run_id="r2")


def hanging(ended: list[str]) -> tuple[Tool, Tool]:
    """A tool in the loop and one in a thread, that hang until they are cancelled."""

    @tool
    async def looping(context: ToolContext) -> None:
        """Hang."""
        context.progress("on")
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append("looping")

    @tool
    def threaded(context: ToolContext) -> None:
        """Hang."""
        context.progress("on")
        context.cancelled.wait()
        ended.append("threaded")

    return looping, threaded


class Count(Inspector):
    """Calls a function once so many tools have said that they are on."""

    def __init__(self, wanted: int, then: Callable[[], object]) -> None:
        self.left, self.then = wanted, then

    def on_event(self, event: Event) -> None:
        if isinstance(event, Delta) and event.progress == "on":
            self.left -= 1
            if not self.left:
                self.then()


def test_cancelling_a_run_cancels_and_awaits_what_is_in_flight() -> None:
    """D84, report 3."""
    ended: list[str] = []
    batch = [ToolCall("looping"), ToolCall("threaded")]

    async def main() -> None:
        model, on = ScriptedModel(batch), asyncio.Event()
        tools = hanging(ended)
        interpreter = Interpreter(model, *tools, inspectors=[Count(2, on.set)])
        config = LoopConfig(model=model, tools=tools)
        task = asyncio.create_task(run(config, interpreter, "go"))
        await on.wait()
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        alone(main())

    assert sorted(ended) == ["looping", "threaded"]


def test_an_interpreter_that_breaks_its_word_ends_the_run_and_what_is_in_flight() -> (
    None
):
    ended: list[str] = []
    looping, threaded = hanging(ended)

    class Broken(Interpreter):
        async def perform(self, effect: Effect, tell: Tell = silent) -> Answer | None:
            if isinstance(effect, RunTool) and effect.spec.name == "add":
                await on.wait()
                raise OSError("broken")
            return await super().perform(effect, tell)

    on = asyncio.Event()
    model = ScriptedModel([ToolCall("looping"), ToolCall("threaded"), ADD])
    tools = (looping, threaded, add)
    interpreter = Broken(model, *tools, inspectors=[Count(2, on.set)])
    config = LoopConfig(model=model, tools=tools)

    with pytest.raises(OSError, match="broken"):
        alone(run(config, interpreter, "go"))

    assert sorted(ended) == ["looping", "threaded"]


def test_what_is_no_longer_wanted_is_cancelled_and_awaited() -> None:
    """D91: a nested run that passes its tool's timeout."""
    ended: list[str] = []
    looping, _ = hanging(ended)
    model = ScriptedModel(ToolCall("ask", {"prompt": "?"}), ToolCall("looping"), "done")
    inner = LoopConfig(model=model, tools=[looping])
    config = LoopConfig(model=model, tools=[inner.as_tool("ask", "Asks.", timeout=9)])
    on = asyncio.Event()

    async def until_on(effect: Effect, tell: Tell, inner: Perform) -> Answer | None:
        if isinstance(effect, Sleep):
            await on.wait()
            return effect.done()
        return await inner(effect, tell)

    able = Interpreter(model, looping, inspectors=[Count(1, on.set)]).wrap(until_on)
    result = alone(run(config, able, "go"))

    (message,) = (m for m in result.messages if isinstance(m, ToolResultMessage))
    assert message.outcome == "timeout"
    assert ended == ["looping"]


def test_two_runs_of_one_interpreter_know_nothing_of_each_other() -> None:
    """Reports 169 to 171."""

    async def echo(effect: CallModel, tell: Tell) -> AssistantMessage:
        tell(effect.messages[-1].text)
        await both.wait()
        return AssistantMessage(effect.messages[-1].text)

    both = asyncio.Barrier(2)
    model = Model("test:echo", echo)
    config, interpreter = LoopConfig(model=model), Interpreter(model)

    async def main() -> list[str | None]:
        runs = (run(config, interpreter, text) for text in ("a", "b"))
        return [result.output for result in await asyncio.gather(*runs)]

    assert alone(main()) == ["a", "b"]


def test_pieces_carry_the_run_and_turn_that_they_belong_to() -> None:
    watch = Noted()
    model = ScriptedModel(ToolCall("ask", {"prompt": "?"}), ADD, "inner", "outer")
    inner = LoopConfig(model=model, tools=[add])
    config = LoopConfig(model=model, tools=[inner.as_tool("ask", "Asks.")])

    interpreter = Interpreter(model, add, inspectors=[watch]).wrap(now=lambda: 7.0)
    alone(run(config, interpreter, "go", run_id="r"))

    texts = [e for e in watch.events if isinstance(e, Delta) and e.text]
    assert [(d.text, d.run_id, d.turn, d.at) for d in texts] == [
        ("inner", "r.1.1.run.0", 2, 7.0),
        ("outer", "r", 2, 7.0),
    ]


def test_a_piece_of_nothing_is_not_told() -> None:
    async def call(effect: CallModel, tell: Tell) -> AssistantMessage:
        tell()
        return AssistantMessage("hi", model=effect.model)

    watch = Noted()
    model = Model("test:quiet", call)
    alone(run(LoopConfig(model=model), Interpreter(model, inspectors=[watch]), "go"))

    assert [e for e in watch.events if isinstance(e, Delta)] == []


def test_every_start_has_its_end() -> None:
    watch = Noted()

    given_to("go", tools=(add,), replies=(ADD, "done"), inspectors=[watch])

    started = [e.effect.id for e in watch.events if isinstance(e, Started)]
    assert sorted(started) == sorted(watch.ended())


def by_hand(config: LoopConfig, able: Interpreter, given: str) -> State:
    """The same run, driven by a plain loop."""
    state, _ = advance(config, State.start(config, run_id="r"), given).unwrap()
    while state.waiting:
        effect = state.waiting[0]
        answer = able.perform_sync(effect)
        assert answer is not None
        state, _ = advance(config, state, evolve(answer, seconds=None)).unwrap()
    return state


def test_a_run_ends_in_the_state_that_driving_by_hand_ends_in() -> None:
    """Property 9."""

    def script() -> ScriptedModel:
        return ScriptedModel([ADD, ADD], "done")

    async def unmeasured(effect: Effect, tell: Tell, inner: Perform) -> Answer | None:
        answer = await inner(effect, tell)
        return answer and evolve(answer, seconds=0.0)

    config = LoopConfig(model="test:script", tools=[add])
    able = Interpreter(script(), add).wrap(unmeasured)
    state = alone(run(config, able, "go", run_id="r")).state

    expected = by_hand(config, Interpreter(script(), add), "go")
    assert evolve(state, now=None) == expected


def test_run_sync_is_run() -> None:
    model = ScriptedModel("hi")

    assert run_sync(LoopConfig(model=model), Interpreter(model), "go").output == "hi"


def test_run_sync_where_a_loop_runs_says_what_to_write() -> None:
    """Mistake 13."""
    model = ScriptedModel("hi")

    async def main() -> None:
        run_sync(LoopConfig(model=model), Interpreter(model), "go")

    with pytest.raises(RuntimeError) as refused:
        alone(main())

    assert str(refused.value) == (
        "run_sync() cannot be used here: an event loop is already running (notebooks have "
        'one). Write `result = await run(config, interpreter, "…")`.'
    )


def test_a_tool_in_a_thread_may_run_another_run() -> None:
    """Report 176."""

    @tool
    def inner() -> str | None:
        """Run another run."""
        model = ScriptedModel("from inside")
        return run_sync(LoopConfig(model=model), Interpreter(model), "go").output

    result = given_to("go", tools=(inner,), replies=(ToolCall("inner"), "done"))

    assert result.messages[2].text == "from inside"


def test_ctrl_c_ends_a_run_and_what_is_in_flight() -> None:
    ended: list[str] = []
    tools = hanging(ended)
    model = ScriptedModel([ToolCall("looping"), ToolCall("threaded")])
    config = LoopConfig(model=model, tools=tools)
    interrupt = Count(2, lambda: signal.raise_signal(signal.SIGINT))

    with pytest.raises(KeyboardInterrupt):
        run_sync(config, Interpreter(model, *tools, inspectors=[interrupt]), "go")

    assert sorted(ended) == ["looping", "threaded"]


def test_a_journal_has_where_a_run_began_and_what_happened(tmp_path: Path) -> None:
    path = tmp_path / "runs" / "r.jsonl"
    start = State.start(LoopConfig(model="test:script", tools=[add]), run_id="r")

    state = given_to(
        "go", tools=(add,), replies=(ADD, "done"), run_id="r", journal=path
    ).state

    header, *lines = map(json.loads, path.read_bytes().decode().split("\n")[:-1])
    assert {k: header[k] for k in ("format", "version")} == {
        "format": "loopcore.journal",
        "version": 1,
    }
    assert from_json(State, header["state"]) == start
    told = [line for line in lines if "input" in line]
    inputs = [(from_json(Input, line["input"]), line["at"]) for line in told]
    assert [type(given) for given, _ in inputs] == [Prompt, Answer, Answer, Answer]
    config = LoopConfig(model="test:script", tools=[add])
    again = start
    for given, at in inputs:
        again, _ = advance(config, again, given, at=at).unwrap()
    assert again == state


def test_each_line_is_in_the_journal_before_the_run_goes_on(tmp_path: Path) -> None:
    """Report 103: a result is recorded as it arrives, whatever its siblings do."""
    path, recorded = tmp_path / "r.jsonl", asyncio.Event()
    seen: list[int] = []

    @tool
    async def last() -> str:
        """Wait for the other."""
        await recorded.wait()
        seen.append(sum('"input"' in line for line in path.read_text().splitlines()))
        return "last"

    class Watch(Inspector):
        def on_event(self, event: Event) -> None:
            if isinstance(event, Ended) and isinstance(event.effect, RunTool):
                recorded.set()

    batch = [ToolCall("last"), ADD]
    given_to(
        "go",
        tools=(last, add),
        replies=(batch, "done"),
        journal=path,
        inspectors=[Watch()],
    )

    assert seen == [3]  # the prompt, the reply, the result of add


def test_a_text_that_cannot_be_encoded_is_recorded_as_it_is_saved(
    tmp_path: Path,
) -> None:
    """Bytes of a command line that are no text come as lone surrogates."""
    path = tmp_path / "r.jsonl"

    state = given_to(Prompt("go", system="a\udcffb"), journal=path).state

    _, line, *_ = map(json.loads, path.read_text().splitlines())
    assert "a\ufffdb" == line["input"]["system"]
    assert "a\ufffdb" == State.loads(state.dumps()).unwrap().settings.system


def test_a_journal_that_exists_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text("mine\n")

    with pytest.raises(FileExistsError, match=r"r.jsonl exists already, and a journal"):
        given_to("go", journal=path)

    assert path.read_text() == "mine\n"


def test_a_text_with_line_ends_of_all_kinds_is_one_line(tmp_path: Path) -> None:
    """Report 155."""
    path = tmp_path / "r.jsonl"

    given_to("a\nb\r\nc\u2028d\x85", journal=str(path))

    assert path.read_bytes().count(b"\n") == 3
    assert b"\r" not in path.read_bytes()


def test_steering_given_with_the_prompt_joins_its_first_turn() -> None:
    result = given_to(Steer("be brief"), "go")

    assert [m.text for m in result.messages] == ["go", "be brief", "done"]
