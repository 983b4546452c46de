"""Small things that no other test would miss: each is a change that mutation testing made."""

from typing import Any, Final

import pytest
from attrs import evolve, frozen

from loopcore import (
    Abort,
    Answer,
    AssistantMessage,
    CallModel,
    Continue,
    CustomMessage,
    FollowUp,
    LoopConfig,
    ModelError,
    NotDone,
    Prompt,
    RequestApproval,
    RunResult,
    RunTool,
    Sleep,
    State,
    Steer,
    Stop,
    SystemMessage,
    UserMessage,
    Withdraw,
)
from loopcore.hooks import (
    Hooks,
    Need,
    RetryUpdate,
    ToolCallUpdate,
    ToolCallView,
)
from tests.driving import MODEL, Run, Spy, call, config, spec
from tests.hooked import hooked, raises

NEED: Final = Need.model("key", "Why?")


def run(*hooks: Hooks, **more: Any) -> Run:
    """A run that has not begun."""
    loop = config(*hooks, **more)
    return Run(loop, State.start(loop, run_id="r"))


def texts(found: Run) -> list[str]:
    """The texts of what is stored."""
    return [message.text for message in found.state.transcript]


# Effects.


def test_a_model_that_a_hook_asks_is_the_runs_own_unless_it_names_one() -> None:
    asked = run(hooked("asks", transform_context=Spy(NEED))).give("go")

    assert MODEL == asked.one(CallModel).model


@pytest.mark.parametrize("point", ["transform_context", "on_model_error"])
def test_the_id_of_a_need_names_the_attempt(point: str) -> None:
    asked = run(hooked("asks", **{point: Spy(NEED)})).give("go")
    if point == "on_model_error":
        asked = asked.fails()

    assert f"r.1.1.{point}.1.asks.key" == asked.one(CallModel).id


@pytest.mark.parametrize(("delay", "seconds"), [(0.5, 0.5), (0, 0.0), (3, 3.0)])
def test_a_pause_is_as_long_as_was_said_and_says_until_when(
    delay: float, seconds: float
) -> None:
    again = Spy(RetryUpdate(retry=True, delay=delay))
    asleep = run(hooked("again", on_model_error=again)).give("go", at=10.0).fails()

    nap = asleep.one(Sleep)
    assert (seconds, 10.0 + seconds) == (nap.seconds, nap.until)


# The door.


@pytest.mark.parametrize("last", [SystemMessage("Be brief."), CustomMessage("mark")])
def test_a_run_goes_on_from_what_asks_for_an_answer_under_what_does_not(
    last: Any,
) -> None:
    loop = config()
    state = State.start(loop, run_id="r", transcript=[UserMessage("Why?"), last])

    assert Run(loop, state).give(Continue()).all(CallModel)


