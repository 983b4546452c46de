"""Lifecycle vectors about a conversation: prompts, continuing, queues, what is seen."""

import attrs
import pytest

from loopcore import (
    Abort,
    AssistantMessage,
    Continue,
    FollowUp,
    LoopConfig,
    ModelError,
    Prompt,
    RunTool,
    State,
    Steer,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    Withdraw,
    deliver,
    project,
)
from loopcore.events import MessageAdded, RunEnd, RunStart, TurnEnd
from loopcore.state import Queued
from tests.driving import begin, call, config, spec, words

HISTORY = [UserMessage("hi"), AssistantMessage("hello")]
RESULT = [
    UserMessage("hi"),
    AssistantMessage([ToolCall("a", id="a")]),
    ToolResultMessage("a", "a", "A"),
]


def test_two_prompts_make_one_conversation() -> None:
    """Vector 66: two messages, then four; nothing goes on afterwards."""
    one = begin(config()).says("one")
    two = one.give("again").says("two")

    assert (len(one.script), len(two.script)) == (2, 4)
    assert words(two.state.new) == ["user: again", "assistant: two"]
    assert (two.state.phase, two.state.waiting) == ("stopped", ())


def test_a_prompt_while_running_is_refused() -> None:
    """Vector 67: no event, the run is as it was (D8)."""
    run = begin(config())

    refused = run.refuses(Prompt("again"))
    assert refused.kind == "busy"
    assert "Steer" in str(refused)


def test_a_prompt_says_something_that_is_a_message() -> None:
    """Vector 68: nothing and what is no message are refused; empty text is a message."""
    state = State.start(config(), run_id="r")

    assert deliver(state, Prompt([])).failure().kind == "empty"
    for wrong in (None, 7):
        with pytest.raises(TypeError):
            Prompt(wrong)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    assert begin(config(), Prompt("")).script == ["user:"]


@pytest.mark.parametrize("history", [HISTORY[:1], RESULT])
def test_a_continue_answers_what_is_there(history: list[UserMessage]) -> None:
    """Vector 69: a user message or a result is last; no new message, one request (D11)."""
    run = begin(config(), Continue(), transcript=history)

    assert words(run.requests[0].messages) == words(history)
    assert words(run.says("hello").state.new) == ["assistant: hello"]


@pytest.mark.parametrize("history", [[], HISTORY])
def test_a_continue_with_nothing_to_answer_is_refused(
    history: list[UserMessage],
) -> None:
    """Vector 70: nothing was said, or the reply is last and nothing is queued."""
    state = State.start(config(), run_id="r", transcript=history)

    assert deliver(state, Continue()).failure().kind == "nothing_to_continue"


def test_a_continue_takes_a_steer_first_and_a_follow_up_at_the_end() -> None:
    """Vector 71: the steer is what the first request answers (D10)."""
    given = FollowUp("later"), Steer("now"), Continue()
    run = begin(config(), *given, transcript=HISTORY).says("one").says("two")

    assert run.script[2:] == [
        "user: now",
        "assistant: one",
        "user: later",
        "assistant: two",
    ]


def test_a_continue_after_a_failure_tries_again() -> None:
    """Vector 72: the source engine refuses; the failed reply stays, unseen (T13)."""
    run = begin(config()).fails(ModelError("overloaded", "overloaded")).give(Continue())

    assert words(project(run.requests[1].messages)) == ["user: go"]
    assert run.says("hello").script == ["user: go", "assistant:", "assistant: hello"]


def test_a_prompt_after_a_failure_shows_no_failed_reply() -> None:
    """Vector 73: it is stored, and no model is sent it."""
    run = begin(config()).fails("it broke").give("again")

    assert run.script == ["user: go", "assistant:", "user: again"]
    assert words(project(run.requests[1].messages)) == ["user: go", "user: again"]


