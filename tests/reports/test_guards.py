"""Reports about hooks and guardrails."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

import attrs
import pytest
from returns.result import Success

from loopcore import (
    Abort,
    AssistantMessage,
    CallModel,
    Effect,
    FollowUp,
    LoopConfig,
    ModelError,
    RunTool,
    Stop,
    ToolOutput,
)
from loopcore.events import Ended, HookWrote, RunEnd, Started
from loopcore.hooks import (
    Block,
    ContextUpdate,
    ContextView,
    Hooks,
    Need,
    ReplyUpdate,
    ReplyView,
    RetryUpdate,
    StopUpdate,
    ToolCallUpdate,
    ToolCallView,
    ToolResultUpdate,
    ToolResultView,
    TurnUpdate,
    TurnView,
)
from loopcore.hooks.points import POINTS
from loopcore.policies import limits, nudge
from loopcore.testing import ScriptedModel, ScriptedTools
from tests.driving import MODEL, Run, Spy, begin, call, config, spec, words
from tests.hooked import hooked, raises
from tests.ways import every_way, output, play, scripted


def checked(view: ContextView) -> ContextUpdate | Need | None:
    """Ask a service about the input, once it is the first request of a run."""
    match view.answers.get("check"):
        case None:
            return Need.service("check", "check", {"said": view.messages[0].text})
        case Success(False):
            return ContextUpdate(stop="tripped")
        case _:
            return None


async def trips(_: object) -> bool:
    """A check that takes its time, and then says no."""
    await asyncio.sleep(0)
    return False


@every_way
def test_nothing_is_asked_or_run_before_a_check_has_spoken(way: str) -> None:
    """Report 1: a check that runs besides is the program's own, and ends a run by Abort."""
    cfg = config(Hooks("checked", transform_context=checked))
    model = ScriptedModel(call("a"), id=MODEL)
    tools = ScriptedTools(cfg, {"a": ["A"]})
    played = play(way, cfg, model, *tools, services={"check": trips})

    assert ([], []) == (model.requests, played.started)
    assert "tripped" == played.stop.detail


@every_way
def test_a_known_verdict_is_looked_at_before_each_effect_in_every_mode(
    way: str,
) -> None:
    """Report 2."""

    def tripped(view: ToolCallView) -> Block | Need | None:
        if "check" in view.answers:
            return Block("tripped")
        return Need.service("check", "check")

    def played(by: str) -> Run:
        cfg = config(Hooks("tripped", before_tool_call=tripped))
        model = ScriptedModel(call("a"), "ok", id=MODEL)
        tools = ScriptedTools(cfg, {})
        return play(by, cfg, model, *tools, services={"check": trips})

    here, plain = played(way), played("run")
    assert [effect.id for effect in plain.performed] == [e.id for e in here.performed]
    assert ({"a": "blocked"}, []) == (here.outcomes, here.started)


@every_way
def test_a_refused_reply_is_nowhere(way: str) -> None:
    """Report 4: neither stored nor shown to the next request, nor in the next run."""

    def refuse(view: ReplyView) -> AssistantMessage | None:
        if "secret" not in view.message.text:
            return None
        return AssistantMessage("I may not say that.")

    cfg = config(Hooks("refuse", after_model_call=refuse))
    given = "go", FollowUp("again")
    played = scripted(way, cfg, "the secret", "ok", given=given)

    assert "secret" not in " ".join(played.script)
    assert "secret" not in " ".join(words(played.requests[1].messages))


def left_out(_: ReplyView) -> ReplyUpdate:
    """A check that trips."""
    return ReplyUpdate(AssistantMessage("left out"))


