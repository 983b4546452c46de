"""What hooks may do, and what happens when they fail: D30 to D52."""

import functools
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from returns.result import Failure, Success

from loopcore import (
    Abort,
    AssistantMessage,
    CallModel,
    Consult,
    Continue,
    LoopConfig,
    ModelError,
    ServiceError,
    State,
    Steer,
    ToolOutput,
    ToolResultMessage,
    Usage,
    UserMessage,
    deliver,
    step,
)
from loopcore.events import Ended, HookWrote, MessageAdded, RunEnd, RunStart, TurnEnd
from loopcore.hooks import (
    Block,
    ContextUpdate,
    Hooks,
    Need,
    RawCallUpdate,
    ReplyUpdate,
    RetryUpdate,
    StopUpdate,
    ToolCallUpdate,
    ToolResultUpdate,
    TurnUpdate,
)
from tests.driving import Run, Spy, begin, call, config, spec, typed, words

NEED = Need.service("k", "policy")


def boom(_: object) -> None:
    raise ValueError("boom")


def for_call(name: str, answer: Callable[[Any], object]) -> Spy:
    """For this call, this function; nothing for the others."""
    return Spy(lambda view: answer(view) if view.call.id == name else None)


def once_answered(update: object, need: Need = NEED) -> Spy:
    """Ask first; with the answer, say this."""
    return Spy(lambda view: update if view.answers else need)


def count(view: Any) -> Any:  # a context view
    return ContextUpdate(memo=(view.memo or 0) + 1)


def fault(run: Run) -> tuple[str, str | None, str | None]:
    return run.stop.reason, run.stop.hook, run.stop.point


def test_two_needs_at_one_point_are_met_one_after_the_other() -> None:
    """D30: the first hook runs three times in all, its updates are equal."""
    one = once_answered(ContextUpdate(system="1"))
    two = once_answered(ContextUpdate(model="test:2"))
    hooks = Hooks("one", transform_context=one), Hooks("two", transform_context=two)
    run = begin(config(*hooks))

    assert [e.id for e in run.state.waiting] == ["r.1.1.transform_context.1.one.k"]
    run = run.give(run.one(Consult).reply("yes"))
    assert [e.id for e in run.state.waiting] == ["r.1.1.transform_context.1.two.k"]
    run = run.give(run.one(Consult).reply("no"))
    assert [len(one.views), len(two.views)] == [3, 2]
    assert [view.answers for view in one.views] == [
        {},
        {"k": Success("yes")},
        {"k": Success("yes")},
    ]
    assert two.views[-1].answers == {"k": Success("no")}
    assert (run.one_request.system, run.one_request.model) == ("1", "test:2")
    assert [(e.hook, e.update) for e in run.events(HookWrote)] == [
        ("one", ContextUpdate(system="1")),
        ("two", ContextUpdate(model="test:2")),
    ]


def test_a_hook_that_asks_and_then_raises_has_failed() -> None:
    """D31: its answers are dropped; the updates of the hooks before it stand."""
    first = Hooks("first", transform_context=Spy(ContextUpdate(memo=1)))
    second = Hooks("second", transform_context=once_answered(None))
    third = Hooks("third", transform_context=Spy(lambda v: boom(v) if v else None))
    run = begin(config(first, second, third))
    run = run.give(run.one(Consult).reply("yes"))

    assert fault(run) == ("hook_error", "third", "transform_context")
    assert run.state.memos == {"first": 1}
    assert [e.hook for e in run.events(HookWrote)] == ["first"]
    assert run.state.known == ()
    assert run.requests == ()


def test_the_hook_that_asked_may_be_the_one_that_raises() -> None:
    """D31: after it, nothing of its answers is left for the next run."""
    asks = Spy(NEED, boom, NEED)
    run = begin(config(Hooks("asks", transform_context=asks)))
    run = run.give(run.one(Consult).reply("yes"))

    assert fault(run) == ("hook_error", "asks", "transform_context")
    assert run.give(Continue()).one(Consult).id == "r.2.1.transform_context.1.asks.k"
    assert asks.views[-1].answers == {}


