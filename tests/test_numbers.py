"""Numbers that JSON has not are refused where they are given: a state can always be saved."""

import math

import pytest

from loopcore import (
    Answer,
    AssistantMessage,
    State,
    Text,
    Thinking,
    ToolCall,
    ToolSpec,
    deliver,
)
from loopcore.hooks import RetryUpdate
from loopcore.messages import Part
from tests.driving import config

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
