"""Where loopcore decides differently from the engine that it follows: T1 to T18."""

from collections.abc import Callable

import attrs
import pytest

from loopcore import (
    Abort,
    AssistantMessage,
    Continue,
    CustomMessage,
    FollowUp,
    ModelError,
    Rejected,
    State,
    Steer,
    ToolOutput,
    ToolSpec,
    UserMessage,
    deliver,
    project,
)
from loopcore.events import (
    Ended,
    HookWrote,
    MessageAdded,
    RunEnd,
    RunStart,
    Started,
    TurnEnd,
)
from loopcore.hooks import (
    ContextUpdate,
    Hooks,
    RetryUpdate,
    ToolCallUpdate,
    ToolCallView,
    ToolResultView,
    TurnUpdate,
    TurnView,
)
from tests.driving import Spy, begin, call, config, spec, typed, words


def burn(view: ToolResultView) -> None:
    if view.call.id == "a":
        raise KeyError(view.call.id)


def test_a_hook_that_raises_loses_no_result() -> None:
    """T1: results of tools that ran are stored, and the end carries everything."""
    run = begin(config(Hooks("burn", after_tool_call=burn))).says(call("a"), call("b"))
    run = run.ran("a", "A").ran("b", "B")

    assert run.script == ["user: go", "assistant: →a →b", "a ok: A", "b ok: B"]
    assert [event.results for event in run.events(TurnEnd)] == [run.results]
    assert [event.stop for event in run.events(RunEnd)] == [run.stop]
    assert (
        run.stop.reason,
        run.stop.hook,
        run.stop.point,
        run.stop.error,
    ) == ("hook_error", "burn", "after_tool_call", "KeyError: 'a'")


def test_a_hook_that_raises_at_the_gate_leaves_no_call_open() -> None:
    """T1: open calls are answered, and the turn is closed."""
    gate = Hooks("gate", before_tool_call=Spy(lambda _: 1 / 0))
    run = begin(config(gate)).says(call("a"), call("b"))

    assert run.outcomes == {"a": "cancelled", "b": "cancelled"}
    assert len(run.events(TurnEnd)) == 1
    assert run.started == []


def test_a_reply_cut_by_the_length_limit_runs_no_call_and_is_asked_again() -> None:
    """T2: its calls are `truncated`, and the next request shows that."""
    run = begin(config()).says(call("a"), finish="length")

    assert run.outcomes == {"a": "truncated"}
    assert run.started == []
    assert words(run.requests[1].messages) == run.script
    assert run.says("short now").reason == "done"


@pytest.mark.parametrize("finish", ["error", "aborted"])
def test_the_calls_of_a_failed_reply_are_answered_and_not_shown(
    finish: str,
) -> None:
    """T3: `truncated`; requests leave reply and results out; stop `model_error`."""
    run = begin(config()).says("half", call("a"), finish=finish)

    assert run.script[1:] == [
        "assistant: half →a",
        f"a truncated: {run.results[0].text}",
    ]
    assert run.started == []
    assert run.reason == "model_error"
    assert words(project(run.state.transcript)) == ["user: go"]


def test_an_abort_while_tools_run_asks_nothing_more() -> None:
    """T4: in-flight calls are cancelled, arrived outputs kept, queues untouched."""
    after, turn = Spy(), Spy()
    hooks = Hooks("after", after_tool_call=after), Hooks("turn", prepare_next_turn=turn)
    run = begin(config(*hooks)).says(call("a"), call("b")).ran("a", "A")
    run = run.give(Steer("later"), FollowUp("last"), Abort("enough"))

    assert run.outcomes == {"a": "ok", "b": "cancelled"}
    assert run.cancelled == ("r.1.1.run.1",)
    assert (after.calls, turn.views) == (["a"], [])
    assert len(run.state.steering) == len(run.state.follow_ups) == 1
    assert (len(run.requests), run.stop.reason, run.stop.detail) == (
        1,
        "aborted",
        "enough",
    )