@every_way
@pytest.mark.parametrize(
    ("check", "closed", "stored"),
    [
        (left_out, False, "left out"),
        (raises, False, "fallback"),
        (raises, True, "[withheld: hook 'check' failed]"),
    ],
    ids=["trips", "fails", "fails closed"],
)
def test_a_check_that_trips_and_one_that_fails_do_the_same_in_every_mode(
    way: str, check: Callable[[ReplyView], Any], stored: str, *, closed: bool
) -> None:
    """Report 5: a limit has no text of its own; the last reply passes the same check."""
    hook = Hooks("check", after_model_call=check, fail_closed=closed)
    cfg = config(hook, limits(turns=1), tools="")
    played = play(way, cfg, ScriptedModel("fallback", id=MODEL))

    assert f"assistant: {stored}" == played.script[-1]


@every_way
def test_what_each_check_said_is_told(way: str) -> None:
    """Report 6: of one that passed and of one that tripped."""
    passes = Hooks("one", after_model_call=lambda _: ReplyUpdate(memo="passed"))
    tripped = ReplyUpdate(AssistantMessage("no"), memo="tripped")
    trip = Hooks("two", after_model_call=lambda _: tripped)
    played = scripted(way, config(passes, trip), "hi")

    told = {event.hook: event.update.memo for event in played.events(HookWrote)}
    assert {"one": "passed", "two": "tripped"} == told
    assert {"one": "passed", "two": "tripped"} == played.state.memos


@every_way
def test_a_configuration_is_the_same_after_any_number_of_runs(way: str) -> None:
    """Report 7: what a hook takes away is away for one request."""

    def fewer(view: ContextView) -> ContextUpdate:
        return ContextUpdate(tools=view.tools[:1])

    cfg = config(Hooks("fewer", transform_context=fewer))
    before = attrs.evolve(cfg)
    seen = [scripted(way, cfg, "hi").requests[0].tools for _ in range(3)]

    assert [(spec("a"),)] * 3 == seen
    assert before == cfg
    assert (spec("a"), spec("b")) == cfg.settings.tools


@every_way
def test_every_call_of_a_reply_starts_and_ends_once_or_has_a_result_at_once(
    way: str,
) -> None:
    """Report 8: a reply has no calls of another kind, such as a provider's own search."""
    asked = [call("a"), call("search", "s")]
    played = scripted(way, config(), asked, "ok", tools={"a": ["A"]})

    starts = [event.effect for event in played.events(Started)]
    ends = [event.effect for event in played.events(Ended)]
    for effects in (starts, ends):
        assert ["a"] == [e.call.id for e in effects if isinstance(e, RunTool)]
    assert {"a": "ok", "s": "unknown_tool"} == played.outcomes


RETRY = RetryUpdate(retry=True)


@every_way
def test_every_point_is_asked_in_one_order(way: str) -> None:
    """Report 10: also on_model_error, at the request that fails first."""
    seen: list[str] = []

    def noting(point: str) -> Callable[[Any], object]:
        def note(view: Any) -> object:
            seen.append(f"{view.turn} {point}")
            return RETRY if point == "on_model_error" else None

        return note

    cfg = config(hooked("all", **{point: noting(point) for point in POINTS}))
    replies = ModelError("busy", "overloaded"), call("a"), "ok"
    scripted(way, cfg, *replies, tools={"a": ["A"]})

    assert [
        "1 transform_context",
        "1 on_model_error",
        "1 transform_context",
        "1 after_model_call",
        "1 prepare_tool_call",
        "1 before_tool_call",
        "1 after_tool_call",
        "1 after_tool_result",
        "1 prepare_next_turn",
        "1 should_stop_after_turn",
        "2 transform_context",
        "2 after_model_call",
        "2 prepare_next_turn",
        "2 should_stop_after_turn",
    ] == seen


@every_way
def test_a_run_inside_has_its_own_rules_and_is_one_call_to_the_outer(way: str) -> None:
    """Report 11."""
    inside, outside = Spy(), Spy()
    inner: LoopConfig = LoopConfig(
        model="test:small", hooks=[Hooks("inside", transform_context=inside)]
    )
    outer = config(
        Hooks("outside", before_tool_call=outside),
        tools=[inner.as_tool("ask", "Asks another.")],
    )
    small = ScriptedModel("from inside", id="test:small")
    model = ScriptedModel(call("ask", prompt="dig"), "ok", id=MODEL)
    played = play(way, outer, model, small)

    assert (1, ["ask"]) == (len(inside.views), outside.calls)
    assert "ask ok: from inside" == played.script[2]


