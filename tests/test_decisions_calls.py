"""Calls, approvals and replies: D60 to D93."""

import pickle
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from typing import Any

import pytest
from pyrsistent import PVector, pvector

from loopcore import (
    Abort,
    AssistantMessage,
    Continue,
    FollowUp,
    LoopConfig,
    ModelError,
    Prompt,
    RunResult,
    RunTool,
    State,
    Steer,
    Stop,
    Text,
    Thinking,
    ToolCall,
    ToolOutput,
    ToolSpec,
    Usage,
    UserMessage,
)
from loopcore.events import MessageAdded
from loopcore.hooks import (
    Ask,
    Block,
    ContextUpdate,
    Hooks,
    ReplyUpdate,
    RetryUpdate,
    ToolCallUpdate,
    ToolResultUpdate,
    TurnUpdate,
)
from tests.driving import Spy, begin, call, config, spec, typed, words

END = ToolOutput("enough", terminate=True)


def for_call(name: str, answer: object) -> Spy:
    return Spy(lambda view: answer if view.call.id == name else None)


def asks(*names: str) -> Hooks:
    """Ask about these calls."""
    return Hooks(
        "ask", before_tool_call=Spy(lambda v: Ask() if v.call.id in names else None)
    )


def test_a_batch_ends_the_run_if_all_its_results_say_so() -> None:
    """D60: all: stops."""
    run = begin(config()).says(call("a"), call("b")).ran("a", END).ran("b", END)

    assert (run.reason, len(run.requests)) == ("terminated", 1)
    assert run.outcomes == {"a": "ok", "b": "ok"}


def test_some_results_do_not_end_a_run() -> None:
    """D60: some: goes on."""
    run = begin(config()).says(call("a"), call("b")).ran("a", END).ran("b", "B")

    assert run.one_request.id == "r.1.2.model.1"


@pytest.mark.parametrize("say", [Steer, FollowUp])
def test_what_is_queued_still_runs(say: type[Steer] | type[FollowUp]) -> None:
    """D60: with steering (or a follow-up): goes on."""
    run = begin(config()).says(call("a")).give(say("more")).ran("a", END)

    assert words(run.one_request.messages)[-1] == "user: more"


def test_a_blocked_call_may_ask_for_the_end() -> None:
    """D60: blocked with terminate: stops."""
    gate = ToolCallUpdate(Block("no"), terminate=True)
    run = begin(config(Hooks("gate", before_tool_call=Spy(gate)))).says(call("a"))

    assert (run.reason, run.outcomes) == ("terminated", {"a": "blocked"})


def test_a_hook_may_clear_a_tools_wish_to_end() -> None:
    """D60: cleared by a hook: goes on."""
    clear = Hooks("clear", after_tool_call=Spy(ToolResultUpdate(terminate=False)))
    run = begin(config(clear)).says(call("a")).ran("a", END)

    assert run.one_request.id == "r.1.2.model.1"


def test_a_gates_wish_to_end_reaches_the_result() -> None:
    """D60: for a call that runs, too."""
    gate = Hooks("gate", before_tool_call=Spy(ToolCallUpdate(terminate=True)))

    assert begin(config(gate)).says(call("a")).ran("a", "A").reason == "terminated"


def test_allowed_siblings_do_not_wait_for_a_persons_decision() -> None:
    """D61: they start at once; the batch waits for the decision."""
    run = begin(config(asks("a"))).says(call("a"), call("b"))

    assert (run.started, len(run.state.approvals)) == (["b"], 1)
    run = run.ran("b", "B")
    assert run.results == ()
    run = run.give(run.asked("a").approve())
    assert run.ran("a", "A").script[2:] == ["a ok: A", "b ok: B"]


def test_in_a_sequential_batch_the_next_gate_waits() -> None:
    """D62: for the decision and the run."""
    spy = Spy()
    hooks = asks("a"), Hooks("spy", before_tool_call=spy)
    run = begin(config(*hooks, parallel=False)).says(call("a"), call("b"))

    assert (spy.calls, run.started) == (["a"], [])
    run = run.give(run.asked("a").approve())
    assert (spy.calls, run.started) == (["a"], ["a"])
    run = run.ran("a")
    assert (spy.calls, run.started) == (["a", "b"], ["a", "b"])


