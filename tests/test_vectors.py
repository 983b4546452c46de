"""Vectors are always the pure-Python one: the C one loses records that are still held.

The C vector's versions share nodes, but each reports every element to the garbage
collector once. When a garbage cycle holds two versions, a record that is held elsewhere is
taken for garbage and cleared.
"""

import gc
from collections.abc import Callable
from typing import Any

import pytest
from pyrsistent import pvector
from returns.result import Success

from loopcore import State, UserMessage, advance
from loopcore.effects import CallModel
from loopcore.frozen import vector
from loopcore.hooks import ContextUpdate, TurnUpdate
from tests.driving import begin, config

Builder = Callable[[list[UserMessage]], Any]
OURS: type = type(vector(()))


def survives(build: Builder, versions: int) -> bool:
    """Whether a record that is held outlives a cycle of versions of a vector with it."""
    kept = UserMessage("me")
    made = [build([kept, *(UserMessage(str(n)) for n in range(70))])]
    for _ in range(versions - 1):
        made.append(made[-1].append(UserMessage("x")))
    cycle: list[Any] = [*made]
    cycle.append(cycle)
    del made, cycle
    gc.collect()
    return hasattr(kept, "parts")


@pytest.mark.parametrize("versions", [1, 2, 3, 4])
def test_records_outlive_any_number_of_versions(versions: int) -> None:
    assert survives(vector, versions)


def test_ours_is_the_pure_python_one() -> None:
    assert OURS.__module__ == "pyrsistent._pvector"


def test_a_vector_of_another_kind_is_rebuilt() -> None:
    given = pvector([UserMessage("x")])

    assert type(vector(given)) is OURS
    assert list(vector(given)) == list(given)


def test_our_own_is_kept() -> None:
    ours = vector([UserMessage("x")])

    assert vector(ours) is ours


def vectors_of(state: State) -> list[type]:
    shown = [e.messages for e in state.waiting if isinstance(e, CallModel)]
    queues = [state.steering, state.follow_ups]
    return [type(v) for v in (state.transcript, state.new, *queues, *shown)]


def test_a_state_started_from_another_vector_has_only_ours() -> None:
    """D93."""
    history = pvector([UserMessage("before")])
    run = begin(config(), transcript=history)

    assert set(vectors_of(run.state)) == {OURS}


def test_a_loaded_state_has_only_ours() -> None:
    """D93."""
    loaded = State.loads(begin(config()).state.dumps()).unwrap()

    assert set(vectors_of(loaded)) == {OURS}


@pytest.mark.parametrize("build", [pvector, list, tuple])
def test_what_a_hook_gives_is_rebuilt(build: Callable[[Any], Any]) -> None:
    """D93."""
    said = build([UserMessage("x")])

    assert type(ContextUpdate(said).messages) is OURS
    assert type(TurnUpdate(transcript=said).transcript) is OURS


def test_a_run_that_goes_on_has_only_ours() -> None:
    """D93."""
    run = begin(config(), transcript=pvector([UserMessage("before")]))
    moved = advance(run.config, run.state, run.one_request.reply("hi"), "more")

    assert isinstance(moved, Success)
    assert set(vectors_of(moved.unwrap()[0])) == {OURS}