def test_a_key_that_was_answered_is_not_asked_again() -> None:
    """D32: hook_error naming the key."""
    run = begin(config(Hooks("again", transform_context=Spy(NEED))))
    run = run.give(run.one(Consult).reply("yes"))

    assert fault(run) == ("hook_error", "again", "transform_context")
    assert "'k'" in run.stop.detail


def test_a_hook_gets_eight_answers_at_one_point() -> None:
    """D32: more are a hook_error naming the key."""
    more = Spy(lambda view: Need.service(f"k{len(view.answers)}", "policy"))
    run = begin(config(Hooks("more", transform_context=more)))
    for _ in range(8):
        assert run.reason == ""
        run = run.give(run.one(Consult).reply("yes"))

    assert fault(run) == ("hook_error", "more", "transform_context")
    assert "'k8'" in run.stop.detail
    assert len([e for e in run.performed if isinstance(e, Consult)]) == 8


def test_answers_belong_to_one_point() -> None:
    """D33: the same key at the next point is asked again."""
    context, reply = once_answered(None), once_answered(None)
    hook = Hooks("both", transform_context=context, after_model_call=reply)
    run = begin(config(hook))
    run = run.give(run.one(Consult).reply(1)).says("hi")

    assert run.one(Consult).id == "r.1.1.after_model_call.1.both.k"
    assert reply.views[0].answers == {}
    assert run.give(run.one(Consult).reply(2)).reason == "done"
    assert reply.views[1].answers == {"k": Success(2)}


def test_answers_belong_to_one_passage_of_a_point() -> None:
    """D33: for the next call, the same key is asked again."""
    gate = once_answered(None)
    run = begin(config(Hooks("gate", before_tool_call=gate))).says(call("a"), call("b"))
    run = run.give(run.one(Consult).reply(1))

    assert run.one(Consult).id == "r.1.1.before_tool_call.1.gate.k"
    assert gate.views[-1].answers == {}


def test_a_service_that_fails_is_a_value_for_the_hook() -> None:
    """D34: a `Failure`."""
    context = once_answered(ContextUpdate(system="S"))
    run = begin(config(Hooks("need", transform_context=context)))
    run = run.give(run.one(Consult).fail("closed"))

    assert context.views[1].answers == {"k": Failure(ServiceError("closed"))}
    assert run.one_request.system == "S"


def test_a_model_that_fails_a_need_is_a_value_for_the_hook() -> None:
    """D34, D36: on_model_error is not asked, and nothing is retried."""
    context, error = once_answered(None, Need.model("k", "Sum up.")), Spy()
    hook = Hooks("need", transform_context=context, on_model_error=error)
    run = begin(config(hook))
    failure = ModelError("busy", "overloaded")
    run = run.give(run.one_request.fail(failure))

    assert context.views[1].answers == {"k": Failure(failure)}
    assert error.views == []
    assert run.one_request.id == "r.1.1.model.1"


def test_a_parked_point_writes_memories_once() -> None:
    """D35: when it commits."""
    hooks = (
        Hooks("count", transform_context=count),
        Hooks("need", transform_context=once_answered(None)),
    )
    run = begin(config(*hooks))

    assert run.state.memos == {}
    assert run.events(HookWrote) == ()
    run = run.give(run.one(Consult).reply("yes"))
    assert run.state.memos == {"count": 1}
    assert len(run.events(HookWrote)) == 1


def test_a_needs_model_call_counts_its_tokens_and_is_no_request() -> None:
    """D36: it adds to usage; no request is counted."""
    need = Need.model("k", "Sum up.", model="test:small", system="Briefly.")
    context = once_answered(None, need)
    run = begin(config(Hooks("need", transform_context=context)))
    asked = run.one_request

    assert (asked.model, asked.system, asked.tools) == ("test:small", "Briefly.", ())
    assert words(asked.messages) == ["user: Sum up."]
    assert run.state.requests == 0
    run = run.give(asked.reply(AssistantMessage("sum", usage=Usage(7, 3))))
    assert context.views[1].answers["k"].unwrap().text == "sum"
    assert (run.state.requests, run.state.usage) == (1, Usage(7, 3))
    assert run.says("hi", usage=Usage(1, 1)).state.usage == Usage(8, 4)
    assert run.script == ["user: go"]


