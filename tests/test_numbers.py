"""What JSON has not is refused, or mended, where it is given: a state can always be saved."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from loopcore import (
    Answer,
    AssistantMessage,
    FollowUp,
    Image,
    LoopConfig,
    ModelError,
    Prompt,
    State,
    Steer,
    Stop,
    Text,
    Thinking,
    ToolCall,
    ToolOutput,
    ToolSpec,
    Usage,
    UserMessage,
    Withdraw,
    deliver,
)
from loopcore.frozen import BITS, DEPTH, Json
from loopcore.hooks import ContextUpdate, Hooks, RetryUpdate
from loopcore.inputs import Respond
from loopcore.messages import Part
from tests.driving import Run, begin, call, config

ODD = [math.nan, math.inf, -math.inf]


@pytest.mark.parametrize("odd", ODD)
def test_a_timeout_is_finite(odd: float) -> None:
    with pytest.raises(ValueError, match=r"ToolSpec\(timeout=\.\.\.\) takes a finite"):
        ToolSpec("a", timeout=odd)


@pytest.mark.parametrize("odd", ODD)
def test_what_an_answer_took_is_finite(odd: float) -> None:
    with pytest.raises(ValueError, match=r"Answer\(seconds=\.\.\.\) takes a finite"):
        Answer("r.1.1.run.0", None, odd)


@pytest.mark.parametrize("odd", ODD)
def test_a_time_is_finite(odd: float) -> None:
    with pytest.raises(ValueError, match="a time is a finite number of seconds"):
        deliver(State.start(config(), run_id="r"), "go", at=odd)


def test_the_longest_pause_is_taken() -> None:
    assert 1e9 == RetryUpdate(retry=True, delay=1e9).delay


LONE = "a\ud800b"


@pytest.mark.parametrize(
    "part",
    [
        Text(LONE, signature=LONE),
        Thinking(LONE, LONE),
        ToolCall(LONE, {LONE: LONE}, LONE, raw=LONE, malformed=LONE, signature=LONE),
        ToolCall.parse(LONE, LONE, LONE),
    ],
)
def test_text_that_no_encoding_has_is_mended_where_it_is_given(part: Part) -> None:
    said = AssistantMessage([part]) if isinstance(part, Text | Thinking) else None
    history = [said] if said else []
    state = State.start(config(), run_id="r", transcript=history)

    assert state == State.loads(state.dumps()).unwrap()
    assert "\ud800" not in repr(part)


def held(*hooks: Hooks, **more: Any) -> State:
    """A run that waits for its model, made with these."""
    return begin(LoopConfig(model="test:model", hooks=hooks, **more)).state


SHOWN = ContextUpdate(system=LONE, model=LONE)
ENDED = Stop("limit", LONE, hook=LONE, point=LONE, error=LONE)
QUEUED = begin(config(), Steer("go", LONE)).state
SAID = UserMessage(Image(LONE, LONE))
TEXTS: dict[str, Callable[[], State]] = {
    "run_id": lambda: State.start(config(), run_id=LONE),
    "model": lambda: begin(LoopConfig(model=LONE)).state,
    "system": lambda: held(system=LONE),
    "tool": lambda: held(tools=[ToolSpec(LONE, LONE)]),
    "hook": lambda: held(Hooks(LONE, memo=1, transform_context=lambda _: [])),
    "shown": lambda: held(Hooks(transform_context=lambda _: SHOWN)),
    "stop": lambda: held(Hooks(transform_context=lambda _: ContextUpdate(stop=ENDED))),
    "prompt": lambda: begin(config(), Prompt("go", system=LONE, model=LONE)).state,
    "steer": lambda: begin(config(), Steer("go", LONE)).state,
    "follow-up": lambda: begin(config(), FollowUp("go", LONE)).state,
    "withdraw": lambda: deliver(QUEUED, Withdraw(LONE)).unwrap(),
    "image": lambda: begin(config(), Prompt(SAID)).state,
    "reply": lambda: begin(config()).says("yes", model=LONE).state,
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_state_that_was_given_such_a_text_is_the_same_when_it_is_loaded(
    name: str,
) -> None:
    state = TEXTS[name]()

    assert state == State.loads(state.dumps()).unwrap()


def test_what_an_answer_is_to_is_found_under_such_a_name() -> None:
    run = begin(config())
    run = Run(run.config, State.start(run.config, run_id=LONE)).give("go")

    assert "wrong_kind" == run.refuses(Answer(f"{LONE}.1.1.model.1", None)).kind


LONG = 1 << BITS
NUMBERS: dict[str, Callable[[Any], object]] = {
    "Usage(input=": Usage,
    "Usage(reasoning=": lambda odd: Usage(reasoning=odd),
    "ModelError(status=": lambda odd: ModelError("no", status=odd),
    "LoopConfig(repairs=": lambda odd: LoopConfig(model="a:b", repairs=odd),
    "State(seed=": lambda odd: State.start(config(), run_id="r", seed=odd),
    "ToolSpec(timeout=": lambda odd: ToolSpec("a", timeout=odd),
    "ModelError(retry_after=": lambda odd: ModelError("no", retry_after=odd),
    "Answer(seconds=": lambda odd: Answer("r.1.1.run.0", None, odd),
    "Usage(cost=": lambda odd: Usage(cost=odd),
    "RetryUpdate(delay=": lambda odd: RetryUpdate(delay=odd),
}


@pytest.mark.parametrize("odd", [True, LONG, "3"])
@pytest.mark.parametrize("where", NUMBERS)
def test_what_json_would_not_give_back_is_no_number(where: str, odd: object) -> None:
    with pytest.raises((TypeError, ValueError)) as refused:
        NUMBERS[where](odd)

    assert str(refused.value).startswith(where)


def test_a_flag_is_no_time() -> None:
    with pytest.raises(ValueError, match="at=True: a time is a finite number"):
        deliver(State.start(config(), run_id="r"), "go", at=True)


def test_what_is_no_flag_and_no_output_is_told() -> None:
    one: Any = 1
    with pytest.raises(TypeError, match=r"Thinking\(redacted=\.\.\.\) takes bool"):
        Thinking("hm", redacted=one)
    with pytest.raises(TypeError, match=r"Respond\(output=\.\.\.\) takes ToolOutput"):
        Respond(one)
    with pytest.raises(TypeError, match="text is wanted here"):
        Stop("limit", hook=one)


@pytest.mark.parametrize(
    "spent", [Usage(cost=1e308), Usage(cost=-1e308), Usage(LONG - 1, -LONG + 1)]
)
def test_a_run_goes_on_whatever_it_has_spent(spent: Usage) -> None:
    run = begin(config()).says(call("a"), usage=spent).ran("a").says("b", usage=spent)

    assert "done" == run.reason
    assert run.state == State.loads(run.state.dumps()).unwrap()


def nested(depth: int) -> Json:
    """A list in a list, so many deep."""
    return (nested(depth - 1),) if depth else 1


DEEP = nested(DEPTH)
DEEPEST: dict[str, Callable[[], State]] = {
    "arguments": lambda: begin(config()).says(call("a", x=DEEP)).state,
    "options": lambda: held(options={"x": DEEP}),
    "memo": lambda: held(Hooks("h", memo=DEEP, transform_context=lambda _: [])),
    "schema": lambda: held(tools=[ToolSpec("a", "", {"x": DEEP})]),
    "details": lambda: ran(ToolOutput("", details=DEEP)),
}


def ran(output: ToolOutput) -> State:
    """A run whose one tool gave this, and that waits for another."""
    return begin(config()).says(call("a"), call("b")).ran("a", output).state


@pytest.mark.parametrize("name", DEEPEST)
def test_as_deep_as_json_is_taken_it_is_loaded(name: str) -> None:
    state = DEEPEST[name]()

    assert state == State.loads(state.dumps()).unwrap()
