"""What an abort cancels, keeps and answers, wherever it comes: D20 to D26."""

from typing import Any

import pytest

from loopcore import (
    Abort,
    AssistantMessage,
    Consult,
    FollowUp,
    Steer,
    Text,
    Thinking,
    ToolOutput,
    Usage,
    project,
)
from loopcore.events import Ended, HookWrote, RunEnd, TurnEnd
from loopcore.hooks import (
    Ask,
    Block,
    Hooks,
    Need,
    RetryUpdate,
    StopUpdate,
    ToolCallUpdate,
    ToolResultUpdate,
    TurnUpdate,
)
from tests.driving import Run, Spy, begin, call, config, typed, words

NEED = Need.service("k", "policy")


def for_call(name: str, answer: object) -> Any:  # a hook's function
    return Spy(lambda view: answer if view.call.id == name else None)


def cancelled_ends(run: Run) -> tuple[str, ...]:
    """The effects whose end was told as cancelled."""
    return tuple(e.effect.id for e in run.events(Ended) if e.cancelled)


def ended_once(run: Run) -> bool:
    return len(run.events(TurnEnd)) == len(run.events(RunEnd)) == 1


def test_a_need_before_the_request_is_cancelled() -> None:
    """D20: the turn is closed, and there is no request."""
    run = begin(config(Hooks("need", transform_context=Spy(NEED)))).give(Abort("no"))

    assert run.cancelled == ("r.1.1.transform_context.1.need.k",)
    assert cancelled_ends(run) == run.cancelled
    assert run.requests == ()
    assert ended_once(run)
    assert run.events(TurnEnd)[0].message is None
    assert str(run.stop) == "aborted: no"


@pytest.mark.parametrize("point", ["prepare_tool_call", "before_tool_call"])
def test_a_need_at_the_gate_cancels_the_batch(point: str) -> None:
    """D21: every call without an output is `cancelled`; nothing was started."""
    gate: dict[str, Any] = {point: for_call("b", NEED)}
    run = begin(config(Hooks("need", **gate), tools="abc"))
    run = run.says(call("a"), call("b"), call("c"))

    assert run.started == []
    run = run.give(Abort())
    assert run.outcomes == dict.fromkeys("abc", "cancelled")
    assert run.started == []
    assert run.cancelled == (f"r.1.1.{point}.1.need.k",)
    assert run.reason == "aborted"


def test_what_was_refused_before_the_abort_stays_refused() -> None:
    """D21: only calls without an output are cancelled."""
    gates = Hooks("block", before_tool_call=for_call("a", Block("no")))
    need = Hooks("need", before_tool_call=for_call("b", NEED))
    run = begin(config(gates, need, tools=["b", typed("t", "n", n="integer"), "a"]))
    run = run.says(call("x"), call("t"), call("a"), call("b")).give(Abort())

    assert run.outcomes == {
        "x": "unknown_tool",
        "t": "invalid_arguments",
        "a": "blocked",
        "b": "cancelled",
    }


@pytest.mark.parametrize("fail_closed", [False, True])
@pytest.mark.parametrize("point", ["after_tool_call", "after_tool_result"])
def test_a_need_after_a_tool_counts_as_failed(
    point: str,
    fail_closed: bool,  # noqa: FBT001
) -> None:
    """D22: outputs stay (withheld if fail_closed); the other calls' hooks run."""
    mark = ToolResultUpdate(content="A, marked")
    first: dict[str, Any] = {point: for_call("a", mark)}
    last: dict[str, Any] = {point: for_call("a", NEED)}
    rules = Hooks("mark", **first), Hooks("need", fail_closed=fail_closed, **last)
    run = begin(config(*rules)).says(call("a"), call("b")).ran("a", "A").ran("b", "B")

    assert [effect.id for effect in run.state.waiting] == [f"r.1.1.{point}.0.need.k"]
    run = run.give(Abort("no"))
    withheld = "a error: [withheld: hook 'need' failed]"
    assert run.script[2:] == [withheld if fail_closed else "a ok: A, marked", "b ok: B"]
    assert last[point].calls == ["a", "a", "b"]
    assert (run.reason, run.stop.hook) == ("aborted", None)
    assert ended_once(run)