def test_a_failed_needs_partial_reply_was_paid_for() -> None:
    """D36: it adds to usage too."""
    context = once_answered(None, Need.model("k", "Sum up."))
    run = begin(config(Hooks("need", transform_context=context)))
    partial = AssistantMessage("su", usage=Usage(7, 1))

    assert run.fails(ModelError("cut", partial=partial)).state.usage == Usage(7, 1)


def test_nobody_is_asked_about_a_blocked_call() -> None:
    """D37: a Block ends the chain."""
    need = Spy(NEED)
    hooks = (
        Hooks("block", before_tool_call=Spy(Block("no"))),
        Hooks("need", before_tool_call=need),
    )
    run = begin(config(*hooks)).says(call("a"))

    assert need.views == []
    assert run.outcomes == {"a": "blocked"}
    assert run.reason == ""


async def _later(_: object) -> None: ...
async def _agen(_: object) -> AsyncIterator[None]:
    yield


def _gen(_: object) -> Iterator[None]:
    yield


class _Later:
    async def __call__(self, view: object) -> None: ...


@pytest.mark.parametrize(
    "function",
    [_later, _agen, _gen, _Later(), functools.partial(_later), _Later().__call__],
)
def test_an_impure_function_is_refused_when_the_hook_is_built(
    function: Callable[[object], Any],
) -> None:
    """D38: async and generator hooks."""
    with pytest.raises(
        TypeError, match=r"Hook 'h' at before_tool_call .*Need\.service"
    ):
        Hooks("h", before_tool_call=function)


def test_two_hooks_of_one_name_are_refused_when_the_config_is_built() -> None:
    """D38."""
    one, two = (
        Hooks("same", transform_context=boom),
        Hooks("same", after_model_call=boom),
    )

    with pytest.raises(ValueError, match=r"'same' \(hooks\[0\] and hooks\[1\]\)"):
        LoopConfig(model="test:m", hooks=[one, two])


REPLY = AssistantMessage("x")
WRONG: dict[str, list[Any]] = {
    "transform_context": ["text", REPLY, ReplyUpdate(REPLY), ["text"], 5],
    "after_model_call": ["text", [REPLY], ContextUpdate()],
    "on_model_error": [True, 5.0, ReplyUpdate(REPLY)],
    "prepare_tool_call": [{"n": 1}, ToolCallUpdate(), "a"],
    "before_tool_call": ["text", False, {"n": 1}, Block],
    "after_tool_call": ["text", ToolOutput("x"), True],
    "after_tool_result": ["text", ToolOutput("x"), TurnUpdate()],
    "prepare_next_turn": ["text", [UserMessage("x")], StopUpdate(True)],  # noqa: FBT003
    "should_stop_after_turn": [5, TurnUpdate(), ["text"]],
}


def drive(point: str, *answers: Callable[[Any], object] | object, **more: Any) -> Run:
    """A run in which this point is asked: of a tool, a failed reply, or a turn."""
    hook: dict[str, Any] = {point: Spy(*answers)}
    run = begin(config(Hooks("h", **hook, **more)))
    if point == "transform_context":
        return run
    if point == "on_model_error":
        return run.fails()
    run = run.says("hi", call("a"))
    return run.ran("a", "A") if run.all(_runs()) else run


def _runs() -> Any:
    from loopcore import RunTool  # noqa: PLC0415

    return RunTool


@pytest.mark.parametrize(
    ("point", "wrong"), [(point, w) for point, many in WRONG.items() for w in many]
)
def test_a_wrong_return_type_is_a_fault_of_the_hook(point: str, wrong: object) -> None:
    """D38: hook_error naming hook and point (D44: of the call, at prepare_tool_call)."""
    run = drive(point, lambda _: wrong)

    if point == "prepare_tool_call":
        assert run.outcomes == {"a": "invalid_arguments"}
        said = run.results[0].text
    else:
        assert fault(run) == ("hook_error", "h", point)
        said = run.stop.detail
    assert "'h'" in said
    assert point in said


