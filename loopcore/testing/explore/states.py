"""A state as a key: equal for states that differ in nothing that matters to what follows.

Equal values get one number, and a value that was seen before is found by its identity: a
state shares most of what it holds with the one before, so a key costs little. What JSON
tells apart is told apart: 1, 1.0 and true are three values, though Python calls them equal.
"""

import functools
from collections.abc import Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final

import attrs
from attrs import define, field

from loopcore.state import Running, Slot, State, Turn
from loopcore.testing.invariants import Law

ASIDE: Final = frozenset(("inputs", "closed", "inbox"))
"""What only says in which order a state was given what it was given."""

APART: Final = frozenset(("transcript", "new", "pending", "turn"))
PLAIN: Final = tuple(f.name for f in attrs.fields(State) if f.name not in ASIDE | APART)
OF_A_TURN: Final = tuple(f.name for f in attrs.fields(Turn) if f.name != "slots")
OF_A_SLOT: Final = tuple(f.name for f in attrs.fields(Running) if f.name != "child")

SCALARS: Final = frozenset((int, str, type(None)))
INEXACT: Final = frozenset((bool, float))
"""What Python takes for equal to an int."""

CHANGING: Final = frozenset((dict, list, set))
"""What may hold something else the next time."""


@define(eq=False)
class Numbers:
    """Numbers for values: equal ones have the same."""

    known: dict[int, tuple[object, Hashable]] = field(
        factory=dict[int, tuple[object, Hashable]], repr=False
    )
    numbers: dict[Hashable, Hashable] = field(
        factory=dict[Hashable, Hashable], repr=False
    )

    def of(self, value: object) -> Hashable:
        """The number of a value: an object, so that no scalar is one; they are their own."""
        kind = type(value)
        if kind in SCALARS:
            return value
        if kind in INEXACT:
            return kind, repr(value)
        found = self.known.get(id(value))
        if found is None:
            number = self.numbers.setdefault(self.exact(value), object())
            if kind in CHANGING:
                return number
            found = self.known[id(value)] = (value, number)
        return found[1]

    def exact(self, value: Any) -> Hashable:  # noqa: ANN401  # anything
        """What is equal for values that are, and are of the same kind all through."""
        kind: type[Any] = value.__class__
        if attrs.has(kind):
            return kind, self.fields(value, compared(kind))
        if issubclass(kind, Mapping):
            return dict, frozenset((k, self.of(v)) for k, v in value.items())
        if issubclass(kind, AbstractSet):
            return set, frozenset(map(self.of, value))
        if issubclass(kind, Sequence) and not issubclass(kind, str | bytes):
            return tuple, self.all(value)
        return kind, value if isinstance(value, Hashable) else id(value)

    def all(self, values: Iterable[object]) -> tuple[Hashable, ...]:
        """The numbers of these."""
        return tuple(map(self.of, values))

    def fields(self, record: object, names: Iterable[str]) -> tuple[Hashable, ...]:
        """The numbers of these fields."""
        return tuple(self.of(getattr(record, name)) for name in names)

    def memory(self, law: Law) -> Hashable:
        """What a law remembers: its fields, whether it compares them or not."""
        kind = type(law)
        if attrs.has(kind):
            return kind, self.fields(law, (f.name for f in attrs.fields(kind)))
        return kind, self.exact(getattr(law, "__dict__", {}))

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


@functools.cache
def compared(kind: type[Any]) -> tuple[str, ...]:
    """The fields by which records of this kind are equal or not."""
    return tuple(f.name for f in attrs.fields(kind) if f.eq)
