"""Runs begin, end and are told in order, and queues keep what they are given: 5, 8, 11."""

from attrs import evolve
from hypothesis import given

from loopcore import Prompt
from loopcore.testing.invariants import (
    Aborted,
    Balance,
    Ends,
    Outputs,
    Paired,
    Queues,
    Tokens,
    Waiting,
    Watched,
)
from property_tests.catalogue import calm, wild
from property_tests.programs import KINDS, Program, Setup
from property_tests.strategies import CALM, programs, setups
from property_tests.world import World, play, run

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


@given(programs(depth=2), setups(depth=2), setups(depth=0))
def test_a_configuration_may_change_between_two_steps(
    program: Program, other: Setup, bare: Setup
) -> None:
    """D52: also a nested run's, and it may be gone: 3, 11 and 13 hold all the same."""
    world = World.of(program.setup, Waiting(), Balance(), Paired(), Tokens())
    configs = [
        Watched.of(config) for config in (world.config, other.config(), bare.config())
    ]
    world.give(Prompt("begin"))
    for n, move in enumerate(program.moves):
        world.watch = evolve(world.watch, config=configs[(n + move.n) % 3])
        play(world, program.script, move)
    world.settle(program.script)


@given(programs(TURNS, kinds=QUEUES, output=int))
def test_a_run_that_wants_a_number_ends_with_one_or_says_why_not(
    program: Program,
) -> None:
    """D79, D85: and 3, 8, 11, 13 hold all the same."""
    run(program, Outputs(), Waiting(), Balance(), Paired(), Queues())


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
