"""Agent core rows about the state: busy or not, continued, saved, never changed."""

import attrs
import pytest

from loopcore import (
    Abort,
    AssistantMessage,
    Continue,
    FollowUp,
    Message,
    Prompt,
    RunTool,
    State,
    Steer,
    SystemMessage,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    deliver,
)
from loopcore.inputs import Input
from tests.driving import Run, begin, call, config, words

HISTORY: list[Message] = [UserMessage("hi"), AssistantMessage("hello")]


def started(history: list[Message]) -> State:
    """A state with this history."""
    return State.start(config(), run_id="r", transcript=history)


@pytest.mark.parametrize("given", [Prompt("again"), Continue()])
def test_a_run_that_goes_on_takes_no_other_start(given: Input) -> None:
    """Rows 81, 82: a prompt, or a continue; the run is as it was."""
    run = begin(config())

    assert run.refuses(given).kind == "busy"
    assert run.says("hello").reason == "done"


def test_a_new_beginning_leaves_the_old_state_intact() -> None:
    """Row 83: there is nothing to reset, a state is a value."""
    run = begin(config()).says(call("a"))
    fresh = State.start(run.config, run_id="r")

    assert (words(fresh.transcript), run.ran("a").outcomes) == ([], {"a": "ok"})


@pytest.mark.parametrize("history", [[], [SystemMessage("Be brief.")]])
def test_a_continue_needs_something_to_answer(history: list[Message]) -> None:
    """Row 84: nothing was said, or only by the system."""
    assert deliver(started(history), Continue()).failure().kind == "nothing_to_continue"


def test_a_continue_adds_no_message() -> None:
    """Row 85: what the run returns is its own alone."""
    run = begin(config(), Continue(), transcript=HISTORY[:1])

    assert (words(run.requests[0].messages), run.added) == (["user: hi"], [])
    assert words(run.says("hello").state.new) == ["assistant: hello"]


def test_a_continue_after_a_reply_is_refused() -> None:
    """Row 86: unless something is queued."""
    state = started(HISTORY)

    assert deliver(state, Continue()).failure().kind == "nothing_to_continue"
    queued = begin(config(), FollowUp("more"), transcript=HISTORY).state
    assert deliver(queued, Continue()).unwrap().inbox == Continue()


def test_a_list_that_changes_later_is_not_the_states() -> None:
    """Row 93: it was copied."""
    history = [*HISTORY]
    state = started(history)
    history.append(UserMessage("sneaked in"))

    assert words(state.transcript) == ["user: hi", "assistant: hello"]


def resumed(run: Run) -> Run:
    """The run as another process has it: saved and loaded."""
    loaded = State.loads(run.state.dumps()).unwrap()
    assert loaded == run.state
    return attrs.evolve(run, state=loaded)


def test_a_saved_state_runs_no_call_again_that_has_its_output() -> None:
    """Row 128: only the call without an output waits, under the same effect id."""
    run = begin(config()).says(call("a"), call("b")).ran("a", "A")
    again = resumed(run)

    assert [effect.id for effect in again.state.waiting] == ["r.1.1.run.1"]
    assert again.ran("b", "B").script == run.ran("b", "B").script


POINTS = (
    begin(config()),
    begin(config()).says(call("a"), call("b")),
    begin(config()).says(call("a"), call("b")).ran("b", "B"),
    begin(config(parallel=False)).says(call("a"), call("b")).ran("a", "A"),
    begin(config()).says(call("a"), call("b"), finish="length"),
    begin(config()).says(call("a"), call("b"), finish="error"),
)


@pytest.mark.parametrize("run", POINTS, ids=range(len(POINTS)))
def test_every_call_has_one_result_whenever_a_run_is_cut(run: Run) -> None:
    """Row 129: saved, loaded and aborted at any point."""
    run = resumed(run)
    if not run.reason:
        run = run.give(Abort())

    called = [m for m in run.state.transcript if isinstance(m, AssistantMessage)]
    ids = [made.id for reply in called for made in reply.calls]
    assert [result.call_id for result in run.results] == ids


def test_an_output_is_in_the_state_before_its_batch_is_over() -> None:
    """Row 130: a sibling that never ends cannot lose it."""
    run = resumed(begin(config()).says(call("a"), call("b")).ran("b", "B"))

    assert [effect.call.id for effect in run.all(RunTool)] == ["a"]
    assert run.ran("a", "A").script[2:] == ["a ok: A", "b ok: B"]


def test_a_state_with_queued_messages_can_be_saved() -> None:
    """Row 128: nothing of what was given is lost."""
    run = resumed(begin(config()).give(Steer("now", "k"), FollowUp("later")))

    assert run.says("hello").script[-1] == "user: now"


PAIRED: list[Message] = [
    AssistantMessage([ToolCall("a", id="a")]),
    ToolResultMessage("a", "a", "A"),
]


def test_a_history_that_ends_in_a_result_is_answered() -> None:
    """Row 85: a result asks for an answer as a user does."""
    assert len(begin(config(), Continue(), transcript=PAIRED).requests) == 1
