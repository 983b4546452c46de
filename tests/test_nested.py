"""A run inside a run: a configuration as a tool of another one."""

from collections.abc import Callable
from typing import Any

import pytest
from returns.result import Success

from loopcore import (
    Abort,
    AssistantMessage,
    CallModel,
    Consult,
    FollowUp,
    LoopConfig,
    ModelError,
    RunResult,
    RunTool,
    Sleep,
    State,
    Steer,
    ToolOutput,
    Usage,
    advance,
)
from loopcore.config import MOST_LEVELS
from loopcore.events import Ended, MessageAdded, RunEnd, RunStart
from loopcore.hooks import (
    Ask,
    Block,
    ContextUpdate,
    Hooks,
    Need,
    StopUpdate,
    ToolCallUpdate,
    ToolResultUpdate,
)
from tests.driving import Run, Spy, begin, call, config, spec

ASK = Hooks("ask", before_tool_call=Spy(Ask("sure?")))
SEARCH = spec("search")


def child(*hooks: Hooks, **more: Any) -> LoopConfig:
    more.setdefault("tools", [SEARCH])
    return LoopConfig(model="test:small", hooks=hooks, system="Answer.", **more)


def boss(inner: LoopConfig, *hooks: Hooks, tools: Any = (), **more: Any) -> LoopConfig:
    nested = inner.as_tool("ask", "Asks the librarian.", **more)
    return config(*hooks, tools=[nested, *tools])


def calls(made: LoopConfig, *parts: Any, **more: Any) -> Run:
    """The outer model has called the nested run, perhaps with others."""
    return begin(made, **more).says(call("ask", prompt="How much leave?"), *parts)


def inner(run: Run) -> State:
    """The one nested run that is alive."""
    (state,) = run.state.children
    return state


def test_a_nested_run_is_prompted_with_the_calls_argument() -> None:
    """No RunTool is made; the child's request waits beside the parent's effects."""
    run = calls(boss(child()))

    assert run.all(RunTool) == ()
    assert run.one_request == CallModel(
        "r.1.1.run.0.1.1.model.1",
        "test:small",
        inner(run).transcript,
        "Answer.",
        (SEARCH,),
    )
    assert [m.text for m in inner(run).transcript] == ["How much leave?"]
    assert inner(run).run_id == "r.1.1.run.0"
    assert run.state.phase == "model"


def test_a_nested_runs_answer_is_the_calls_result() -> None:
    """Its messages are its own; the parent has the last reply's text."""
    run = calls(boss(child())).says("Let me see.", call("search")).ran("search", "30")
    run = run.says("30 days.")

    assert run.script == ["user: go", "assistant: →ask", "ask ok: 30 days."]
    assert run.one_request.id == "r.1.2.model.1"
    assert run.state.children == ()


def test_the_parent_is_offered_a_tool_with_one_argument() -> None:
    (tool,) = begin(boss(child())).one_request.tools

    assert (tool.name, tool.description) == ("ask", "Asks the librarian.")
    assert list(tool.parameters["properties"]) == ["prompt"]
    bad = begin(boss(child())).says(call("ask"), call("ask", "2", prompt="x", more=1))
    assert set(bad.outcomes.values()) == {"invalid_arguments"}


def test_a_nested_runs_events_are_its_own() -> None:
    run = calls(boss(child())).says("30 days.")

    assert [(e.run_id, e.message.text) for e in run.events(MessageAdded)] == [
        ("r", "go"),
        ("r", ""),
        ("r.1.1.run.0", "How much leave?"),
        ("r.1.1.run.0", "30 days."),
        ("r", "30 days."),
    ]
    assert [e.run_id for e in run.events(RunStart)] == ["r", "r.1.1.run.0"]
    assert [(e.run_id, e.stop.reason) for e in run.events(RunEnd)] == [
        ("r.1.1.run.0", "done")
    ]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_nested_runs_and_tools_run_side_by_side(order: tuple[int, ...]) -> None:
    """Each has its own id; the transcript does not depend on the order of answers."""
    run = calls(boss(child(), tools=["a"]), call("a"), call("ask", "2", prompt="x"))
    answers: list[Callable[[Run], Run]] = [
        lambda r: r.give(at(r, "r.1.1.run.0").reply("zero")),
        lambda r: r.ran("a", "one"),
        lambda r: r.give(at(r, "r.1.1.run.2").reply("two")),
    ]
    assert len(run.state.waiting) == 3
    for n in order:
        run = answers[n](run)

    assert run.script[2:] == ["ask ok: zero", "a ok: one", "2 ok: two"]


