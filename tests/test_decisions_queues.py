"""What is queued, prompted, continued, and refused at the door: D1 to D17."""

from typing import Any, TypeAlias

import pytest

from loopcore import (
    Abort,
    Answer,
    AssistantMessage,
    Continue,
    FollowUp,
    Message,
    Prompt,
    Rejected,
    RunResult,
    State,
    Steer,
    ToolOutput,
    ToolResultMessage,
    UserMessage,
    Withdraw,
    advance,
    deliver,
    repair,
)
from loopcore.events import RunStart, TurnEnd
from loopcore.hooks import (
    Ask,
    ContextUpdate,
    Hooks,
    Need,
    RetryUpdate,
    TurnUpdate,
    TurnView,
)
from loopcore.inputs import Approve
from tests.driving import Run, Spy, begin, call, config, spec, words

Saying: TypeAlias = type[Prompt] | type[Steer] | type[FollowUp]
RETRY = Hooks("retry", on_model_error=Spy(RetryUpdate(retry=True, delay=5)))
ASK = Hooks("ask", before_tool_call=Spy(Ask("sure?")))


def shown(run: Run) -> list[list[str]]:
    """What each request showed."""
    return [words(request.messages) for request in run.requests]


def test_a_steer_during_a_retrys_pause_waits_for_the_turn() -> None:
    """D1: the retried request does not have it; it is taken after the turn."""
    run = begin(config(RETRY)).fails().give(Steer("hurry")).woke().says("hi")

    assert shown(run)[:2] == [["user: go"], ["user: go"]]
    assert run.script == ["user: go", "assistant: hi", "user: hurry"]
    assert shown(run)[2] == run.script


def test_a_steer_during_a_request_waits_for_the_turn() -> None:
    """D1: it is queued while a reply is awaited."""
    run = begin(config()).give(Steer("hurry"))

    assert (len(run.requests), len(run.state.steering)) == (1, 1)
    run = run.says(call("a"))
    assert run.script == ["user: go", "assistant: →a"]
    assert run.ran("a", "A").script[2:] == ["a ok: A", "user: hurry"]


def test_a_steer_during_an_approval_answers_nothing() -> None:
    """D2: it is queued, and taken after the batch."""
    asked = begin(config(ASK)).says(call("a"))
    run = asked.give(Steer("never mind"))

    assert run.state.waiting == asked.state.waiting
    run = run.give(run.asked("a").reject("no"))
    assert run.script[2:] == ["a rejected: no", "user: never mind"]


def test_a_steer_during_a_need_answers_nothing() -> None:
    """D2: it is queued, and taken after the batch."""
    need = Spy(Need.service("k", "policy"), None)
    run = begin(config(Hooks("need", before_tool_call=need))).says(call("a"))
    asked = run.state.waiting
    run = run.give(Steer("hurry"))

    assert run.state.waiting == asked
    run = run.give(run.state.waiting[0].fail("closed")).ran("a", "A")
    assert run.script[2:] == ["a ok: A", "user: hurry"]


def test_what_is_queued_while_idle_starts_nothing() -> None:
    """D3: a steer joins the next run's first turn after its prompt."""
    state = State.start(config(), run_id="r")
    state, effects = advance(config(), state, Steer("s"), FollowUp("f")).unwrap()

    assert (effects.perform, effects.tell, state.phase) == ((), (), "idle")
    run = Run(config(), state).give("go")
    assert words(run.one_request.messages) == ["user: go", "user: s"]
    assert run.says("hi").script[-1] == "user: f"


def test_what_is_queued_after_a_stop_starts_nothing() -> None:
    """D3: a stopped run is not woken either."""
    stopped = begin(config()).says("hi")
    run = stopped.give(Steer("s"), FollowUp("f"))

    assert (run.state.waiting, run.told) == ((), stopped.told)
    assert run.reason == "done"
    assert words(run.give("next").one_request.messages)[-2:] == [
        "user: next",
        "user: s",
    ]


def test_a_steer_during_a_final_turn_makes_one_more() -> None:
    """D4."""
    run = begin(config()).give(Steer("wait")).says("final")

    assert run.script == ["user: go", "assistant: final", "user: wait"]
    assert run.says("well").reason == "done"
    assert len(run.requests) == 2


def test_steering_comes_before_follow_ups() -> None:
    """D5: follow-ups only when the run would end."""
    run = begin(config()).give(FollowUp("last"), Steer("first")).says(call("a"))
    run = run.ran("a", "A")

    assert run.script[-1] == "user: first"
    assert run.says("one").script[-1] == "user: last"