@every_way
@pytest.mark.parametrize("parallel", [True, False])
def test_a_rule_that_fails_after_a_tool_ends_the_run_in_both_modes(
    way: str, *, parallel: bool
) -> None:
    """Report 13."""
    cfg = config(Hooks("bug", after_tool_call=raises), parallel=parallel)
    model = ScriptedModel(call("a"), id=MODEL)
    outputs: dict[str, Iterable[object]] = {"a": [OSError("full")]}
    played = play(way, cfg, model, *ScriptedTools(cfg, outputs))

    assert ("hook_error", "bug") == (played.reason, played.stop.hook)
    assert {"a": "raised"} == played.outcomes


def test_a_cancelled_call_is_not_run_again() -> None:
    """Report 14: no rule is asked about it, and none could: a call runs once."""
    after = Spy()
    hook = Hooks("again", after_tool_call=after, after_tool_result=after)
    run = begin(config(hook)).says(call("a")).give(Abort())

    assert ({"a": "cancelled"}, ["a"]) == (run.outcomes, run.started)
    assert ([], ()) == (after.views, run.state.waiting)


@every_way
def test_who_counts_failures_sees_the_vetoed_call_as_one(way: str) -> None:
    """Report 15."""
    count = Spy()
    veto = Hooks("veto", before_tool_call=lambda _: Block("not now"))
    scripted(
        way, config(veto, Hooks("count", after_tool_result=count)), call("a"), "ok"
    )

    (view,) = count.views
    assert ("blocked", True, "not now") == (view.outcome, view.is_error, view.text)


def test_a_point_that_there_is_not_is_refused_at_once() -> None:
    """Report 16: report 10 shows that every one that there is, is asked."""
    kinds: dict[str, Any] = {"wrap_model_call": raises}
    with pytest.raises(TypeError, match="wrap_model_call"):
        Hooks("wrap", **kinds)


@every_way
@pytest.mark.parametrize(
    ("parallel", "third"),
    [(True, "ok"), (False, "cancelled")],
    ids=["all", "one by one"],
)
def test_a_rule_that_fails_at_one_result_leaves_the_others(
    way: str, third: str, *, parallel: bool
) -> None:
    """Report 17: a rule's fault ends the run in both modes (T1); what ran is kept."""

    def bug(view: ToolResultView) -> None:
        if view.call.id == "c2":
            raises(view)

    cfg = config(hooked("bug", after_tool_result=bug), parallel=parallel)
    asked = [call("a", f"c{n}") for n in (1, 2, 3)]
    tools = ScriptedTools(cfg, {"a": ["1", "2", "3"]})
    played = play(way, cfg, ScriptedModel(asked, id=MODEL), *tools)

    assert {"c1": "ok", "c2": "ok", "c3": third} == played.outcomes
    assert ("hook_error", "bug") == (played.reason, played.stop.hook)


STOP = Hooks("stop", should_stop_after_turn=lambda _: Stop("hook", "enough"))
ENDS: dict[str, tuple[tuple[Hooks, ...], Any]] = {
    "done": ((), "hi"),
    "hook": ((STOP,), "hi"),
    "limit": ((limits(turns=1),), call("a")),
    "hook_error": ((Hooks("bug", should_stop_after_turn=raises),), "hi"),
    "model_error": ((), ModelError("no", "auth")),
    "terminated": (
        (Hooks("t", after_tool_call=lambda _: ToolResultUpdate(terminate=True)),),
        call("a"),
    ),
}


