"""What hooks say is what happens, no more and no less: 6, 7."""

from typing import Final

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from loopcore import AssistantMessage, Message, SystemMessage, UserMessage
from loopcore.events import MessageAdded
from loopcore.hooks import ContextUpdate
from loopcore.testing.invariants import Chains, Memories, Requests, Retries
from property_tests.catalogue import CALLS, calm, wild
from property_tests.programs import Program, Setup
from property_tests.strategies import WILD, programs
from property_tests.table import NAMES, UPDATES, Entry, Plan, PointName, Say
from property_tests.world import World, run

TURNS: Final = (
    *wild("transform_context"),
    *calm("on_model_error") * 3,
    *wild("on_model_error"),
    *calm("prepare_next_turn"),
)


@given(programs())
def test_hooks_are_asked_in_order_and_what_stands_is_told(program: Program) -> None:
    run(program, Chains())


@given(programs())
def test_a_hook_remembers_what_it_wrote_in_a_pass_that_was_kept(
    program: Program,
) -> None:
    """D30, D35"""
    run(program, Memories())


@given(programs(TURNS, errors=4))
def test_a_request_shows_the_settings_as_changed_for_it_alone(
    program: Program,
) -> None:
    """7"""
    run(program, Requests())


@given(programs(TURNS, errors=4))
def test_a_retry_stores_nothing_and_waits(program: Program) -> None:
    """D69"""
    run(program, Retries())


QUIET: Final = tuple(
    (point, Say(value)) for point in NAMES for value in (None, UPDATES[point]())
)


@given(programs(), st.lists(st.sampled_from(QUIET), min_size=1), st.integers(0, 3))
def test_a_hook_that_says_nothing_changes_nothing(
    program: Program, entries: list[Entry], place: int
) -> None:
    """6: wherever it stands, here and in the runs inside."""
    quiet = Plan("quiet", tuple(entries))
    with_it = evolve(program, setup=hushed(program.setup, quiet, place))
    one, other = run(program), run(with_it)

    assert one.state == other.state
    assert one.gave == other.gave


def hushed(setup: Setup, quiet: Plan, place: int) -> Setup:
    """The same with one more hook, everywhere."""
    inside = tuple((name, hushed(one, quiet, place)) for name, one in setup.inside)
    plans = (*setup.plans[:place], quiet, *setup.plans[place:])
    return evolve(setup, plans=plans, inside=inside)


SHOWING: Final = (
    Say([UserMessage("shown")]),
    Say(ContextUpdate([], system="another")),
    Say(ContextUpdate(thinking="low", options={"t": 1})),
    Say(ContextUpdate([SystemMessage("and"), AssistantMessage(CALLS[0])])),
)
OTHERS: Final = tuple(
    entry for entry in WILD if entry[0] not in ("transform_context", "after_model_call")
)


@given(programs(OTHERS), st.lists(st.sampled_from(SHOWING), min_size=1))
def test_what_a_request_shows_is_stored_nowhere(
    program: Program, shown: list[Say]
) -> None:
    """7: with a hook that changes every request, everything but the requests is equal."""
    point: PointName = "transform_context"
    entries: tuple[Entry, ...] = tuple((point, say) for say in shown)
    shows = evolve(program.setup, plans=(*program.setup.plans, Plan("show", entries)))
    one, other = run(program), run(evolve(program, setup=shows))

    assert one.state == other.state
    assert stored(one) == stored(other)


def stored(world: World) -> list[Message]:
    """The messages that were stored, in order."""
    tell = (event for effects in world.gave for event in effects.tell)
    return [e.message for e in tell if isinstance(e, MessageAdded)]