@pytest.mark.parametrize("queue", ["steering", "follow_ups"])
def test_one_queued_message_a_turn_costs_a_request_each(queue: str) -> None:
    """D6: "one"."""
    say = Steer if queue == "steering" else FollowUp
    run = begin(config(**{queue: "one"})).give(say("1"), say("2")).says("x").says("y")

    assert run.script == [
        "user: go",
        "assistant: x",
        "user: 1",
        "assistant: y",
        "user: 2",
    ]
    assert len(run.requests) == 3


@pytest.mark.parametrize("queue", ["steering", "follow_ups"])
def test_all_queued_messages_make_one_turn(queue: str) -> None:
    """D6: "all": one turn, one user message each; the other queue stays one by one."""
    say, other = (Steer, FollowUp) if queue == "steering" else (FollowUp, Steer)
    run = begin(config(**{queue: "all"})).give(say("1"), say("2")).says("x")

    assert run.script[2:] == ["user: 1", "user: 2"]
    run = run.give(other("3"), other("4")).says("y")
    assert run.script[-1] == "user: 3"


def test_what_is_still_queued_can_be_taken_back() -> None:
    """D7: all that is queued under the key, in both queues."""
    run = begin(config())
    run = run.give(Steer("1", "k"), FollowUp("2", "k"), Steer("3", "j"), Steer("4"))
    run = run.give(Withdraw("k"))

    assert [q.key for q in run.state.steering] == ["j", None]
    assert len(run.state.follow_ups) == 0
    assert len(run.give(Withdraw()).state.steering) == 0


@pytest.mark.parametrize("key", ["k", None])
def test_what_is_not_queued_cannot_be_taken_back(key: str | None) -> None:
    """D7: taken, withdrawn or never given: `Rejected(taken)`."""
    never = begin(config())
    taken = never.give(Steer("1", "k")).says("hi")
    withdrawn = never.give(Steer("1", "k"), Withdraw("k"))

    for run in never, taken, withdrawn:
        refused = run.refuses(Withdraw(key))
        assert refused.kind == "taken"
        assert "taken, withdrawn, or never given" in str(refused)


def test_one_of_two_keys_is_still_there() -> None:
    """D7: another key is no match."""
    run = begin(config()).give(Steer("1", "k"))

    assert run.refuses(Withdraw("j")).kind == "taken"
    assert "'j'" in str(run.refuses(Withdraw("j")))


def test_a_prompt_has_to_wait_for_the_end() -> None:
    """D8: busy while running."""
    run = begin(config())

    assert run.refuses("again").kind == "busy"
    assert run.refuses(Continue()).kind == "busy"


@pytest.mark.parametrize("say", [Prompt, Steer, FollowUp])
def test_nothing_is_no_message(say: Saying) -> None:
    """D8: empty, for Steer and FollowUp too."""
    assert begin(config()).says("hi").refuses(say([])).kind == "empty"


@pytest.mark.parametrize("say", [Prompt, Steer, FollowUp])
@pytest.mark.parametrize(
    "message", [AssistantMessage("I"), ToolResultMessage("a", "a", "A")]
)
def test_only_people_are_quoted(say: Saying, message: Message) -> None:
    """D8: assistant and result messages are `bad_message`."""
    refused = begin(config()).says("hi").refuses(say([UserMessage("x"), message]))

    assert refused.kind == "bad_message"
    assert type(message).__name__ in str(refused)
    assert "message 1" in str(refused)


@pytest.mark.parametrize(
    "message", [AssistantMessage("I"), ToolResultMessage("a", "a", "A")]
)
def test_a_hook_cannot_inject_them_either(message: Message) -> None:
    """D8: from `inject`, hook_error, and nothing of it is stored."""
    hook = Hooks("quote", prepare_next_turn=Spy(TurnUpdate(inject=[message])))
    run = begin(config(hook)).says("hi")

    assert (run.stop.reason, run.stop.hook) == ("hook_error", "quote")
    assert type(message).__name__ in run.stop.detail
    assert run.script == ["user: go", "assistant: hi"]


def test_a_prompt_after_an_abort_takes_one_steer_with_it() -> None:
    """D9: the prompt, then one steer in the same turn; follow-ups stay."""
    run = begin(config()).give(Steer("1"), Steer("2"), FollowUp("3"), Abort())
    run = run.give("again")

    assert words(run.one_request.messages) == ["user: go", "user: again", "user: 1"]
    assert (len(run.state.steering), len(run.state.follow_ups)) == (1, 1)


