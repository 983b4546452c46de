"""Lifecycle vectors about a call before it runs: lookup, arguments, the before-hook."""

import pytest

from loopcore import Abort, FollowUp, RunTool, Steer
from loopcore.events import Started
from loopcore.hooks import (
    Block,
    Hooks,
    Need,
    RawCallUpdate,
    ToolCallUpdate,
    ToolCallView,
)
from loopcore.tools import ToolOutput
from tests.driving import Spy, begin, call, config, typed
from tests.hooked import raises

SAY = typed("say", "text", text="string")


def test_a_blocked_call_is_answered_with_the_reason() -> None:
    """Vector 6: it does not run, no after-hook sees it, the run goes on."""
    after = Spy()
    gate = Hooks("gate", before_tool_call=Spy(Block("not on a Sunday")))
    run = begin(config(gate, Hooks("after", after_tool_call=after))).says(call("a"))

    assert run.script[-1] == "a blocked: not on a Sunday"
    assert (run.started, after.views, len(run.requests)) == ([], [], 2)


def test_a_block_without_a_reason_says_something() -> None:
    """Vector 7: the text is never empty."""
    run = begin(config(Hooks("gate", before_tool_call=Spy(Block())))).says(call("a"))

    assert run.results[0].text == "This call of a was blocked."


def test_a_gate_that_waits_is_an_effect_that_an_abort_cancels() -> None:
    """Vector 8: hooks get no cancel token, for they are pure; what waits is a Need (D21)."""
    ask = Spy(Need.service("verdict", "policy", {"tool": "a"}))
    run = begin(config(Hooks("policy", before_tool_call=ask))).says(call("a"))
    (consult,) = run.state.waiting
    run = run.give(Abort())

    assert run.cancelled == (consult.id,)
    assert (run.outcomes, run.reason) == ({"a": "cancelled"}, "aborted")


def test_the_gate_is_not_asked_about_calls_that_cannot_run() -> None:
    """Vector 9: an unknown tool, or arguments that do not fit."""
    gate = Spy()
    cfg = config(Hooks("gate", before_tool_call=gate), tools=[SAY])
    run = begin(cfg).says(call("ghost"), call("say", txt="hi"))

    assert run.outcomes == {"ghost": "unknown_tool", "say": "invalid_arguments"}
    assert gate.views == []


def test_every_way_to_answer_a_call_in_one_batch() -> None:
    """Vector 24: seven results in source order, each with its own outcome."""
    no = Hooks("no", before_tool_call=Spy(Block("no"))).for_tools("b")
    run = begin(config(no, tools=["a", "b", SAY])).says(
        call("a", "ok"),
        call("ghost", "unknown"),
        call("say", "invalid"),
        call("b", "blocked"),
        call("a", "missing"),
        call("a", "error"),
        call("a", "raised"),
    )
    run = run.ran("raised", ToolOutput("ZeroDivisionError", outcome="raised"))
    run = run.ran("error", ToolOutput("disk full", outcome="error"))
    run = run.ran("missing", ToolOutput("not here", outcome="unknown_tool"))
    run = run.ran("ok", "fine")

    assert list(run.outcomes.items()) == [
        ("ok", "ok"),
        ("unknown", "unknown_tool"),
        ("invalid", "invalid_arguments"),
        ("blocked", "blocked"),
        ("missing", "unknown_tool"),
        ("error", "error"),
        ("raised", "raised"),
    ]
    assert (run.reason, len(run.requests)) == ("", 2)


def test_arguments_that_do_not_fit_are_named_with_what_was_received() -> None:
    """Vector 25: the model can mend them, the tool was not run."""
    run = begin(config(tools=[SAY])).says(call("say", text=["hi"]))

    text = run.results[0].text
    assert ("text" in text, '["hi"]' in text, run.started) == (True, True, [])


def test_a_raw_call_can_be_mended_before_it_is_validated() -> None:
    """Vector 26: a field that the model left out is filled in."""
    fill = Spy(lambda view: RawCallUpdate(arguments={"text": "hi", **view.arguments}))
    cfg = config(Hooks("fill", prepare_tool_call=fill), tools=[SAY])
    run = begin(cfg).says(call("say"))

    assert run.tool("say").arguments == {"text": "hi"}


def test_arguments_are_coerced_for_the_tool_alone() -> None:
    """Vector 27: the event and the transcript show what the model wrote."""
    run = begin(config(tools=[SAY])).says(call("say", text=5))

    effect = run.one(RunTool)
    started = run.events(Started)[-1].effect
    assert (effect.arguments, effect.call.arguments) == ({"text": "5"}, {"text": 5})
    assert started == effect


def test_a_gate_cannot_change_arguments_in_place() -> None:
    """Vector 28: the source engine runs them unchecked; here that is a fault (T10)."""

    def edit(view: ToolCallView) -> None:
        view.arguments["extra"] = 1

    run = begin(config(Hooks("edit", before_tool_call=edit))).says(call("a"))

    assert (run.reason, run.stop.hook, run.started) == ("hook_error", "edit", [])


def test_arguments_from_a_gate_are_validated_again() -> None:
    """Vector 28: what an update says passes the schema, or is refused (T10, D43)."""
    write = Spy(ToolCallUpdate(arguments={"text": ["no"]}))
    cfg = config(Hooks("write", before_tool_call=write), tools=[SAY])
    run = begin(cfg).says(call("say", text="hi"))

    assert run.outcomes == {"say": "invalid_arguments"}
    assert "'write'" in run.results[0].text


def test_a_gate_that_raises_in_a_parallel_batch_lets_nothing_run() -> None:
    """Vector 59: both calls are answered, and the turn is closed (T1, D40)."""
    gate = Hooks("gate", before_tool_call=Spy(None, raises))
    run = begin(config(gate)).says(call("a"), call("b"))

    assert run.outcomes == {"a": "cancelled", "b": "cancelled"}
    assert (run.started, run.reason) == ([], "hook_error")


def test_a_gate_that_raises_in_a_sequential_batch_keeps_what_ran() -> None:
    """Vector 61: the first result stands, the second call is answered (D40)."""
    gate = Hooks("gate", before_tool_call=Spy(None, raises))
    run = begin(config(gate, parallel=False)).says(call("a"), call("b")).ran("a", "A")

    assert run.script[2:] == ["a ok: A", f"b cancelled: {run.results[1].text}"]
    assert run.reason == "hook_error"


def test_a_second_tool_of_one_name_is_refused() -> None:
    """Vector 65: the source engine lets the first win; a config says so at once (D75)."""
    with pytest.raises(ValueError, match="Two tools are named 'a'"):
        config(tools=["a", "a"])


def test_calls_with_one_id_both_run_and_are_both_answered() -> None:
    """Vector 65: told apart by their place (D67)."""
    run = begin(config()).says(call("a", "x"), call("b", "x"))
    first, second = run.all(RunTool)
    run = run.give(second.reply("B"), first.reply("A"))

    assert run.script[2:] == ["x ok: A", "x ok: B"]
    assert [result.name for result in run.results] == ["a", "b"]


def test_steers_and_follow_ups_wait_for_a_batch() -> None:
    """Vectors 19, 20: nothing is said between a call and its result."""
    run = begin(config()).says(call("a")).give(Steer("now"), FollowUp("later"))
    run = run.ran("a", "A")

    assert run.script == ["user: go", "assistant: →a", "a ok: A", "user: now"]