def at(run: Run, place: str) -> CallModel:
    """The request of the nested run at this place."""
    return next(e for e in run.all(CallModel) if e.id.startswith(f"{place}."))


def test_ten_siblings_are_told_apart() -> None:
    """The place 1 is no prefix of the place 10."""
    many = [call("ask", str(n), prompt=str(n)) for n in range(12)]
    run = begin(boss(child())).says(*many)
    for effect in reversed(run.all(CallModel)):
        run = run.give(effect.reply(effect.messages[0].text))

    assert [result.text for result in run.results] == [str(n) for n in range(12)]


# Approvals.


def test_a_childs_approval_pauses_the_parent() -> None:
    """It is among the parent's, under the child's own id."""
    run = calls(boss(child(ASK))).says(call("search", q="leave"))
    (ask,) = run.state.approvals

    assert ask.id == "r.1.1.run.0.1.1.ask.0"
    assert (run.state.phase, repr(run.state)) == (
        "asking",
        "<run r: paused: search(q='leave') needs approval; turn 1, 2 messages>",
    )
    assert run.refuses("more").kind == "busy"
    run = run.give(ask.approve()).ran("search", "30").says("30 days.")
    assert run.script[2:] == ["ask ok: 30 days."]


def test_a_childs_edit_must_fit_and_passes_its_own_gate() -> None:
    gate = Spy(Ask("sure?"))
    run = calls(boss(child(Hooks("gate", before_tool_call=gate)))).says(call("search"))
    run = run.give(run.asked("search").edit(q="x"))

    assert run.tool("search").arguments == {"q": "x"}
    assert run.tool("search").id == "r.1.1.run.0.1.1.run.0"
    assert [view.state.run_id for view in gate.views] == ["r.1.1.run.0"] * 2


@pytest.mark.parametrize("decide", ["approve", "edit", "reject", "respond"])
def test_a_nested_run_may_itself_need_approval(decide: str) -> None:
    """It starts when a person let it; an edit changes its prompt."""
    run = calls(boss(child(), needs_approval=True))

    assert run.state.children == ()
    (ask,) = run.state.approvals
    assert ask.id == "r.1.1.ask.0"
    answer = {
        "approve": ask.approve(),
        "edit": ask.edit(prompt="In short?"),
        "reject": ask.reject("no"),
        "respond": ask.respond("30"),
    }[decide]
    run = run.give(answer)
    if decide in ("reject", "respond"):
        assert (
            run.script[2]
            == {"reject": "ask rejected: no", "respond": "ask ok: 30"}[decide]
        )
    else:
        prompt = {"approve": "How much leave?", "edit": "In short?"}[decide]
        assert run.one_request.messages[0].text == prompt


# Hooks.


def test_each_run_has_its_own_hooks_and_memories() -> None:
    """D81: hooks, limits, memos: its own."""
    outer = Spy(ContextUpdate(memo="outer"))
    inside = Spy(ContextUpdate(memo="inner"))
    made = boss(
        child(Hooks("h", transform_context=inside)), Hooks("h", transform_context=outer)
    )
    run = calls(made)

    assert (len(outer.views), len(inside.views)) == (1, 1)
    assert run.state.memos == {"h": "outer"}
    assert inner(run).memos == {"h": "inner"}
    assert inside.views[0].memo is None


def test_the_parents_hooks_see_the_call_and_its_result() -> None:
    gate, after = Spy(), Spy(ToolResultUpdate(content="shaped"))
    made = boss(child(), Hooks("h", before_tool_call=gate, after_tool_call=after))
    run = calls(made).says("30 days.")

    assert (gate.calls, after.views[0].text) == (["ask"], "30 days.")
    assert run.script[2] == "ask ok: shaped"


def test_the_parents_hooks_may_block_a_nested_run() -> None:
    run = calls(boss(child(), Hooks("h", before_tool_call=Spy(Block("no")))))

    assert run.script[2] == "ask blocked: no"
    assert [e.run_id for e in run.events(RunStart)] == ["r"]


