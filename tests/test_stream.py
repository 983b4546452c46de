"""`stream`: a run as an iterator of its events, and a way to say something to it."""

import asyncio
import gc
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loopcore import (
    Abort,
    AssistantMessage,
    CallModel,
    FollowUp,
    LoopConfig,
    Rejected,
    RequestApproval,
    Steer,
    Stop,
    Tell,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
)
from loopcore.events import Delta, Ended, Event, MessageAdded, RunEnd, Started
from loopcore.runtime.context import ToolContext
from loopcore.runtime.inspect import Inspector
from loopcore.runtime.interpreter import Interpreter
from loopcore.runtime.model import Model
from loopcore.runtime.run import run
from loopcore.runtime.stream import Stream, stream
from loopcore.runtime.tool import tool
from loopcore.testing import ScriptedModel
from tests.leaks import alone


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


@tool(needs_approval=True)
def pay(cents: int) -> str:
    """Pay."""
    return f"paid {cents}"


ADD = ToolCall("add", {"a": 1, "b": 2}, id="c1")


class Noted(Inspector):
    """Keeps every event."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def on_event(self, event: Event) -> None:
        self.events.append(event)


def hanging(*pieces: dict[str, Any]) -> Model:
    """A model that streams these, and then nothing more."""

    async def call(effect: CallModel, tell: Tell) -> AssistantMessage:
        for piece in pieces:
            tell(**piece)
        try:
            await asyncio.Event().wait()
        finally:
            tell("too late")
        return AssistantMessage("never", model=effect.model)

    return Model("test:hanging", call)


def live(model: Model, *given: Any, **more: Any) -> Stream:  # of stream
    """A stream of this model's run."""
    return stream(LoopConfig(model=model), Interpreter(model), *given, **more)


async def first(events: Stream, kind: Callable[[Event], bool]) -> Event:
    """The first event of a kind."""
    async for event in events:
        if kind(event):
            return event
    raise AssertionError


def is_delta(event: Event) -> bool:
    return isinstance(event, Delta)


def test_a_stream_gives_every_event_in_order() -> None:
    watch = Noted()
    model = ScriptedModel(ADD, "It is 3.")
    config = LoopConfig(model=model, tools=[add])
    interpreter = Interpreter(model, add, inspectors=[watch])

    async def main() -> tuple[list[Event], str | None]:
        events = stream(config, interpreter, "go")
        return [event async for event in events], events.result.output

    told, output = alone(main())

    assert told == watch.events
    assert output == "It is 3."
    assert isinstance(told[-1], RunEnd)
    assert [e.text for e in told if isinstance(e, Delta) and e.text] == [
        "It",
        " is",
        " 3.",
    ]


def test_a_stream_ends_in_the_state_that_a_run_ends_in() -> None:
    """Property 9, report 9: the same in both modes."""

    async def streamed() -> object:
        events = make(stream)
        return [e async for e in events] and events.state

    async def ran() -> object:
        return (await make(run)).state

    def make(drive: Callable[..., Any]) -> Any:  # a stream or a run
        model = ScriptedModel(ADD, "It is 3.")
        interpreter = Interpreter(model, add).wrap(now=lambda: 7.0)
        return drive(
            LoopConfig(model=model, tools=[add]), interpreter, "go", run_id="r"
        )

    assert timeless(alone(streamed())) == timeless(alone(ran()))


def timeless(state: Any) -> Any:  # a state
    """What does not depend on how long anything took."""
    return state.transcript, state.stop, state.usage, state.inputs, state.closed


def test_what_is_given_is_taken_when_the_stream_is_made() -> None:
    events = live(ScriptedModel("hi"), "go")

    assert [m.text for m in events.state.transcript] == ["go"]


def test_what_cannot_be_taken_is_raised_when_the_stream_is_made() -> None:
    with pytest.raises(Rejected):
        live(ScriptedModel("hi"), Abort())


