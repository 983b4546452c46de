"""Weaknesses 20 to 24: what can be seen, tested, stopped and kept."""

import asyncio
import json
from collections.abc import Iterable
from typing import Final

import attrs
import pytest

from loopcore import (
    Abort,
    AssistantMessage,
    CallModel,
    Effect,
    Inspector,
    Interpreter,
    Model,
    ModelError,
    RunTool,
    Stream,
    Tell,
    Text,
    Thinking,
    Tool,
    ToolContext,
    Usage,
    UserMessage,
    stream,
)
from loopcore.events import (
    Delta,
    Ended,
    MessageAdded,
    RunEnd,
    RunStart,
    Started,
    TurnEnd,
)
from loopcore.hooks import (
    Hooks,
    ReplyView,
)
from loopcore.policies import (
    estimate,
    retry,
    sliding_window,
    truncate_results,
)
from loopcore.testing import ScriptedModel
from loopcore_adapters.chat import encode
from tests.driving import MODEL, Run, Spy, call, config, spec
from tests.leaks import alone
from tests.ways import Seen, every_way, scripted

Outcomes = dict[str, Iterable[object]]


class Watched(Inspector):
    """What can be known of a request and of a run's end."""

    def __init__(self) -> None:
        self.tokens: list[int] = []
        self.attempts: list[str] = []
        self.seconds: list[float | None] = []
        self.ends: list[RunEnd] = []

    def on_model_start(self, event: Started, effect: CallModel) -> None:
        self.tokens.append(sum(map(estimate, effect.messages)))
        self.attempts.append(f"{event.run_id} {effect.id.rpartition('.')[2]}")

    def on_model_end(self, event: Ended, effect: CallModel) -> None:
        assert self.attempts[-1].endswith(effect.id[-1])
        self.seconds.append(event.seconds)

    def on_run_end(self, event: RunEnd) -> None:
        self.ends.append(event)


@every_way
@pytest.mark.parametrize("ends", ["ok", ModelError("no key", "auth")])
def test_sizes_attempts_seconds_totals_and_the_stop_can_be_seen(
    way: str, ends: object
) -> None:
    """Weakness 20: also of a run that failed, and of the view that was sent."""
    watched = Watched()
    asks = AssistantMessage(call("a"), finish="tools", usage=Usage(5, 2))
    busy = ModelError("busy", "overloaded")
    cfg = config(retry(3, delay=0), sliding_window(1))
    scripted(way, cfg, busy, asks, ends, tools={"a": ["A"]}, inspectors=[watched])

    assert watched.tokens[0] == watched.tokens[1] == estimate(UserMessage("go"))
    assert watched.tokens[2] > watched.tokens[1]
    assert ["r 1", "r 2", "r 1"] == watched.attempts
    assert all(isinstance(seconds, float) for seconds in watched.seconds)
    (end,) = watched.ends
    assert Usage(5, 2) == end.usage
    assert end.stop.reason == ("done" if ends == "ok" else "model_error")


@every_way
def test_the_fakes_drive_the_real_loop(way: str) -> None:
    """Weakness 21: with every hook and every inspector."""
    rule, seen = Spy(), Seen()
    cfg = config(Hooks("rule", before_tool_call=rule, after_tool_result=rule))
    scripted(way, cfg, call("a"), "ok", tools={"a": ["A"]}, inspectors=[seen])

    assert 2 == len(rule.views)
    kinds = {type(event) for event in seen.events}
    assert {RunStart, MessageAdded, Started, Ended, Delta, TurnEnd, RunEnd} >= kinds
    assert {RunStart, MessageAdded, Started, Ended, TurnEnd, RunEnd} <= kinds


def test_an_abort_ends_a_request_that_is_under_way_and_keeps_what_came() -> None:
    """Weakness 23: streamed; the call is cancelled and awaited."""

    async def talk(effect: CallModel, tell: Tell) -> AssistantMessage:
        tell("I was about to")
        await asyncio.Event().wait()
        return AssistantMessage(effect.id)

    played = alone(aborted(Model(MODEL, talk)))

    assert ("aborted", ["user: go", "assistant: I was about to"]) == (
        played.reason,
        played.script,
    )


def test_an_abort_ends_a_tool_that_is_under_way() -> None:
    """Weakness 23: one that is a coroutine, and one in a thread that asks."""
    ended: list[str] = []

    async def waits(context: ToolContext) -> str:
        context.progress("waits")
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("task")
        return "never"

    def works(context: ToolContext) -> str:
        context.progress("works")
        context.cancelled.wait()
        ended.append("thread")
        return "never"

    tools = Tool(spec("a"), waits), Tool(spec("b"), works)
    model = ScriptedModel([call("a"), call("b")], id=MODEL)
    played = alone(aborted(model, *tools))

    assert {"a": "cancelled", "b": "cancelled"} == played.outcomes
    assert {"task", "thread"} == set(ended)


async def aborted(model: Model, *tools: Tool) -> Run:
    """A stream that is aborted once the model, or each of these tools, said something."""
    cfg = config(tools=tools)
    live = stream(cfg, Interpreter(model, *tools), "go", run_id="r")
    speaking = RunTool if tools else CallModel
    ids: set[str] = set()
    async for event in live:
        if isinstance(event, Delta) and isinstance(asked(live, event), speaking):
            ids.add(event.effect_id)
        if len(ids) == max(len(tools), 1) and not live.state.stop:
            live.send(Abort("enough"))
    return Run(cfg, live.state)


def asked(live: Stream, delta: Delta) -> Effect | None:
    """The effect that is waiting and said this."""
    return next((e for e in live.state.waiting if e.id == delta.effect_id), None)


SIGNED: Final = AssistantMessage(
    [Thinking("hm", "sig-1"), Text("So.", signature="sig-2"), call("a")], finish="tools"
)


def trim(view: ReplyView) -> AssistantMessage:
    """The reply, changed where nothing is signed."""
    return attrs.evolve(view.message, usage=Usage(1, 1))


@every_way
def test_what_a_provider_signed_passes_all_rules(way: str) -> None:
    """Weakness 24: and a system prompt is one, in front, however often one is said."""
    rules = (
        Hooks("trim", after_model_call=trim),
        sliding_window(3),
        truncate_results(1),
    )
    cfg = config(*rules, system="Be brief.")
    played = scripted(way, cfg, SIGNED, "ok", tools={"a": ["A"]})

    (asked, *_) = [m for m in played.requests[1].messages if m.parts == SIGNED.parts]
    assert Usage(1, 1) == getattr(asked, "usage", None)
    roles = [m["role"] for m in json.loads(encode(played.requests[1]).body)["messages"]]
    assert ["system", "user", "assistant", "tool"] == roles
