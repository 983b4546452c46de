"""Numbers that JSON has not are refused where they are given: a state can always be saved."""

import math

import pytest

from loopcore import Answer, State, ToolSpec, deliver
from loopcore.hooks import RetryUpdate
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
