"""What hooks are shown, field by field, and what is told of what they wrote."""

from collections.abc import Callable
from typing import Any, Final

import pytest
from attrs import evolve

from loopcore import (
    Abort,
    Answer,
    AssistantMessage,
    CallModel,
    Effect,
    FollowUp,
    LoopConfig,
    ModelError,
    RequestApproval,
    RunTool,
    Sleep,
    State,
    Steer,
    Stop,
    ToolCall,
    ToolOutput,
    Usage,
    UserMessage,
)
from loopcore.events import Ended, HookWrote
from loopcore.hooks import (
    Allow,
    Block,
    ContextUpdate,
    RawCallUpdate,
    RetryUpdate,
    StopUpdate,
    ToolCallUpdate,
    ToolResultUpdate,
    TurnUpdate,
)
from tests.driving import MODEL, Run, Spy, call, config, spec, typed
from tests.hooked import hooked, raises

SPENT: Final = Usage(7, 3)


def run(*hooks: Any, **more: Any) -> Run:
    """A run that has not begun."""
    loop = config(*hooks, **more)
    return Run(loop, State.start(loop, run_id="r"))


# Requests and replies.


def test_a_request_is_shown_with_what_was_used_and_the_options() -> None:
    spy = Spy()
    loop = run(hooked("spy", transform_context=spy), options={"temperature": 0})
    loop.give("go").says(call("a"), usage=SPENT).ran("a")

    first, second = spy.views
    assert (Usage(), 0) == (first.usage, first.requests)
    assert (SPENT, 1) == (second.usage, second.requests)
    assert [{"temperature": 0}] * 2 == [dict(v.options) for v in spy.views]


def test_a_request_has_the_options_that_hooks_leave() -> None:
    hotter = Spy(ContextUpdate(options={"temperature": 1}))
    loop = run(hooked("hotter", transform_context=hotter), options={"top_k": 3})

    asked = loop.give("go").one_request

    assert {"temperature": 1} == dict(asked.options)


def test_a_wish_to_stop_is_no_setting_of_a_request() -> None:
    """`by` says who chose each setting of a request, and `stop` is none."""
    wish = ContextUpdate(stop=False, system="Be brief.")
    asked = run(hooked("wish", transform_context=Spy(wish))).give("go").one_request

    assert {"system": "wish"} == dict(asked.by)


def test_a_failed_request_is_shown_with_its_model_and_its_attempt() -> None:
    spy = Spy(RetryUpdate(retry=True, model="other:model"))
    failed = run(hooked("spy", on_model_error=spy)).give("go").fails().woke().fails()

    assert [(1, MODEL), (2, "other:model")] == [(v.attempt, v.model) for v in spy.views]
    wrote = failed.events(HookWrote)
    assert ["1", "2"] == [event.n for event in wrote]


def test_a_failed_reply_that_says_no_more_is_a_bad_response() -> None:
    spy = Spy()
    loop = run(hooked("spy", on_model_error=spy)).give("go")
    reply = AssistantMessage("half", finish="error", usage=SPENT)

    over = loop.give(loop.one_request.reply(reply))

    (view,) = spy.views
    assert ("the model's reply failed", "bad_response") == (
        str(view.error.message),
        view.error.kind,
    )
    assert SPENT == over.state.usage


def test_what_had_arrived_of_a_failed_reply_has_no_error_of_its_own() -> None:
    spy = Spy()
    loop = run(hooked("spy", on_model_error=spy)).give("go")
    reply = AssistantMessage("half", finish="error", error=ModelError("cut", "network"))

    loop.give(loop.one_request.reply(reply))

    (view,) = spy.views
    assert (None, "network") == (view.error.partial.error, view.error.kind)


def test_a_reply_that_is_replaced_by_a_failed_one_fails_the_run() -> None:
    broken = AssistantMessage("half", finish="aborted")
    loop = run(hooked("breaks", after_model_call=Spy(broken))).give("go")

    over = loop.says("whole")

    assert "model_error: bad_response: the model's reply failed" == str(over.stop)


def test_a_reply_without_the_name_of_its_model_has_that_of_the_request() -> None:
    loop = run().give("go")
    named = loop.give(loop.one_request.reply(AssistantMessage("a", model="x:y")))
    unnamed = loop.give(loop.one_request.reply(AssistantMessage("a")))

    assert ["x:y", MODEL] == [
        getattr(one.state.transcript[-1], "model", "") for one in (named, unnamed)
    ]