def test_one_sequential_tool_makes_its_batch_sequential() -> None:
    """D62: by config, or because one tool of the batch says so; unknown ones do not."""
    slow = spec("b", execution="sequential")
    run = begin(config(tools=["a", slow])).says(call("a"), call("b"), call("z"))

    assert run.started == ["a"]
    assert run.ran("a").started == ["a", "b"]
    apart = begin(config(tools=["a", slow])).says(call("z"), call("a"), call("a", "2"))
    assert apart.started == ["a", "2"]


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_a_question_and_a_block_do_not_touch_each_other(order: str) -> None:
    """D63: independent."""
    block = Hooks("block", before_tool_call=for_call("b", Block("no")))
    run = begin(config(asks("a"), block)).says(*map(call, order))
    run = run.give(run.asked("a").approve()).ran("a", "A")

    assert run.outcomes == {"a": "ok", "b": "blocked"}


def test_an_edit_must_be_valid() -> None:
    """D64: `Rejected(invalid_arguments)`, the question stays open."""
    run = begin(config(asks("a"), tools=[typed("a", n="integer")])).says(call("a", n=1))
    refused = run.refuses(run.asked("a").edit(n="many"))

    assert refused.kind == "invalid_arguments"
    assert "'n'" in str(refused)
    assert "stays open" in str(refused)
    assert len(run.state.approvals) == 1


def test_an_edit_passes_the_gate_again() -> None:
    """D65: before_tool_call alone; coerced, not asked again."""
    prepare, gate = Spy(), Spy(Ask())
    hook = Hooks("gate", prepare_tool_call=prepare, before_tool_call=gate)
    run = begin(config(hook, tools=[typed("a", n="integer", m="string")]))
    run = run.says(call("a", n=1, m="x"))
    run = run.give(run.asked("a").edit(n="2"))

    assert (len(prepare.views), len(gate.views)) == (1, 2)
    assert [(v.approved, dict(v.arguments)) for v in gate.views] == [
        (False, {"n": 1, "m": "x"}),
        (True, {"n": 2, "m": "x"}),
    ]
    assert run.state.approvals == ()
    assert run.tool("a").arguments == {"n": 2, "m": "x"}


def test_an_edited_call_can_still_be_blocked() -> None:
    """D65: Blocks hold."""

    def limit(view: Any) -> Any:
        return Block("too much") if view.arguments["n"] > 9 else Ask()

    run = begin(config(Hooks("limit", before_tool_call=limit))).says(call("a", n=1))
    run = run.give(run.asked("a").edit(n=10))

    assert (run.outcomes, run.started) == ({"a": "blocked"}, [])


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_edits_wait_until_nobody_is_asked_any_more(order: str) -> None:
    """D65: then they pass in source order, whatever the order of decisions."""
    gate = Spy(Ask())
    run = begin(config(Hooks("gate", before_tool_call=gate))).says(call("a"), call("b"))
    for name in order:
        assert run.started == []
        run = run.give(run.asked(name).edit(n=1))

    assert gate.calls == ["a", "b", "a", "b"]
    assert run.started == ["a", "b"]


def test_an_edit_waits_while_a_sibling_is_asked() -> None:
    """D65: an approved sibling starts at once, the edited one when the last is decided."""
    run = begin(config(asks("a", "b", "c"), tools="abc"))
    run = run.says(call("a"), call("b"), call("c"))
    run = run.give(run.asked("a").edit(n=1)).give(run.asked("b").approve())

    assert run.started == ["b"]
    assert run.give(run.asked("c").reject()).started == ["b", "a"]


