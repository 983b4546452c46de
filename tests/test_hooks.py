"""Hooks: how they are made, how they merge, what they are told, what they may ask."""

import functools
import operator
from collections.abc import Callable
from typing import Any

import pytest
from pyrsistent import pvector
from returns.result import Success

from loopcore import (
    AssistantMessage,
    CallModel,
    Consult,
    LoopConfig,
    ModelError,
    Sleep,
    Stop,
    Text,
    ToolCall,
    ToolOutput,
    UserMessage,
)
from loopcore.events import HookWrote
from loopcore.frozen import FrozenDict, freeze_object
from loopcore.hooks import (
    UNSET,
    Allow,
    Ask,
    Block,
    ContextUpdate,
    ContextView,
    Hooks,
    Need,
    RawCallUpdate,
    ReplyUpdate,
    RetryUpdate,
    StopUpdate,
    ToolCallUpdate,
    ToolCallView,
    ToolResultUpdate,
    ToolResultView,
    TurnUpdate,
    TurnView,
    apply,
)
from loopcore.hooks.points import CALL_POINTS, POINTS
from loopcore.policies import limits, nudge, retry, sliding_window
from tests.driving import Run, Spy, begin, call, config, spec, words

STATE = begin(config()).state


def call_view(**more: Any) -> ToolCallView:
    return ToolCallView(
        state=STATE,
        call=call("a"),
        spec=spec("a"),
        arguments=FrozenDict(),
        message=AssistantMessage([call("a")]),
        **more,
    )


def result_view(**more: Any) -> ToolResultView:
    return ToolResultView(
        state=STATE,
        call=call("a"),
        spec=spec("a"),
        arguments=FrozenDict(),
        parts=(Text("A"),),
        **more,
    )


# The samples of the document, as they read there.


def no_deletes(view: ToolCallView) -> Block | None:
    if view.call.name == "delete_file":
        return Block("file deletion is disabled in this session")
    return None


def test_sample_a_tool_is_blocked() -> None:
    """The reason becomes the text that the model reads; the tool is skipped."""
    made = config(Hooks(before_tool_call=no_deletes), tools=["delete_file", "fetch"])
    run = begin(made).says(call("delete_file"), call("fetch")).ran("fetch", "page")

    assert run.script[2:] == [
        "delete_file blocked: file deletion is disabled in this session",
        "fetch ok: page",
    ]
    assert run.started == ["fetch"]


def ask_to_end(view: ToolResultView) -> ToolResultUpdate | None:
    return ToolResultUpdate(terminate=True) if view.is_error else None


def any_failed(view: TurnView) -> str | None:
    failed = [result.name for result in view.results if result.is_error]
    return f"failed: {', '.join(failed)}" if failed else None


def on_good_and_bad(hook: Hooks, *names: str) -> Run:
    run = begin(config(hook, tools=["good", "bad", "worse"]))
    run = run.says(*map(call, names))
    for name in names:
        outcome: Any = "ok" if name == "good" else "error"
        run = run.ran(name, ToolOutput(name, outcome=outcome))
    return run


def test_sample_the_run_ends_when_every_tool_failed() -> None:
    """The documents' rule: every result of the batch must ask for it."""
    all_must_fail = Hooks(after_tool_call=ask_to_end)

    assert on_good_and_bad(all_must_fail, "good", "bad").reason == ""
    assert on_good_and_bad(all_must_fail, "worse", "bad").reason == "terminated"


def test_sample_the_run_ends_when_any_tool_failed() -> None:
    """The comment's intention: any failing tool ends the run."""
    one_is_enough = Hooks(should_stop_after_turn=any_failed)

    for names in (("good", "bad"), ("worse", "bad")):
        stop = on_good_and_bad(one_is_enough, *names).stop
        failed = ", ".join(name for name in names if name != "good")
        assert (stop.reason, stop.detail) == ("hook", f"failed: {failed}")


def then_review(view: TurnView) -> TurnUpdate | None:
    if len(view.new_messages) == 2:
        return TurnUpdate(model="strong:model", inject="Review the draft above.")
    return None