def test_what_is_sent_is_taken_at_once() -> None:
    async def main() -> list[str]:
        events = live(ScriptedModel("one", "two", "three"), "go")
        events.send(FollowUp("and then?"))
        async for event in events:
            if isinstance(event, Started) and not events.state.steering:
                events.send(Steer("be brief"))
                break
        async for _ in events:
            pass
        return [message.text for message in events.result.messages]

    assert alone(main()) == ["go", "one", "be brief", "two", "and then?", "three"]


def test_what_cannot_be_taken_is_raised_and_the_run_goes_on() -> None:
    async def main() -> tuple[str, str | None]:
        events = live(ScriptedModel("hi"), "go")
        with pytest.raises(Rejected) as refused:
            events.send("again")
        async for _ in events:
            pass
        return refused.value.kind, events.result.output

    assert alone(main()) == ("busy", "hi")


def test_a_person_may_answer_while_the_stream_is_open() -> None:
    model = ScriptedModel(ToolCall("pay", {"cents": 5}), "done")
    config, interpreter = LoopConfig(model=model, tools=[pay]), Interpreter(model, pay)

    async def main() -> str | None:
        events = stream(config, interpreter, "go")
        async for event in events:
            match event:
                case Started(effect=RequestApproval() as ask):
                    events.send(ask.approve())
                case _:
                    pass
        return events.result.output

    assert alone(main()) == "done"


def test_a_stream_that_waits_for_what_is_not_here_ends_and_can_be_taken_up() -> None:
    model = ScriptedModel(ToolCall("pay", {"cents": 5}), "done")
    config, interpreter = LoopConfig(model=model, tools=[pay]), Interpreter(model, pay)

    async def main() -> list[object]:
        events = stream(config, interpreter, "go")
        async for _ in events:
            pass
        paused = events.result
        events.send(paused.approvals[0].approve())
        async for _ in events:
            pass
        return [paused.stop, events.result.output]

    assert alone(main()) == [None, "done"]


def test_a_conversation_goes_on_in_one_stream() -> None:
    async def main() -> list[str]:
        events = live(ScriptedModel("one", "two"), "go")
        async for event in events:
            if isinstance(event, RunEnd) and events.state.run == 1:
                events.send("again")
        return [message.text for message in events.state.transcript]

    assert alone(main()) == ["go", "one", "again", "two"]


def test_an_abort_keeps_what_had_been_streamed() -> None:
    """D25."""
    pieces = [
        {"text": "It ", "part": 1},
        {"thinking": "let me", "part": 0},
        {"thinking": " see", "part": 0},
        {"text": "is", "part": 1},
        {"name": "add", "part": 2},
        {"arguments": '{"a": 1,', "part": 2},
        {"arguments": ' "b": 2}', "part": 2},
        {"name": "ping", "part": 3},
        {"name": "add", "part": 4},
        {"arguments": '{"a"', "part": 4},
    ]

    async def main() -> Stream:
        events = live(hanging(*pieces), "go", run_id="r")
        await first(events, lambda e: isinstance(e, Delta) and e.arguments == '{"a"')
        events.send(Abort("enough"))
        async for _ in events:
            pass
        return events

    result = alone(main()).result

    assert result.stop == Stop("aborted", "enough")
    assert result.messages[1] == AssistantMessage(
        [
            Thinking("let me see"),
            Text("It is"),
            ToolCall("add", {"a": 1, "b": 2}, raw='{"a": 1, "b": 2}'),
            ToolCall("ping", raw=""),
        ],
        model="test:hanging",
        finish="aborted",
    )
    cut = [m.outcome for m in result.messages if isinstance(m, ToolResultMessage)]
    assert cut == ["truncated", "truncated"]