def test_a_provider_that_says_aborted_has_failed() -> None:
    """T5: nobody aborted, so it is a `model_error`."""
    run = begin(config()).says("so f", finish="aborted")

    assert run.reason == "model_error"
    (reply,) = run.state.new[1:]
    assert isinstance(reply, AssistantMessage)
    assert (reply.text, reply.finish) == ("so f", "error")


def test_a_model_that_raises_is_a_model_error() -> None:
    """T6: no hook is blamed."""
    run = begin(config(Hooks("idle", after_model_call=Spy()))).fails("socket closed")

    assert (run.stop.reason, run.stop.hook) == ("model_error", None)
    assert run.stop.detail == "raised: socket closed"


def test_a_failing_tool_may_end_the_run() -> None:
    """T7: the flag is kept."""
    output = ToolOutput("no such file", outcome="error", terminate=True)
    run = begin(config()).says(call("a")).ran("a", output)

    assert run.reason == "terminated"
    assert run.outcomes == {"a": "error"}


def test_null_is_never_coerced() -> None:
    """T8: invalid unless the schema allows null."""
    run = begin(config(tools=[typed("a", n="integer", s="string", f="boolean")]))
    run = run.says(
        call("a", "1", n=None), call("a", "2", s=None), call("a", "3", f=None)
    )

    assert dict.fromkeys("123", "invalid_arguments") == run.outcomes


def test_null_is_passed_on_where_the_schema_allows_it() -> None:
    """T8: null stays null."""
    schema = {"type": "object", "properties": {"n": {"type": ["integer", "null"]}}}
    run = begin(config(tools=[ToolSpec("a", "", schema)])).says(call("a", n=None))

    assert run.tool("a").arguments == {"n": None}


def test_a_value_that_fits_another_branch_is_not_touched() -> None:
    """T9: valid as it stands."""
    either = {"anyOf": [{"type": "integer"}, {"type": "string"}]}
    schema = {"type": "object", "properties": {"n": either}}
    run = begin(config(tools=[ToolSpec("a", "", schema)])).says(call("a", n="3"))

    assert run.tool("a").arguments == {"n": "3"}


def _set(view: ToolCallView) -> None:
    view.arguments["n"] = 2


def _grow(view: ToolCallView) -> None:
    view.arguments["many"].append(2)


def _update(view: ToolCallView) -> None:
    view.call.arguments.update(n=2)


@pytest.mark.parametrize("edit", [_set, _grow, _update])
def test_arguments_cannot_be_edited_in_place(
    edit: Callable[[ToolCallView], None],
) -> None:
    """T10: the hook fails, and the tool does not run."""
    run = begin(config(Hooks("edit", before_tool_call=edit)))
    run = run.says(call("a", n=1, many=[1]))

    assert (run.stop.reason, run.stop.hook) == ("hook_error", "edit")
    assert run.started == []


def test_arguments_that_a_hook_gives_are_validated_again() -> None:
    """T10: and coerced like the model's own; the call stays as it was written."""
    update = ToolCallUpdate(arguments={"n": "2"})
    hook = Hooks("edit", before_tool_call=Spy(update))
    run = begin(config(hook, tools=[typed("a", n="integer")])).says(call("a", n=1))

    assert run.tool("a").arguments == {"n": 2}
    assert run.tool("a").call.arguments == {"n": 1}


def test_there_are_nine_points_and_no_other_place_to_raise_in() -> None:
    """T11: queues are inputs, projection is transform_context, keys are adapters'."""
    points = {
        field.name
        for field in attrs.fields(Hooks)
        if field.name not in {"name", "memo", "fail_closed", "tools"}
    }

    assert points == {
        "transform_context",
        "after_model_call",
        "on_model_error",
        "prepare_tool_call",
        "before_tool_call",
        "after_tool_call",
        "after_tool_result",
        "prepare_next_turn",
        "should_stop_after_turn",
    }


def test_a_steered_custom_message_is_not_hidden_from_hooks() -> None:
    """T12: it is stored, and the very next request's hooks see it."""
    context = Spy()
    run = begin(config(Hooks("context", transform_context=context)))
    run = run.give(Steer(CustomMessage("note", {"n": 1}))).says("first")

    assert run.requests[1].messages[-1] == CustomMessage("note", {"n": 1})
    assert context.views[1].messages[-1] == CustomMessage("note", {"n": 1})


