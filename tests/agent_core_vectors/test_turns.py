"""Agent core rows about the end of a turn, and of a run."""

from loopcore import FollowUp, ModelError, Steer
from loopcore.events import HookWrote, RunEnd, TurnEnd
from loopcore.hooks import Hooks, TurnUpdate
from tests.driving import Run, Spy, begin, call, config, words
from tests.hooked import hooked

MORE = TurnUpdate("Say more.")


def injecting(*updates: object) -> Hooks:
    """A hook that injects these, turn by turn; then nothing."""
    return Hooks("inject", prepare_next_turn=Spy(*updates, None))


def stopping() -> tuple[Hooks, Spy]:
    """A hook that stops the run after its first turn, and what prepare was shown."""
    prepared = Spy()
    hook = hooked(
        "stop", should_stop_after_turn=Spy("enough"), prepare_next_turn=prepared
    )
    return hook, prepared


def test_prepare_is_asked_after_every_turn() -> None:
    """Row 49: after the last one too, for it may make another (D49)."""
    prepared = Spy()
    run = begin(config(Hooks("seen", prepare_next_turn=prepared)))
    run.says(call("a")).ran("a").says("done")

    assert [view.turn for view in prepared.views] == [1, 2]


def test_a_stop_makes_no_request_though_results_wait_for_one() -> None:
    """Row 55: nothing is taken; prepare was asked before, whose work is kept."""
    hook, prepared = stopping()
    run = begin(config(hook)).says(call("a")).give(FollowUp("later")).ran("a")

    assert (run.reason, len(run.requests), len(prepared.views)) == ("hook", 1, 1)
    last = [type(event) for event in run.told[-3:]]
    assert last == [TurnEnd, HookWrote, RunEnd]


def test_a_stop_leaves_the_queues() -> None:
    """Row 56: both still hold what was given."""
    hook, _ = stopping()
    run = begin(config(hook)).give(Steer("one"), FollowUp("two")).says("done")

    assert (len(run.state.steering), len(run.state.follow_ups)) == (1, 1)


def test_a_final_text_can_be_followed_by_one_more_request() -> None:
    """Row 57: it says what is wanted, for no wire likes a request after a reply (T15)."""
    run = begin(config(injecting(MORE))).says("short").says("longer")

    assert (run.reason, len(run.requests)) == ("done", 2)
    assert run.script[2] == "user: Say more."


def test_an_injected_message_makes_no_request_of_its_own() -> None:
    """Row 58: if calls or a steer want one anyway, that one has it."""
    calls = begin(config(injecting(MORE))).says(call("a")).ran("a").says("done")
    steered = begin(config(injecting(MORE))).give(Steer("now")).says("x").says("done")

    assert (calls.reason, len(calls.requests)) == ("done", 2)
    assert (steered.reason, len(steered.requests)) == ("done", 2)
    assert words(steered.requests[1].messages)[-2:] == ["user: Say more.", "user: now"]


def test_a_follow_up_comes_after_what_was_injected() -> None:
    """Row 58: for only then would the run end."""
    run = begin(config(injecting(MORE))).give(FollowUp("later")).says("x").says("y")

    assert run.script[2:] == [
        "user: Say more.",
        "assistant: y",
        "user: later",
    ]


def failed(run: Run) -> Run:
    """The run, its model failed."""
    return run.fails(ModelError("overloaded", "overloaded"))


def test_nothing_is_injected_after_a_failure() -> None:
    """Row 59: the hook is not asked, the run ends, no follow-up is taken (D49)."""
    run = failed(begin(config(injecting(MORE))).give(FollowUp("later")))

    assert (run.reason, len(run.requests)) == ("model_error", 1)
    assert len(run.state.follow_ups) == 1


def test_a_failure_keeps_the_queues_and_says_what_it_was() -> None:
    """Row 60: the turn has no results."""
    run = failed(begin(config()).give(Steer("one"), FollowUp("two")))

    (turn,) = run.events(TurnEnd)
    assert turn.results == ()
    assert (len(run.state.steering), len(run.state.follow_ups)) == (1, 1)
    assert str(run.stop) == "model_error: overloaded: overloaded"
