"""A state as a key: equal for states that differ in nothing that matters to what follows.

Equal values get one number, and a value that was seen before is found by its identity: a
state shares most of what it holds with the one before, so a key costs little.
"""

from collections.abc import Hashable, Iterable
from typing import Final

import attrs
from attrs import define, field

from loopcore.state import Running, Slot, State, Turn

ASIDE: Final = frozenset(("inputs", "closed", "inbox"))
"""What only says in which order a state was given what it was given."""

APART: Final = frozenset(("transcript", "new", "pending", "turn"))
PLAIN: Final = tuple(f.name for f in attrs.fields(State) if f.name not in ASIDE | APART)
OF_A_TURN: Final = tuple(f.name for f in attrs.fields(Turn) if f.name != "slots")
OF_A_SLOT: Final = tuple(f.name for f in attrs.fields(Running) if f.name != "child")

SCALARS: Final = (int, float, str, type(None))


@define(eq=False)
class Numbers:
    """Numbers for values: equal ones have the same."""

    known: dict[int, tuple[object, int]] = field(
        factory=dict[int, tuple[object, int]], repr=False
    )
    numbers: dict[Hashable, int] = field(factory=dict[Hashable, int], repr=False)

    def of(self, value: Hashable) -> Hashable:
        """The number of a value; scalars are their own."""
        if isinstance(value, SCALARS):
            return value
        found = self.known.get(id(value))
        if found is None:
            number = self.numbers.setdefault(value, len(self.numbers))
            found = self.known[id(value)] = (value, number)
        return found[1]

    def all(self, values: Iterable[Hashable]) -> tuple[Hashable, ...]:
        """The numbers of these."""
        return tuple(map(self.of, values))

    def fields(self, record: object, names: Iterable[str]) -> tuple[Hashable, ...]:
        """The numbers of these fields."""
        return tuple(self.of(getattr(record, name)) for name in names)

    def state(self, state: State) -> Hashable:
        """The key of a state."""
        return (
            self.fields(state, PLAIN),
            self.all(state.transcript),
            self.all(state.new),
            frozenset(self.all(state.pending.values())),
            state.turn and self.turn(state.turn),
        )

    def turn(self, turn: Turn) -> Hashable:
        """The key of an open turn."""
        slots = tuple(map(self.slot, turn.slots))
        return self.fields(turn, OF_A_TURN), slots

    def slot(self, slot: Slot) -> Hashable:
        """The key of a call: a nested run is as much of a state as the outer one."""
        if isinstance(slot, Running) and slot.child:
            return self.fields(slot, OF_A_SLOT), self.state(slot.child)
        return self.of(slot)