def test_a_finished_run_has_nothing_to_continue() -> None:
    """D10: unless something is queued."""
    refused = begin(config()).says("hi").refuses(Continue())

    assert refused.kind == "nothing_to_continue"
    assert "Prompt" in str(refused)


def test_a_finished_run_continues_with_steering_first() -> None:
    """D10: one of it; follow-ups stay."""
    run = begin(config()).says("hi").give(FollowUp("f"), Steer("s"), Continue())

    assert run.script[2:] == ["user: s"]
    assert len(run.state.follow_ups) == 1


def test_a_finished_run_continues_with_a_follow_up_as_its_prompt() -> None:
    """D10: if no steering is queued."""
    run = begin(config()).says("hi").give(FollowUp("f"), FollowUp("g"), Continue())

    assert words(run.one_request.messages)[2:] == ["user: f"]
    assert len(run.state.follow_ups) == 1


def test_a_run_that_owes_an_answer_keeps_its_follow_ups() -> None:
    """D10: they wait for the end, as ever."""
    run = begin(config()).give(FollowUp("f"), Abort(), Continue())

    assert words(run.one_request.messages) == ["user: go"]
    assert run.says("hi").script[-1] == "user: f"


def test_a_run_goes_on_from_results() -> None:
    """D11: a request; `new` starts empty."""
    stop = Hooks("stop", should_stop_after_turn=Spy("enough", None))
    run = begin(config(stop)).says(call("a")).ran("a", "A").give(Continue())

    assert words(run.one_request.messages) == ["user: go", "assistant: →a", "a ok: A"]
    assert words(run.state.new) == []
    assert words(RunResult.of(run.config, run.says("x").state).messages) == [
        "assistant: x"
    ]


def test_a_run_goes_on_from_a_user_message() -> None:
    """D11: a request; `new` starts empty."""
    run = begin(config()).give(Abort(), Continue())

    assert words(run.one_request.messages) == ["user: go"]
    assert words(run.state.new) == []


def test_a_run_goes_on_from_a_loaded_history() -> None:
    """D11: a request; `new` starts empty."""
    history: list[Message] = [UserMessage("old"), AssistantMessage([call("a")])]
    history += [ToolResultMessage("a", "a", "A")]
    run = begin(config(), Continue(), transcript=history)

    assert words(run.one_request.messages) == ["user: old", "assistant: →a", "a ok: A"]
    assert words(run.state.new) == []
    assert [event.messages for event in run.events(RunStart)] == [()]


def _switch(view: TurnView) -> TurnUpdate:
    return TurnUpdate(model="test:other", memo=(view.memo or 0) + 1)


def test_continue_keeps_settings_and_memories() -> None:
    """D12."""
    hook = Hooks("switch", prepare_next_turn=_switch)
    run = begin(config(hook)).says("hi").give(Steer("more"), Continue())

    assert run.one_request.model == "test:other"
    assert run.state.memos == {"switch": 1}
    assert run.says("x").state.memos == {"switch": 2}


def test_a_prompt_resets_settings_and_keeps_memories() -> None:
    """D12: settings are those of the configuration."""
    hook = Hooks("switch", prepare_next_turn=_switch)
    run = begin(config(hook)).says("hi").give("more")

    assert run.one_request.model == "test:model"
    assert run.state.memos == {"switch": 1}


def test_prompts_and_continues_may_change_settings() -> None:
    """D12: a change made from outside is part of the input."""
    given: dict[str, Any] = {"model": "test:big", "system": "S", "thinking": "low"}
    given["tools"] = [spec("z")]
    prompted = begin(config(), Prompt("go", **given))
    continued = begin(config()).give(Abort(), Continue(**given))

    for run in prompted, continued:
        request = run.one_request
        assert (request.model, request.system) == ("test:big", "S")
        assert (request.thinking, request.tools) == ("low", (spec("z"),))
    assert prompted.says("x").give("y").one_request.model == "test:model"


UNPAIRED: list[Message] = [
    UserMessage("old"),
    AssistantMessage([call("a")]),
    UserMessage("new"),
]


def test_an_unpaired_history_is_refused_at_the_start() -> None:
    """D13: naming the message."""
    with pytest.raises(Rejected, match=r"message 2\b.*repair\(messages\)") as refused:
        State.start(config(), run_id="r", transcript=UNPAIRED)

    assert refused.value.kind == "unpaired"


def test_a_history_is_mended_only_when_asked_to() -> None:
    """D13: `repair` is explicit."""
    state = State.start(config(), run_id="r", transcript=repair(UNPAIRED))

    assert words(state.transcript)[2].startswith("a interrupted")