def test_sample_a_quick_model_drafts_and_a_stronger_one_reviews() -> None:
    """The injected message is what makes the second turn happen."""
    run = begin(config(Hooks(prepare_next_turn=then_review))).says("draft")

    assert run.one_request.model == "strong:model"
    assert words(run.one_request.messages) == [
        "user: go",
        "assistant: draft",
        "user: Review the draft above.",
    ]
    assert run.says("final").reason == "done"


def at_most_twenty(view: TurnView) -> bool:
    return len(view.new_messages) > 20


def test_sample_a_run_adds_at_most_about_twenty_messages() -> None:
    """A graceful stop before the next request: the turn that passed the limit is whole."""
    run = begin(config(Hooks(should_stop_after_turn=at_most_twenty)))
    while not run.reason:
        run = run.says(call("a")).ran("a")

    assert len(run.state.new) == 21
    assert (run.stop.reason, run.stop.hook) == ("hook", "at_most_twenty")
    assert len(run.requests) == 10


def compact(view: ContextView) -> list[Any] | None:
    if len(view.messages) <= 40:
        return None
    return [UserMessage("summary"), *view.messages[-10:]]


def test_sample_the_context_is_compacted_above_forty_messages() -> None:
    """Per request: the stored transcript is not touched."""
    history = [UserMessage(str(n)) for n in range(39)]
    run = begin(config(Hooks(transform_context=compact)), transcript=history)

    assert len(run.one_request.messages) == 40
    run = run.says(call("a")).ran("a")
    assert len(run.state.transcript) == 42
    assert words(run.one_request.messages)[0] == "user: summary"
    assert len(run.one_request.messages) == 11


# Making hooks.


def test_a_hook_is_named_after_its_first_function() -> None:
    assert Hooks(before_tool_call=no_deletes).name == "no_deletes"
    assert Hooks(before_tool_call=functools.partial(no_deletes)).name == "no_deletes"
    assert Hooks(before_tool_call=Spy()).name == "Spy"
    assert Hooks(before_tool_call=lambda _: None).name == "<lambda>"
    assert Hooks(should_stop_after_turn=any_failed, transform_context=compact).name == (
        "compact"
    )


def test_a_copy_has_another_name_and_a_memory_of_its_own() -> None:
    hook = Hooks("one", memo={}, before_tool_call=count_calls)
    two = hook.named("two").for_tools("b")
    run = begin(config(hook, two)).says(call("a"), call("b"))

    assert (hook.name, two.name, hook.tools) == ("one", "two", None)
    assert run.state.memos == {"one": {"a": 1, "b": 1}, "two": {"b": 1}}


def count_calls(view: ToolCallView) -> ToolCallUpdate:
    used = view.memo.get(view.call.name, 0)
    return ToolCallUpdate(memo={**view.memo, view.call.name: used + 1})