def test_an_abort_cancels_the_tools_that_run() -> None:
    """T4, D24: at once, whether or not anybody asks for the next event."""
    ended = asyncio.Event()

    @tool
    async def hang(context: ToolContext) -> None:
        """Hang."""
        context.progress("on")
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def main() -> Stream:
        model = ScriptedModel(ToolCall("hang"))
        config = LoopConfig(model=model, tools=[hang])
        events = stream(config, Interpreter(model, hang), "go")
        await first(events, lambda e: isinstance(e, Delta) and e.progress == "on")
        events.send(Abort())
        await ended.wait()
        async for _ in events:
            pass
        return events

    (message,) = (
        m for m in alone(main()).state.new if isinstance(m, ToolResultMessage)
    )
    assert message.outcome == "cancelled"


async def aborted(events: Stream) -> None:
    """Abort this."""
    events.send(Abort())
    await read(events)


async def aborted_by_another(events: Stream) -> None:
    """Abort this while somebody else waits for its next event."""
    reads = asyncio.create_task(read(events))
    await asyncio.sleep(0)
    events.send(Abort())
    await reads


async def aborted_and_read_later(events: Stream) -> None:
    """Abort this, and ask for its next event only after a while."""
    events.send(Abort())
    for _ in range(5):
        await asyncio.sleep(0)
    await read(events)


async def read(events: Stream) -> None:
    """Go on to its end."""
    async for _ in events:
        pass


async def left(events: Stream) -> None:
    """Leave this."""
    async with events:
        pass


async def cancelled(events: Stream) -> None:
    """Cancel whoever waits for this."""
    waits = asyncio.create_task(read(events))
    await asyncio.sleep(0)
    waits.cancel()
    await asyncio.wait([waits])


WAYS_TO_STOP: pytest.MarkDecorator = pytest.mark.parametrize(
    "stop", [aborted, aborted_by_another, aborted_and_read_later, left, cancelled]
)


@WAYS_TO_STOP
def test_a_thread_that_heeds_is_waited_for_however_a_run_is_stopped(
    stop: Callable[[Stream], Any], caplog: pytest.LogCaptureFixture
) -> None:
    """A warning would accuse a tool that does what it should."""
    release, over = threading.Event(), threading.Event()

    @tool
    def heed(context: ToolContext) -> None:
        """Stop when told, after some cleaning up."""
        context.progress("on")
        context.cancelled.wait()
        release.wait()
        over.set()

    async def main() -> bool:
        model = ScriptedModel(ToolCall("heed"))
        config = LoopConfig(model=model, tools=[heed])
        events = stream(config, Interpreter(model, heed, grace=3600), "go")
        await first(events, lambda e: isinstance(e, Delta) and e.progress == "on")
        stopping = asyncio.create_task(stop(events))
        for _ in range(50):  # the tool cleans up while the loop goes on
            await asyncio.sleep(0)
        assert not stopping.done()
        release.set()
        await stopping
        return over.is_set()

    assert alone(main())
    assert caplog.messages == []


@WAYS_TO_STOP
def test_a_thread_that_is_deaf_is_left_after_the_grace_however_a_run_is_stopped(
    stop: Callable[[Stream], Any], caplog: pytest.LogCaptureFixture
) -> None:
    release = threading.Event()

    @tool
    def deaf(context: ToolContext) -> None:
        """Hang."""
        context.progress("on")
        release.wait()

    async def main() -> float:
        model = ScriptedModel(ToolCall("deaf"))
        config = LoopConfig(model=model, tools=[deaf])
        events = stream(config, Interpreter(model, deaf, grace=0.05), "go")
        await first(events, lambda e: isinstance(e, Delta) and e.progress == "on")
        began = asyncio.get_running_loop().time()
        await stop(events)
        release.set()
        return asyncio.get_running_loop().time() - began

    assert alone(main()) >= 0.05
    assert [text.split(" and ")[0] for text in caplog.messages] == [
        "tool deaf was told to stop"
    ]