def test_a_rejected_call_has_not_run() -> None:
    """D66: `rejected`, no after_tool_call; after_tool_result sees it."""
    after, result = Spy(), Spy()
    spy = Hooks("spy", after_tool_call=after, after_tool_result=result)
    run = begin(config(asks("a", "b"), spy)).says(call("a"), call("b"))
    run = run.give(run.asked("a").reject("ask Ada"), run.asked("b").reject())

    assert run.script[2] == "a rejected: ask Ada"
    assert run.outcomes["b"] == "rejected"
    assert run.results[1].text == "A person rejected this call of b."
    assert (after.views, result.calls, run.started) == ([], ["a", "b"], [])


def test_a_person_may_answer_for_the_tool() -> None:
    """D66: `ok`, hooks run, no RunTool."""
    after = Spy(ToolResultUpdate(details={"by": "hand"}))
    run = begin(config(asks("a"), Hooks("spy", after_tool_call=after))).says(call("a"))
    run = run.give(run.asked("a").respond("paid by hand"))

    assert run.script[2] == "a ok: paid by hand"
    assert run.results[0].details == {"by": "hand"}
    assert (after.calls, run.started) == (["a"], [])


@pytest.mark.parametrize("id", ["", "same"])
def test_calls_of_one_id_are_told_apart_by_position(id: str) -> None:  # noqa: A002
    """D67: one slot, one run, one result each."""
    calls = [ToolCall("a", {"n": n}, id) for n in (1, 2)]
    run = begin(config()).says(*calls)
    first, second = run.all(RunTool)

    assert [first.id, second.id] == ["r.1.1.run.0", "r.1.1.run.1"]
    run = run.give(second.reply("2"), first.reply("1"))
    assert [result.text for result in run.results] == ["1", "2"]
    assert [result.call_id for result in run.results] == [id, id]


@pytest.mark.parametrize(
    ("parts", "finish"),
    [
        ((), "end"),
        ((Thinking("hm"),), "end"),
        (("Let me see.",), "tools"),
        ((), "tools"),
    ],
)
def test_a_reply_without_calls_ends_the_run(parts: Any, finish: Any) -> None:
    """D68, D92: empty, only thinking, "tools" without calls: stored, the run is done."""
    reply = [Text(part) if isinstance(part, str) else part for part in parts]
    run = begin(config())
    run = run.give(run.one_request.reply(AssistantMessage(reply, finish=finish)))

    assert (run.reason, len(run.state.transcript)) == ("done", 2)
    assert RunResult.of(run.config, run.state).output == "".join(
        part for part in parts if isinstance(part, str)
    )


def test_a_hook_may_ask_again_after_an_empty_reply() -> None:
    """D68, D92: as the nudge policy does."""
    nudge = Spy(lambda v: TurnUpdate(inject="Go on.") if not v.message.parts else None)
    run = begin(config(Hooks("nudge", prepare_next_turn=nudge))).says()

    assert run.script == ["user: go", "assistant:", "user: Go on."]


RETRY = Hooks("retry", on_model_error=Spy(RetryUpdate(retry=True)))


def test_a_retried_attempt_leaves_no_trace_but_its_cost() -> None:
    """D69: not stored; usage counted; steering is not taken between attempts."""
    partial = AssistantMessage("ha", usage=Usage(5, 1))
    run = begin(config(RETRY)).give(Steer("s"))
    run = run.fails(ModelError("cut", "cut_stream", partial=partial)).woke()

    assert run.script == ["user: go"]
    assert run.state.usage == Usage(5, 1)
    assert run.one_request.id == "r.1.1.model.2"
    assert run.says("half", usage=Usage(1, 1)).state.usage == Usage(6, 2)
    assert run.state.requests == 2


def test_each_attempt_builds_its_request_anew() -> None:
    """D69: transform_context is asked again, with the number of requests so far."""
    context = Spy(ContextUpdate(system="1"), ContextUpdate(system="2"))
    run = (
        begin(config(RETRY, Hooks("context", transform_context=context))).fails().woke()
    )

    assert [request.system for request in run.requests] == ["1", "2"]
    assert [view.requests for view in context.views] == [0, 1]