def test_an_abort_asks_no_hook_again_about_what_it_had_seen() -> None:
    """D22: a result that waits at after_tool_result has passed after_tool_call."""
    after = Spy()
    hook = Hooks("h", after_tool_call=after, after_tool_result=Spy(NEED))
    begin(config(hook)).says(call("a")).ran("a", "A").give(Abort())

    assert after.calls == ["a"]


def test_answers_that_had_come_are_not_used_after_an_abort() -> None:
    """D22: the hook that waits for a second answer counts as failed all the same."""
    hook = Spy(NEED, Need.service("l", "policy"), NEED)
    run = (
        begin(config(Hooks("need", after_tool_call=hook))).says(call("a")).ran("a", "A")
    )
    run = run.give(run.one(Consult).reply("yes")).give(Abort())

    assert hook.views[-1].answers == {}
    assert run.script[2:] == ["a ok: A"]
    assert run.reason == "aborted"


@pytest.mark.parametrize("point", ["prepare_next_turn", "should_stop_after_turn"])
def test_a_need_after_the_turn_is_cancelled(point: str) -> None:
    """D23: the turn is not ended twice; nothing of the point is kept."""
    wrote = {
        "prepare_next_turn": TurnUpdate(inject="more", model="test:other", memo=1),
        "should_stop_after_turn": StopUpdate("enough", memo=1),
    }[point]
    first: dict[str, Any] = {point: Spy(wrote)}
    last: dict[str, Any] = {point: Spy(NEED)}
    run = begin(config(Hooks("first", **first), Hooks("need", **last))).says("hi")
    run = run.give(Abort())

    assert run.script == ["user: go", "assistant: hi"]
    assert (run.state.settings, run.state.memos) == (run.config.settings, {})
    assert run.events(HookWrote) == ()
    assert ended_once(run)
    assert str(run.stop) == "aborted"


def test_a_pause_is_cancelled() -> None:
    """D24: while sleeping."""
    retry = Hooks("retry", on_model_error=Spy(RetryUpdate(retry=True, delay=5)))
    run = begin(config(retry)).fails().give(Abort())

    assert run.cancelled == cancelled_ends(run) == ("r.1.1.sleep.1",)
    assert run.script == ["user: go"]
    assert ended_once(run)


def test_a_question_is_cancelled() -> None:
    """D24: while asked; a sibling that runs is cancelled too."""
    ask = Hooks("ask", before_tool_call=for_call("a", Ask()))
    run = begin(config(ask)).says(call("a"), call("b")).give(Abort())

    assert set(run.cancelled) == {"r.1.1.ask.0", "r.1.1.run.1"}
    assert run.outcomes == {"a": "cancelled", "b": "cancelled"}
    assert run.state.waiting == ()


def test_what_arrived_is_kept_in_mid_batch() -> None:
    """D24: with its after-hooks, in source order."""
    redact = Hooks("redact", after_tool_result=Spy(ToolResultUpdate(content="[...]")))
    run = begin(config(redact, tools="abc")).says(call("a"), call("b"), call("c"))
    run = run.ran("c", "secret").give(Abort())

    assert run.cancelled == ("r.1.1.run.0", "r.1.1.run.1")
    assert run.outcomes == {"a": "cancelled", "b": "cancelled", "c": "ok"}
    assert run.script[4] == "c ok: [...]"
    assert "[...]" not in run.script[2]


def test_a_sequential_batch_is_aborted_like_any_other() -> None:
    """D24: what ran keeps its result, what waits is cancelled."""
    run = begin(config(parallel=False, tools="abc")).says(
        call("a"), call("b"), call("c")
    )
    run = run.ran("a", "A").give(Abort())

    assert run.started == ["a", "b"]
    assert run.outcomes == {"a": "ok", "b": "cancelled", "c": "cancelled"}


def test_an_edit_that_waits_is_cancelled_with_its_batch() -> None:
    """D24: an edited call has not run."""
    ask = Hooks("ask", before_tool_call=Spy(Ask()))
    run = begin(config(ask)).says(call("a"), call("b"))
    run = run.give(run.asked("a").edit(n=1)).give(Abort())

    assert run.cancelled == ("r.1.1.ask.1",)
    assert run.outcomes == {"a": "cancelled", "b": "cancelled"}
    assert run.started == []