def test_a_call_that_had_only_begun_is_not_kept() -> None:
    """D25."""

    async def main() -> Stream:
        events = live(hanging({"name": "ping"}), "go")
        await first(events, is_delta)
        events.send(Abort())
        async for _ in events:
            pass
        return events

    assert [m.text for m in alone(main()).result.messages] == ["go"]


def test_partials_that_are_given_are_not_overwritten() -> None:
    async def main() -> Stream:
        events = live(hanging({"text": "seen"}), "go", run_id="r")
        await first(events, is_delta)
        events.send(Abort(partials={"r.1.1.model.1": AssistantMessage("given")}))
        async for _ in events:
            pass
        return events

    assert [m.text for m in alone(main()).result.messages] == ["go", "given"]


def test_an_abort_of_a_run_that_has_just_stopped_is_too_late_to_matter() -> None:
    async def main() -> Stream:
        events = live(hanging({"text": "a"}), "go")
        await first(events, is_delta)
        events.send(Abort("once"))
        events.send(Abort("twice"))
        async for _ in events:
            events.send(Abort("again"))
        return events

    assert alone(main()).result.stop == Stop("aborted", "once")


def test_nothing_is_told_of_an_effect_after_its_end() -> None:
    """The model says something more while it is being cancelled."""

    async def main() -> list[Event]:
        events = live(hanging({"text": "a"}), "go")
        await first(events, is_delta)
        events.send(Abort())
        return [event async for event in events]

    told = alone(main())

    assert [e for e in told if isinstance(e, Delta)] == []
    assert [e.cancelled for e in told if isinstance(e, Ended)] == [True]


def test_leaving_early_cancels_and_awaits_what_is_in_flight() -> None:
    ended: list[str] = []

    @tool
    async def hang(context: ToolContext) -> None:
        """Hang."""
        context.progress("on")
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append("hang")

    async def main() -> Stream:
        model = ScriptedModel(ToolCall("hang"))
        config = LoopConfig(model=model, tools=[hang])
        async with stream(config, Interpreter(model, hang), "go", run_id="r") as events:
            await first(events, lambda e: isinstance(e, Delta) and e.progress == "on")
        return events

    left = alone(main())

    assert ended == ["hang"]
    assert [e.id for e in left.result.waiting] == ["r.1.1.run.0"]


def test_a_stream_that_was_left_is_over() -> None:
    async def main() -> None:
        async with live(hanging({"text": "a"}), "go") as events:
            await first(events, is_delta)
        assert [event async for event in events] == []
        events.send(Steer("more"))

    with pytest.raises(RuntimeError, match="This stream was left, so nobody performs"):
        alone(main())


def test_cancelling_whoever_waits_for_an_event_ends_what_is_in_flight() -> None:
    """D84."""

    async def main() -> list[Event]:
        events = live(hanging({"text": "a"}), "go")
        await first(events, is_delta)
        waiting = asyncio.ensure_future(anext(events))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
        assert waiting.cancelled()
        return [event async for event in events]

    assert alone(main()) == []


def test_a_stream_that_is_forgotten_cancels_what_is_in_flight() -> None:
    async def main() -> set[bool]:
        events = live(hanging({"text": "a"}), "go")
        await first(events, is_delta)
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        del events
        gc.collect()
        await asyncio.wait(tasks)
        return {task.cancelled() for task in tasks}

    assert alone(main()) == {True}


def test_a_stream_that_is_forgotten_after_its_loop_says_nothing() -> None:
    async def main() -> Stream:
        events = live(hanging({"text": "a"}), "go")
        await first(events, is_delta)
        return events

    events = asyncio.run(main())
    del events
    gc.collect()


def test_the_result_is_there_when_the_run_is_over() -> None:
    events = live(ScriptedModel("hi"), "go")

    with pytest.raises(RuntimeError, match="The run still goes on"):
        _ = events.result


