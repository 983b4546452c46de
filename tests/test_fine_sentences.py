"""Sentences, whole: what the door says to what it cannot take, and what a run says."""

from collections.abc import Callable
from typing import Any, Final

import pytest
from attrs import evolve, frozen

from loopcore import (
    Abort,
    AssistantMessage,
    FollowUp,
    LoopConfig,
    Prompt,
    Rejected,
    RunResult,
    RunTool,
    State,
    Steer,
    Stop,
    UserMessage,
    deliver,
    step,
)
from loopcore.events import TurnEnd
from loopcore.hooks import ContextUpdate, Need, RetryUpdate, ToolCallUpdate
from tests.driving import MODEL, Run, Spy, call, config, spec
from tests.hooked import hooked, raises

LOOP: Final = config()
FRESH: Final = State.start(LOOP, run_id="r")
NO_STATE: Final[Any] = deliver(FRESH, "go")
NOT_A_STATE: Final[Any] = LOOP
NO_INPUT: Final[Any] = 3

NEVER_RIGHT: Final[dict[str, tuple[Callable[[], object], str]]] = {
    "a result for a state": (
        lambda: deliver(NO_STATE, "more"),
        (
            "deliver() needs a State but got `<Success: <run r: idle; turn 0, 0 messages>>`. "
            "deliver(), advance() and State.loads() return a result: write "
            "`deliver(...).unwrap()` to insist, or `deliver(...).value_or(state)` to ignore "
            "what was refused."
        ),
    ),
    "a result to step": (
        lambda: step(LOOP, NO_STATE),
        (
            "step() needs a State but got `<Success: <run r: idle; turn 0, 0 messages>>`. "
            "deliver(), advance() and State.loads() return a result: write "
            "`deliver(...).unwrap()` to insist, or `deliver(...).value_or(state)` to ignore "
            "what was refused."
        ),
    ),
    "a configuration to step": (
        lambda: step(LOOP, NOT_A_STATE),
        "The configuration comes first, then the state: `step(config, state)`.",
    ),
    "a number for a state": (
        lambda: deliver(NO_INPUT, "go"),
        "deliver() needs a State; it got an int.",
    ),
    "no input": (
        lambda: deliver(FRESH, NO_INPUT),
        (
            "int is no input; give text, a message, Prompt, Continue, Steer, FollowUp, "
            "Withdraw, Abort, or an answer that an effect built"
        ),
    ),
}


@pytest.mark.parametrize("name", NEVER_RIGHT)
def test_what_is_never_right_raises_and_says_what_to_do(name: str) -> None:
    done, sentence = NEVER_RIGHT[name]

    with pytest.raises(TypeError) as raised:
        done()

    assert sentence == str(raised.value)


EMPTY: Final = (
    "Cannot take a {} that says nothing: give text or messages. To go on without saying "
    "anything: Continue()."
)
NOT_SAID: Final = (
    "Cannot take a {} with AssistantMessage (message 1): only user, system and custom "
    "messages are said to a run. A recorded history goes to State.start(config, "
    "run_id=..., transcript=...)."
)


@pytest.mark.parametrize("kind", [Prompt, Steer, FollowUp])
def test_what_cannot_be_said_is_told_with_what_it_was_said_by(kind: Any) -> None:
    name = kind.__name__

    assert [
        ("empty", EMPTY.format(name)),
        ("bad_message", NOT_SAID.format(name)),
    ] == [
        _said(FRESH, kind([])),
        _said(FRESH, kind([UserMessage("a"), AssistantMessage("b")])),
    ]


def _said(state: State, given: Any) -> tuple[str, str]:
    refused: Rejected = deliver(state, given).failure()
    return refused.kind, str(refused)


def test_an_input_on_top_of_another_is_told_which() -> None:
    full = deliver(FRESH, "go").unwrap()

    assert (
        "unstepped",
        (
            "Cannot take an Abort: run 'r' holds a Prompt that was not stepped. Step it "
            "first, or use advance(config, state, ...)."
        ),
    ) == _said(full, Abort())


def test_an_answer_of_a_wrong_kind_has_that_kind_of_refusal() -> None:
    asked = Run(LOOP, FRESH).give("go").says(call("a"))
    tool = asked.one(RunTool)

    assert (
        "wrong_kind",
        (
            "r.1.1.run.0 is RunTool 'a' and cannot take an AssistantMessage. Build the "
            "answer from the effect: `effect.reply(...)`."
        ),
    ) == _said(asked.state, evolve(tool.reply(), value=AssistantMessage("?")))


# Unknown tools.

TOOLS: Final[dict[str, tuple[tuple[str, ...], str, str]]] = {
    "none": ((), "x", "There is no tool 'x'; no tools are available now."),
    "none near": (("read",), "qq", "There is no tool 'qq'. Available: read."),
    "one near": (
        ("write", "read"),
        "reed",
        "There is no tool 'reed'. Did you mean 'read'? Available: read, write.",
    ),
    "two near": (
        ("zzz", "read_a", "read_b"),
        "read_",
        (
            "There is no tool 'read_'. Did you mean 'read_a' or 'read_b'? Available: "
            "read_a, read_b, zzz."
        ),
    ),
}


