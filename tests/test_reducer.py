"""What a step keeps, and what it leaves behind."""

import pytest

from loopcore import Abort, AssistantMessage, Consult, ModelError, ToolCall, Usage
from loopcore.events import RunEnd, TurnEnd
from loopcore.hooks import Hooks, Need, RawCallUpdate, ReplyUpdate, RetryUpdate
from tests.driving import Spy, begin, call, config, typed

NEED = Need.service("k", "policy")


def test_a_run_that_is_over_holds_nothing_open() -> None:
    """So two runs that end alike are alike, and a saved one is small."""
    need = Spy(NEED, None)
    ends = [
        begin(config()).says("hi"),
        begin(config()).fails(),
        begin(config()).says(call("a")).give(Abort()),
        begin(config(Hooks("h", transform_context=need))).give(Abort()),
        begin(config(Hooks("h", transform_context=Spy(5)))),
    ]
    for run in ends:
        state = run.state
        assert (state.stage, state.turn, state.ending, state.known) == (
            "idle",
            None,
            None,
            (),
        )
        assert state.waiting == ()


def test_a_point_that_was_passed_is_not_where_the_run_is() -> None:
    """An abort in mid-batch does not store the reply a second time."""
    need = Spy(NEED, None)
    run = begin(config(Hooks("h", after_model_call=need))).says("look", call("a"))
    run = run.give(run.one(Consult).reply(1))

    assert run.state.stage == "rest"
    run = run.give(Abort())
    assert [type(message).__name__ for message in run.state.transcript] == [
        "UserMessage",
        "AssistantMessage",
        "ToolResultMessage",
    ]


@pytest.mark.parametrize(
    ("partial", "model"),
    [(None, "test:b"), (AssistantMessage("half", model="test:own"), "test:own")],
)
def test_a_failed_reply_names_the_model_that_was_asked(
    partial: AssistantMessage | None, model: str
) -> None:
    """Or the one that says it has replied."""
    retry = Spy(RetryUpdate(retry=True, model="test:b"), None)
    run = begin(config(Hooks("h", on_model_error=retry))).fails().woke()
    run = run.fails(ModelError("x", partial=partial))
    reply = run.state.transcript[-1]

    assert isinstance(reply, AssistantMessage)
    assert reply.model == model


def test_a_reply_that_a_hook_made_a_failed_one_ends_the_run() -> None:
    """With the hook's own error; nothing of it is run."""
    error = ModelError("not in this house", "content_filter")
    failed = ReplyUpdate(AssistantMessage([call("a")], finish="error", error=error))
    run = begin(config(Hooks("h", after_model_call=Spy(failed)))).says("bad")

    assert (run.reason, run.stop.detail) == (
        "model_error",
        "content_filter: not in this house",
    )
    assert (run.started, run.outcomes) == ([], {"a": "truncated"})


def test_a_reply_is_paid_for_once_whatever_hooks_make_of_it() -> None:
    dear = AssistantMessage("other", usage=Usage(100, 100))
    run = begin(config(Hooks("h", after_model_call=Spy(dear))))

    assert run.says("bad", usage=Usage(2, 1)).state.usage == Usage(2, 1)


def test_a_hook_may_mend_what_is_no_json() -> None:
    """A call whose arguments were malformed runs with the hook's."""
    mend = Spy(RawCallUpdate(arguments={"n": "1"}))
    made = config(Hooks("h", prepare_tool_call=mend), tools=[typed("a", n="integer")])
    run = begin(made).says(ToolCall.parse("a", "{n: 1", "a"))

    assert run.tool("a").arguments == {"n": 1}
    assert mend.views[0].call.malformed


def test_a_second_run_counts_from_the_start() -> None:
    """Its requests, tokens and repairs; and while it runs it has no stop."""
    context = Spy()
    made = config(Hooks("h", transform_context=context))
    run = begin(made).says("one", usage=Usage(5, 5)).give("again")

    assert [view.requests for view in context.views] == [0, 0]
    assert (run.state.requests, run.state.usage) == (1, Usage())
    assert (run.state.stop, run.state.phase) == (None, "model")
    assert run.one_request.id == "r.2.1.model.1"


def test_a_second_run_may_be_repaired_as_often_as_the_first() -> None:
    made = config(output=int, repairs=1)
    run = begin(made).says("one").says("two")
    assert run.reason == "output_error"

    run = run.give("again").says("three")
    assert run.reason == ""
    assert run.says("4").reason == "done"


def test_each_turn_tells_what_it_cost() -> None:
    """With its failed attempts and its hooks' own requests, and without other turns."""
    turn = Spy()
    retry = Hooks(
        "h", on_model_error=Spy(RetryUpdate(retry=True)), prepare_next_turn=turn
    )
    partial = AssistantMessage("ha", usage=Usage(5, 1))
    run = begin(config(retry)).fails(ModelError("cut", partial=partial)).woke()
    run = run.says(call("a"), usage=Usage(2, 2)).ran("a").says("hi", usage=Usage(1, 0))

    assert [event.usage for event in run.events(TurnEnd)] == [Usage(7, 3), Usage(1, 0)]
    assert [view.usage for view in turn.views] == [Usage(7, 3), Usage(1, 0)]
    assert run.events(RunEnd)[0].usage == run.state.usage == Usage(8, 3)