def test_a_run_goes_on_after_a_failed_reply() -> None:
    """T13: the failed reply is stored, and never shown."""
    run = begin(config()).fails("boom").give(Continue())

    assert run.script == ["user: go", "assistant:"]
    assert words(project(run.one_request.messages)) == ["user: go"]
    assert run.says("now").reason == "done"


def test_there_must_be_something_to_answer() -> None:
    """T13: with nothing to answer it is refused."""
    run = begin(config()).says("hi")

    assert run.refuses(Continue()).kind == "nothing_to_continue"
    empty = State.start(run.config, run_id="e")
    assert isinstance(deliver(empty, Continue()).failure(), Rejected)


def test_each_field_of_an_update_is_on_its_own() -> None:
    """T14: another history leaves the system prompt and the tools alone."""
    said = [UserMessage("only this")]
    hooks = (
        Hooks("forget", prepare_next_turn=Spy(TurnUpdate(transcript=said))),
        Hooks("show", transform_context=Spy(ContextUpdate(said))),
    )
    run = begin(config(*hooks, system="Be brief.")).says(call("a")).ran("a")

    for request in run.requests:
        assert request.system == "Be brief."
        assert [tool.name for tool in request.tools] == ["a", "b"]


def test_a_hook_may_want_another_turn_after_a_final_reply() -> None:
    """T15: `inject` makes one."""
    inject = Spy(TurnUpdate(inject="Review it."), None)
    run = begin(config(Hooks("review", prepare_next_turn=inject))).says("draft")

    assert run.script == ["user: go", "assistant: draft", "user: Review it."]
    assert words(run.one_request.messages) == run.script
    assert run.says("final").reason == "done"


CUT = ModelError("no end", "cut_stream", partial=AssistantMessage("half"))


def test_a_stream_without_an_end_is_one_failed_reply_with_what_had_come() -> None:
    """T16: one `MessageAdded`, with the partial text."""
    run = begin(config()).fails(CUT)

    (reply,) = run.state.new[1:]
    assert isinstance(reply, AssistantMessage)
    assert (reply.text, reply.finish) == ("half", "error")
    assert reply.error == ModelError("no end", "cut_stream")
    assert run.added == run.script
    assert run.stop.detail == "cut_stream: no end"


def test_a_stream_without_an_end_may_be_retried() -> None:
    """T16: its kind is retryable, and then nothing of it is stored."""
    retry = Spy(lambda view: RetryUpdate(view.error.retryable))
    run = begin(config(Hooks("retry", on_model_error=retry))).fails(CUT).woke()

    assert run.says("whole").script == ["user: go", "assistant: whole"]


def _stronger(_: TurnView) -> TurnUpdate:
    return TurnUpdate(
        model="test:strong", thinking="high", system="S", tools=[spec("z")]
    )


def test_settings_changed_by_hooks_last_until_the_next_prompt() -> None:
    """T17: also through Continue."""
    stop = Spy("enough", None)
    hook = Hooks("stronger", prepare_next_turn=_stronger, should_stop_after_turn=stop)
    run = begin(config(hook)).says(call("a")).ran("a").give(Continue())
    settings = run.state.settings

    assert (run.one_request.model, run.one_request.system) == ("test:strong", "S")
    assert (settings.thinking, [t.name for t in settings.tools]) == ("high", ["z"])
    again = run.says("done").give("and now?")
    assert again.state.settings == run.config.settings
    assert again.one_request.model == "test:model"


def test_a_follow_up_shows_as_its_message() -> None:
    """T18: there is no event of its own."""
    run = begin(config()).give(FollowUp("and then?")).says("first")

    assert run.added == ["user: go", "assistant: first", "user: and then?"]
    assert {type(event) for event in run.told} <= {
        RunStart,
        MessageAdded,
        Started,
        Ended,
        TurnEnd,
        HookWrote,
        RunEnd,
    }
    assert [event.message.text for event in run.events(MessageAdded)][-1] == "and then?"
