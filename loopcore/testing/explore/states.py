"""A state as a key: equal for states that differ in nothing that matters to what follows.

Equal values get one number, and a value that was seen before and cannot change is found by
its identity: a state shares most of what it holds with the one before, so a key costs
little. What may change, or holds what may, is looked through each time. What JSON tells
apart is told apart: 1, 1.0 and true are three values, though Python calls them equal.
"""

import dataclasses
from collections.abc import Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final

import attrs
from attrs import define, field
from pyrsistent import PVector

from loopcore.frozen import FrozenDict
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

LASTING: Final = FrozenDict, tuple, frozenset, PVector
"""The collections that hold the same for ever."""

COLLECTIONS: Final[tuple[type[Any], ...]] = Mapping, AbstractSet, Sequence


@define(eq=False)
class Numbers:
    """Numbers for values: equal ones have the same.

    `known` are values that cannot change, by identity; `changing` counts what can, so that
    it shows whether a value holds some; `within` is what is looked through just now.
    """

    known: dict[int, tuple[object, Hashable]] = field(
        factory=dict[int, tuple[object, Hashable]], repr=False
    )
    numbers: dict[Hashable, Hashable] = field(
        factory=dict[Hashable, Hashable], repr=False
    )
    forms: dict[type, tuple[tuple[str, ...], bool]] = field(
        factory=dict[type, tuple[tuple[str, ...], bool]], repr=False
    )
    within: dict[int, int] = field(factory=dict[int, int], repr=False)
    changing: int = 0

    def of(self, value: object) -> Hashable:
        """The number of a value: an object, so that no scalar is one; they are their own."""
        kind = type(value)
        if kind in SCALARS:
            return value
        if kind in INEXACT:
            return kind, repr(value)
        found = self.known.get(id(value))
        return self.number(value) if found is None else found[1]

    def number(self, value: object) -> Hashable:
        """The number of a value that is not remembered, which is so if it cannot change."""
        place = id(value)
        if place in self.within:
            return HOLDS_ITSELF, len(self.within) - self.within[place]
        before = self.changing
        self.within[place] = len(self.within)
        try:
            number = self.numbers.setdefault(self.exact(value), object())
        finally:
            del self.within[place]
        if self.changing == before:
            self.known[place] = value, number
        return number

    def exact(self, value: Any) -> Hashable:  # noqa: ANN401  # anything
        """What is equal for values that are, and are of the same kind all through."""
        kind: type[Any] = value.__class__
        if attrs.has(kind):
            names, lasts = self.form(kind)
            self.changing += not lasts
            return kind, self.fields(value, names)
        if issubclass(kind, str | bytes):
            return kind, value
        if issubclass(kind, COLLECTIONS):
            return self.collected(kind, value)
        if callable(value):
            return kind, self.itself(value)
        return kind, self.inside(value) if is_open(kind) else value

    def form(self, kind: type[Any]) -> tuple[tuple[str, ...], bool]:
        """By which fields records of this kind are equal, and that they cannot change."""
        if kind not in self.forms:
            names = tuple(f.name for f in attrs.fields(kind) if f.eq)
            self.forms[kind] = names, attrs.inspect(kind).is_frozen
        return self.forms[kind]

    def collected(self, kind: type[Any], value: Any) -> Hashable:  # noqa: ANN401  # a collection
        """What is equal for collections that are."""
        self.changing += not issubclass(kind, LASTING)
        if issubclass(kind, Mapping):
            return dict, frozenset((k, self.of(v)) for k, v in value.items())
        if issubclass(kind, AbstractSet):
            return set, frozenset(map(self.of, value))
        return tuple, self.all(value)

    def inside(self, value: Any) -> Hashable:  # noqa: ANN401  # an object of any class
        """What an object holds, as it would be pickled; itself, if nobody can tell."""
        made = _reduced(value)
        if made is None:
            return self.itself(value)
        self.changing += 1
        make, given, *state = made
        return self.all((make, *given)), self.all(state[:1])

    def itself(self, value: object) -> Hashable:
        """The number of what only itself is equal to."""
        return self.known.setdefault(id(value), (value, object()))[1]

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
        return kind, self.inside(law)

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


HOLDS_ITSELF: Final = object()


def is_open(kind: type[Any]) -> bool:
    """Whether equality of this kind says little: there is none, or its parts may change."""
    hashed: object = kind.__hash__
    no_equality = hashed is None or hashed is object.__hash__
    return no_equality or dataclasses.is_dataclass(kind)


def _reduced(value: Any) -> tuple[Any, ...] | None:  # noqa: ANN401  # an object of any class
    """How to make another one like it, as pickle asks; None for what cannot be told."""
    try:
        made: str | tuple[Any, ...] = value.__reduce_ex__(4)
    except Exception:  # noqa: BLE001  # whatever it does
        return None
    return None if isinstance(made, str) else made
