"""Lifecycle vectors about the hooks of a turn's end: what comes next, and whether."""

from typing import Any

from loopcore import FollowUp, Prompt, Steer, ToolOutput, UserMessage
from loopcore.events import RunEnd, TurnEnd
from loopcore.hooks import (
    Hooks,
    StopUpdate,
    ToolResultUpdate,
    ToolResultView,
    TurnUpdate,
    TurnView,
)
from tests.driving import Run, Spy, begin, call, config, spec, words
from tests.hooked import hooked, raises


def prepare(*updates: object) -> Hooks:
    """A hook that says what the next turn starts from, once; then nothing."""
    return Hooks("prepare", prepare_next_turn=Spy(*updates, None))


def three_turns(hook: Hooks, **more: Any) -> Run:
    """A run of two tool turns and a text."""
    run = begin(config(hook, **more))
    return run.says(call("a")).ran("a").says(call("a")).ran("a").says("done")


def test_a_model_that_was_switched_to_stays() -> None:
    """Vector 44: for all later requests of the run."""
    run = three_turns(prepare(TurnUpdate(model="test:strong")))

    models = [request.model for request in run.requests]
    assert models == ["test:model", "test:strong", "test:strong"]


def test_thinking_can_be_set_and_taken_back() -> None:
    """Vector 45: None is a value, it leaves the level to the provider."""
    levels = TurnUpdate(thinking="high"), TurnUpdate(thinking=None)
    run = three_turns(prepare(*levels), thinking="low")

    assert [request.thinking for request in run.requests] == ["low", "high", None]


def test_a_replaced_transcript_leaves_system_and_tools_alone() -> None:
    """Vector 46: the source engine wipes both (T14)."""
    update = TurnUpdate(transcript=[UserMessage("in short")])
    run = three_turns(prepare(update), system="Be brief.")

    first, second, _ = run.requests
    assert words(second.messages) == ["user: in short"]
    assert (second.system, second.tools) == ("Be brief.", first.tools)


def test_a_stop_rule_sees_the_new_transcript_and_all_new_messages() -> None:
    """Vectors 47, 53: it is asked after prepare; what the run returns is not trimmed."""
    seen = Spy()
    trim = prepare(TurnUpdate(transcript=[UserMessage("in short")]))
    run = begin(config(trim, Hooks("seen", should_stop_after_turn=seen)))
    run = run.says(call("a")).ran("a")

    (view,) = seen.views
    assert words(view.transcript) == ["user: in short"]
    assert words(view.new_messages) == ["user: go", "assistant: →a", "a ok: "]
    assert run.state.new == view.new_messages


def test_tools_that_were_swapped_can_be_called_and_the_old_not() -> None:
    """Vector 48: in the next turn."""
    run = begin(config(prepare(TurnUpdate(tools=[spec("c")])))).says(call("a")).ran("a")
    run = run.says(call("c"), call("a", "old")).ran("c", "C")

    assert run.outcomes == {"a": "ok", "c": "ok", "old": "unknown_tool"}


def test_settings_are_for_a_run_and_a_transcript_is_for_good() -> None:
    """Vector 49: the next prompt starts from the config (T17); a rewrite stays (D46)."""
    update = TurnUpdate(
        model="test:strong", system="Other.", transcript=[UserMessage("in short")]
    )
    run = three_turns(prepare(update)).give(Prompt("again"))

    last = run.requests[-1]
    assert (last.model, last.system) == ("test:model", "")
    assert words(last.messages)[0] == "user: in short"


def review(view: TurnView) -> TurnUpdate | None:
    if len(view.new_messages) != 2:
        return None
    return TurnUpdate("Review this.", model="test:strong")


def test_a_review_after_a_final_text_is_a_second_request() -> None:
    """Vector 50: the source engine makes one only; `inject` makes a turn (T15)."""
    run = begin(config(Hooks(prepare_next_turn=review))).says("draft")

    assert (run.reason, run.requests[1].model) == ("", "test:strong")
    assert words(run.requests[1].messages)[-1] == "user: Review this."


def end_it(view: ToolResultView) -> ToolResultUpdate | None:
    return ToolResultUpdate(terminate=True) if view.is_error else None


def any_error(view: TurnView) -> bool:
    return any(result.is_error for result in view.results)


def test_to_stop_on_any_error_is_a_stop_rule() -> None:
    """Vector 51: terminate needs the whole batch, so one good sibling goes on."""
    outputs = ToolOutput("A"), ToolOutput("B", outcome="error")
    asked, stopped = (
        begin(config(rule))
        .says(call("a"), call("b"))
        .ran("a", outputs[0])
        .ran("b", outputs[1])
        for rule in (
            Hooks(after_tool_call=end_it),
            Hooks(should_stop_after_turn=any_error),
        )
    )

    assert (asked.reason, stopped.reason) == ("", "hook")


def test_a_stop_after_a_tool_turn_leaves_the_queues() -> None:
    """Vector 52: no request, nothing is taken."""
    stop = Hooks("stop", should_stop_after_turn=Spy(StopUpdate("enough")))
    run = begin(config(stop)).says(call("a")).give(Steer("one"), FollowUp("two"))
    run = run.ran("a")

    assert (run.reason, run.stop.detail, len(run.requests)) == ("hook", "enough", 1)
    assert (len(run.state.steering), len(run.state.follow_ups)) == (1, 1)


def test_a_hook_that_raises_after_a_turn_ends_the_run_with_everything() -> None:
    """Vector 58: the source engine's end has the failure alone (T1)."""
    run = begin(config(hooked("bug", prepare_next_turn=raises))).says("hello")

    assert [type(event) for event in run.told[-2:]] == [TurnEnd, RunEnd]
    assert len(run.events(TurnEnd)) == 1
    assert words(run.state.new) == ["user: go", "assistant: hello"]
    assert (run.reason, run.stop.hook) == ("hook_error", "bug")
