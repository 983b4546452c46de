"""Runs that are walked by hand, for states that real steps lead to."""

from collections.abc import Iterable
from itertools import groupby
from typing import Final

from attrs import define
from hypothesis import note
from hypothesis import strategies as st
from returns.result import Failure

from loopcore.config import AnyConfig
from loopcore.inputs import Input
from loopcore.journal import Entry, Journal
from loopcore.messages import Message
from loopcore.reducer import advance
from loopcore.state import State
from loopcore.testing.configured import configured
from loopcore.testing.strategies.answering import inputs
from loopcore.testing.strategies.history import Transcript, transcripts
from loopcore.testing.strategies.plain import Drawn
from loopcore.tools import spec_of

RUN_ID: Final = "r"
RUN_IDS: Final = st.sampled_from((RUN_ID, *(f"r{n}" for n in range(2, 65))))
"""Names of runs: a run's seed follows from its name, so each has another one."""

MORE: Final = st.integers(0, 15).map(bool)
"""Whether there is one more; no is the simplest."""

SOME: Final = st.integers(0, 2).map(bool)
"""The same, of which there are only some."""


@define(eq=False)
class Walk:
    """A run under a configuration, moved by hand, that remembers what it was given.

    Printed, it is the program that leads to its state.
    """

    config: AnyConfig
    state: State
    begun: State
    taken: tuple[tuple[Input, float | None], ...] = ()

    @classmethod
    def begin(
        cls, config: AnyConfig, transcript: Iterable[Message] = (), run_id: str = RUN_ID
    ) -> "Walk":
        """A run that has not begun, over such a history."""
        state = State.start(config, run_id=run_id, transcript=transcript)
        return cls(config, state, state)

    def give(self, given: Input, at: float | None = None) -> bool:
        """Deliver and step this; False if it was refused, and nothing changed."""
        moved = advance(self.config, self.state, given, at=at)
        if isinstance(moved, Failure):
            return False
        self.state, _ = moved.unwrap()
        self.taken = (*self.taken, (given, at))
        return True

    def __str__(self) -> str:
        lines = [_start(self.begun)]
        for at, taken in groupby(self.taken, key=lambda one: one[1]):
            given = ", ".join(repr(one) for one, _ in taken)
            when = "" if at is None else f", at={at}"
            lines.append(f"state, _ = advance(config, state, {given}{when}).unwrap()")
        return "\n".join(lines)


def _start(state: State) -> str:
    said = list(state.transcript)
    history = f", transcript={said}" if said else ""
    return f"state = State.start(config, run_id={state.run_id!r}{history})"


def states(
    config: AnyConfig, *, max_inputs: int = 12, max_turns: int = 3
) -> Drawn[State]:
    """States of this configuration, each reached by real steps from a start.

    A failing example prints the program that leads to the state.

    Args:
        config: what the run is. Its hooks run.
        max_inputs: how many inputs it takes at most.
        max_turns: how many replies the history has, at most, that the run begins with.
    """
    return _walks(config, max_inputs, _histories(config, max_turns)).map(_state)


def _state(walk: Walk) -> State:
    return walk.state


def journals(
    config: AnyConfig, *, max_inputs: int = 12, max_turns: int = 3
) -> Drawn[Journal]:
    """Journals of this configuration's runs: recorded, and nothing performed.

    Args:
        config: what the run is. Its hooks run.
        max_inputs: how many inputs are recorded at most.
        max_turns: how many replies the history has, at most, that the run begins with.
    """
    return _walks(config, max_inputs, _histories(config, max_turns)).map(recorded)


def recorded(walk: Walk) -> Journal:
    """The journal of a walk."""
    happened = (Entry(given, at) for given, at in walk.taken)
    return Journal.of(walk.config, walk.begun, happened).unwrap()


def _histories(config: AnyConfig, most: int) -> Drawn[Transcript]:
    offered = configured("A strategy of states or journals", config).tools
    return transcripts(most, tools=[spec_of(tool) for tool in offered])


@st.composite
def _walks(
    draw: st.DrawFn, config: AnyConfig, most: int, histories: Drawn[Transcript]
) -> Walk:
    walk = Walk.begin(config, draw(histories), draw(RUN_IDS))
    clock = draw(CLOCKS)
    while len(walk.taken) < most and draw(MORE):
        walk.give(draw(inputs(walk.state)), clock and clock * len(walk.taken))
    note(f"The state is reached by:\n{walk}")
    return walk


CLOCKS: Final = st.sampled_from((None, None, 1.0, 60.0))
"""How many seconds pass from one input to the next; None if nobody tells."""