@pytest.mark.parametrize("known", [True, False])
def test_a_hook_offers_a_nested_run_that_the_configuration_has(known: bool) -> None:  # noqa: FBT001
    """D76: what else it offers is asked of the interpreter, as any tool is."""
    tool = child().as_tool("ask", "Ask.")
    hook = Hooks("h", transform_context=lambda _: ContextUpdate(tools=[tool]))
    run = begin(config(hook, tools=[tool] if known else "a"))

    run = run.says(call("ask", prompt="How long?"))

    assert [type(e) for e in run.state.waiting] == [CallModel if known else RunTool]


def test_a_gates_wish_to_end_reaches_a_nested_runs_result() -> None:
    gate = Hooks("h", before_tool_call=Spy(ToolCallUpdate(terminate=True)))

    assert calls(boss(child(), gate)).says("30 days.").reason == "terminated"


def test_a_childs_hook_may_need_the_world() -> None:
    ask = Spy(lambda view: None if view.answers else Need.service("k", "policy"))
    run = calls(boss(child(Hooks("h", transform_context=ask))))

    assert run.one(Consult).id == "r.1.1.run.0.1.1.transform_context.1.h.k"
    run = run.give(run.one(Consult).reply("yes"))
    assert run.one_request.id == "r.1.1.run.0.1.1.model.1"


def test_a_parent_that_waits_for_a_hook_still_takes_its_childrens_answers() -> None:
    """An answer changes its slot; the point is entered again with its own answer."""
    gate = Spy(
        lambda v: (
            (None if v.answers else Need.service("k", "policy"))
            if v.approved
            else Ask()
            if v.call.id == "a"
            else None
        )
    )
    made = boss(child(), Hooks("gate", before_tool_call=gate), tools=["a"])
    run = calls(made, call("a"))
    run = run.give(run.asked("a").edit(n=1))
    run = run.give(run.one_request.reply("30 days."))

    assert run.results == ()
    run = run.give(run.one(Consult).reply(1)).ran("a", "A")
    assert run.script[2:] == ["ask ok: 30 days.", "a ok: A"]


# Ends.


def test_usage_counts_in_both() -> None:
    """D81: the child's tokens are also the parent's, when its call settles."""
    run = begin(boss(child())).says(call("ask", prompt="x"), usage=Usage(10, 1))
    run = run.says(call("search"), usage=Usage(5, 2)).ran("search")
    run = run.says("30 days.", usage=Usage(3, 1))

    assert run.state.usage == Usage(18, 4)
    ends = run.events(RunEnd)
    assert [(e.run_id, e.usage) for e in ends] == [("r.1.1.run.0", Usage(8, 3))]


FAIL: dict[str, tuple[Callable[[Run], Run], str]] = {
    "model_error": (lambda r: r.fails(ModelError("gone", "auth")), "auth: gone"),
    "hook_error": (lambda r: r.says("boom"), "Hook 'boom' raised"),
    "limit": (lambda r: r.says("stop"), "hook: enough"),
    "terminated": (
        lambda r: r.says(call("search")).ran("search", ToolOutput("", terminate=True)),
        "terminated",
    ),
}


@pytest.mark.parametrize("end", FAIL)
def test_an_end_other_than_done_is_an_error_of_the_call(end: str) -> None:
    """D81: its text is the stop; the parent goes on."""
    hooks = (
        Hooks(
            "boom",
            after_model_call=Spy(lambda v: 1 / (v.message.text != "boom") and None),
        ),
        Hooks(
            "stop",
            should_stop_after_turn=Spy(
                lambda v: StopUpdate("enough") if v.message.text == "stop" else None
            ),
        ),
    )
    drive, said = FAIL[end]
    run = drive(calls(boss(child(*hooks))))

    assert run.outcomes == {"ask": "error"}
    assert said in run.results[0].text
    assert run.one_request.id == "r.1.2.model.1"
    assert run.reason == ""


def test_an_abort_reaches_every_nested_run() -> None:
    """Its effects are cancelled, its end is told, and the call is `cancelled`."""
    run = calls(boss(child(), tools=["a"]), call("a"), call("ask", "2", prompt="x"))
    run = run.give(at(run, "r.1.1.run.2").reply(AssistantMessage([call("search")])))
    run = run.give(Abort("no"))

    assert set(run.cancelled) == {
        "r.1.1.run.0.1.1.model.1",
        "r.1.1.run.1",
        "r.1.1.run.2.1.1.run.0",
    }
    assert {e.effect.id for e in run.events(Ended) if e.cancelled} == set(run.cancelled)
    assert set(run.outcomes.values()) == {"cancelled"}
    assert [(e.run_id, str(e.stop)) for e in run.events(RunEnd)] == [
        ("r.1.1.run.0", "aborted: no"),
        ("r.1.1.run.2", "aborted: no"),
        ("r", "aborted: no"),
    ]