@pytest.mark.parametrize("fails_closed", [False, True])
def test_a_hook_that_fails_at_a_reply_ends_the_run_after_it_is_stored(
    fails_closed: bool,  # noqa: FBT001  # a parameter of a test
) -> None:
    spy = Spy()
    guard = hooked("guard", fail_closed=fails_closed, after_model_call=raises)
    over = run(guard, hooked("spy", after_model_call=spy)).give("go").says("said")

    stored = "[withheld: hook 'guard' failed]" if fails_closed else "said"
    assert [stored, "guard", "after_model_call"] == [
        over.state.transcript[-1].text,
        over.stop.hook,
        over.stop.point,
    ]


# Calls.


def shown_at(point: str, *hooks: Any, **more: Any) -> tuple[Spy, Run]:
    """A spy at this point, and a run with calls of a tool that takes a number."""
    spy = Spy()
    tools = [typed("a", "x", x="integer"), *more.pop("tools", ())]
    return spy, run(*hooks, hooked("spy", **{point: spy}), tools=tools, **more)


def test_a_raw_call_is_shown_with_its_tool_if_there_is_one() -> None:
    spy, loop = shown_at("prepare_tool_call")
    loop.give("go").says(call("a", x=1), call("nope"))

    assert ["a", None] == [view.spec and view.spec.name for view in spy.views]


def test_a_call_is_shown_with_the_reply_that_it_stands_in() -> None:
    spy, loop = shown_at("before_tool_call")
    asked = loop.give("go").says("let me see", call("a", x=1))

    assert [asked.state.transcript[-1]] == [view.message for view in spy.views]


MALFORMED: Final = ToolCall("a", {}, "a", raw='{"x": ', malformed="it ends too early")
SETTLED: Final[dict[str, Any]] = {
    "it ran": (call("a", x=1), None),
    "its arguments do not fit": (call("a", x="one"), None),
    "its arguments are no JSON": (MALFORMED, None),
    "it was blocked": (call("a", x=1), ToolCallUpdate(Block("no"))),
    "a hook spoilt it": (call("a", x=1), ToolCallUpdate(arguments={"x": "one"})),
}


@pytest.mark.parametrize("name", SETTLED)
def test_a_result_is_shown_with_its_tool(name: str) -> None:
    made, update = SETTLED[name]
    spy, loop = shown_at(
        "after_tool_result", hooked("gate", before_tool_call=Spy(update))
    )
    after = loop.give("go").says(made)
    after = after.ran("a") if after.all(RunTool) else after

    assert ["a"] == [view.spec.name for view in spy.views]


DECISIONS: Final[dict[str, Callable[[RequestApproval], Answer]]] = {
    "rejected": RequestApproval.reject,
    "answered in its place": lambda asked: asked.respond("done by hand"),
    "approved": RequestApproval.approve,
}


@pytest.mark.parametrize("name", DECISIONS)
def test_the_result_of_a_call_that_a_person_decided_is_shown_with_its_tool(
    name: str,
) -> None:
    spy, loop = shown_at("after_tool_result", tools=[spec("pay", needs_approval=True)])
    asked = loop.give("go").says(call("pay"))
    over = asked.give(DECISIONS[name](asked.one(RequestApproval)))
    over = over.ran("pay") if over.all(RunTool) else over

    assert ["pay"] == [view.spec.name for view in spy.views]


def nested(**more: Any) -> LoopConfig:
    """A configuration that another can have as a tool."""
    return config(tools="a", **more)


@pytest.mark.parametrize("late", [False, True])
def test_the_result_of_a_nested_run_is_shown_with_its_tool(
    late: bool,  # noqa: FBT001  # a parameter of a test
) -> None:
    spy = Spy()
    tools = [nested().as_tool("ask", "Asks.", timeout=5.0)]
    loop = config(hooked("spy", after_tool_result=spy), tools=tools)
    begun = (
        Run(loop, State.start(loop, run_id="r"))
        .give("go")
        .says(call("ask", prompt="dig"))
    )

    begun.give(begun.one(Sleep).done()) if late else begun.says("found")

    (view,) = spy.views
    expected = ("ask", "timeout" if late else "ok", False)
    assert expected == (view.spec.name, view.outcome, view.terminate)