@pytest.mark.parametrize(
    ("name", "fault"), [("a.b", "has a dot"), ("edited", "word of effect ids")]
)
def test_a_name_that_would_blur_effect_ids_is_refused(name: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        Hooks(name)


def test_a_hook_is_made_of_functions() -> None:
    not_one: Any = "no_deletes"
    with pytest.raises(TypeError, match="at before_tool_call is 'no_deletes', not a"):
        Hooks("h", before_tool_call=not_one)


def test_a_config_takes_hooks_and_not_functions() -> None:
    function: Any = no_deletes
    with pytest.raises(TypeError, match=r"hooks\[0\] is .*Hooks\(before_tool_call"):
        LoopConfig(model="test:m", hooks=[function])


def test_the_first_memory_is_json() -> None:
    with pytest.raises(TypeError, match="set"):
        Hooks("h", memo={"seen": {1}})


def test_a_list_of_ones_own_may_grow() -> None:
    """Only what the view holds is a vector."""

    def local(view: ContextView) -> list[Any]:
        messages = list(view.messages)
        messages.append(UserMessage("more"))
        return messages

    run = begin(config(Hooks(transform_context=local)))
    assert words(run.one_request.messages) == ["user: go", "user: more"]


def test_a_grown_vector_that_is_used_is_no_mistake() -> None:
    kept: list[Any] = []

    def used(view: ContextView) -> Any:
        kept.append(view.messages.append(UserMessage("1")))
        more = view.messages.append(UserMessage("2"))
        return more.extend([UserMessage("3")])

    run = begin(config(Hooks(transform_context=used)))
    assert words(run.one_request.messages) == ["user: go", "user: 2", "user: 3"]
    assert words(kept[0]) == ["user: go", "user: 1"]


class Named:
    """Whatever has a spec stands for its tool."""

    spec = spec("b")


def test_a_rule_for_some_tools_is_not_asked_about_others() -> None:
    """It limits the four points of a call, no other; tools may be given themselves."""
    points: dict[str, Spy] = {
        "prepare_tool_call": Spy(),
        "before_tool_call": Spy(),
        "after_tool_call": Spy(),
        "after_tool_result": Spy(),
        "prepare_next_turn": Spy(),
        "transform_context": Spy(),
    }
    functions: dict[str, Any] = dict(points)
    hook = Hooks("some", **functions).for_tools(Named())
    begin(config(hook)).says(call("a"), call("b")).ran("a").ran("b")

    assert hook.tools == ("b",)
    assert {point: len(spy.views) for point, spy in points.items()} == {
        "prepare_tool_call": 1,
        "before_tool_call": 1,
        "after_tool_call": 1,
        "after_tool_result": 1,
        "prepare_next_turn": 1,
        "transform_context": 2,
    }


def whole(functions: dict[str, Any]) -> Hooks:
    """A rule of these."""
    return Hooks("own", **functions)


@pytest.mark.parametrize(
    "rule",
    [
        *(whole({p: Spy()}) for p in POINTS if p not in CALL_POINTS),
        limits(tool_calls=3),
        sliding_window(3),
        nudge("go on"),
        retry(),
    ],
)
def test_a_rule_that_is_not_about_calls_cannot_be_limited_to_tools(rule: Hooks) -> None:
    """It would hold for all of them: `limits(tool_calls=3)` counts every call."""
    said = rf"'{rule.name}' is asked at .* would change nothing.*prepare_tool_call, before_"

    with pytest.raises(ValueError, match=said):
        rule.for_tools("a")


def test_a_rule_goes_by_the_mended_name() -> None:
    """The tool that is meant, as mended so far."""
    mend = Hooks("mend", prepare_tool_call=Spy(RawCallUpdate(name="b")))
    spy, after = Spy(), Spy()
    rule = Hooks("rule", prepare_tool_call=spy, after_tool_call=after).for_tools("b")
    begin(config(mend, rule)).says(call("B")).ran("B")

    assert (spy.calls, after.calls) == (["B"], ["B"])


# Merging.


def test_a_value_goes_to_the_later_writer() -> None:
    one = ToolResultUpdate(is_error=False, details={"a": 1})
    two = ToolResultUpdate(content="x", details=None)

    assert one | two == ToolResultUpdate(content="x", is_error=False, details=None)
    assert (one | two).written == ("content", "details", "is_error")


@pytest.mark.parametrize(
    ("first", "second", "joined"),
    [
        (Allow(), Block("b"), Block("b")),
        (Block("b"), Allow(), Block("b")),
        (Ask("q"), Allow(), Ask("q")),
        (Allow(), Ask("q"), Ask("q")),
        (Block("1"), Block("2"), Block("1")),
        (Block("b"), Ask("q"), Block("b")),
        (Ask("q"), Block("b"), Block("b")),
        (Ask("1"), Ask("2"), Ask("1\n2")),
        (Ask(), Ask("2"), Ask("2")),
        (UNSET, Allow(), Allow()),
        (Allow(), UNSET, Allow()),
    ],
)
def test_verdicts_on_a_call_join(first: Any, second: Any, joined: Any) -> None:
    """`Block > Ask > Allow`; of equals the earlier; two questions are one."""
    assert ToolCallUpdate(first) | ToolCallUpdate(second) == ToolCallUpdate(joined)


@pytest.mark.parametrize(
    ("first", "second", "joined"),
    [
        ("no", "yes", "no"),
        (False, "late", "late"),
        ("first", False, "first"),
        (True, "late", True),
        (False, False, False),
        (UNSET, False, False),
        (Stop("limit", "30 turns"), True, Stop("limit", "30 turns")),
    ],
)
def test_any_stop_is_a_stop(first: Any, second: Any, joined: Any) -> None:
    """The first reason is kept; False is no opinion."""
    assert StopUpdate(first) | StopUpdate(second) == StopUpdate(joined)
    context = ContextUpdate(stop=first) | ContextUpdate(stop=second)
    assert context == ContextUpdate(stop=joined)


@pytest.mark.parametrize(
    ("first", "second", "joined"),
    [
        (True, False, False),
        (False, True, False),
        (True, True, True),
        (UNSET, True, True),
        (True, UNSET, True),
        (UNSET, UNSET, UNSET),
    ],
)
def test_giving_up_beats_trying_again(first: Any, second: Any, joined: Any) -> None:
    """A budget must be able to say no."""
    assert RetryUpdate(first) | RetryUpdate(second) == RetryUpdate(joined)


def test_injected_messages_add_up() -> None:
    both = TurnUpdate(inject="1") | TurnUpdate(model="test:2") | TurnUpdate(inject="2")

    assert both == TurnUpdate(
        inject=[UserMessage("1"), UserMessage("2")], model="test:2"
    )


def test_updates_of_two_points_do_not_merge() -> None:
    with pytest.raises(TypeError):
        operator.or_(StopUpdate(stop=True), ContextUpdate())


def test_each_hook_sees_the_value_as_updated_so_far() -> None:
    spy = Spy(ToolResultUpdate(is_error=False))
    hooks = [
        Hooks("one", after_tool_call=Spy(ToolResultUpdate(content="1"))),
        Hooks("two", after_tool_call=spy),
        Hooks("three", after_tool_call=Spy(ToolResultUpdate(content=(), details={}))),
    ]
    applied = apply(hooks, result_view(outcome="raised"))

    assert (spy.views[0].text, spy.views[0].outcome) == ("1", "raised")
    assert (applied.view.text, applied.view.outcome, applied.view.details) == (
        "",
        "ok",
        {},
    )
    assert applied.writers == {
        "content": "three",
        "is_error": "two",
        "details": "three",
    }
    assert applied.update == ToolResultUpdate(content=(), is_error=False, details={})


def test_a_verdict_that_lost_has_not_written() -> None:
    hooks = [
        Hooks("block", before_tool_call=Spy(Ask("sure?"))),
        Hooks("allow", before_tool_call=Spy(ToolCallUpdate(Allow(), terminate=True))),
    ]
    applied = apply(hooks, call_view())

    assert applied.view.decision == Ask("sure?")
    assert applied.writers == {"decision": "block", "terminate": "allow"}


def test_a_block_ends_the_chain() -> None:
    """A left zero: nothing later lifts it."""
    after = Spy(Allow())
    hooks = [
        Hooks("allow", before_tool_call=Spy(Allow())),
        Hooks("block", before_tool_call=Spy(Block("no"))),
        Hooks("after", before_tool_call=after),
    ]
    applied = apply(hooks, call_view())

    assert applied.view.decision == Block("no")
    assert applied.writers == {"decision": "block"}
    assert after.views == []


def test_a_hook_that_has_no_opinion_changes_nothing() -> None:
    view = result_view()
    nothing = [
        Hooks("none", after_tool_call=Spy()),
        Hooks("empty", after_tool_call=Spy(ToolResultUpdate())),
    ]
    applied = apply(nothing, view)

    assert applied.view == view
    assert (applied.update, applied.writers) == (ToolResultUpdate(), {})


def test_a_fault_or_a_need_is_raised_where_hooks_are_tested() -> None:
    fault = Hooks("fault", before_tool_call=Spy(lambda _: 1 / 0))
    need = Hooks("need", before_tool_call=Spy(Need.service("k", "policy")))

    with pytest.raises(
        ValueError, match=r"'fault' raised ZeroDivisionError.*turn 1\).$"
    ):
        apply([fault], call_view())
    with pytest.raises(ValueError, match=r"'need' needs 'k' .*view\.answers"):
        apply([need], call_view())


def test_the_point_of_a_view_is_the_one_that_a_hook_cares_about() -> None:
    """Two points share a view; the one that is meant can be said."""
    last = Hooks("last", after_tool_result=Spy(ToolResultUpdate(content="last")))
    both = Hooks(
        "both",
        after_tool_call=Spy(ToolResultUpdate(content="first")),
        after_tool_result=Spy(ToolResultUpdate(content="last")),
    )

    assert apply([last], result_view()).view.text == "last"
    assert apply([both], result_view()).view.text == "first"
    assert apply([both], result_view(), "after_tool_result").view.text == "last"


def test_only_a_view_can_be_applied_to() -> None:
    with pytest.raises(TypeError, match="no view"):
        apply([], call("a"))


# Bare values.


@pytest.mark.parametrize(
    "bare",
    [
        [UserMessage("x")],
        (UserMessage("x"),),
        pvector([UserMessage("x")]),
        ContextUpdate("x"),
    ],
)
def test_bare_messages_are_what_is_shown(bare: object) -> None:
    run = begin(config(Hooks(transform_context=Spy(lambda _: bare))))

    assert words(run.one_request.messages) == ["user: x"]


def test_a_bare_message_is_the_reply() -> None:
    hook = Hooks(after_model_call=Spy(AssistantMessage("better")))

    assert begin(config(hook)).says("good").script == ["user: go", "assistant: better"]


@pytest.mark.parametrize(
    ("bare", "reason", "detail"),
    [
        (True, "hook", ""),
        ("too long", "hook", "too long"),
        (Stop("limit", "30 turns"), "limit", "30 turns"),
        (False, "done", ""),
        (None, "done", ""),
        (Stop("limit", hook="other", point="elsewhere"), "limit", ""),
    ],
)
def test_a_bare_stop_ends_the_run(bare: object, reason: str, detail: str) -> None:
    """True, a reason or a Stop: the first two are `hook`; the stop says who and where."""
    stop = begin(config(Hooks("h", should_stop_after_turn=Spy(bare)))).says("hi").stop

    assert (stop.reason, stop.detail) == (reason, detail)
    if bare == Stop("limit", hook="other", point="elsewhere"):
        assert (stop.hook, stop.point) == ("other", "elsewhere")
    elif reason != "done":
        assert (stop.hook, stop.point) == ("h", "should_stop_after_turn")


def test_the_first_hook_that_stops_is_named() -> None:
    hooks = [
        Hooks("no", should_stop_after_turn=Spy(StopUpdate(stop=False))),
        Hooks("yes", should_stop_after_turn=Spy("enough")),
        Hooks("also", should_stop_after_turn=Spy("me too")),
    ]
    stop = begin(config(*hooks)).says("hi").stop

    assert (stop.detail, stop.hook) == ("enough", "yes")


# What the record says of it.


def test_a_request_names_who_wrote_each_of_its_fields() -> None:
    hooks = [
        Hooks("one", transform_context=Spy(ContextUpdate("x", system="1"))),
        Hooks("two", transform_context=Spy(ContextUpdate(system="2", stop=False))),
        Hooks("three", transform_context=Spy(ContextUpdate(memo=1))),
    ]
    request = begin(config(*hooks)).one_request

    assert request.by == {"messages": "one", "system": "two"}


def test_every_update_that_was_taken_is_told() -> None:
    """In order, at every point, with what each hook wrote itself."""
    hooks = [
        Hooks("mend", prepare_tool_call=Spy(RawCallUpdate(name="a"))),
        Hooks("ask", before_tool_call=Spy(Allow())),
        Hooks("silent", before_tool_call=Spy(ToolCallUpdate())),
        Hooks("shape", after_tool_result=Spy(ToolResultUpdate(content="x"))),
        Hooks("reply", after_model_call=Spy(ReplyUpdate()), memo=0),
        Hooks("stop", should_stop_after_turn=Spy(StopUpdate(stop=True, memo=2))),
    ]
    run = begin(config(*hooks)).says(call("a")).ran("a")

    assert [(e.hook, e.point, e.update) for e in run.events(HookWrote)] == [
        ("mend", "prepare_tool_call", RawCallUpdate(name="a")),
        ("ask", "before_tool_call", ToolCallUpdate(Allow())),
        ("shape", "after_tool_result", ToolResultUpdate(content="x")),
        ("stop", "should_stop_after_turn", StopUpdate(stop=True, memo=2)),
    ]
    assert run.state.memos == {"reply": 0, "stop": 2}


def test_a_memory_is_its_own_hooks_alone() -> None:
    """And what a view holds of it is what was written before this point."""
    seen: list[Any] = []

    def remember(view: Any) -> ContextUpdate:
        seen.append(view.memo)
        return ContextUpdate(memo=[view.turn])

    hooks = [
        Hooks("one", memo="start", transform_context=remember),
        Hooks("two", transform_context=remember),
    ]
    run = begin(config(*hooks)).says(call("a")).ran("a")

    assert seen == ["start", None, (1,), (1,)]
    assert run.state.memos == {"one": (2,), "two": (2,)}


def test_a_hook_may_forget() -> None:
    """None is a value."""
    hook = Hooks("h", memo=5, transform_context=Spy(ContextUpdate(memo=None)))

    assert begin(config(hook)).state.memos == {"h": None}


# The verdicts, as the reducer takes them.


@pytest.mark.parametrize(
    ("verdict", "needs_approval", "asked"),
    [
        (None, False, False),
        (None, True, True),
        (Allow(), True, False),
        (Ask("sure?"), False, True),
        (ToolCallUpdate(terminate=False), True, True),
    ],
)
def test_a_tools_own_default_decides_when_no_hook_does(
    verdict: object,
    needs_approval: bool,  # noqa: FBT001
    asked: bool,  # noqa: FBT001
) -> None:
    tool = spec("a", needs_approval=needs_approval)
    run = begin(config(Hooks(before_tool_call=Spy(verdict)), tools=[tool]))
    run = run.says(call("a"))

    assert len(run.state.approvals) == asked
    assert run.started == ([] if asked else ["a"])
    if isinstance(verdict, Ask):
        assert run.asked("a").question == "sure?"


def test_an_allow_lifts_no_other_hooks_ask() -> None:
    hooks = [
        Hooks("ask", before_tool_call=Spy(Ask("sure?"))),
        Hooks("allow", before_tool_call=Spy(Allow())),
        Hooks("ask_too", before_tool_call=Spy(Ask("really?"))),
    ]
    run = begin(config(*hooks)).says(call("a"))

    assert run.asked("a").question == "sure?\nreally?"


def test_a_block_without_a_reason_says_so_itself() -> None:
    run = begin(config(Hooks(before_tool_call=Spy(Block())))).says(call("a"))

    assert run.results[0].text == "This call of a was blocked."


def test_retries_are_given_up_when_any_hook_says_so() -> None:
    hooks = [
        Hooks("retry", on_model_error=Spy(RetryUpdate(retry=True, delay=5))),
        Hooks("budget", on_model_error=Spy(RetryUpdate(retry=False))),
        Hooks("again", on_model_error=Spy(RetryUpdate(retry=True))),
    ]
    assert begin(config(*hooks)).fails().reason == "model_error"
    assert begin(config(*hooks[::2])).fails().state.phase == "sleeping"


def test_the_error_view_says_what_failed_and_how_often() -> None:
    spy = Spy(RetryUpdate(retry=True, delay=2.5, model="test:other"))
    run = begin(config(Hooks(on_model_error=spy))).fails(
        ModelError("busy", "overloaded")
    )

    assert (run.state.waiting[0].id, spy.views[0].attempt) == ("r.1.1.sleep.1", 1)
    run = run.woke().fails("again")
    assert [(v.attempt, v.model, v.error.kind) for v in spy.views] == [
        (1, "test:model", "overloaded"),
        (2, "test:other", "raised"),
    ]
    assert run.one(Sleep).seconds == 2.5


# Needs.


def test_a_need_may_name_a_model_and_a_prompt() -> None:
    need = Need.model(
        "k", [UserMessage("Sum up.")], model="test:small", system="Brief."
    )
    (asked,) = begin(config(Hooks("h", transform_context=Spy(need)))).state.waiting

    assert asked == CallModel(
        "r.1.1.transform_context.1.h.k",
        "test:small",
        pvector([UserMessage("Sum up.")]),
        "Brief.",
    )


def test_a_need_asks_the_runs_own_model() -> None:
    need = Need.model("k", "Sum up.")
    run = begin(config(Hooks("h", transform_context=Spy(need))))

    assert (run.one_request.model, run.one_request.tools) == ("test:model", ())


def test_a_need_asks_a_service_with_json() -> None:
    need = Need.service("k", "policy", {"who": ["me"]})
    (asked,) = begin(config(Hooks("h", transform_context=Spy(need)))).state.waiting

    assert asked == Consult(
        "r.1.1.transform_context.1.h.k", "policy", freeze_object({"who": ["me"]})
    )


@pytest.mark.parametrize("key", ["", None, 5])
def test_a_need_has_a_key(key: Any) -> None:
    with pytest.raises(ValueError, match="key"):
        Need.service(key, "policy")
    with pytest.raises(ValueError, match="key"):
        Need.model(key, "Sum up.")


def test_a_key_may_have_dots() -> None:
    need = Need.service("a.b..c", "policy")
    run = begin(config(Hooks("h", transform_context=Spy(need, None))))
    run = run.give(run.one(Consult).reply(1))

    assert run.one_request.id == "r.1.1.model.1"


PLACES: dict[str, str] = {
    "transform_context": "1.h.k",
    "after_model_call": "1.h.k",
    "prepare_tool_call": "0.h.k",
    "before_tool_call": "0.h.k",
    "after_tool_call": "0.h.k",
    "after_tool_result": "0.h.k",
    "prepare_next_turn": "0.h.k",
    "should_stop_after_turn": "0.h.k",
}


@pytest.mark.parametrize("point", PLACES)
def test_every_point_may_ask_and_goes_on_with_the_answer(point: str) -> None:
    """The point is entered again from its first hook, and the run takes its course."""
    ask: dict[str, Any] = {
        point: Spy(lambda view: None if view.answers else Need.service("k", "policy"))
    }
    first: dict[str, Any] = {point: Spy()}
    run = begin(config(Hooks("first", **first), Hooks("h", **ask)))
    ids: list[str] = []
    while not run.reason:
        (effect,) = run.state.waiting
        if isinstance(effect, Consult):
            ids.append(effect.id)
            assert run.state.stage == point
            run = run.give(effect.reply(1))
        elif isinstance(effect, CallModel):
            run = (
                run.says(call("a")) if effect.id == "r.1.1.model.1" else run.says("hi")
            )
        else:
            run = run.ran("a", "A")

    assert ids[0] == f"r.1.1.{point}.{PLACES[point]}"
    assert run.script == ["user: go", "assistant: →a", "a ok: A", "assistant: hi"]
    assert len(first[point].views) == len(ask[point].views) == 2 * len(ids)
    assert ask[point].views[1].answers == {"k": Success(1)}


def test_a_need_at_an_error_is_asked_by_attempt() -> None:
    ask = Spy(
        lambda view: RetryUpdate(retry=bool(view.answers)) if view.answers else NEED
    )
    run = begin(config(Hooks("h", on_model_error=ask))).fails()
    run = run.give(run.one(Consult).reply(1)).woke().fails()

    assert run.one(Consult).id == "r.1.1.on_model_error.2.h.k"


NEED = Need.service("k", "policy")


# Totality: nothing that a hook does makes a step raise.


class Mute(Exception):
    def __str__(self) -> str:
        raise ValueError


class Anything:
    """Has every attribute, as a mock has."""

    def __getattr__(self, name: str) -> "Anything":
        return self

    def __call__(self, _: object) -> "Anything":
        return self


def raising(error: Exception) -> Callable[[object], None]:
    def fail(_: object) -> None:
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (Mute(), "Mute: (it cannot be printed)"),
        (ValueError("\ud800"), "ValueError: \ufffd"),
        (ValueError("<f at 0x7f00aa>"), "ValueError: <f>"),
        (RecursionError(), "RecursionError"),
        (ValueError("x" * 10_000), "ValueError: xxx"),
        (StopIteration(), "StopIteration"),
    ],
)
def test_whatever_a_hook_raises_can_be_told_and_saved(
    error: Exception, said: str
) -> None:
    run = begin(config(Hooks("h", transform_context=raising(error))))

    assert run.reason == "hook_error"
    assert said in str(run.stop.detail)
    assert len(run.stop.detail) < 1000
    run.stop.detail.encode()


