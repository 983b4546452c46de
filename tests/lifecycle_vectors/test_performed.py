"""Lifecycle vectors about what is only seen while something performs the effects."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest

from loopcore import (
    Abort,
    AssistantMessage,
    CallModel,
    Event,
    Inspector,
    Interpreter,
    LoopConfig,
    Model,
    RunTool,
    Stream,
    Tell,
    Tool,
    ToolCall,
    ToolContext,
    run,
    stream,
)
from loopcore.events import Delta, Ended, MessageAdded, Started, TurnEnd
from loopcore.testing import ScriptedModel
from tests.driving import MODEL, Run, call, config, spec
from tests.leaks import alone

HELLO = "Hello there, you."


def scripted(*replies: Any) -> ScriptedModel:
    """A model that the configurations of these tests name."""
    return ScriptedModel(*replies, id=MODEL)


def played(*capabilities: Any, cfg: LoopConfig | None = None) -> tuple[Event, ...]:
    """All events of a run."""

    async def all_events() -> tuple[Event, ...]:
        chosen = cfg or config(tools="")
        async with stream(chosen, Interpreter(*capabilities), "go") as events:
            return tuple([event async for event in events])

    return alone(all_events())


def test_a_streamed_reply_is_one_start_some_pieces_and_one_end() -> None:
    """Vector 2: and one message is stored."""
    events = played(scripted(HELLO))

    kinds = [type(event) for event in events if not isinstance(event, Delta)]
    assert (kinds.count(Started), kinds.count(Ended)) == (1, 1)
    deltas = [event for event in events if isinstance(event, Delta)]
    assert "".join(delta.text for delta in deltas) == HELLO
    assert len(deltas) == 3
    (_, stored) = [event.message for event in events if isinstance(event, MessageAdded)]
    assert stored.text == HELLO


def performed(*functions: Callable[..., Any]) -> Run:
    """A run whose reply called each of these functions, as the tools a, b and so on."""
    names = "abc"[: len(functions)]
    cfg = config(tools=names)
    tools = (Tool(spec(n), fn) for n, fn in zip(names, functions, strict=True))
    model = scripted([call(name) for name in names], "done")
    result = alone(run(cfg, Interpreter(model, *tools), "go", run_id="r"))
    return Run(cfg, result.state)


def test_a_tool_that_raises_says_what_it_raised() -> None:
    """Vector 22: without content of its own, the content is the error's text."""

    async def full() -> None:
        await asyncio.sleep(0)
        message = "disk full"
        raise OSError(message)

    assert performed(full).script[2] == "a raised: OSError: disk full"


def test_a_tool_that_panics_ends_no_run() -> None:
    """Vector 23: an error result says what it was; the next request is made."""

    def panic() -> None:
        raise AssertionError

    done = performed(panic)

    assert (done.outcomes, done.reason) == ({"a": "raised"}, "done")
    assert "AssertionError" in done.results[0].text


def test_tools_that_wait_for_each_other_run_together() -> None:
    """Vector 29: both reach the barrier; results are in source order."""
    barrier = asyncio.Barrier(2)

    async def meet() -> str:
        return f"met {await barrier.wait()}"

    assert list(performed(meet, meet).outcomes.items()) == [("a", "ok"), ("b", "ok")]


async def until(events: Stream, kind: type[Event]) -> None:
    """Ask for events until one of this kind."""
    async for event in events:
        if isinstance(event, kind):
            return


async def say_and_wait(effect: CallModel, tell: Tell) -> AssistantMessage:
    """A model that says a little, and then never ends."""
    tell("Hello th")
    await asyncio.Event().wait()
    return AssistantMessage(effect.id)


def test_an_abort_in_mid_stream_keeps_what_was_said() -> None:
    """Vector 77: nothing is in flight any more."""

    async def aborted() -> Run:
        cfg = config(tools="")
        model = Model(MODEL, say_and_wait)
        async with stream(cfg, Interpreter(model), "go", run_id="r") as events:
            await until(events, Delta)
            events.send(Abort("enough"))
            await until(events, TurnEnd)
            return Run(cfg, events.state)

    run = alone(aborted())
    assert run.script == ["user: go", "assistant: Hello th"]
    assert (run.reason, run.state.phase, run.state.waiting) == (
        "aborted",
        "stopped",
        (),
    )