def test_a_nested_runs_streamed_text_is_kept_in_it() -> None:
    """The partials of an abort reach whom they belong to, and are paid for."""
    partial = AssistantMessage("30 d", usage=Usage(2, 1))
    run = calls(boss(child()))
    run = run.give(Abort(partials={"r.1.1.run.0.1.1.model.1": partial}))

    added = [e for e in run.events(MessageAdded) if e.run_id == "r.1.1.run.0"]
    assert [e.message.text for e in added] == ["How much leave?", "30 d"]
    assert run.state.usage == Usage(2, 1)
    assert run.outcomes == {"ask": "cancelled"}


def test_what_a_finished_nested_run_gave_outlives_an_abort() -> None:
    after = Spy(ToolResultUpdate(content="[...]"))
    made = boss(child(), Hooks("h", after_tool_result=after), tools=["a"])
    run = calls(made, call("a")).says("secret").give(Abort())

    assert run.script[2] == "ask ok: [...]"
    assert run.outcomes == {"ask": "ok", "a": "cancelled"}


def test_a_parents_failing_hook_ends_its_nested_runs() -> None:
    gate = Spy(lambda v: 1 / 0 if v.approved else Ask() if v.call.id == "a" else None)
    made = boss(child(), Hooks("gate", before_tool_call=gate), tools=["a"])
    run = calls(made, call("a"))
    run = run.give(run.asked("a").edit(n=1))

    assert run.reason == "hook_error"
    assert run.outcomes == {"ask": "cancelled", "a": "cancelled"}
    assert [(e.run_id, e.stop.reason) for e in run.events(RunEnd)] == [
        ("r.1.1.run.0", "aborted"),
        ("r", "hook_error"),
    ]


def test_steering_reaches_the_root_only() -> None:
    run = calls(boss(child())).give(Steer("hurry"), FollowUp("and?"))

    assert len(run.state.steering) == len(run.state.follow_ups) == 1
    assert len(inner(run).steering) == len(inner(run).follow_ups) == 0
    assert run.says("30 days.").script[-1] == "user: hurry"


@pytest.mark.parametrize("late", [0, 1])
def test_a_late_answer_to_a_nested_run_is_a_duplicate(late: int) -> None:
    """D15: while the child lives, and when it is over."""
    run = calls(boss(child(), tools=["a"]), call("a"))
    answer = run.one_request.reply(AssistantMessage([call("search")]))
    run = run.give(answer)
    if late:
        run = run.ran("search").says("30 days.")

    assert run.refuses(answer).kind == "duplicate"
    assert run.refuses(run.requests[1].reply("again")).kind == "duplicate"


def test_a_late_answer_to_an_aborted_nested_run_is_a_stranger() -> None:
    """D15: saying that it was cancelled."""
    run = calls(boss(child()))
    answer = run.one_request.reply("30 days.")
    refused = run.give(Abort()).refuses(answer)

    assert refused.kind == "stranger"
    assert "cancelled by the Abort at input 3" in str(refused)


def test_a_nested_run_keeps_the_time() -> None:
    context = Spy()
    made = boss(child(Hooks("h", transform_context=context)))
    run = begin(made)
    run = run.give(
        run.one_request.reply(AssistantMessage([call("ask", prompt="x")])), at=5.0
    )
    run = run.give(
        run.one_request.reply(AssistantMessage([call("search")])), at=9.0
    ).ran("search")

    assert [view.now for view in context.views] == [5.0, 9.0]


def test_a_nested_run_has_a_seed_of_its_own() -> None:
    """That depends on the parent's and on its place."""
    made = boss(child())
    many = call("ask", "2", prompt="x")
    run, other = calls(made, many), calls(made, many, seed=7)
    seeds = [state.seed for state in (*run.state.children, *other.state.children)]

    assert len({*seeds, run.state.seed, 7}) == 6
    assert [s.seed for s in calls(made, many).state.children] == seeds[:2]


# Timeouts.


def test_a_nested_runs_timeout_is_a_pause_beside_it() -> None:
    """D91: under the slot's own id, which a real tool would have had."""
    made = boss(child(), timeout=60.0)
    run = begin(made)
    reply = AssistantMessage([call("ask", prompt="x")])
    run = run.give(run.one_request.reply(reply), at=100.0)

    assert run.one(Sleep) == Sleep("r.1.1.run.0", 60.0, 160.0)
    assert calls(made).one(Sleep) == Sleep("r.1.1.run.0", 60.0, None)


