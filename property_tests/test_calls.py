"""Calls and their results, whatever hooks, tools and people do: 3, 4."""

from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from loopcore import Message, Prompt
from loopcore.events import MessageAdded
from loopcore.hooks import Ask
from loopcore.testing.invariants import (
    Balance,
    Chains,
    Gates,
    OneByOne,
    Paired,
    Results,
    Waiting,
)
from property_tests.catalogue import CHILD, GUARDED, SERVICE, calm, wild
from property_tests.programs import Program, Script
from property_tests.strategies import ORDERLY, programs
from property_tests.table import After, Edited, Entry, Fail, Say
from property_tests.world import RUN_ID, World, order_aside, play, run

GATES: Final = (
    *calm("before_tool_call") * 2,
    *wild("before_tool_call"),
    *wild("prepare_tool_call"),
    *calm("transform_context"),
)
SHAPERS: Final = (
    *wild("after_tool_call"),
    *wild("after_tool_result"),
    *calm("before_tool_call"),
    *calm("prepare_next_turn"),
)


@given(programs())
def test_every_call_has_its_one_result_beside_it(program: Program) -> None:
    """3: with steers and aborts anywhere."""
    run(program, Paired())


@given(programs(GATES))
def test_only_what_its_gate_lets_through_is_run(program: Program) -> None:
    """4"""
    run(program, Gates())


EDITED: Final[tuple[Entry, ...]] = (
    ("before_tool_call", Edited(Fail())),
    ("before_tool_call", Edited(After(SERVICE, Fail()))),
    ("before_tool_call", Say(Ask("ok?"))),
)
EDITS: Final = ("edit", "edit", "approve")


@given(programs(EDITED, decisions=EDITS, calls=2))
def test_an_edited_call_may_fail_at_its_gate_while_others_run(
    program: Program,
) -> None:
    """11, 13, D40: what runs is cancelled, what was not started never is."""
    run(program, Waiting(), Balance(), Gates(), Paired())


@given(programs(GATES))
def test_a_chain_ends_at_a_block_and_at_arguments_that_do_not_fit(
    program: Program,
) -> None:
    """6: a Block is a left zero; D37, D43."""
    run(program, Chains())


@given(programs(GATES))
def test_calls_run_together_or_one_by_one(program: Program) -> None:
    run(program, OneByOne())


@given(programs(SHAPERS))
def test_results_are_what_tools_gave_as_shaped_by_hooks(program: Program) -> None:
    run(program, Results())


STEERED: Final = ("answer", "answer", "answer", "steer", "follow_up")


@given(
    programs(ORDERLY, names=(CHILD, GUARDED), kinds=STEERED),
    st.integers(0, 14),
    st.binary(min_size=12, max_size=12),
)
def test_the_order_of_answers_does_not_matter(
    program: Program, shared: int, order: bytes
) -> None:
    """3: forks of one state, answered in any order, come to the same transcript.

    And to the same of all else that is kept; only in what order it came is another.
    """
    world = World.of(program.setup)
    world.give(Prompt("begin"))
    for move in program.moves[:shared]:
        play(world, program.script, move)
    oldest, newest, mixed = (
        settled(world.fork(), program.script, turns)
        for turns in ([], [-1] * 99, list(order))
    )

    assert order_aside(oldest.state) == order_aside(newest.state)
    assert order_aside(oldest.state) == order_aside(mixed.state)
    assert told(oldest) == told(newest) == told(mixed)


def settled(world: World, script: Script, order: list[int]) -> World:
    """It with answers that come in this order, at last the oldest first."""
    for turn in order:
        waiting = world.state.waiting
        if waiting:
            world.answer(script, waiting[turn % len(waiting)])
    world.settle(script)
    return world


def told(world: World) -> list[Message]:
    """The outer run's messages that were told, in order."""
    tell = (event for effects in world.gave for event in effects.tell)
    added = (event for event in tell if isinstance(event, MessageAdded))
    return [event.message for event in added if event.run_id == RUN_ID]