@pytest.mark.parametrize("name", TOOLS)
def test_a_model_is_told_which_tools_there_are_the_nearest_first(name: str) -> None:
    tools, called, sentence = TOOLS[name]
    loop = config(tools=tools)

    asked = Run(loop, State.start(loop, run_id="r")).give("go").says(call(called))

    assert f"{called} unknown_tool: {sentence}" == asked.script[-1]


def test_a_model_is_told_of_fifty_tools_at_most_besides_the_nearest() -> None:
    names = [f"n{place:03}" for place in range(60)]
    loop = config(tools=[*names, "other"])

    asked = Run(loop, State.start(loop, run_id="r")).give("go").says(call("othr"))

    listed = asked.script[-1].split("Available: ")[1].removesuffix(".").split(", ")
    assert ["other", *names[:50]] == listed


# Outputs.


@frozen
class Point:
    """What a run may be wanted to come to."""

    x: int
    y: int


def test_an_output_that_does_not_fit_is_told_in_one_line() -> None:
    loop: Any = LoopConfig(model=MODEL, output=Point, repairs=0)
    over = Run(loop, State.start(loop, run_id="r")).give("go").says("{}")

    assert (
        'output_error: the output: "x" is a required property; the output: "y" is a '
        "required property"
    ) == str(over.stop)


def test_a_run_that_is_done_and_said_nothing_comes_to_nothing() -> None:
    silent = evolve(FRESH, stop=Stop("done"))

    assert RunResult.of(LOOP, silent).output == ""


# Winding up.


def test_a_hook_that_is_asked_at_the_end_sees_a_run_that_waits_for_nothing() -> None:
    spy = Spy()
    loop = config(hooked("spy", after_tool_result=spy))
    asked = Run(loop, State.start(loop, run_id="r")).give("go")
    asked.says(call("a"), call("b")).ran("a").give(Abort())

    (view,) = spy.views
    assert ("rest", (), ()) == (view.state.stage, view.state.waiting, view.state.known)


def test_a_hook_that_is_asked_while_another_is_given_up_sees_no_stage_of_it() -> None:
    """The gate of the second call waits for a model; the first has a result already."""
    spy = Spy()
    asks = hooked("asks", before_tool_call=Spy(Need.model("key", "May it?")))
    loop = config(asks, hooked("spy", after_tool_result=spy))
    asked = Run(loop, State.start(loop, run_id="r")).give("go")
    asked = asked.says(call("nope"), call("b"))
    assert asked.state.stage == "before_tool_call"
    asked.give(Abort())

    (view,) = spy.views
    assert ("nope", "rest", ()) == (
        view.call.id,
        view.state.stage,
        view.state.known,
    )


@pytest.mark.parametrize("fails", ["the model", "a hook"])
def test_the_end_of_a_turn_is_told_with_its_reply_if_something_failed(
    fails: str,
) -> None:
    guard = hooked("guard", after_model_call=raises)
    loop = config(*([guard] if fails == "a hook" else []))
    asked = Run(loop, State.start(loop, run_id="r")).give("go")
    over = asked.says("said") if fails == "a hook" else asked.fails()

    assert [over.state.transcript[-1]] == [e.message for e in over.events(TurnEnd)]


def test_a_result_that_is_withheld_is_shown_with_what_its_tool_wished() -> None:
    ends = hooked("ends", before_tool_call=Spy(ToolCallUpdate(terminate=True)))
    guard = hooked("guard", fail_closed=True, after_tool_call=raises)
    spy = Spy()
    loop = config(ends, guard, hooked("spy", after_tool_result=spy))
    Run(loop, State.start(loop, run_id="r")).give("go").says(call("a")).ran(
        "a", "secret"
    )

    (view,) = spy.views
    assert ("[withheld: hook 'guard' failed]", "error", True) == (
        view.parts[0].text,
        view.outcome,
        view.terminate,
    )


def test_a_second_attempt_is_made_without_the_error_of_the_first() -> None:
    again = hooked("again", on_model_error=Spy(RetryUpdate(retry=True)))
    loop = config(again)
    first = Run(loop, State.start(loop, run_id="r")).give("go").fails()

    turns = [run.state.turn for run in (first, first.woke())]
    assert [True, False] == [bool(turn and turn.error) for turn in turns]


# Nested runs.


def test_a_nested_run_without_a_prompt_begins_with_an_empty_one() -> None:
    """A hook may offer a tool of the nested run's name that takes anything."""
    offers = hooked("offers", transform_context=Spy(ContextUpdate(tools=[spec("ask")])))
    loop = config(offers, tools=[config(tools="a").as_tool("ask", "Asks.")])

    asked = Run(loop, State.start(loop, run_id="r")).give("go").says(call("ask"))

    (child,) = asked.state.children
    assert [UserMessage("")] == list(child.transcript)


def test_an_abort_ends_a_nested_run_whose_configuration_is_gone_at_a_hook() -> None:
    """D52: what its model had said is kept, since no guard of it is left."""
    asks = hooked("asks", after_model_call=Spy(Need.model("key", "Well?")))
    child = config(asks, tools="c").as_tool("ask", "Asks.")
    loop = config(tools=[child])
    begun = Run(loop, State.start(loop, run_id="r")).give("go")
    begun = begun.says(call("ask", prompt="dig")).says("found").under(config(tools="b"))

    stopped = begun.give(Abort("enough"))

    assert "aborted: enough" == str(stopped.stop)