def test_steers_before_a_run_are_one_a_turn_or_all_at_once() -> None:
    """Vector 74: by the config (D6)."""
    given = Steer("one"), Steer("two"), Prompt("go")
    one, both = (begin(config(steering=mode), *given) for mode in ("one", "all"))

    assert one.says("x").script == [
        "user: go",
        "user: one",
        "assistant: x",
        "user: two",
    ]
    assert both.says("x").script == [
        "user: go",
        "user: one",
        "user: two",
        "assistant: x",
    ]


def test_what_is_queued_is_withdrawn_once() -> None:
    """Vector 75: not twice, not after it was taken, not under another key (D7)."""
    run = begin(config()).give(Steer("one", "k"), Steer("two", "other"))
    gone = run.give(Withdraw("k"))
    taken = run.says("hello")

    assert gone.state.steering[0] == Queued((UserMessage("two"),), "other")
    for state, key in ((gone, "k"), (taken, "k"), (run, "nobody's")):
        assert state.refuses(Withdraw(key)).kind == "taken"


def test_a_queued_message_can_be_told_from_an_equal_prompt() -> None:
    """Vector 76: the start names the prompt's; what is stored is the message alone."""
    run = begin(config(), Steer("go", "k"), Prompt("go"))

    (start,) = run.events(RunStart)
    added = [event.message for event in run.events(MessageAdded)]
    assert start.messages == (UserMessage("go"),)
    assert added == list(run.state.transcript) == [UserMessage("go"), UserMessage("go")]


def test_an_abort_in_mid_reply_ends_the_run() -> None:
    """Vector 77: what had been streamed is handed over, and nothing is waited for."""
    run = begin(config())
    partial = {run.state.waiting[0].id: AssistantMessage("hel")}
    run = run.give(Abort("enough", partials=partial))

    assert (run.script, run.reason) == (["user: go", "assistant: hel"], "aborted")
    assert (run.state.phase, run.state.waiting) == ("stopped", ())


def test_while_a_tool_runs_the_state_has_its_call() -> None:
    """Vector 78: prompt and reply are stored, the tool is waited for; then nothing is."""
    run = begin(config()).says(call("a"))

    assert [effect.call.id for effect in run.all(RunTool)] == ["a"]
    assert run.script == ["user: go", "assistant: →a"]
    assert run.ran("a").says("done").state.waiting == ()


def test_a_config_that_changes_during_a_run_counts_from_the_next_prompt() -> None:
    """Vector 80: the run keeps its settings, and the lists are copies (D52)."""
    tools = ["a"]
    run = begin(config(tools=tools))
    tools.append("b")
    other = LoopConfig(model="test:other", tools=map(spec, tools))
    run = attrs.evolve(run, config=other).says(call("a")).ran("a").says("done")
    run = run.give("again")

    models = [request.model for request in run.requests]
    assert models == ["test:model", "test:model", "test:other"]
    assert [len(request.tools) for request in run.requests] == [1, 1, 2]


def test_a_new_beginning_is_another_state() -> None:
    """Vector 81: nothing is reset in mid-run; the old state is as good as before."""
    run = begin(config()).says(call("a"))
    fresh = State.start(run.config, run_id="r")

    assert (len(fresh.transcript), run.state.phase) == (0, "tools")
    assert run.ran("a", "A").script == ["user: go", "assistant: →a", "a ok: A"]


def test_a_follow_up_shows_in_its_own_message() -> None:
    """Vector 87: no event of another kind stands between the turns (T18)."""
    run = begin(config()).give(FollowUp("more")).says("one").says("two")

    kinds = [
        type(e) for e in run.told if isinstance(e, TurnEnd | MessageAdded | RunEnd)
    ]
    assert kinds == [
        MessageAdded,
        MessageAdded,
        TurnEnd,
        MessageAdded,
        MessageAdded,
        TurnEnd,
        RunEnd,
    ]
    assert run.added[2] == "user: more"
