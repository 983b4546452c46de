"""Agent core rows about what is only seen while something performs the effects."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest

from loopcore import (
    AssistantMessage,
    CallModel,
    Event,
    Inspector,
    Interpreter,
    LoopConfig,
    Model,
    State,
    Tell,
    Tool,
    ToolContext,
    ToolOutput,
    run,
    stream,
)
from loopcore.events import Delta, Ended, RunEnd, Started, TurnEnd
from loopcore.testing import ScriptedModel
from tests.driving import MODEL, call, config, spec, words
from tests.leaks import alone


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


def ended(*capabilities: Any, cfg: LoopConfig | None = None) -> State:
    """How a run ended."""
    return alone(run(cfg or config(tools=""), Interpreter(*capabilities), "go")).state


def test_progress_is_told_in_order_and_before_the_end() -> None:
    """Row 35: a tool's own word, while it runs."""

    async def work(context: ToolContext) -> str:
        for step in range(3):
            context.progress({"step": step})
            await asyncio.sleep(0)
        return "over"

    tool = Tool(spec("a"), work)
    events = played(scripted(call("a"), "done"), tool, cfg=config(tools=[tool]))

    said = [e for e in events if isinstance(e, Delta) and e.progress]
    assert [delta.progress for delta in said] == [{"step": n} for n in range(3)]
    ends = [e for e in events if isinstance(e, Ended) and e.effect.id.endswith("run.0")]
    assert events.index(said[-1]) < events.index(ends[0])


async def after_a_sibling() -> list[object]:
    """What is told when a tool goes on talking after its end, in a sibling's time."""
    kept: list[ToolContext] = []
    over = asyncio.Event()

    async def quick(context: ToolContext) -> str:
        kept.append(context)
        return "A"

    async def slow(context: ToolContext) -> str:
        await over.wait()
        kept[0].progress("late")
        context.progress("in time")
        return "B"

    tools = [Tool(spec("a"), quick), Tool(spec("b"), slow)]
    interpreter = Interpreter(scripted([call("a"), call("b")], "done"), *tools)
    said: list[object] = []
    async with stream(config(tools=tools), interpreter, "go") as events:
        async for event in events:
            if isinstance(event, Ended) and event.effect.id.endswith("run.0"):
                over.set()
            elif isinstance(event, Delta) and event.progress:
                said.append(event.progress)
    return said


def test_progress_of_a_tool_that_has_ended_is_dropped() -> None:
    """Row 36: though a sibling still runs."""
    assert alone(after_a_sibling()) == ["in time"]


async def after_the_run() -> list[Event]:
    """What is told when a tool talks after the run."""
    kept: list[ToolContext] = []

    def quick(context: ToolContext) -> str:
        kept.append(context)
        return "A"

    tool = Tool(spec("a"), quick)
    interpreter = Interpreter(scripted(call("a"), "done"), tool)
    async with stream(config(tools=[tool]), interpreter, "go") as events:
        assert [event async for event in events]
        kept[0].progress("late")
        await asyncio.sleep(0)
        return [event async for event in events]


def test_progress_after_the_run_is_dropped() -> None:
    """Row 36: it is no error either."""
    assert alone(after_the_run()) == []


def broken(*_: Any) -> AssistantMessage:
    message = "socket closed"
    raise OSError(message)


async def raising(effect: CallModel, tell: Tell) -> AssistantMessage:
    """A model's function that breaks after a word."""
    tell("Hel")
    return broken(effect)


def test_a_stream_whose_model_raises_ends() -> None:
    """Row 63: with a failed reply, and the end of the run; nobody hangs (T6)."""
    events = played(Model(MODEL, raising))

    assert [type(event) for event in events[-2:]] == [TurnEnd, RunEnd]
    last = events[-1]
    assert isinstance(last, RunEnd)
    assert (last.stop.reason, "socket closed" in last.stop.detail) == (
        "model_error",
        True,
    )


async def nothing(effect: CallModel, tell: Tell) -> Any:
    """A model's function that ends without a reply."""
    tell(f"something for {effect.model}")


def test_a_model_that_ends_without_a_reply_has_failed() -> None:
    """Row 64: nobody waits for ever (T16)."""
    state = ended(Model(MODEL, nothing))

    assert state.stop is not None
    assert (state.stop.reason, state.phase) == ("model_error", "stopped")


def test_no_piece_comes_before_the_start_of_its_effect() -> None:
    """Row 65: however soon a model speaks."""
    events = played(scripted("Hello there"))

    started = [n for n, event in enumerate(events) if isinstance(event, Started)]
    pieces = [n for n, event in enumerate(events) if isinstance(event, Delta)]
    assert started[0] < min(pieces)


class Listener(Inspector):
    """An inspector that calls this at every event."""

    def __init__(self, heard: Callable[[Event], object]) -> None:
        self._heard = heard

    def on_event(self, event: Event) -> None:
        """Call it."""
        self._heard(event)


def listened(*heard: Callable[[Event], object]) -> State:
    """How a run with one call ended that these listened to."""
    tool = Tool(spec("a"), lambda: ToolOutput("A"))
    listeners = [Listener(one) for one in heard]
    model = scripted(call("a"), "done")
    interpreter = Interpreter(model, tool, inspectors=listeners)
    return alone(run(config(tools=[tool]), interpreter, "go")).state


def test_a_result_is_there_before_anybody_hears_of_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Row 67: so a listener that raises at a tool's end loses nothing (D83)."""

    def fail(event: Event) -> None:
        if isinstance(event, Ended):
            broken()

    with caplog.at_level(logging.WARNING, "loopcore"):
        state = listened(fail)

    assert words(state.transcript)[2:] == ["a ok: A", "assistant: done"]
    assert len(caplog.records) == 1


def test_a_run_returns_after_its_listeners_have_heard_the_end() -> None:
    """Row 91: being told is part of the run."""
    heard: list[Event] = []
    listened(heard.append)

    assert isinstance(heard[-1], RunEnd)


def test_listeners_are_those_that_an_interpreter_was_made_with() -> None:
    """Row 92: what is done to the list afterwards changes nobody's hearing."""
    heard: list[Event] = []
    listeners: list[Inspector] = []
    listeners += Listener(lambda _: listeners.clear()), Listener(heard.append)
    interpreter = Interpreter(scripted("hello"), inspectors=listeners)
    alone(run(config(tools=""), interpreter, "go"))

    assert isinstance(heard[-1], RunEnd)
    assert listeners == []


def test_a_reply_that_streams_is_not_in_the_state() -> None:
    """Row 94: its pieces are told, the message is stored when it is whole."""

    async def during() -> list[str]:
        async def waiting(_: CallModel, tell: Tell) -> AssistantMessage:
            tell("Hello th")
            await asyncio.Event().wait()
            return AssistantMessage("")

        interpreter = Interpreter(Model(MODEL, waiting))
        async with stream(config(tools=""), interpreter, "go") as events:
            async for event in events:
                if isinstance(event, Delta):
                    break
            return words(events.state.transcript)

    assert alone(during()) == ["user: go"]