def test_nothing_is_retried_unless_a_hook_says_so() -> None:
    """D70."""
    busy = ModelError("busy", "overloaded", retry_after=1)

    assert begin(config()).fails(busy).reason == "model_error"
    silent = config(Hooks("silent", on_model_error=Spy()))
    assert begin(silent).fails(busy).reason == "model_error"
    delayed = config(Hooks("delay", on_model_error=Spy(RetryUpdate(delay=3))))
    assert begin(delayed).fails(busy).reason == "model_error"


def test_a_fallback_is_for_the_attempts_of_its_turn() -> None:
    """D71: model and thinking; the next turn starts from the settings again."""
    retry = Spy(RetryUpdate(retry=True, model="test:b", thinking="low"), RETRY_AGAIN)
    run = begin(config(Hooks("retry", on_model_error=retry))).fails().woke().fails()
    run = run.woke().says(call("a")).ran("a")

    assert [(r.model, r.thinking) for r in run.requests] == [
        ("test:model", None),
        ("test:b", "low"),
        ("test:b", "low"),
        ("test:model", None),
    ]
    assert run.state.settings == run.config.settings
    (reply,) = (m for m in run.state.transcript if isinstance(m, AssistantMessage))
    assert reply.model == "test:b"


RETRY_AGAIN = RetryUpdate(retry=True)
BROKEN = ToolSpec("b", "", {"type": "no such type"})


def test_what_cannot_run_is_answered_at_once() -> None:
    """D72: no gate, no after_tool_call; after_tool_result sees it."""
    gate, after, result = (
        Spy(),
        Spy(),
        Spy(lambda v: ToolResultUpdate(content=v.outcome)),
    )
    spy = Hooks(
        "s", before_tool_call=gate, after_tool_call=after, after_tool_result=result
    )
    run = begin(config(spy, tools=["a", BROKEN])).says(
        call("zz"), ToolCall.parse("a", "[1", "m"), call("b"), call("a")
    )

    assert gate.calls == ["a"]
    run = run.ran("a", "A")
    assert after.calls == ["a"]
    assert result.calls == ["zz", "m", "b", "a"]
    assert run.script[2:] == [
        "zz unknown_tool: unknown_tool",
        "m invalid_arguments: invalid_arguments",
        "b invalid_arguments: invalid_arguments",
        "a ok: ok",
    ]


def test_an_unknown_tool_is_told_the_nearest_ones() -> None:
    """D72: the error text names the nearest tools and lists the rest."""
    made = config(tools=["search", "fetch", "delete_file"])
    text = begin(made).says(call("serch")).results[0].text

    assert "'serch'" in text
    assert "Did you mean 'search'" in text
    assert "delete_file" in text


def test_a_cut_replys_calls_are_shaped_before_they_are_stored() -> None:
    """D72: a call of a length-cut reply: after_tool_result sees it, no other point."""
    other, result = Spy(), Spy(ToolResultUpdate(content="cut"))
    spy = Hooks(
        "s",
        prepare_tool_call=other,
        before_tool_call=other,
        after_tool_call=other,
        after_tool_result=result,
    )
    run = begin(config(spy)).says(call("a"), finish="length")

    assert (other.views, result.calls) == ([], ["a"])
    assert run.script[2] == "a truncated: cut"


def test_answers_that_winding_up_makes_pass_no_hook() -> None:
    """D72: they are not a tool's."""
    result = Spy(ToolResultUpdate(content="shaped"))
    spy = Hooks("spy", after_tool_result=result)

    begin(config(spy)).says(call("a")).give(Abort())
    begin(config(spy)).says("half", call("a"), finish="error")
    begin(config(spy, Hooks("b", before_tool_call=Spy(5)))).says(call("a"))
    assert result.views == []


MANY = [call("zz", str(n)) for n in range(10_000)]


