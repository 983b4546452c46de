"""Runs begin, end and are told in order, and queues keep what they are given: 5, 8, 11."""

from hypothesis import given

from property_tests.catalogue import calm, wild
from property_tests.laws import Aborted, Balance, Queues
from property_tests.programs import KINDS, Program
from property_tests.strategies import CALM, programs
from property_tests.verdicts import Ends
from property_tests.world import run

QUEUES = (*KINDS, *("steer", "follow_up", "withdraw", "continue") * 2)
LATE = (*wild("after_tool_call"), *wild("after_tool_result"), *wild("after_model_call"))
TURNS = (*calm("prepare_next_turn"), *calm("should_stop_after_turn"), *CALM)
ENDS = (
    *calm("prepare_next_turn") * 2,
    *calm("should_stop_after_turn") * 2,
    *wild("prepare_next_turn"),
    *wild("should_stop_after_turn"),
)


@given(programs(LATE, kinds=(*KINDS, *("abort",) * 4)))
def test_nothing_is_asked_after_an_abort(program: Program) -> None:
    """5"""
    run(program, Aborted())


@given(programs(TURNS, kinds=QUEUES, depth=0))
def test_what_is_queued_is_said_once_or_withdrawn(program: Program) -> None:
    """8"""
    run(program, Queues())


@given(programs())
def test_starts_and_ends_balance(program: Program) -> None:
    """11"""
    run(program, Balance())


@given(programs())
def test_a_run_ends_for_the_reason_it_was_given(program: Program) -> None:
    """Every end is a value, and the first reason stands."""
    run(program, Ends())


@given(programs(ENDS))
def test_a_stop_beats_injected_messages_and_these_beat_the_end(
    program: Program,
) -> None:
    """D48, D60"""
    run(program, Ends())