@pytest.mark.parametrize("point", ["after_tool_call", "after_tool_result"])
def test_a_result_is_shown_with_its_details_and_how_long_it_took(point: str) -> None:
    spy, loop = shown_at(point)
    asked = loop.give("go").says(call("a", x=1))
    output = ToolOutput("one", details={"pages": 3})
    answer = evolve(asked.tool("a").reply(output), seconds=1.5)

    after = asked.give(answer)

    (view,) = spy.views
    assert ({"pages": 3}, 1.5) == (view.details, view.seconds)
    (told,) = (e for e in after.events(Ended) if isinstance(e.effect, RunTool))
    assert 1.5 == told.seconds


def test_a_hook_that_spoils_arguments_is_named_in_the_result() -> None:
    spoils = hooked(
        "spoils", before_tool_call=Spy(ToolCallUpdate(arguments={"x": "one"}))
    )
    over = run(spoils, tools=[typed("a", x="integer")]).give("go").says(call("a", x=1))

    assert over.script[-1].startswith(
        "a invalid_arguments: Hook 'spoils' gave arguments that do not fit. "
    )


def test_arguments_that_are_no_json_are_told_with_what_they_were() -> None:
    over = run(tools=[typed("a", x="integer")]).give("go").says(MALFORMED)

    assert over.script[-1] == (
        "a invalid_arguments: The arguments of a are not a JSON object: it ends too "
        'early. They were: {"x": '
    )


@pytest.mark.parametrize("update", [None, RawCallUpdate(name="a")])
def test_arguments_that_are_no_json_are_none_whoever_looks_at_them(
    update: RawCallUpdate | None,
) -> None:
    looks = hooked("looks", prepare_tool_call=Spy(update))
    over = run(looks, tools=[typed("a", x="integer")]).give("go").says(MALFORMED)

    assert [
        "a invalid_arguments: The arguments of a are not a JSON object: it ends"
    ] == [line.partition(" too")[0] for line in over.script[-1:]]


def test_arguments_that_a_hook_mends_are_arguments() -> None:
    mends = hooked("mends", prepare_tool_call=Spy(RawCallUpdate(arguments={"x": 1})))
    asked = run(mends, tools=[typed("a", x="integer")]).give("go").says(MALFORMED)

    assert {"x": 1} == dict(asked.tool("a").arguments)


def test_a_result_that_is_withheld_still_ends_the_run_if_its_tool_said_so() -> None:
    guard = hooked("guard", fail_closed=True, after_tool_result=raises)
    spy = Spy()
    ends = hooked("ends", before_tool_call=Spy(ToolCallUpdate(terminate=True)))
    over = run(ends, guard, hooked("spy", should_stop_after_turn=spy)).give("go")
    over = over.says(call("a")).ran("a", "secret")

    assert ["hook_error", "a error: [withheld: hook 'guard' failed]"] == [
        over.reason,
        over.script[-1],
    ]


# Turns.


def test_a_turn_is_shown_with_the_settings_of_the_run() -> None:
    spy = Spy()
    points = {"prepare_next_turn": spy, "should_stop_after_turn": spy}
    loop = config(hooked("spy", **points), thinking="low", system="Be brief.")
    begun = Run(loop, State.start(loop, run_id="r")).give("go")
    begun.says("done")

    assert [(MODEL, "low", "Be brief.")] * 2 == [
        (view.model, view.thinking, view.system) for view in spy.views
    ]


WILLING: Final[dict[str, tuple[Any, ...]]] = {
    "steered": (Steer("more"),),
    "to be followed": (FollowUp("more"),),
    "both": (Steer("more"), FollowUp("and more")),
    "neither": (),
}


@pytest.mark.parametrize("name", WILLING)
def test_a_turn_is_shown_with_whether_another_follows(name: str) -> None:
    spy = Spy()
    begun = run(hooked("spy", should_stop_after_turn=spy)).give("go", *WILLING[name])
    begun.says("done")

    assert [bool(WILLING[name])] == [view.goes_on for view in spy.views[:1]]


