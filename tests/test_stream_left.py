"""What had arrived, and what was about to begin, as a run is aborted or left."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from loopcore import (
    Abort,
    Answer,
    AssistantMessage,
    CallModel,
    Effect,
    LoopConfig,
    Perform,
    RequestApproval,
    RunTool,
    State,
    Stop,
    Tell,
    ToolCall,
    ToolResultMessage,
)
from loopcore.events import Delta, Event
from loopcore.journal import Journal, Recorder, replay
from loopcore.runtime.context import ToolContext
from loopcore.runtime.inspect import Inspector
from loopcore.runtime.interpreter import Around, Interpreter, silent
from loopcore.runtime.model import Model
from loopcore.runtime.run import run
from loopcore.runtime.stream import Stream, stream
from loopcore.runtime.tool import tool
from loopcore.testing import ScriptedModel
from tests.leaks import alone


@tool
async def pay(context: ToolContext) -> str:
    """Pay."""
    context.progress("under way")
    return "receipt 7"


@tool(name="pay")
def pay_in_thread(context: ToolContext) -> str:
    """Pay."""
    context.progress("under way")
    return "receipt 7"


@tool
async def hang() -> None:
    """Never end."""
    await asyncio.Event().wait()


async def until_told(events: Stream, word: str) -> None:
    async for event in events:
        if isinstance(event, Delta) and word in (event.text, event.progress):
            return


async def read(events: Stream) -> None:
    async for _ in events:
        pass


async def rounds() -> None:
    """Whoever reads events looks elsewhere, while the program goes on."""
    for _ in range(20):
        await asyncio.sleep(0)


def noting(ended: asyncio.Event) -> Around:
    """A function put round every effect, which says that a tool has ended."""

    async def around(effect: Effect, tell: Tell, inner: Perform) -> Answer | None:
        answer = await inner(effect, tell)
        if isinstance(effect, RunTool):
            ended.set()
        return answer

    return around


def results(state: State) -> list[str]:
    return [m.text for m in state.transcript if isinstance(m, ToolResultMessage)]


def abort(events: Stream) -> None:
    events.send(Abort())


def leave(events: Stream) -> None:
    """By the end of its block."""


@pytest.mark.parametrize("paying", [pay, pay_in_thread])
@pytest.mark.parametrize("end", [abort, leave])
def test_an_answer_that_arrived_while_nobody_read_is_kept_however_a_stream_ends(
    tmp_path: Path, end: Callable[[Stream], None], paying: Any
) -> None:
    """A tool that charged somebody is neither "cancelled" nor of an unknown end."""
    ended = asyncio.Event()
    model = ScriptedModel(ToolCall("pay"))
    config = LoopConfig(model=model, tools=[paying])
    interpreter = Interpreter(model, paying).wrap(noting(ended))
    file = tmp_path / "run"

    async def main() -> Stream:
        made = stream(config, interpreter, "go", run_id="r", journal=file)
        async with made as events:
            await until_told(events, "under way")
            await ended.wait()
            await rounds()
            end(events)
        return events

    left = alone(main()).state

    recorded = replay(config, Journal.read(file).unwrap()).unwrap().result.state
    assert (["receipt 7"], recorded) == (results(left), left)


def test_a_reply_that_arrived_while_nobody_read_is_whole_and_an_abort_too_late() -> (
    None
):
    async def call(effect: CallModel, tell: Tell) -> AssistantMessage:
        tell("hel")
        return AssistantMessage("hello", model=effect.model)

    model = Model("test:model", call)

    async def main() -> Stream:
        events = stream(LoopConfig(model=model), Interpreter(model), "go")
        await until_told(events, "hel")
        await rounds()
        events.send(Abort())
        await read(events)
        return events

    result = alone(main()).result
    assert (Stop("done"), "hello") == (result.stop, result.output)


def test_what_arrived_beside_a_fault_of_the_interpreter_is_recorded(
    tmp_path: Path,
) -> None:
    both = asyncio.Barrier(2)

    class Broken(Interpreter):
        async def perform(self, effect: Effect, tell: Tell = silent) -> Answer | None:
            if not isinstance(effect, RunTool):
                return await super().perform(effect, tell)
            await both.wait()
            if effect.spec.name == "hang":
                raise OSError("broken")
            return effect.reply("receipt 7")

    model = ScriptedModel([ToolCall("hang"), ToolCall("pay")])
    config = LoopConfig(model=model, tools=[hang, pay])
    file = tmp_path / "run"

    with pytest.raises(OSError, match="broken"):
        alone(run(config, Broken(model, hang, pay), "go", journal=file))

    assert b"receipt 7" in file.read_bytes()


def ending_late(*moments: asyncio.Event) -> Any:
    """A tool that ends only when it is told so twice, and says when to tell it."""

    @tool
    async def clean_up() -> None:
        """Clean up."""
        async with AsyncExitStack() as late:
            for moment in reversed(moments):
                late.push_async_callback(asyncio.Event().wait)
                late.callback(moment.set)

    return clean_up


def test_a_run_that_is_cancelled_twice_still_writes_what_its_journal_held_back(
    tmp_path: Path,
) -> None:
    """Whoever presses Ctrl-C once more had no journal at all."""
    moments = asyncio.Event(), asyncio.Event()
    model, late = ScriptedModel(ToolCall("clean_up")), ending_late(*moments)
    config = LoopConfig(model=model, tools=[late])
    recorder = Recorder(tmp_path / "run", flush="none")

    async def main() -> None:
        work = run(config, Interpreter(model, late), "go", journal=recorder)
        task = asyncio.create_task(work)
        for moment in moments:
            await moment.wait()
            task.cancel()
        await asyncio.wait({task})

    alone(main())

    assert 2 == len(Journal.read(tmp_path / "run").unwrap().entries)


def asking(told: list[str]) -> tuple[LoopConfig, Interpreter]:
    """A run whose payment a person is asked about, who is slow to stop thinking."""

    @tool(needs_approval=True)
    async def charge() -> None:
        """Pay."""
        told.append("paid")

    async def approve(_: RequestApproval) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await rounds()
            told.append("nobody is asked any more")

    model = ScriptedModel(ToolCall("charge"))
    config = LoopConfig(model=model, tools=[charge])
    return config, Interpreter(model, charge, approve=approve)


def test_nothing_begins_after_a_stream_was_left_whoever_still_reads_it() -> None:
    """Another task waits, in its reading, for the end of what is no longer wanted."""
    told = list[str]()

    async def main() -> None:
        async with stream(*asking(told), "go") as events:
            reader = asyncio.create_task(read(events))
            await rounds()
            events.send(events.state.approvals[0].approve())
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        told.append("left")
        await reader

    alone(main())

    assert told == ["nobody is asked any more", "left"]


def test_a_stream_that_rests_may_be_followed_in_another_event_loop() -> None:
    """A program that has no event loop of its own talks on by asyncio.run."""
    model = ScriptedModel("one", "two", "three")
    events = stream(LoopConfig(model=model), Interpreter(model), "go")

    async def follow() -> object:
        await read(events)
        return events.result.output

    said = [asyncio.run(follow())]
    for _ in range(2):
        events.send("go on")
        said.append(asyncio.run(follow()))

    assert said == ["one", "two", "three"]


def test_who_speaks_from_another_thread_is_told_how_and_the_run_goes_on() -> None:
    """It waited for ever: an event loop is not woken from elsewhere."""
    events = list[Stream]()
    loops = list[asyncio.AbstractEventLoop]()

    @tool
    def steer(*, rightly: bool) -> None:
        """Speak to the run of this call, from its thread."""
        send = events[0].send
        if rightly:
            loops[0].call_soon_threadsafe(send, Abort("by a tool"))
        else:
            send(Abort("never"))

    wrong, right = (ToolCall("steer", {"rightly": how}) for how in (False, True))
    model = ScriptedModel(wrong, right, "done")
    config = LoopConfig(model=model, tools=[steer])

    async def main() -> None:
        loops.append(asyncio.get_running_loop())
        events.append(stream(config, Interpreter(model, steer), "go"))
        await read(events[0])

    alone(main())

    assert "loop.call_soon_threadsafe(stream.send, ...)" in results(events[0].state)[0]
    assert Stop("aborted", "by a tool") == events[0].result.stop


FACTORIES = {name: getattr(asyncio, name, None) for name in ("", "eager_task_factory")}
"""Newer Pythons have the second: a task then begins while it is made."""


@pytest.mark.parametrize("factory", FACTORIES.values(), ids=FACTORIES)
def test_whoever_makes_the_tasks_an_abort_finds_what_is_in_flight(factory: Any) -> None:
    begun = list[str]()

    class Impatient(Inspector):
        def on_event(self, event: Event) -> None:
            if isinstance(event, Delta) and event.progress:
                events[0].send(Abort())

    @tool(name="charge")
    async def charge(context: ToolContext) -> None:
        """Pay."""
        begun.append(context.effect_id)
        context.progress("under way")
        await asyncio.Event().wait()

    model = ScriptedModel([ToolCall("charge")])
    config = LoopConfig(model=model, tools=[charge])
    interpreter = Interpreter(model, charge, inspectors=[Impatient()])
    events = list[Stream]()

    async def main() -> None:
        asyncio.get_running_loop().set_task_factory(factory)
        events.append(stream(config, interpreter, "go", run_id="r"))
        await read(events[0])

    alone(main())

    assert (["r.1.1.run.0"], Stop("aborted")) == (begun, events[0].result.stop)