@pytest.mark.parametrize(
    ("calls", "more"),
    [
        (MANY, {}),
        ([call("a", c.id) for c in MANY], {"parallel": False}),
    ],
    ids=["unknown", "blocked one by one"],
)
def test_ten_thousand_refused_calls_are_no_recursion(
    calls: list[ToolCall], more: dict[str, Any]
) -> None:
    """D73."""
    block = Hooks("block", before_tool_call=lambda _: Block("no"))
    run = begin(config(block, **more)).says(*calls)

    assert len(run.results) == 10_000
    assert {result.outcome for result in run.results} <= {"unknown_tool", "blocked"}
    assert run.one_request.id == "r.1.2.model.1"


def test_a_request_says_which_hook_chose_its_model() -> None:
    """D74: so that an error about a model nobody serves can name it."""
    shown = Hooks(
        "shown", transform_context=Spy(ContextUpdate(model="test:shown"), None)
    )
    turn = Hooks("turn", prepare_next_turn=Spy(TurnUpdate(model="test:turn"), None))
    run = begin(config(shown, turn))
    assert run.one_request.by == {"model": "shown"}

    run = run.says(call("a")).ran("a")
    assert (run.one_request.model, run.one_request.by) == (
        "test:turn",
        {"model": "turn"},
    )
    run = run.says(call("a", "2")).ran("2")
    assert run.one_request.by == {"model": "turn"}
    assert run.says("hi").give(Prompt("x")).one_request.by == {}
    assert run.give(Abort(), Continue()).one_request.by == {"model": "turn"}
    assert run.give(Abort(), Continue(model="test:own")).one_request.by == {}


def test_a_request_says_which_hook_fell_back_to_its_model() -> None:
    """D74: for the attempts of this turn."""
    retry = Spy(RetryUpdate(retry=True, model="test:b"), RETRY_AGAIN)
    run = begin(config(Hooks("retry", on_model_error=retry))).fails().woke()

    assert (run.one_request.model, run.one_request.by) == ("test:b", {"model": "retry"})
    run = run.fails().woke()
    assert run.one_request.by == {"model": "retry"}
    assert run.says(call("a")).ran("a").one_request.by == {}


def test_two_tools_of_one_name_are_refused_when_the_config_is_built() -> None:
    """D75."""
    nested = config().as_tool("a", "A run.")
    pairs: list[list[Any]] = [
        [spec("a"), spec("b"), spec("a")],
        [spec("a"), spec("b"), nested],
    ]
    for twins in pairs:
        with pytest.raises(ValueError, match=r"'a' \(tools\[0\] and tools\[2\]\)"):
            LoopConfig(model="test:m", tools=twins)


def test_of_two_tools_that_a_hook_offers_the_first_wins() -> None:
    """D75."""
    twins = [typed("a", n="integer"), typed("a", n="string")]
    offer = Hooks("offer", transform_context=Spy(ContextUpdate(tools=twins)))
    run = begin(config(offer)).says(call("a", n="3"))

    assert run.tool("a").arguments == {"n": 3}
    assert run.tool("a").spec == twins[0]


A, B, A_TOO = spec("a"), spec("b"), typed("a", n="string")


@pytest.mark.parametrize(
    "rule",
    [
        Hooks(transform_context=lambda v: ContextUpdate(tools=[*v.tools, A_TOO])),
        Hooks(prepare_next_turn=lambda v: TurnUpdate("on", tools=[*v.tools, A_TOO])),
    ],
)
def test_no_request_offers_two_tools_of_one_name(rule: Hooks) -> None:
    """D75: services refuse such a request."""
    run = begin(config(rule, tools=[A, B])).says("hi")
    run = run if run.state.waiting else run.give("go on")

    assert [(A, B)] * 2 == [request.tools for request in run.requests]


def test_no_input_offers_two_tools_of_one_name() -> None:
    """D75."""
    run = begin(config(), Prompt("go", tools=[A, B, A_TOO])).fails()
    run = run.give(Continue(tools=[B, A, A_TOO]))

    assert [(A, B), (B, A)] == [request.tools for request in run.requests]


