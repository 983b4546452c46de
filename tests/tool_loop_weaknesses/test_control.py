"""Weaknesses 1 to 6: control, and what is lost in some modes."""

from collections.abc import Iterable
from typing import Any, Final

import pytest

from loopcore import (
    Answer,
    AssistantMessage,
    CallModel,
    Effect,
    Interpreter,
    ModelError,
    Perform,
    RunTool,
    Tell,
    Thinking,
    ToolOutput,
    Usage,
    run,
    run_sync,
    stream,
)
from loopcore.events import (
    Ended,
    Event,
    RunEnd,
    RunStart,
    TurnEnd,
)
from loopcore.frozen import evolve
from loopcore.hooks import (
    Block,
    ContextUpdate,
    Hooks,
    RetryUpdate,
    ToolCallUpdate,
    ToolCallView,
    ToolResultUpdate,
    ToolResultView,
)
from loopcore.policies import (
    limits,
    nudge,
)
from loopcore.testing import ScriptedModel
from tests.driving import MODEL, Spy, call, config
from tests.leaks import alone
from tests.ways import Seen, every_way, scripted

Outcomes = dict[str, Iterable[object]]


@every_way
@pytest.mark.parametrize("turn", [1, 2])
def test_a_rule_is_asked_before_every_request_and_can_stop_the_run(
    way: str, turn: int
) -> None:
    """Weakness 1: inspectors only watch; whoever is to stop something is a hook."""

    def guard(view: Any) -> ContextUpdate | None:
        return ContextUpdate(stop="not today") if view.turn == turn else None

    replies = (call("a"),) * (turn - 1)
    cfg = config(Hooks("guard", transform_context=guard))
    played = scripted(way, cfg, *replies, tools={"a": ["A"]})

    assert ("hook", "not today") == (played.stop.reason, played.stop.detail)
    assert turn - 1 == len(played.requests)


def test_an_inspector_watches_every_run_of_its_interpreter() -> None:
    """Weakness 1: registered once, not at each call."""
    seen = Seen()
    cfg = config(tools="")
    watched = Interpreter(ScriptedModel("one", "two", id=MODEL), inspectors=[seen])

    async def both() -> None:
        await run(cfg, watched, "go", run_id="r1")
        async for _ in stream(cfg, watched, "go", run_id="r2"):
            pass

    alone(both())
    runs = [event.run_id for event in seen.events if isinstance(event, RunEnd)]
    assert ["r1", "r2"] == runs


def timeless(event: Event) -> Event:
    """An event, less when it was and how long it took."""
    event = evolve(event, at=None)
    return evolve(event, seconds=None) if isinstance(event, Ended) else event


@every_way
def test_every_mode_has_the_same_events_usage_and_thinking(way: str) -> None:
    """Weakness 2: one machine for all."""
    thought = AssistantMessage(
        [Thinking("hm", "sig"), call("a")], finish="tools", usage=Usage(3, 1)
    )
    rule = Hooks("rule", after_tool_result=lambda _: ToolResultUpdate("shaped"))
    tools: Outcomes = {"a": ["A"]}
    plain = scripted("run", config(rule), thought, "ok", tools=tools)
    played = scripted(way, config(rule), thought, "ok", tools=tools)

    assert list(map(timeless, plain.told)) == list(map(timeless, played.told))
    assert (Usage(3, 1), "a ok: shaped") == (played.state.usage, played.script[2])
    assert Thinking("hm", "sig") == played.state.transcript[1].parts[0]


@every_way
def test_limits_and_nudges_belong_to_the_call_that_is_made(way: str) -> None:
    """Weakness 3: two configurations, one program."""
    asked = [call("a", f"c{n}") for n in range(3)]
    short = scripted(way, config(limits(turns=1)), *asked[:1], tools={"a": ["A"]})
    long = scripted(
        way,
        config(limits(turns=9), nudge("Well?")),
        *asked,
        "",
        "ok",
        tools={"a": list("ABC")},
    )

    assert ("limit", "done", 5) == (short.reason, long.reason, long.state.turns)