def test_a_nested_run_that_passes_its_timeout_is_aborted() -> None:
    """D91: outcome `timeout`, and the parent goes on."""
    after = Spy()
    made = boss(child(), Hooks("h", after_tool_call=after), timeout=60.0)
    run = calls(made).says("Hm.", call("search"), usage=Usage(2, 1)).woke()

    assert run.outcomes == {"ask": "timeout"}
    assert "60.0 s" in run.results[0].text
    assert after.views[0].outcome == "timeout"
    assert run.cancelled == ("r.1.1.run.0.1.1.run.0",)
    assert [(e.run_id, e.stop.reason) for e in run.events(RunEnd)] == [
        ("r.1.1.run.0", "aborted")
    ]
    assert run.state.usage == Usage(2, 1)
    assert run.one_request.id == "r.1.2.model.1"


def test_a_nested_run_in_time_cancels_its_timer() -> None:
    """D91."""
    run = calls(boss(child(), timeout=60.0, tools=["a"]), call("a"))
    late = run.one(Sleep).done()
    run = run.says("30 days.")

    assert run.cancelled == ("r.1.1.run.0",)
    assert run.refuses(late).kind == "stranger"
    assert "cancelled by the end of its run" in str(run.refuses(late))
    assert run.ran("a").outcomes == {"ask": "ok", "a": "ok"}


def test_an_abort_cancels_the_timer_too() -> None:
    """D91."""
    run = calls(boss(child(), timeout=60.0)).give(Abort())

    assert set(run.cancelled) == {"r.1.1.run.0", "r.1.1.run.0.1.1.model.1"}
    assert run.outcomes == {"ask": "cancelled"}


# Saved states, changed configurations, grandchildren.


def test_a_paused_nested_run_is_saved_with_its_parent() -> None:
    made = boss(child(ASK), timeout=60.0)
    run = calls(made).says(call("search", q="leave"))
    loaded = State.loads(run.state.dumps()).unwrap()

    assert loaded == run.state
    assert loaded.approvals == run.state.approvals
    state, _ = advance(made, loaded, loaded.approvals[0].approve()).unwrap()
    run = run.give(run.state.approvals[0].approve())
    assert state == run.state


def test_a_configuration_may_lose_its_nested_tool() -> None:
    """The child ends where it stands; what it wanted is cancelled, the parent goes on."""
    run = calls(boss(child(), timeout=60.0)).under(config(tools="a"))
    run = run.says("30 days.")

    assert run.outcomes == {"ask": "error"}
    assert "gone" in run.results[0].text
    assert run.one_request.id == "r.1.2.model.1"
    assert [(e.run_id, e.stop.reason) for e in run.events(RunEnd)] == [
        ("r.1.1.run.0", "hook_error")
    ]


def test_a_lost_nested_run_can_be_aborted() -> None:
    run = calls(boss(child(ASK))).says(call("search")).under(config(tools="a"))
    run = run.give(Abort())

    assert run.cancelled == ("r.1.1.run.0.1.1.ask.0",)
    assert run.outcomes == {"ask": "cancelled"}


def test_a_lost_nested_run_may_time_out() -> None:
    run = calls(boss(child(), timeout=60.0)).under(config(tools="a")).woke()

    assert run.outcomes == {"ask": "timeout"}
    assert run.cancelled == ("r.1.1.run.0.1.1.model.1",)


def test_a_nested_run_that_was_approved_after_its_configuration_went_does_not_hang() -> (
    None
):
    """The call is then like one of any tool: whoever performs it answers."""
    run = calls(boss(child(), needs_approval=True)).under(config(tools="a"))
    run = run.give(run.asked("ask").approve())

    assert [effect.id for effect in run.all(RunTool)] == ["r.1.1.run.0"]


def grandparent(*hooks: Hooks, **more: Any) -> LoopConfig:
    return boss(boss(child(*hooks), **more))


def deep(made: LoopConfig) -> Run:
    """Three runs, each inside the other."""
    return calls(made).says(call("ask", "inner", prompt="Deeper?"))