def test_a_call_without_an_id_is_told_by_its_name() -> None:
    failing = Hooks("h", before_tool_call=raising(ValueError("no")))
    run = begin(config(failing)).says(ToolCall("a"))

    assert ", call 'a', turn 1)" in run.stop.detail


def test_a_function_that_has_every_attribute_is_a_function() -> None:
    anything: Any = Anything()
    run = begin(config(Hooks("h", transform_context=anything)))

    assert run.reason == "hook_error"
    assert "returned an Anything" in run.stop.detail


@pytest.mark.parametrize(
    "delay", [float("nan"), float("inf"), -1.0, 10**400, "5", None]
)
def test_a_delay_is_a_number_of_seconds(delay: Any) -> None:
    retry = Spy(lambda _: RetryUpdate(retry=True, delay=delay))
    run = begin(config(Hooks("h", on_model_error=retry))).fails()

    assert (run.reason, run.stop.hook) == ("hook_error", "h")
    assert "delay" in run.stop.detail


@pytest.mark.parametrize("reason", ["banana", "", 5, None])
def test_a_stop_has_one_of_the_known_reasons(reason: Any) -> None:
    stop = Spy(lambda _: Stop(reason))
    run = begin(config(Hooks("h", should_stop_after_turn=stop))).says("hi")

    assert (run.reason, run.stop.hook) == ("hook_error", "h")
    assert "limit" in run.stop.detail