@every_way
@pytest.mark.parametrize("reason", ENDS)
def test_every_run_has_one_end_whatever_ended_it(way: str, reason: str) -> None:
    """Report 18: a counter is reset by the run's number, which every memory can see."""
    hooks, reply = ENDS[reason]
    cfg = config(*hooks)
    tools = ScriptedTools(cfg, {"a": ["A"]})
    played = play(way, cfg, ScriptedModel(reply, id=MODEL), *tools)

    assert [reason] == [end.stop.reason for end in played.events(RunEnd)]


def test_an_aborted_run_has_one_end() -> None:
    """Report 18: and so have those that it left open."""
    run = begin(config()).says(call("a")).give(Abort())

    assert ["aborted"] == [end.stop.reason for end in run.events(RunEnd)]


UNRELATED = Hooks("unrelated", after_model_call=lambda _: ReplyUpdate(memo=1))


@every_way
@pytest.mark.parametrize("others", [(), (UNRELATED,)], ids=["alone", "with another"])
def test_a_rule_can_ask_again_after_a_reply_without_calls(
    way: str, others: tuple[Hooks, ...]
) -> None:
    """Report 20: or end; and it does not matter what other rules there are."""

    def again(view: TurnView) -> TurnUpdate | None:
        return TurnUpdate("And then?") if view.turn == 1 else None

    more = scripted(
        way, config(*others, Hooks("again", prepare_next_turn=again)), "one", "two"
    )
    less = scripted(way, config(*others, STOP, nudge("Well?")), "one")

    assert ("two", "done") == (output(more), more.reason)
    assert ("hook", 1) == (less.reason, less.state.turns)


def stopping(point: str) -> Callable[[Any], object]:
    """What stops a run at this point."""

    def stop(_: object) -> object:
        first = point == "transform_context"
        return ContextUpdate(stop="enough") if first else StopUpdate("enough")

    return stop


@every_way
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("point", ["transform_context", "should_stop_after_turn"])
def test_a_rule_can_stop_a_run_from_any_place(way: str, place: int, point: str) -> None:
    """Report 21."""
    rules = [Hooks("quiet", transform_context=lambda _: None)]
    rules.insert(place, hooked("stop", **{point: stopping(point)}))
    asked = () if point == "transform_context" else ("hi",)
    played = scripted(way, config(*rules), *asked)

    assert ("hook", "stop", point) == (
        played.reason,
        played.stop.hook,
        played.stop.point,
    )


@every_way
@pytest.mark.parametrize("parallel", [True, False])
def test_what_two_calls_of_a_batch_bring_is_all_remembered(
    way: str, *, parallel: bool
) -> None:
    """Report 23."""

    def gather(view: ToolResultView) -> ToolResultUpdate:
        return ToolResultUpdate(memo={**view.memo, **view.details})

    cfg = config(Hooks("gather", memo={}, after_tool_result=gather), parallel=parallel)
    outputs: dict[str, Iterable[object]] = {
        "a": [ToolOutput("", details={"x": 1})],
        "b": [ToolOutput("", details={"y": 2})],
    }
    played = scripted(way, cfg, [call("a"), call("b")], "ok", tools=outputs)

    assert {"x": 1, "y": 2} == played.state.memos["gather"]


@every_way
def test_a_check_that_asks_again_sees_the_second_answer(way: str) -> None:
    """Report 25."""
    seen: list[str] = []

    def check(view: TurnView) -> TurnUpdate | None:
        seen.append(view.message.text)
        return TurnUpdate("Not A.") if view.message.text == "A" else None

    played = scripted(way, config(Hooks("check", prepare_next_turn=check)), "A", "B")

    assert (["A", "B"], "B") == (seen, output(played))


def test_a_verdict_can_also_change_what_a_call_is_given() -> None:
    """Report 2: what is let through is what is run, and nothing else."""
    gate = Spy(ToolCallUpdate(arguments={"x": 1}))
    run = begin(config(Hooks("gate", before_tool_call=gate))).says(call("a", x=2))

    effects: tuple[Effect, ...] = run.performed
    assert [{"x": 1}] == [e.arguments for e in effects if isinstance(e, RunTool)]
    assert 1 == sum(isinstance(effect, CallModel) for effect in effects)