REFUSALS: Final[dict[str, tuple[Any, str]]] = {
    "busy": (
        Prompt("again"),
        (
            "Cannot take a Prompt: run 'r' is in turn 1, waiting for r.1.1.model.1. Answer "
            "what it waits for (`state.waiting`), say more with Steer(...) or FollowUp(...), "
            "or end it with Abort()."
        ),
    ),
    "busy, to go on": (
        Continue(),
        (
            "Cannot take a Continue: run 'r' is in turn 1, waiting for r.1.1.model.1. Answer "
            "what it waits for (`state.waiting`), say more with Steer(...) or FollowUp(...), "
            "or end it with Abort()."
        ),
    ),
    "taken": (
        Withdraw(),
        (
            "Cannot take a Withdraw: nothing is queued in run 'r' (it was taken, withdrawn, "
            "or never given)."
        ),
    ),
    "taken, of a key": (
        Withdraw("k"),
        (
            "Cannot take a Withdraw: nothing is queued as 'k' in run 'r' (it was taken, "
            "withdrawn, or never given)."
        ),
    ),
    "wrong kind": (
        Answer("r.1.1.model.1", 3),
        (
            "r.1.1.model.1 is CallModel and cannot take an int. Build the answer from the "
            "effect: `effect.reply(...)`."
        ),
    ),
    "wrong kind, another": (
        Answer("r.1.1.model.1", "text"),
        (
            "r.1.1.model.1 is CallModel and cannot take a str. Build the answer from the "
            "effect: `effect.reply(...)`."
        ),
    ),
    "stranger": (
        Answer("nobody", 3),
        "nobody is not waiting in run 'r': it was never asked. Nothing changed.",
    ),
    "stranger, nearly": (
        Answer("r.1.1.model.2", 3),
        (
            "r.1.1.model.2 is not waiting in run 'r': it was never asked. Did you mean "
            "r.1.1.model.1? Nothing changed."
        ),
    ),
    "stranger, not so nearly": (
        Answer("r.1.1.mo", 3),
        "r.1.1.mo is not waiting in run 'r': it was never asked. Nothing changed.",
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_says_what_was_wrong_and_what_to_do(name: str) -> None:
    given, sentence = REFUSALS[name]

    assert sentence == str(run().give("go").refuses(given))


def test_a_refusal_before_a_run_says_that_nothing_goes_on() -> None:
    fresh = run()

    assert "Cannot take an Abort: run 'r' is idle; there is nothing to stop." == str(
        fresh.refuses(Abort())
    )
    assert (
        "Cannot take a Continue: run 'r' has nothing to answer, and nothing is queued. "
        "Say something with a Prompt."
    ) == str(fresh.refuses(Continue()))


def test_a_refusal_during_an_approval_says_what_is_asked() -> None:
    tools = [spec("a", needs_approval=True), spec("b", needs_approval=True)]
    asked = run(tools=tools).give("go").says(call("a", x=1), call("b"))

    assert str(asked.refuses(Prompt("again"))).startswith(
        "Cannot take a Prompt: run 'r' is paused in turn 1, waiting for approval of "
        "a(x=1), b(). Answer it (`state.approvals[0].approve()`), say more with "
    )
    assert str(asked.refuses(Answer("r.1.1.ask.0", AssistantMessage("?")))).startswith(
        "r.1.1.ask.0 is RequestApproval 'a' and cannot take an AssistantMessage."
    )


@pytest.mark.parametrize(
    ("effect_id", "kind"),
    [
        ("r.1.0.model.1", "stranger"),
        (f"r.1.{'1' * 18}.model.1", "stranger"),
        (f"r.0{'0' * 17}1.0{'0' * 17}1.model.1", "stranger"),
        ("r.1.x.model.1", "stranger"),
        ("r.1.1.model.1", "duplicate"),
    ],
)
def test_only_turns_that_were_are_past(effect_id: str, kind: str) -> None:
    second = run().give("go").says(call("a")).ran("a")

    assert kind == second.refuses(Answer(effect_id, "?")).kind


# Queues.


@pytest.mark.parametrize(("mode", "taken"), [("one", 1), ("all", 2)])
def test_a_run_that_goes_on_takes_as_many_steers_as_any(mode: str, taken: int) -> None:
    idle = run(steering=mode).give(Steer("a"), Steer("b"))

    assert ["a", "b"][:taken] == texts(idle.give(Continue()))


@pytest.mark.parametrize(("mode", "taken"), [("one", 1), ("all", 2)])
def test_a_run_that_goes_on_from_follow_ups_takes_as_many_as_any(
    mode: str, taken: int
) -> None:
    idle = run(follow_ups=mode).give(FollowUp("a"), FollowUp("b"))

    assert ["a", "b"][:taken] == texts(idle.give(Continue()))


# Replies.


def test_what_a_guard_of_replies_lets_nobody_see_when_it_fails_is_withheld() -> None:
    guard = hooked("guard", fail_closed=True, after_model_call=raises)
    after = run(guard).give("go").says("a secret", call("a"))

    assert ["go", "[withheld: hook 'guard' failed]"] == texts(after)
    assert "hook_error" == after.reason


def unless_answered(view: Any) -> Need | None:  # a view of any point
    """Needs something first."""
    return None if view.answers else NEED


def test_a_reply_that_is_cut_has_calls_that_hooks_may_ask_about_and_be_saved() -> None:
    """D72: they rest at a need in the middle of it, and go on from a saved state."""
    asks = hooked("asks", after_tool_result=unless_answered)
    cut = run(asks).give("go").says(call("a"), call("b"), finish="length")

    loaded = State.loads(cut.state.dumps()).unwrap()
    assert cut.state == loaded
    on = evolve(cut, state=loaded)
    on = on.give(on.one(CallModel).reply("so"))
    on = on.give(on.one(CallModel).reply("so"))
    assert {"a": "truncated", "b": "truncated"} == on.outcomes


def test_an_abort_keeps_what_was_streamed_without_the_error_that_it_carries() -> None:
    asked = run().give("go")
    broken = AssistantMessage("half", finish="error", error=ModelError("cut"))

    after = asked.give(Abort(partials={"r.1.1.model.1": broken}))

    reply = after.state.transcript[-1]
    assert isinstance(reply, AssistantMessage)
    assert ("aborted", None, MODEL) == (reply.finish, reply.error, reply.model)


# Nested runs.


def inside(**more: Any) -> LoopConfig:
    """A configuration with a run inside it."""
    return config(tools=[config(tools="a").as_tool("ask", "Asks.", **more), "b"])


def asking(loop: LoopConfig, run_id: str = "r", at: float | None = None) -> Run:
    """A run that has begun the one inside it."""
    begun = Run(loop, State.start(loop, run_id=run_id)).give("go", at=at)
    return begun.says(call("ask", prompt="dig"), call("b"))


def test_a_nested_run_begins_at_the_time_of_the_outer_one() -> None:
    (child,) = asking(inside(), at=5.0).state.children

    assert 5.0 == child.now


def test_an_answer_to_a_nested_run_that_is_over_says_so() -> None:
    over = asking(inside())
    over = over.give(over.one(CallModel).reply("found"))

    refused = over.refuses(Answer("r.1.1.run.0", "?"))

    assert ("duplicate", True) == (
        refused.kind,
        "was answered already (input 3)" in str(refused),
    )


def test_a_timer_is_one_whatever_the_run_is_called() -> None:
    begun = asking(inside(timeout=9.0), run_id="r.sleep.x")

    late = begun.give(begun.one(Sleep).done())

    (result, _) = late.ran("b").state.transcript[-2:]
    assert "timeout" == getattr(result, "outcome", "")


def test_a_nested_run_that_is_late_may_still_end_the_outer_one() -> None:
    ends = hooked("ends", before_tool_call=Spy(ToolCallUpdate(terminate=True)))
    loop = config(ends, tools=[config(tools="a").as_tool("ask", "Asks.", timeout=9.0)])
    begun = Run(loop, State.start(loop, run_id="r")).give("go")
    begun = begun.says(call("ask", prompt="dig"))

    assert "terminated" == str(begun.give(begun.one(Sleep).done()).state.stop)


def test_an_answer_to_a_run_whose_configuration_is_gone_counts_as_an_input() -> None:
    """D52: it ends that run; a second one is told when the first came."""
    begun = asking(inside()).under(config(tools="b"))
    asked = begun.one(CallModel)

    gone = begun.give(asked.reply("found"))

    refused = gone.refuses(asked.reply("found"))
    assert "was answered already (input 3)" in str(refused)


def test_a_run_whose_configuration_is_gone_keeps_what_had_arrived_when_aborted() -> (
    None
):
    """D52: outputs in it pass no hook, since its hooks are gone."""
    child = config(tools=["c", "d"]).as_tool("ask", "Asks.")
    begun = Run(loop := config(tools=[child]), State.start(loop, run_id="r")).give("go")
    begun = begun.says(call("ask", prompt="dig"))
    begun = begun.says(call("c"), call("d")).ran("c", "seen").under(config(tools="b"))

    stopped = begun.give(Abort("enough"))

    assert "aborted: enough" == str(stopped.state.stop)


# Ends.


def breaks_at_edits(view: ToolCallView) -> None:
    """A gate that fails at what a person edited."""
    if view.approved:
        raises(view)


CAUSES: Final[dict[str, tuple[Hooks | None, str]]] = {
    "Abort": (None, "it was cancelled by the Abort at input 4"),
    "hook error": (
        hooked("gate", before_tool_call=breaks_at_edits),
        "it was cancelled by the hook error at input 4",
    ),
}


@pytest.mark.parametrize("name", CAUSES)
def test_what_was_cancelled_says_by_what(name: str) -> None:
    hook, sentence = CAUSES[name]
    tools = [spec("a"), spec("b", needs_approval=True)]
    asked = run(*([hook] if hook else []), tools=tools).give("go")
    asked = asked.says(call("a"), call("b"))
    running = asked.one(RunTool)

    edited = asked.one(RequestApproval).edit(x=1)
    over = asked.give(Abort() if hook is None else edited)

    said = str(over.refuses(running.reply("late"))).replace("input 3", "input 4")
    assert sentence in said


@frozen
class Point:
    """What a run may be wanted to come to."""

    x: int
    y: int


def test_an_output_that_does_not_fit_is_told_with_all_that_is_wrong() -> None:
    loop: Any = LoopConfig(model=MODEL, output=Point, repairs=0)
    over = Run(loop, State.start(loop, run_id="r")).give("go").says('{"z": 1}')

    said = str(over.state.stop)
    assert said.startswith("output_error: ")
    assert "; " in said
    assert "\n" not in said
    assert "- " not in said


def test_a_state_of_another_configuration_has_no_output() -> None:
    done = run().give("go").says("words")

    assert RunResult.of(LoopConfig(model=MODEL, output=int), done.state).output is None
    assert repr(done.state) == repr(RunResult.of(done.config, done.state))


def test_an_error_of_a_run_without_an_output_has_all_that_it_says() -> None:
    done = run().give("go").says("words").state
    stop = Stop("done", "the model said that there is none")

    error = NotDone(stop, done)

    assert (stop, done) == error.args
    assert (
        "Run 'r' has no output: done: the model said that there is none. The model was "
        "free to give none."
    ) == str(error)


def test_an_error_of_a_run_that_is_paused_names_all_that_it_waits_for() -> None:
    tools = [spec("a", needs_approval=True), spec("b", needs_approval=True)]
    paused = run(tools=tools).give("go").says(call("a"), call("b"))

    with pytest.raises(NotDone, match=r"waiting for approval of a\(\), b\(\)\. Save"):
        RunResult.of(paused.config, paused.state).unwrap()