FIELDS: dict[str, tuple[Any, str]] = {
    "transform_context": (ContextUpdate, "system thinking stop tools model options"),
    "after_model_call": (ReplyUpdate, "message"),
    "on_model_error": (RetryUpdate, "retry model thinking"),
    "before_tool_call": (ToolCallUpdate, "decision arguments terminate"),
    "after_tool_call": (ToolResultUpdate, "content details is_error terminate"),
    "prepare_next_turn": (TurnUpdate, "inject transcript system model tools thinking"),
    "should_stop_after_turn": (StopUpdate, "stop memo"),
}


@pytest.mark.parametrize(
    ("point", "name"),
    [(point, name) for point, (_, all_) in FIELDS.items() for name in all_.split()],
)
def test_a_field_of_the_wrong_kind_is_the_hooks_mistake(point: str, name: str) -> None:
    """What is no message, text, bool or JSON is never taken."""
    wrong: dict[str, Any] = {point: Spy(lambda _: FIELDS[point][0](**{name: ANY}))}
    run = begin(config(Hooks("h", **wrong)))
    if point == "on_model_error":
        run = run.fails()
    elif run.all(CallModel):
        run = run.says(call("a"))
        run = run.ran("a") if run.started else run

    assert (run.reason, run.stop.hook, run.stop.point) == ("hook_error", "h", point)


ANY: Any = object()


def test_a_replaced_history_without_messages_is_a_history() -> None:
    hook = Hooks("h", prepare_next_turn=Spy(TurnUpdate(transcript=[]), None))
    run = begin(config(hook)).says(call("a")).ran("a")

    assert words(run.one_request.messages) == []
    assert run.says("hi").script == ["assistant: hi"]


def test_injecting_nothing_makes_no_turn() -> None:
    hook = Hooks("h", prepare_next_turn=Spy(TurnUpdate(inject=[])))

    assert begin(config(hook)).says("hi").reason == "done"