@pytest.mark.parametrize("reason", ["", "the user pressed stop"])
def test_queues_outlive_an_abort(reason: str) -> None:
    """D24: and the reason is the stop's detail."""
    run = begin(config()).give(Steer("s"), FollowUp("f"), Abort(reason))

    assert (run.stop.reason, run.stop.detail) == ("aborted", reason)
    assert len(run.state.steering) == len(run.state.follow_ups) == 1
    assert len(run.requests) == 1


PARTIAL = AssistantMessage(
    [Thinking("hm"), Text("I will"), call("a")], usage=Usage(10, 2)
)


def test_streamed_text_is_kept() -> None:
    """D25: as an aborted reply, whose calls are `truncated`."""
    run = begin(config()).give(Abort(partials={"r.1.1.model.1": PARTIAL}))
    (reply,) = run.state.new[1:2]

    assert isinstance(reply, AssistantMessage)
    assert (reply.parts, reply.finish) == (PARTIAL.parts, "aborted")
    assert (reply.model, reply.error) == ("test:model", None)
    assert run.outcomes == {"a": "truncated"}
    assert run.state.usage == Usage(10, 2)
    assert run.events(TurnEnd)[0].message == reply
    assert words(project(run.state.transcript)) == ["user: go"]
    assert ended_once(run)


def test_streamed_text_of_another_effect_is_not_kept() -> None:
    """D25: only of the request that waits."""
    partials = {"r.1.1.model.2": PARTIAL, "r.1.1.model.1": PARTIAL, "": PARTIAL}
    run = begin(config()).says(call("a")).give(Abort(partials=partials))

    assert run.script == [
        "user: go",
        "assistant: →a",
        f"a cancelled: {run.results[0].text}",
    ]


def test_what_a_hooks_model_had_streamed_is_no_reply() -> None:
    """D25: only the run's own request has one."""
    hook = Hooks("h", transform_context=lambda _: Need.model("k", "Really?"))
    run = begin(config(hook))
    run = run.give(Abort(partials={run.one_request.id: PARTIAL}))

    assert run.script == ["user: go"]


def test_a_tool_may_be_cancelled_without_an_abort() -> None:
    """D26: an output like any other: after-hooks run, and the run goes on."""
    after = Spy()
    run = begin(config(Hooks("after", after_tool_call=after))).says(call("a"))
    run = run.ran("a", ToolOutput("stopped by the user", outcome="cancelled"))

    assert after.calls == ["a"]
    assert run.outcomes == {"a": "cancelled"}
    assert words(run.one_request.messages)[-1] == "a cancelled: stopped by the user"


@pytest.mark.parametrize("wish", [True, False])
def test_an_abort_does_not_ask_the_turns_hooks(wish: bool) -> None:  # noqa: FBT001
    """D24: they are for clean turns."""
    turn = Spy()
    hook = Hooks("turn", prepare_next_turn=turn, should_stop_after_turn=turn)
    gate = Hooks("gate", before_tool_call=Spy(ToolCallUpdate(terminate=wish)))
    run = begin(config(hook, gate)).says(call("a")).give(Abort())

    assert turn.views == []
    assert run.reason == "aborted"


@pytest.mark.parametrize("fail_closed", [False, True])
def test_a_reply_that_a_hook_had_not_let_pass_is_kept(fail_closed: bool) -> None:  # noqa: FBT001
    """D22, D25: as an aborted reply (withheld if fail_closed); its calls are not run."""
    need = Hooks("need", after_model_call=Spy(NEED), fail_closed=fail_closed)
    run = begin(config(need)).says("secret", call("a"), usage=Usage(3, 1)).give(Abort())
    (reply,) = run.state.new[1:2]

    assert isinstance(reply, AssistantMessage)
    assert reply.finish == "aborted"
    assert ("secret" in str(run.state.transcript)) is not fail_closed
    assert run.outcomes == ({} if fail_closed else {"a": "truncated"})
    assert run.events(TurnEnd)[0].message == reply
    assert run.state.usage == Usage(3, 1)
    assert ended_once(run)