@pytest.mark.parametrize("elsewhere", [True, False])
def test_a_tool_that_only_a_hook_offered_is_wanted(elsewhere: bool) -> None:  # noqa: FBT001
    """D76: the effect says what was offered; an `unknown_tool` answer is like any other."""
    offered = spec("new", elsewhere=elsewhere)
    offer = Hooks("offer", transform_context=Spy(ContextUpdate(tools=[offered])))
    run = begin(config(offer)).says(call("new"))
    effect = run.tool("new")

    assert effect.spec.elsewhere == elsewhere
    run = run.give(effect.fail("Nobody here can run it.", "unknown_tool"))
    assert run.outcomes == {"new": "unknown_tool"}
    assert run.one_request.id == "r.1.2.model.1"


@pytest.mark.parametrize(
    ("output", "named"),
    [
        ({"k": [1, {2}]}, "['k'][1]"),
        (object(), "object"),
        ({1: 2}, "1"),
        (1e999, "inf"),
    ],
)
def test_an_output_that_is_not_json_is_an_error_of_the_call(
    output: object, named: str
) -> None:
    """D77: the text says which value; the run goes on."""
    run = begin(config()).says(call("a")).ran("a", output)

    assert run.outcomes == {"a": "error"}
    assert "not JSON" in run.results[0].text
    assert named in run.results[0].text
    assert run.one_request.id == "r.1.2.model.1"


@pytest.mark.parametrize("output", ["", None, (), ToolOutput(())])
def test_an_empty_output_is_stored_empty(output: object) -> None:
    """D78."""
    run = (
        begin(config())
        .says(call("a"))
        .ran("a", output if output != () else ToolOutput(()))
    )

    assert (run.results[0].parts, run.outcomes) == ((), {"a": "ok"})


def test_limits_are_asked_about_after_the_batch() -> None:
    """D80: whatever was reached in mid-batch, the batch settles first."""
    stop = Spy(lambda view: Stop("limit", f"{len(view.results)} calls"))
    run = begin(config(Hooks("limit", should_stop_after_turn=stop)))
    run = run.says(call("a"), call("b")).ran("a", "A")

    assert stop.views == []
    run = run.ran("b", "B")
    assert (run.outcomes, str(run.stop)) == (
        {"a": "ok", "b": "ok"},
        "limit: 2 calls (hook 'limit')",
    )


def test_a_tool_in_flight_waits_in_the_state() -> None:
    """D82: what it needs to be performed again, under the same id."""
    tools = [spec("a", on_interrupt="retry"), spec("b")]
    run = begin(config(tools=tools)).says(call("a", n=1), call("b"))

    assert [(e.id, e.spec.on_interrupt) for e in run.all(RunTool)] == [
        ("r.1.1.run.0", "retry"),
        ("r.1.1.run.1", "report"),
    ]
    run = run.give(run.tool("b").fail("the outcome is unknown", "interrupted"))
    assert run.ran("a").outcomes == {"a": "ok", "b": "interrupted"}


def test_a_refusal_is_stored_and_ends_the_run() -> None:
    """D85: done."""
    run = begin(config()).says("I would rather not.", finish="refusal")

    assert run.reason == "done"
    assert RunResult.of(run.config, run.state).output == "I would rather not."


def test_the_calls_of_a_refusal_are_not_run() -> None:
    """D85: done all the same; each call has its result."""
    run = begin(config()).says("No.", call("a"), finish="refusal")

    assert (run.reason, run.started, run.outcomes) == ("done", [], {"a": "truncated"})


def test_a_cut_reply_that_a_hook_replaced_is_not_cut() -> None:
    """D89: the new finish counts: its calls go through the gate."""
    whole = ReplyUpdate(AssistantMessage([call("a", n=1)], finish="tools"))
    gate = Spy()
    hook = Hooks("mend", after_model_call=Spy(whole), before_tool_call=gate)
    run = begin(config(hook)).says(call("a"), finish="length")

    assert (gate.calls, run.started) == (["a"], ["a"])