def test_a_turn_with_calls_or_with_injected_messages_goes_on() -> None:
    spy = Spy()
    more = Spy(TurnUpdate(inject=[UserMessage("more")]), None)
    points = {"prepare_next_turn": more, "should_stop_after_turn": spy}
    run(hooked("spy", **points)).give("go").says("done").says(call("a")).ran("a").says(
        ""
    )

    assert [True, True, False] == [view.goes_on for view in spy.views]


def test_what_was_written_at_the_end_of_a_turn_is_told_once_a_turn() -> None:
    points = {
        "prepare_next_turn": Spy(TurnUpdate(system="Be brief.")),
        "should_stop_after_turn": Spy(StopUpdate(stop="enough")),
    }
    over = run(hooked("ends", **points)).give("go").says("done")

    assert [("prepare_next_turn", "0"), ("should_stop_after_turn", "0")] == [
        (event.point, event.n) for event in over.events(HookWrote)
    ]


def test_what_was_written_at_a_call_is_told_with_the_place_of_the_call() -> None:
    shapes = Spy(ToolResultUpdate(details="seen"))
    lets = Spy(ToolCallUpdate(Allow()))
    hook = hooked("hook", before_tool_call=lets, after_tool_result=shapes)
    over = run(hook).give("go").says(call("a"), call("b")).ran("a").ran("b")

    assert [
        (p, n) for p in ("before_tool_call", "after_tool_result") for n in "01"
    ] == [(event.point, event.n) for event in over.events(HookWrote)]


# Ends.

WISHES: Final[dict[str, tuple[Any, Stop]]] = {
    "yes": (True, Stop("hook", hook="ends")),
    "a reason": ("enough", Stop("hook", "enough", hook="ends")),
    "a stop": (Stop("limit", "spent"), Stop("limit", "spent", hook="ends")),
    "a stop that names its place": (
        Stop("limit", hook="other", point="elsewhere"),
        Stop("limit", hook="other", point="elsewhere"),
    ),
}
ENDING: Final[dict[str, Any]] = {
    "transform_context": ContextUpdate,
    "should_stop_after_turn": StopUpdate,
}


@pytest.mark.parametrize("point", ENDING)
@pytest.mark.parametrize("name", WISHES)
def test_a_stop_names_the_hook_and_the_point_that_wished_it(
    name: str, point: str
) -> None:
    wish, stop = WISHES[name]
    ends = hooked("ends", **{point: Spy(ENDING[point](stop=wish))})
    begun = run(ends).give("go")

    over = begun.says("done") if begun.all(CallModel) else begun

    assert evolve(stop, point=stop.point or point) == over.stop


BROKEN: Final = (
    "transform_context",
    "on_model_error",
    "after_model_call",
    "before_tool_call",
    "after_tool_call",
    "after_tool_result",
    "prepare_next_turn",
    "should_stop_after_turn",
)


@pytest.mark.parametrize("point", BROKEN)
def test_a_hook_that_fails_cancels_what_waits_and_ends_runs_inside(point: str) -> None:
    """The runs that wait inside are ended, and what they wait for is cancelled."""

    def breaks(view: Any) -> None:  # a view of any point
        if view.state.turns > 1 or point in OF_CALLS:
            raises(view)

    tools = [nested().as_tool("ask", "Asks."), spec("b")]
    hook = hooked("breaks", **{point: breaks})
    loop = config(hook, tools=tools)
    begun = Run(loop, State.start(loop, run_id="r")).give("go")
    over = fed(begun, point)

    assert ("hook_error", point, ()) == (
        over.reason,
        over.stop.point,
        over.state.waiting,
    )


OF_CALLS: Final = ("before_tool_call", "after_tool_call", "after_tool_result")


def fed(begun: Run, point: str) -> Run:
    """The run at its end: two turns, or what comes of calls in the first."""
    if point in OF_CALLS:
        asked = begun.says(call("ask", prompt="dig"), call("b"))
        asked = asked.ran("b") if asked.all(RunTool) else asked
        return asked.says("found") if asked.state.waiting else asked
    second = begun.says(call("b")).ran("b")
    if not second.state.waiting:
        return second
    return second.fails() if point == "on_model_error" else second.says("done")


def test_an_abort_of_an_approval_keeps_nothing_that_waits() -> None:
    asked = run(tools=[spec("pay", needs_approval=True)]).give("go").says(call("pay"))
    waiting: tuple[Effect, ...] = asked.give(Abort()).state.waiting

    assert () == waiting