def test_an_input_that_was_not_stepped_comes_first() -> None:
    """D14: also for what could otherwise be taken."""
    run = begin(config())
    placed = deliver(run.state, Steer("1")).unwrap()

    for given in Steer("2"), Abort(), run.one_request.reply("hi"):
        assert deliver(placed, given).failure().kind == "unstepped"
    assert "Steer that was not stepped" in str(deliver(placed, Abort()).failure())


WRONG = {
    "model": ToolOutput("x"),
    "run": AssistantMessage("x"),
    "ask": ToolOutput("x"),
    "service": Approve(),
    "sleep": "x",
}


@pytest.mark.parametrize("kind", WRONG)
def test_an_answer_of_the_wrong_kind_is_refused(kind: str) -> None:
    """D15: wrong_kind, and the effect is still waiting."""
    run = {
        "model": lambda: begin(config()),
        "run": lambda: begin(config()).says(call("a")),
        "ask": lambda: begin(config(ASK)).says(call("a")),
        "service": lambda: begin(config(Hooks("n", transform_context=NEED))),
        "sleep": lambda: begin(config(RETRY)).fails(),
    }[kind]()
    (effect,) = run.state.waiting
    refused = run.refuses(Answer(effect.id, WRONG[kind]))

    assert refused.kind == "wrong_kind"
    assert effect.id in str(refused)
    assert type(effect).__name__ in str(refused)
    assert type(WRONG[kind]).__name__ in str(refused)
    assert "effect." in str(refused)


NEED = Spy(Need.service("k", "policy"))


def test_an_answer_given_twice_is_refused() -> None:
    """D15: duplicate, saying at which input it came."""
    run = begin(config())
    answer = run.one_request.reply(AssistantMessage([call("a")]))
    run = run.give(answer)

    refused = run.refuses(answer)
    assert refused.kind == "duplicate"
    assert "r.1.1.model.1 was answered already (input 2)" in str(refused)


def test_an_answer_to_a_past_turn_is_refused() -> None:
    """D15: older ids are known to be past by their position."""
    first = begin(config())
    answer = first.one_request.reply(AssistantMessage([call("a")]))
    later = first.give(answer).ran("a")
    much_later = later.says("hi").give("again")

    for run in later, later.says("hi"), much_later:
        assert run.refuses(answer).kind == "duplicate"
    second = later.one_request.reply("hi")
    assert much_later.refuses(second).kind == "duplicate"


def test_an_answer_to_what_was_cancelled_is_refused() -> None:
    """D15: stranger, saying what happened to it."""
    run = begin(config())
    answer = run.one_request.reply("hi")
    refused = run.give(Abort()).refuses(answer)

    assert refused.kind == "stranger"
    assert "cancelled by the Abort at input 2" in str(refused)


def test_an_answer_to_what_was_never_asked_is_refused() -> None:
    """D15: stranger, with the id that may have been meant."""
    refused = begin(config()).refuses(Answer("r.1.1.model.2", AssistantMessage("hi")))

    assert refused.kind == "stranger"
    assert "never asked" in str(refused)
    assert "r.1.1.model.1?" in str(refused)


def test_a_refusal_changes_nothing() -> None:
    """D15: the state is as it was."""
    run = begin(config()).give(Steer("x"))
    before = run.state
    run.refuses(Answer("r.1.1.model.2", AssistantMessage("hi")))
    run.refuses("again")

    assert run.state is before
    assert run.says("hi").script == ["user: go", "assistant: hi", "user: x"]


def test_there_is_nothing_to_abort_outside_of_a_run() -> None:
    """D16: not_running, while idle and when stopped."""
    idle = State.start(config(), run_id="r")

    assert deliver(idle, Abort()).failure().kind == "not_running"
    assert begin(config()).says("hi").refuses(Abort()).kind == "not_running"


def test_time_does_not_go_back() -> None:
    """D17: an input with an earlier time is taken."""
    run = begin(config()).give(Steer("1"), at=20.0).give(Steer("2"), at=10.0)

    assert (run.state.now, len(run.state.steering)) == (20.0, 2)
    assert run.give(Steer("3")).state.now == 20.0
    assert run.give(Steer("3"), at=30.0).state.now == 30.0


def test_time_moves_before_the_step() -> None:
    """D17: hooks and events have the input's own time."""
    context = Spy(ContextUpdate())
    run = begin(config(Hooks("clock", transform_context=context)))
    run = run.give(run.one_request.reply(AssistantMessage([call("a")])), at=7.0).ran(
        "a"
    )

    assert [view.now for view in context.views] == [None, 7.0]
    assert [event.at for event in run.events(TurnEnd)] == [7.0]