def test_a_whole_reply_that_a_hook_replaced_by_a_cut_one_is_cut() -> None:
    """D89: the other way round, too."""
    cut = Spy(lambda v: AssistantMessage(v.message.parts, finish="length"))
    run = begin(config(Hooks("cut", after_model_call=cut))).says(call("a"))

    assert (run.started, run.outcomes) == ([], {"a": "truncated"})


@pytest.mark.parametrize(
    ("stop", "reason"),
    [(Stop("limit", "30 turns"), "limit"), ("enough", "hook")],
)
def test_a_stopped_run_has_no_output(stop: object, reason: str) -> None:
    """D90: None; the text is in `messages`."""
    hook = Hooks("stop", should_stop_after_turn=Spy(stop))
    run = begin(config(hook)).says("so far")
    result = RunResult.of(run.config, run.state)

    assert (run.reason, result.output) == (reason, None)
    assert words(result.messages)[-1] == "assistant: so far"


def test_a_terminated_run_has_no_output() -> None:
    """D90: None; the text is in `messages`."""
    run = begin(config()).says("so far", call("a")).ran("a", END)
    result = RunResult.of(run.config, run.state)

    assert (run.reason, result.output) == ("terminated", None)
    assert words(result.messages)[1] == "assistant: so far →a"


C_VECTOR = pvector([UserMessage("x")])


def _from_start() -> State:
    return begin(config(), transcript=C_VECTOR).state


def _from_prompt() -> State:
    return begin(config(), Prompt(C_VECTOR)).state


def _from_transcript() -> State:
    hook = Hooks("h", prepare_next_turn=Spy(TurnUpdate(transcript=C_VECTOR)))
    return begin(config(hook)).says("hi").state


def _from_context() -> State:
    return begin(config(Hooks("h", transform_context=Spy(lambda _: C_VECTOR)))).state


def _from_update() -> State:
    update = ContextUpdate(messages=C_VECTOR, memo={"seen": C_VECTOR[:0]})
    return begin(config(Hooks("h", transform_context=Spy(update)))).state


def _from_pickle() -> State:
    return pickle.loads(pickle.dumps(_from_start()))  # type: ignore[no-any-return]  # noqa: S301  # our own


def _from_copy() -> State:
    return deepcopy(_from_start())


@pytest.mark.parametrize(
    "make",
    [
        _from_start,
        _from_prompt,
        _from_transcript,
        _from_context,
        _from_update,
        _from_pickle,
        _from_copy,
    ],
)
def test_vectors_from_outside_are_rebuilt(make: Callable[[], State]) -> None:
    """D93: a C vector never gets into a state."""
    found = list(vectors(make()))

    assert {type(vector).__module__ for vector in found} == {"pyrsistent._pvector"}
    assert any(message.text == "x" for vector in found for message in vector)


@pytest.mark.parametrize("again", [_from_pickle, _from_copy, _from_start])
def test_equal_states_have_equal_hashes(again: Callable[[], State]) -> None:
    state = _from_start()

    assert (state, hash(state)) == (again(), hash(again()))


def vectors(record: Any) -> Iterator[PVector[Any]]:
    """Every vector that a record holds."""
    if isinstance(record, PVector):
        yield record
    for held in holds(record):
        yield from vectors(held)


def holds(record: Any) -> Iterable[Any]:
    if isinstance(record, PVector | tuple):
        return record  # pyright: ignore[reportUnknownVariableType]  # of anything
    if isinstance(record, dict):
        return record.values()  # pyright: ignore[reportUnknownVariableType]
    fields: Any = getattr(record, "__attrs_attrs__", ())
    return [getattr(record, field.name) for field in fields]


def test_results_are_stored_together_in_source_order() -> None:
    """D61, architecture 6: whatever the order in which they came."""
    run = begin(config(tools="abc")).says(call("a"), call("b"), call("c"))
    run = run.ran("c", "C").ran("a", "A")

    assert run.results == ()
    run = run.ran("b", "B")
    assert run.script[2:] == ["a ok: A", "b ok: B", "c ok: C"]
    added = [e.message for e in run.events(MessageAdded)]
    assert tuple(added[-3:]) == run.results
