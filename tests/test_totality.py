"""Whatever a model, a tool, a person or a program gives: a step does not raise."""

from collections.abc import Callable
from typing import Any

import pytest

from loopcore import (
    Abort,
    Answer,
    AssistantMessage,
    Image,
    ModelError,
    State,
    Steer,
    Text,
    Thinking,
    ToolCall,
    ToolOutput,
    ToolResultMessage,
    Usage,
    deliver,
    step,
)
from loopcore.hooks import Hooks, Need
from tests.driving import begin, call, config

WRONG: dict[str, Callable[[], object]] = {
    "usage": lambda: AssistantMessage("x", usage=odd(None)),
    "finish": lambda: AssistantMessage("x", finish=odd("banana")),
    "error": lambda: AssistantMessage("x", finish="error", error=odd("boom")),
    "content": lambda: AssistantMessage([odd("x")]),
    "partial": lambda: ModelError("x", partial=odd("half")),
    "kind": lambda: ModelError("x", odd("banana")),
    "outcome": lambda: ToolOutput("x", outcome=odd("banana")),
    "outcome of a message": lambda: ToolResultMessage("a", "a", "x", odd("banana")),
    "terminate": lambda: ToolOutput("x", terminate=odd("yes")),
    "parts": lambda: ToolOutput([odd(5)]),
    "details": lambda: ToolOutput("x", details={1, 2}),
    "partials": lambda: Abort(partials={"r.1.1.model.1": odd("half")}),
    "effect_id": lambda: Answer(odd(5), None),
    "value": lambda: Answer("r.1.1.run.0", object()),
    "arguments": lambda: ToolCall("a", {"n": {1}}),
}


def odd(value: object) -> Any:
    """A value of the wrong type."""
    return value


@pytest.mark.parametrize("what", WRONG)
def test_a_record_of_the_wrong_kind_cannot_be_made(what: str) -> None:
    """So whoever makes it is told, and no step ever meets it."""
    with pytest.raises((TypeError, ValueError)):
        WRONG[what]()


@pytest.mark.parametrize(
    "output",
    [
        ToolOutput([Thinking("hm")]),
        ToolOutput([ToolCall("a", {}, "inner")]),
        ToolOutput([Image("d", "image/png"), Text("")]),
        ToolOutput((), outcome="truncated"),
    ],
    ids=["thinking", "call", "image", "truncated"],
)
def test_an_output_of_any_parts_is_stored(output: ToolOutput) -> None:
    run = begin(config()).says(call("a")).ran("a", output)

    assert run.results[0].parts == output.parts
    assert run.says("hi").reason == "done"


HUGE = "9" * 5000
IDS = [
    f"r.{HUGE}.1.model.1",
    f"r.1.{HUGE}.model.1",
    "r.1.1.model.1" * 1000,
    "r.1.1.run.9999",
    "r.-1.1.model.1",
    "r.\u0661.1.model.1",
    "r....",
    "r.",
    "r",
    "",
    "\ud800",
    "q.1.1.model.1",
    "r.1.1.model.1.",
]


@pytest.mark.parametrize("id", IDS, ids=range(len(IDS)))
def test_an_answer_to_any_id_is_taken_or_refused(id: str) -> None:  # noqa: A002
    run = begin(config())

    assert run.refuses(Answer(id, AssistantMessage("x"))).kind == "stranger"


@pytest.mark.parametrize("at", [float("nan"), float("inf"), float("-inf")])
def test_a_time_is_a_number_of_seconds(at: float) -> None:
    """It would stay in the state for ever."""
    with pytest.raises(ValueError, match="finite"):
        deliver(begin(config()).state, Steer("x"), at=at)


def test_an_input_is_one_of_the_known_ones() -> None:
    with pytest.raises(TypeError, match=r"int is no input; give text"):
        deliver(begin(config()).state, odd(5))


def test_a_run_has_a_name() -> None:
    with pytest.raises(ValueError, match="run_id is empty"):
        State.start(config(), run_id="")


def test_an_empty_inbox_changes_nothing() -> None:
    """It gives the state itself and no effects."""
    run = begin(config())
    state, effects = step(run.config, run.state)

    assert state is run.state
    assert (effects.perform, effects.cancel, effects.tell) == ((), (), ())


def test_a_hook_that_asks_for_ever_is_stopped() -> None:
    """Also one that asks again in every turn, about every call."""

    def ask(view: Any) -> Need:
        return Need.service(f"{len(view.answers)}", "policy")

    run = begin(config(Hooks("ask", before_tool_call=ask))).says(call("a"))
    while not run.reason:
        run = run.give(run.state.waiting[0].fail("closed"))

    assert run.reason == "hook_error"
    assert len(run.performed) == 1 + 8


@pytest.mark.parametrize("parallel", [True, False])
def test_a_thousand_calls_run_and_end(parallel: bool) -> None:  # noqa: FBT001
    run = begin(config(parallel=parallel))
    run = run.says(*[call("a", str(n)) for n in range(1000)])
    state = run.state
    while tools := [effect for effect in state.waiting if effect.id.count(".run.")]:
        state = deliver(state, tools[-1].fail("no")).unwrap()
        state, _ = step(run.config, state)

    assert len(state.transcript) == 1002
    assert [
        m.call_id for m in state.transcript if isinstance(m, ToolResultMessage)
    ] == [str(n) for n in range(1000)]


def test_huge_numbers_of_tokens_add_up() -> None:
    run = begin(config()).says("hi", usage=Usage(10**30, cost=1e308))

    assert run.give("x").says("y", usage=Usage(1)).state.usage == Usage(1)