def test_runs_nest_in_nested_runs() -> None:
    run = deep(grandparent())

    assert run.one_request.id == "r.1.1.run.0.1.1.run.0.1.1.model.1"
    run = run.says(call("search"), usage=Usage(1, 1))
    assert run.tool("search").id == "r.1.1.run.0.1.1.run.0.1.1.run.0"
    run = run.ran("search", "30").says("30.").says("30 days.")
    assert run.script[2:] == ["ask ok: 30 days."]
    assert run.state.usage == Usage(1, 1)
    assert [e.run_id for e in run.events(RunEnd)] == [
        "r.1.1.run.0.1.1.run.0",
        "r.1.1.run.0",
    ]


def test_a_grandchilds_approval_pauses_them_all() -> None:
    made = grandparent(ASK)
    run = deep(made).says(call("search"))
    loaded = State.loads(run.state.dumps()).unwrap()
    (ask,) = loaded.approvals

    assert ask.id == "r.1.1.run.0.1.1.run.0.1.1.ask.0"
    state, _ = advance(made, loaded, ask.reject("no")).unwrap()
    assert state == run.give(run.asked("search").reject("no")).state


def test_an_abort_reaches_grandchildren() -> None:
    run = deep(grandparent(timeout=5.0)).give(Abort())

    assert run.state.waiting == ()
    assert [e.stop.reason for e in run.events(RunEnd)] == ["aborted"] * 3
    assert set(run.cancelled) == {
        "r.1.1.run.0.1.1.run.0",
        "r.1.1.run.0.1.1.run.0.1.1.model.1",
    }


def test_a_childs_timeout_aborts_its_own_children() -> None:
    run = deep(boss(boss(child()), timeout=5.0)).woke()

    assert run.outcomes == {"ask": "timeout"}
    assert [e.run_id for e in run.events(RunEnd)] == [
        "r.1.1.run.0.1.1.run.0",
        "r.1.1.run.0",
    ]


def test_a_lost_configuration_ends_grandchildren_too() -> None:
    run = deep(grandparent()).under(config(tools="a")).says("30.")

    assert run.state.waiting == run.all(CallModel)
    assert run.one_request.id == "r.1.2.model.1"
    assert [e.run_id for e in run.events(RunEnd)] == [
        "r.1.1.run.0.1.1.run.0",
        "r.1.1.run.0",
    ]


def test_runs_nest_as_deep_as_anybody_needs() -> None:
    made = child()
    for _ in range(30):
        made = boss(made)
    run = begin(made)
    for _ in range(30):
        run = run.says(call("ask", prompt="Deeper?"))
    assert run.one_request.id.count(".run.0") == 30
    for _ in range(31):
        run = run.says("30 days.")

    assert run.script[2:] == ["ask ok: 30 days.", "assistant: 30 days."]
    assert RunResult.of(made, run.state).output == "30 days."


def test_a_nested_run_that_stops_at_once_is_a_result_at_once() -> None:
    """It has no timer, and its siblings run on."""
    stop = Hooks("h", transform_context=Spy(ContextUpdate(stop="not today")))
    run = calls(boss(child(stop), timeout=60.0, tools=["a"]), call("a"))

    assert [effect.id for effect in run.state.waiting] == ["r.1.1.run.1"]
    run = run.ran("a", "A")
    assert run.script[2:] == ["ask error: hook: not today (hook 'h')", "a ok: A"]


def test_nested_runs_of_a_sequential_batch_come_one_by_one() -> None:
    nested = child().as_tool("ask", "Asks.")
    run = calls(
        config(tools=[nested], parallel=False), call("ask", "2", prompt="second")
    )

    assert [effect.id for effect in run.state.waiting] == ["r.1.1.run.0.1.1.model.1"]
    run = run.says("one")
    assert run.one_request.id == "r.1.1.run.1.1.1.model.1"
    assert run.says("two").script[2:] == ["ask ok: one", "2 ok: two"]


def test_what_nests_too_deep_to_be_saved_is_refused_when_it_is_built() -> None:
    inner = LoopConfig(model="test:m")
    for _ in range(MOST_LEVELS - 1):
        inner = LoopConfig(model="test:m", tools=[inner.as_tool("sub", "One more.")])
    deepest = inner.as_tool("sub", "One too many.")
    run = begin(inner)
    for _ in range(MOST_LEVELS - 1):
        run = run.says(call("sub", prompt="go"))

    assert State.loads(run.state.dumps()) == Success(run.state)
    with pytest.raises(ValueError, match="nest more than 40 deep"):
        LoopConfig(model="test:m", tools=[deepest])
