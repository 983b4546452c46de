"""Agent core rows about requests, and when a reply makes another."""

from typing import Any

from loopcore import (
    AssistantMessage,
    CustomMessage,
    Message,
    ModelError,
    Prompt,
    Steer,
    SystemMessage,
    UserMessage,
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
from loopcore.hooks import ContextUpdate, ContextView, Hooks, TurnUpdate
from tests.driving import Run, Spy, begin, call, config, spec, words
from tests.hooked import raises


def test_a_text_is_one_request_and_these_events() -> None:
    """Row 1: the run's own messages are the prompt and the reply."""
    run = begin(config(tools="")).says("hello")

    assert [type(event) for event in run.told] == [
        RunStart,
        MessageAdded,
        Started,
        Ended,
        MessageAdded,
        TurnEnd,
        RunEnd,
    ]
    assert words(run.state.new) == ["user: go", "assistant: hello"]


def test_a_model_never_sees_a_custom_message() -> None:
    """Row 2: it stays in the transcript."""
    run = begin(config(), Prompt([CustomMessage("note", 1), UserMessage("go")]))

    assert words(project(run.requests[0].messages)) == ["user: go"]
    assert run.script == ["custom:", "user: go"]


def last_two(view: ContextView) -> list[Message]:
    return list(view.messages)[-2:]


def test_a_request_may_show_the_last_messages_only() -> None:
    """Row 3: two of five; all are stored."""
    history = [UserMessage("1"), AssistantMessage("2"), UserMessage("3")]
    history += [AssistantMessage("4")]
    run = begin(config(Hooks(transform_context=last_two)), transcript=history)

    assert words(run.requests[0].messages) == ["assistant: 4", "user: go"]
    assert len(run.script) == 5


def test_a_call_makes_a_second_request() -> None:
    """Row 4: tools are declared with each request, so no message declares them."""
    run = begin(config()).says(call("a")).ran("a", "A").says("done")

    assert words(run.state.new) == [
        "user: go",
        "assistant: →a",
        "a ok: A",
        "assistant: done",
    ]
    assert len(run.requests) == 2


def test_a_call_runs_whatever_the_reply_says_of_its_end() -> None:
    """Row 5: it ended, and has a call."""
    run = begin(config()).says(call("a"), finish="end").ran("a")

    assert (run.started, len(run.requests)) == (["a"], 2)


def test_a_reply_that_says_it_calls_and_does_not_ends_the_run() -> None:
    """Row 6: a policy may ask again, the run itself does not (D92)."""
    run = begin(config()).says("hm", finish="tools")

    assert (run.reason, len(run.requests)) == ("done", 1)


def test_a_cut_reply_runs_no_call_and_is_asked_again() -> None:
    """Row 7: two error results, a second request."""
    run = begin(config()).says(call("a"), call("b"), finish="length")

    assert run.outcomes == {"a": "truncated", "b": "truncated"}
    assert (run.started, len(run.requests)) == ([], 2)


def test_a_cut_text_ends_the_run() -> None:
    """Row 8: its finish is kept."""
    run = begin(config()).says("once upon a", finish="length")

    reply = run.state.new[-1]
    assert isinstance(reply, AssistantMessage)
    assert (reply.finish, run.reason, len(run.requests)) == ("length", "done", 1)


def test_the_next_turn_may_have_another_model_and_no_thinking() -> None:
    """Row 50: what prepare_next_turn says holds from the next request on."""
    swap = Spy(TurnUpdate(model="test:strong", thinking="off"), None)
    cfg = config(Hooks("swap", prepare_next_turn=swap), thinking="high")
    run = begin(cfg).says(call("a")).ran("a")

    asked = [(request.model, request.thinking) for request in run.requests]
    assert asked == [("test:model", "high"), ("test:strong", "off")]


def test_an_injected_message_comes_before_what_was_queued() -> None:
    """Row 51: a system message among them; all are told as messages."""
    inject = Spy(TurnUpdate(SystemMessage("Be brief.")), None)
    run = begin(config(Hooks("inject", prepare_next_turn=inject))).says(call("a"))
    run = run.give(Steer("hurry")).ran("a", "A")

    assert words(run.requests[1].messages)[-2:] == ["system: Be brief.", "user: hurry"]
    assert run.added == run.script


def test_the_first_request_passes_its_hook_too() -> None:
    """Row 52: with the prompt already in view."""
    seen = Spy()
    begin(config(Hooks("seen", transform_context=seen)))

    assert [words(view.messages) for view in seen.views] == [["user: go"]]


def test_a_request_shows_exactly_what_its_hook_says() -> None:
    """Row 53: later messages go to what is stored, which a request never changes."""
    update = ContextUpdate(
        [UserMessage("only this")], model="test:other", thinking="low"
    )
    run = begin(config(Hooks("show", transform_context=Spy(update, None))))
    run = run.says(call("a")).ran("a", "A")

    first, second = run.requests
    shown = (words(first.messages), first.model, first.thinking)
    assert shown == (["user: only this"], "test:other", "low")
    assert words(second.messages) == ["user: go", "assistant: →a", "a ok: A"]
    assert second.model == "test:model"


def test_a_turn_is_over_before_its_hooks_are_asked() -> None:
    """Row 54: the result is stored, the turn ends, then prepare_next_turn writes.

    The other engine asks before the end of the turn; the documents of this one after it.
    """
    switch = Spy(TurnUpdate(model="test:strong"), None)
    run = begin(config(Hooks("switch", prepare_next_turn=switch))).says(call("a"))
    run = run.ran("a", "A")

    last = [type(e) for e in run.told[-4:]]
    assert last == [MessageAdded, TurnEnd, HookWrote, Started]


def test_a_failed_model_call_is_one_message() -> None:
    """Row 61: also if nothing had been streamed."""
    run = begin(config()).fails(ModelError("overloaded", "overloaded"))

    assert run.added == ["user: go", "assistant:"]


def test_a_model_that_raises_ends_the_run_in_order() -> None:
    """Row 62: the failed reply is stored, the turn closed, and nothing raised."""
    run = begin(config()).fails("socket closed")

    assert [type(e) for e in run.told[-3:]] == [MessageAdded, TurnEnd, RunEnd]
    assert str(run.stop) == "model_error: raised: socket closed"


def test_a_run_can_be_used_again_after_a_hook_raised() -> None:
    """Row 66: the stop says which hook it was."""
    faulty: list[Any] = [raises, None]
    run = begin(config(Hooks("shown", transform_context=Spy(*faulty))))

    assert (run.reason, run.stop.hook) == ("hook_error", "shown")
    assert run.give("again").says("hello").reason == "done"


def test_other_tools_in_the_next_run_are_offered_and_not_announced() -> None:
    """Rows 95, 137: tools are settings of a request, so no message can claim them (D12)."""
    run = begin(config()).says("hello").give(Prompt("again", tools=[spec("c")]))

    assert [[s.name for s in r.tools] for r in run.requests] == [["a", "b"], ["c"]]
    assert run.script == ["user: go", "assistant: hello", "user: again"]


def test_what_changes_between_runs_is_no_event() -> None:
    """Row 138: model, thinking and tools are said with the next prompt."""
    run = begin(config()).says("hello")
    told = len(run.told)
    prompt = Prompt("again", model="test:other", thinking="low", tools=())
    run = run.give(prompt)

    assert [type(e) for e in run.told[told:]] == [RunStart, MessageAdded, Started]


def _asked(run: Run) -> list[str]:
    return [request.model for request in run.requests]


def test_each_request_has_the_model_of_its_turn() -> None:
    """Row 50: a change that is made for one request alone is over after it."""
    once = Spy(ContextUpdate(model="test:once"), None)
    run = begin(config(Hooks("once", transform_context=once))).says(call("a")).ran("a")

    assert _asked(run) == ["test:once", "test:model"]