def test_a_partial_reply_is_in_the_pieces_and_not_in_the_state() -> None:
    """Vector 79: while it streams the model is waited for; after the run nothing is."""

    async def seen() -> list[tuple[str, int]]:
        go_on = asyncio.Event()

        async def pausing(_: CallModel, tell: Tell) -> AssistantMessage:
            tell("Hello th")
            await go_on.wait()
            return AssistantMessage("Hello there")

        interpreter = Interpreter(Model(MODEL, pausing))
        async with stream(config(tools=""), interpreter, "go") as events:
            await until(events, Delta)
            during = events.state
            go_on.set()
            await until(events, TurnEnd)
            seen = (during, events.state)
            return [(state.phase, len(state.transcript)) for state in seen]

    assert alone(seen()) == [("model", 1), ("stopped", 2)]


class Seen(Inspector):
    """An inspector that keeps what it was told."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def on_event(self, event: Event) -> None:
        """Keep it."""
        self.events.append(event)


def test_an_inspector_is_told_as_long_as_its_interpreter_is_used() -> None:
    """Vector 82: to unsubscribe is to go on with another interpreter."""

    async def two_runs() -> tuple[int, int]:
        cfg, seen = config(tools=""), Seen()
        watched = Interpreter(scripted("one"), inspectors=[seen])
        first = await run(cfg, watched, "go")
        told = len(seen.events)
        await run(cfg, Interpreter(scripted("two")), "again", state=first.state)
        return told, len(seen.events)

    told, in_all = alone(two_runs())
    assert told > 0
    assert in_all == told


class Broken(Inspector):
    """An inspector with a fault."""

    def on_event(self, event: Event) -> None:
        """Raise."""
        message = f"no file for {type(event).__name__}"
        raise OSError(message)


def test_an_inspector_that_raises_breaks_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Vector 83: the source engine is busy for ever after; here it is logged (D83)."""
    watched = Interpreter(scripted("hello"), inspectors=[Broken()])
    with caplog.at_level(logging.WARNING, "loopcore"):
        result = alone(run(config(tools=""), watched, "go"))

    assert result.output == "hello"
    assert any("Broken" in record.getMessage() for record in caplog.records)


def test_progress_after_the_end_is_dropped() -> None:
    """Vector 84: a tool that kept its context cannot say anything any more."""
    kept: list[ToolContext] = []

    def work(context: ToolContext) -> str:
        kept.append(context)
        context.progress("half")
        return "A"

    def reply(effect: CallModel) -> str:
        kept[0].progress(f"late, after {len(effect.messages)} messages")
        return "done"

    tool = Tool(spec("a"), work)
    events = played(scripted(call("a"), reply), tool, cfg=config(tools=[tool]))

    said = [event.progress for event in events if isinstance(event, Delta)]
    assert [word for word in said if word] == ["half"]


def test_progress_ends_with_its_call_and_results_are_in_source_order() -> None:
    """Vector 85: siblings may interleave until then."""

    def working(steps: int) -> Callable[[ToolContext], Any]:
        async def work(context: ToolContext) -> str:
            for step in range(steps):
                context.progress(step)
                await asyncio.sleep(0)
            return "over"

        return work

    tools = [Tool(spec("a"), working(40)), Tool(spec("b"), working(2))]
    model = scripted([ToolCall("a", id="1"), ToolCall("b", id="2")], "done")
    events = played(model, *tools, cfg=config(tools=tools))

    ended = [e.effect for e in events if isinstance(e, Ended)]
    assert [e.call.id for e in ended if isinstance(e, RunTool)] == ["2", "1"]
    for effect in ended:
        assert max(_told(events, effect.id)) < _ended(events, effect.id)
    stored = [e.message for e in events if isinstance(e, MessageAdded)]
    assert [getattr(m, "call_id", "") for m in stored] == ["", "", "1", "2", ""]


def _told(events: tuple[Event, ...], effect_id: str) -> list[int]:
    """Where in the events an effect said something."""
    found = [
        n for n, e in enumerate(events) if getattr(e, "effect_id", "") == effect_id
    ]
    assert found
    return found


def _ended(events: tuple[Event, ...], effect_id: str) -> int:
    """Where in the events an effect ended."""
    ends = enumerate(events)
    return next(n for n, e in ends if isinstance(e, Ended) and e.effect.id == effect_id)
