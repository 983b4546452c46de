"""A step is a pure function, and a state tells all there is to know of a run: 1, 13."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import attrs
from attrs import frozen
from hypothesis import given
from pyrsistent import PVector

from loopcore import State
from loopcore.testing.invariants import Moment, Tokens, Waiting
from property_tests.fixed import digest
from property_tests.programs import Program, Setup
from property_tests.strategies import programs
from property_tests.world import run

VECTOR: Final[type[Any]] = State.start(Setup().config(), run_id="r").new.__class__


@frozen
class Unchanged:
    """1: a step leaves the state that it is given as it was, and so do laws."""

    saved: bytes = b""

    def see(self, moment: Moment) -> "Unchanged":
        assert self.saved in (b"", moment.before.dumps())
        return Unchanged(moment.after.dumps())


@given(programs())
def test_a_step_is_deterministic_and_changes_nothing(program: Program) -> None:
    """1: each is taken twice, once with hooks that are listened to."""
    world = run(program, Unchanged())

    assert world.config.settings == program.setup.config().settings


def test_the_seed_of_hashes_does_not_matter() -> None:
    """1: a hundred fixed programs end in the same bytes in processes of other seeds."""
    found = {_elsewhere(seed) for seed in ("0", "1", "77")}

    assert found == {digest()}


def _elsewhere(seed: str) -> str:
    path = os.pathsep.join(filter(None, (str(Path.cwd()), *sys.path)))
    done = subprocess.run(
        [sys.executable, "-m", "property_tests.fixed"],
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@given(programs())
def test_what_waits_is_what_was_asked_and_not_answered(program: Program) -> None:
    """13"""
    run(program, Waiting())


@given(programs())
def test_tokens_are_counted_once(program: Program) -> None:
    run(program, Tokens())


@frozen
class NoVectorOfC:
    """D93: the garbage collector may clear what a C vector holds."""

    def see(self, moment: Moment) -> "NoVectorOfC":
        kinds = {class_of(value) for value in reachable(moment.after)}
        assert {kind for kind in kinds if issubclass(kind, PVector)} == {VECTOR}
        return self


def reachable(value: Any, seen: set[int] | None = None) -> list[Any]:
    """All that hangs on this, each once."""
    seen = set() if seen is None else seen
    if id(value) in seen:
        return []
    seen.add(id(value))
    found = [value]
    for inner in held(value):
        found += reachable(inner, seen)
    return found


COLLECTIONS: Final = (tuple, list, set, frozenset, PVector)


def held(value: Any) -> list[Any]:
    """What a record or a collection holds."""
    kind = class_of(value)
    if attrs.has(kind):
        return [getattr(value, field.name) for field in attrs.fields(kind)]
    if issubclass(kind, dict):
        return [*value.keys(), *value.values()]
    return list(value) if issubclass(kind, COLLECTIONS) else []


def class_of(value: Any) -> type[Any]:
    """Its class."""
    return value.__class__  # type: ignore[no-any-return]  # of anything


@given(programs())
def test_no_vector_of_c_is_in_a_state(program: Program) -> None:
    """D93"""
    world = run(program, NoVectorOfC())

    assert isinstance(world.state, State)