@every_way
@pytest.mark.parametrize("kind", [None, int])
def test_a_run_may_end_after_its_tools_with_their_results(
    way: str, kind: type | None
) -> None:
    """Weakness 4: in every mode, past all hooks, and never parsed as the output."""
    last = ToolOutput("done here", details={"n": 1}, terminate=True)
    seen = Spy()
    cfg = config(Hooks("seen", after_tool_result=seen), output=kind)
    played = scripted(
        way, cfg, [call("a"), call("b")], tools={"a": [last], "b": [last]}
    )

    assert ("terminated", ["a", "b"]) == (played.reason, seen.calls)
    assert [{"n": 1}, {"n": 1}] == [result.details for result in played.results]
    assert 2 == len(played.events(TurnEnd)[0].results)


CACHE: Final = {"Paris": "17 °C, from yesterday"}


def cached(view: ToolCallView) -> Block | ToolCallUpdate | None:
    """Do not run what is known; run the rest with what it needs."""
    city = view.arguments.get("city", "")
    if city in CACHE:
        return Block(CACHE[city])
    return ToolCallUpdate(arguments={"city": city, "units": "C"})


def as_result(view: ToolResultView) -> ToolResultUpdate | None:
    """What was found in the cache is no failure."""
    known = view.outcome == "blocked" and view.text in CACHE.values()
    return ToolResultUpdate(is_error=False) if known else None


@every_way
def test_a_call_can_be_denied_changed_or_answered_before_it_runs(way: str) -> None:
    """Weakness 5: a cached result is a call that did not run and is no error."""
    cache = Hooks("cache", before_tool_call=cached, after_tool_result=as_result)
    asked = [call("a", "p", city="Paris"), call("a", "r", city="Rome")]
    played = scripted(way, config(cache), asked, "ok", tools={"a": ["20 °C"]})

    assert ["p ok: 17 °C, from yesterday", "r ok: 20 °C"] == played.script[2:4]
    (ran,) = [effect for effect in played.performed if isinstance(effect, RunTool)]
    assert {"city": "Rome", "units": "C"} == ran.arguments


async def canned(effect: Effect, tell: Tell, inner: Perform) -> Answer | None:
    """Answer for the model, without asking it."""
    if isinstance(effect, CallModel):
        return effect.reply("canned")
    return await inner(effect, tell)


def test_a_request_can_be_answered_without_a_model() -> None:
    """Weakness 5: at the one choke point."""
    model = ScriptedModel(id=MODEL)
    interpreter = Interpreter(model).wrap(canned)

    assert "canned" == run_sync(config(tools=""), interpreter, "go").output
    assert [] == model.requests


@every_way
def test_failures_beginnings_and_ends_have_their_points(way: str) -> None:
    """Weakness 5: a failed request, a failed tool, the run's start and its end."""
    failed, ran = Spy(RetryUpdate(retry=True)), Spy()
    cfg = config(Hooks("spy", on_model_error=failed, after_tool_call=ran))
    replies = ModelError("busy", "overloaded"), call("a"), "ok"
    played = scripted(way, cfg, *replies, tools={"a": [OSError("full")]})

    assert ["overloaded"] == [view.error.kind for view in failed.views]
    assert ["raised"] == [view.outcome for view in ran.views]
    kinds = [type(event) for event in played.told]
    assert (RunStart, RunEnd) == (kinds[0], kinds[-1])


@every_way
def test_what_is_done_about_unknown_tools_holds_in_every_mode(way: str) -> None:
    """Weakness 6: thinking or not; and each run counts for itself."""
    cfg = config(limits(unknown_tools=2), thinking="high")
    first = scripted(way, cfg, call("x"), "ok")
    second = scripted(way, cfg, call("x"), call("x"))

    assert ("done", "limit") == (first.reason, second.reason)
    assert "high" == first.requests[0].thinking