@pytest.mark.parametrize("point", WRONG)
def test_an_exception_in_a_hook_ends_the_run(point: str) -> None:
    """D39: hook_error (D44: but for prepare_tool_call)."""
    run = drive(point, boom)

    if point == "prepare_tool_call":
        assert (run.reason, run.outcomes) == ("", {"a": "invalid_arguments"})
    else:
        assert fault(run) == ("hook_error", "h", point)
        assert run.stop.error == "ValueError: boom"


def _interrupt(_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("point", WRONG)
def test_what_is_no_exception_passes_through(point: str) -> None:
    """D39: `BaseException`; the state is unchanged, so the step can be taken again."""
    with pytest.raises(KeyboardInterrupt):
        drive(point, _interrupt)


def test_a_step_that_was_interrupted_can_be_taken_again() -> None:
    """D39: the state is unchanged."""
    stop = Spy(_interrupt, None)
    made = config(Hooks("h", transform_context=stop))
    state = deliver(State.start(made, run_id="r"), "go").unwrap()
    with pytest.raises(KeyboardInterrupt):
        step(made, state)

    again, effects = step(made, state)
    assert [type(effect) for effect in effects.perform] == [CallModel]
    assert words(again.transcript) == ["user: go"]


def test_a_gate_that_raises_stops_a_parallel_batch_before_it_starts() -> None:
    """D40: nothing ran, all `cancelled`."""
    gate = Hooks("gate", before_tool_call=for_call("b", boom))
    run = begin(config(gate, tools="abc")).says(call("a"), call("b"), call("c"))

    assert run.outcomes == dict.fromkeys("abc", "cancelled")
    assert run.started == []
    assert fault(run) == ("hook_error", "gate", "before_tool_call")


def test_a_gate_that_raises_in_a_sequential_batch_keeps_what_ran() -> None:
    """D40: call 1 keeps its result, the others are `cancelled`."""
    gate = Hooks("gate", before_tool_call=for_call("b", boom))
    run = begin(config(gate, tools="abc", parallel=False))
    run = run.says(call("a"), call("b"), call("c")).ran("a", "A")

    assert run.outcomes == {"a": "ok", "b": "cancelled", "c": "cancelled"}
    assert run.started == ["a"]
    assert fault(run) == ("hook_error", "gate", "before_tool_call")


@pytest.mark.parametrize("parallel", [True, False])
@pytest.mark.parametrize("point", ["after_tool_call", "after_tool_result"])
def test_an_after_hook_that_raises_keeps_the_output_as_far_as_updated(
    point: str,
    parallel: bool,  # noqa: FBT001
) -> None:
    """D41: call 2's hooks run (if it ran), then the run stops."""
    first: dict[str, Any] = {
        point: Spy(lambda v: ToolResultUpdate(content=v.text + "!"))
    }
    last: dict[str, Any] = {point: for_call("a", boom)}
    hooks = Hooks("mark", **first), Hooks("last", **last)
    run = begin(config(*hooks, parallel=parallel)).says(call("a"), call("b"))
    run = run.ran("a", "A")
    run = run.ran("b", "B") if parallel else run

    assert run.script[2] == "a ok: A!"
    assert run.script[3].startswith("b ok: B!" if parallel else "b cancelled")
    assert last[point].calls == (["a", "b"] if parallel else ["a"])
    assert fault(run) == ("hook_error", "last", point)
    assert len(run.requests) == 1


def test_an_after_hook_that_fails_closed_withholds() -> None:
    """D41: also what it is never asked about, because a hook before it failed."""
    guard = Spy()
    hooks = (
        Hooks("first", after_tool_call=for_call("a", boom)),
        Hooks("guard", after_tool_call=guard, fail_closed=True),
    )
    run = begin(config(*hooks)).says(call("a"), call("b"))
    run = run.ran("a", ToolOutput("secret", details={"k": "secret"})).ran("b", "B")

    assert "secret" not in str(run.results)
    assert run.results[0].is_error
    assert run.script[3] == "b ok: B"
    assert guard.calls == ["b"]


def test_a_guard_of_other_tools_withholds_nothing() -> None:
    """D41: only what it guards."""
    hooks = (
        Hooks("first", after_tool_call=for_call("a", boom)),
        Hooks("guard", after_tool_call=Spy(), fail_closed=True).for_tools("b"),
        Hooks("late", after_model_call=Spy(), fail_closed=True),
    )
    run = begin(config(*hooks)).says(call("a"), call("b")).ran("a", "A").ran("b", "B")

    assert run.script[2:] == ["a ok: A", "b ok: B"]


def test_a_guard_that_had_its_say_withholds_nothing() -> None:
    """D41: the hook before it did not fail."""
    hooks = (
        Hooks("guard", after_tool_call=Spy(), fail_closed=True),
        Hooks("last", after_tool_call=for_call("a", boom)),
    )
    run = begin(config(*hooks)).says(call("a")).ran("a", "A")

    assert run.script[2:] == ["a ok: A"]


def test_a_reply_is_stored_as_far_as_updated() -> None:
    """D42: its calls are `cancelled`, hook_error."""
    better = AssistantMessage([call("a"), call("b")])
    hooks = (
        Hooks("better", after_model_call=Spy(better)),
        Hooks("last", after_model_call=boom),
    )
    run = begin(config(*hooks)).says("first", call("a"))

    assert run.script[1] == "assistant: →a →b"
    assert run.outcomes == {"a": "cancelled", "b": "cancelled"}
    assert fault(run) == ("hook_error", "last", "after_model_call")
    assert run.started == []
    assert len(run.events(TurnEnd)) == 1


def test_a_reply_that_is_guarded_is_withheld() -> None:
    """D42: if the hook is `fail_closed`."""
    guard = Hooks("guard", after_model_call=boom, fail_closed=True)
    run = begin(config(guard)).says("secret", call("a", key="secret"))

    assert "secret" not in str(run.state.transcript)
    assert "secret" not in str(run.events(MessageAdded) + run.events(TurnEnd))
    assert fault(run) == ("hook_error", "guard", "after_model_call")


def test_a_hooks_invalid_arguments_are_told_to_the_model() -> None:
    """D43: naming the hook; later hooks of that gate are skipped; the run goes on."""
    after = Spy()
    hooks = (
        Hooks("mend", before_tool_call=Spy(ToolCallUpdate(arguments={"n": "many"}))),
        Hooks("after", before_tool_call=after),
    )
    run = begin(config(*hooks, tools=[typed("a", n="integer")])).says(call("a", n=1))

    assert run.outcomes == {"a": "invalid_arguments"}
    assert "'mend'" in run.results[0].text
    assert after.views == []
    assert (run.started, run.one_request.id) == ([], "r.1.2.model.1")


def test_a_prepare_hook_that_raises_costs_only_its_call() -> None:
    """D44: `invalid_arguments` for that call; the run goes on."""
    mend = Hooks("mend", prepare_tool_call=for_call("a", boom))
    run = begin(config(mend)).says(call("a"), call("b")).ran("b", "B")

    assert run.outcomes == {"a": "invalid_arguments", "b": "ok"}
    assert "'mend' raised ValueError: boom" in run.results[0].text
    assert "stopped" not in run.results[0].text
    assert run.one_request.id == "r.1.2.model.1"


def flag(outcome: Any, *, is_error: bool) -> Run:  # an Outcome
    hook = Hooks("flag", after_tool_call=Spy(ToolResultUpdate(is_error=is_error)))
    return (
        begin(config(hook)).says(call("a")).ran("a", ToolOutput("x", outcome=outcome))
    )


@pytest.mark.parametrize(
    ("outcome", "is_error", "stored"),
    [
        ("raised", False, "ok"),
        ("timeout", False, "ok"),
        ("ok", True, "error"),
        ("timeout", True, "timeout"),
        ("raised", True, "raised"),
        ("ok", False, "ok"),
    ],
)
def test_writing_is_error_writes_an_outcome(
    outcome: str,
    is_error: bool,  # noqa: FBT001
    stored: str,
) -> None:
    """D45: and the events carry both, the one that was and the one that is stored."""
    run = flag(outcome, is_error=is_error)
    (_, ended) = run.events(Ended)
    (added,) = (e for e in run.events(MessageAdded) if e.message in run.results)

    assert run.outcomes == {"a": stored}
    assert isinstance(ended.value, ToolOutput)
    assert isinstance(added.message, ToolResultMessage)
    assert (ended.value.outcome, added.message.outcome) == (outcome, stored)


def test_a_replaced_transcript_is_the_history_from_now_on() -> None:
    """D46: `new` untouched; should_stop sees it and all new messages; so does a request."""
    stop = Spy()
    forget = Hooks(
        "forget",
        prepare_next_turn=Spy(TurnUpdate(transcript=[UserMessage("only this")]), None),
        should_stop_after_turn=stop,
    )
    run = begin(config(forget)).says(call("a")).ran("a", "A")
    new = ["user: go", "assistant: →a", "a ok: A"]

    assert words(run.one_request.messages) == ["user: only this"]
    assert words(run.state.new) == new
    assert words(stop.views[0].transcript) == ["user: only this"]
    assert words(stop.views[0].new_messages) == new
    assert run.says("hi").script == ["user: only this", "assistant: hi"]


def test_an_unpaired_transcript_is_refused() -> None:
    """D47: hook_error, transcript unchanged."""
    hook = Hooks(
        "cut", prepare_next_turn=Spy(lambda v: TurnUpdate(transcript=v.transcript[:2]))
    )
    run = begin(config(hook)).says(call("a")).ran("a", "A")

    assert fault(run) == ("hook_error", "cut", "prepare_next_turn")
    assert run.script == ["user: go", "assistant: →a", "a ok: A"]
    assert "message" in run.stop.detail


def test_injected_messages_come_before_queued_ones() -> None:
    """D48: another turn after a final answer."""
    hook = Hooks("more", prepare_next_turn=Spy(TurnUpdate(inject="more"), None))
    run = begin(config(hook)).give(Steer("s")).says("final")

    assert run.script[2:] == ["user: more", "user: s"]
    assert run.says("x").reason == "done"


def test_stop_beats_inject() -> None:
    """D48: stored, no request; Continue goes on from it."""
    hook = Hooks(
        "more",
        prepare_next_turn=Spy(TurnUpdate(inject="more"), None),
        should_stop_after_turn=Spy("enough", None),
    )
    run = begin(config(hook)).says("final")

    assert (str(run.stop), run.script[-1]) == (
        "hook: enough (hook 'more')",
        "user: more",
    )
    assert run.state.waiting == ()
    assert words(run.give(Continue()).one_request.messages) == run.script


def turn_hooks() -> tuple[Hooks, Spy, Spy]:
    prepare, stop = Spy(), Spy()
    return (
        Hooks("turn", prepare_next_turn=prepare, should_stop_after_turn=stop),
        prepare,
        stop,
    )


def test_the_turns_hooks_are_asked_after_every_clean_turn() -> None:
    """D49: the last too; both, in this order."""
    hook, prepare, stop = turn_hooks()
    begin(config(hook)).says(call("a")).ran("a", "A").says("hi")

    assert [view.message.text for view in prepare.views] == ["", "hi"]
    assert [words(view.results) for view in stop.views] == [["a ok: A"], []]


def test_the_turns_hooks_are_not_asked_after_other_turns() -> None:
    """D49: never after a failed, aborted or hook-error turn."""
    hook, prepare, stop = turn_hooks()
    begin(config(hook)).fails()
    begin(config(hook)).says(call("a")).give(Abort())
    begin(config(hook, Hooks("boom", after_tool_call=boom))).says(call("a")).ran("a")
    begin(config(hook, Hooks("boom", after_model_call=boom))).says("hi")

    assert (prepare.views, stop.views) == ([], [])


def test_a_reply_is_held_to_the_tools_it_was_offered() -> None:
    """D50: those of the request that produced it; settings are unchanged."""
    narrow = Spy(ContextUpdate(tools=[spec("b"), spec("new")]), None)
    run = begin(config(Hooks("narrow", transform_context=narrow)))
    run = run.says(call("a"), call("b"), call("new")).ran("b").ran("new")

    assert run.outcomes == {"a": "unknown_tool", "b": "ok", "new": "ok"}
    assert run.one_request.tools == run.state.settings.tools == run.config.tools
    assert run.says(call("a", "a2")).started == ["b", "new", "a2"]


def test_a_stop_before_the_request_opens_and_closes_a_turn() -> None:
    """D51: no request."""
    hook = Hooks("stop", transform_context=Spy(ContextUpdate(stop="too long")))
    run = begin(config(hook))

    assert [type(event) for event in run.told if not isinstance(event, HookWrote)] == [
        RunStart,
        MessageAdded,
        TurnEnd,
        RunEnd,
    ]
    assert (run.stop.reason, run.stop.detail) == ("hook", "too long")
    assert fault(run)[1:] == ("stop", "transform_context")
    assert run.requests == ()
    assert run.state.requests == 0


def test_a_config_may_change_between_two_steps() -> None:
    """D52: memos go by hook name, unknown ones are kept."""
    old = config(Hooks("old", memo=5, transform_context=count))
    run = begin(old).says(call("a"))
    changed = config(Hooks("new", transform_context=count), tools="xy", system="S")
    run = run.under(changed).give(run.tool("a").reply("A"))

    assert run.state.memos == {"old": 6, "new": 1}
    assert (run.one_request.system, len(run.one_request.tools)) == ("", 2)
    again = run.says("x").under(old).give("again")
    assert again.state.memos == {"old": 7, "new": 1}


def test_a_changed_configs_settings_hold_from_the_next_prompt() -> None:
    """D52: until then the state's are used."""
    changed = config(tools="xy", system="S")
    run = begin(config()).says("hi").under(changed).give(Steer("s"), Continue())

    assert run.one_request.system == ""
    run = run.says("x").give("again")
    assert run.one_request.system == "S"
    assert run.one_request.tools == changed.tools


def test_the_hooks_of_a_changed_config_are_the_ones_asked() -> None:
    """D52: at once, also for calls that the old one let through."""
    after = Spy()
    run = begin(config()).says(call("a"))
    changed = config(Hooks("after", after_tool_call=after))
    run.under(changed).give(run.tool("a").reply("A"))

    assert after.calls == ["a"]


def test_updates_before_a_failed_hook_stand() -> None:
    """D31, architecture 6: those of the hooks before it at that point."""
    hooks = (
        Hooks("first", prepare_next_turn=Spy(TurnUpdate(model="test:2", inject="i"))),
        Hooks("last", prepare_next_turn=boom),
    )
    run = begin(config(*hooks)).says("hi")

    assert run.state.settings.model == "test:2"
    assert run.script[2:] == ["user: i"]
    assert fault(run) == ("hook_error", "last", "prepare_next_turn")


def test_retries_are_decided_by_every_hook() -> None:
    """D70's other side: a fault at on_model_error is the hook's, the reply is stored."""
    hooks = (
        Hooks("retry", on_model_error=Spy(RetryUpdate(retry=True))),
        Hooks("boom", on_model_error=boom),
    )
    run = begin(config(*hooks)).fails("broken")

    assert fault(run) == ("hook_error", "boom", "on_model_error")
    assert run.script == ["user: go", "assistant:"]


def test_a_mended_call_keeps_its_own_name_in_the_transcript() -> None:
    """D44's other side: what the model wrote stays, what runs is mended."""
    mend = Spy(RawCallUpdate(name="a", arguments={"n": "1"}))
    run = begin(
        config(Hooks("mend", prepare_tool_call=mend), tools=[typed("a", n="integer")])
    )
    run = run.says(call("A", "1", m=2))

    assert (run.tool("1").spec.name, run.tool("1").arguments) == ("a", {"n": 1})
    assert (run.tool("1").call.name, run.tool("1").call.arguments) == ("A", {"m": 2})
    assert run.ran("1", "x").results[0].name == "A"