def test_a_stream_may_be_read_by_another_task_than_the_one_that_made_it() -> None:
    """Report 173."""

    async def main() -> list[str]:
        events = live(ScriptedModel("hi"), "go")
        started = await asyncio.create_task(first(events, is_delta))
        assert isinstance(started, Delta)
        async for _ in events:
            pass
        return [started.text, str(events.result.output)]

    assert alone(main()) == ["hi", "hi"]


def test_a_journal_is_written_in_a_stream_too(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"

    async def main() -> None:
        events = live(ScriptedModel("hi"), "go", journal=path)
        assert len(path.read_text().splitlines()) == 2
        async for _ in events:
            pass

    alone(main())

    assert len(path.read_text().splitlines()) == 3


def told_by(tell_it: Callable[[Any], None]) -> list[Event]:
    """The events of a run whose model tells so, and which is then aborted."""

    async def call(_: CallModel, tell: Tell) -> AssistantMessage:
        tell("hi ")
        tell_it(tell)
        tell("there")
        await asyncio.Event().wait()
        raise AssertionError

    async def follow() -> list[Event]:
        model = Model("t:m", call)
        async with stream(LoopConfig(model=model), Interpreter(model), "go") as live:
            events: list[Event] = []
            async for event in live:
                events.append(event)
                if isinstance(event, Delta) and event.text == "there":
                    live.send(Abort())
            return events

    return asyncio.run(follow())


@pytest.mark.parametrize(
    "said", [{"text": None}, {"thinking": None}, {"name": None}, {"arguments": None}]
)
def test_what_an_adapter_forwards_of_nothing_is_nothing(said: dict[str, Any]) -> None:
    """Servers send null where a field did not grow; an abort then keeps what did."""
    events = told_by(lambda tell: tell(**said))

    deltas = [event for event in events if isinstance(event, Delta)]
    assert [delta.text for delta in deltas] == ["hi ", "there"]


def test_a_piece_of_no_part_is_of_the_first() -> None:
    (_, empty, _) = [
        event
        for event in told_by(lambda tell: tell("so ", part=None))
        if isinstance(event, Delta)
    ]

    assert empty.part == 0


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"text": 5}, "tell(text=...) takes text; it got an int"),
        ({"arguments": {}}, "tell(arguments=...) takes text; it got a dict"),
        (
            {"text": "a", "part": "0"},
            "tell(part=...) takes a whole number; it got a str",
        ),
    ],
)
def test_a_piece_of_another_kind_is_the_adapters_mistake(
    said: dict[str, Any], problem: str
) -> None:
    async def call(_: CallModel, tell: Any) -> AssistantMessage:
        tell(**said)
        raise AssertionError

    model = Model("t:m", call)
    result = asyncio.run(run(LoopConfig(model=model), Interpreter(model), "go"))

    assert result.stop is not None
    assert f"TypeError: {problem}" in str(result.stop)


class Hasty(Inspector):
    """Stops its run as soon as something begins, and notes what it hears."""

    def __init__(self, on: type[Event]) -> None:
        self.on, self.heard = on, list[str]()
        self.live: Stream | None = None

    def on_event(self, event: Event) -> None:
        self.heard.append(type(event).__name__)
        if isinstance(event, self.on) and self.live:
            live, self.live = self.live, None
            live.send(Abort())


@pytest.mark.parametrize("on", [MessageAdded, Started, Delta])
def test_an_inspector_that_says_something_hears_of_it_afterwards(
    on: type[Event],
) -> None:
    """D84: inspectors and whoever reads the stream hear the same events in one order."""
    hasty = Hasty(on)

    async def main() -> list[str]:
        model = hanging({"text": "a"})
        config = LoopConfig(model=model)
        hasty.live = live = stream(config, Interpreter(model, inspectors=[hasty]))
        live.send("go")
        return [type(event).__name__ async for event in live]

    seen = alone(main())

    assert seen == hasty.heard
    assert "RunEnd" == hasty.heard[-1]
