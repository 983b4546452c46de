"""Strategies for programs. All of one is read off one string of bytes.

Hypothesis mutates what it draws in pieces, so that of 500 examples 80 are new; what it
draws in one piece is always new, and shrinks to zeros: so the first choice of each pool is
the simplest.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeVar

from attrs import define, frozen
from hypothesis import strategies as st

from loopcore import AssistantMessage, ModelError, Text
from property_tests.catalogue import (
    CALLS,
    CHILD,
    ERRORS,
    FOUND,
    OUTPUTS,
    USAGES,
    calm,
    wild,
)
from property_tests.programs import (
    DECISIONS,
    KINDS,
    NESTED,
    Move,
    Program,
    Script,
    Setup,
)
from property_tests.table import NAMES, Entry, Plan

T = TypeVar("T")

CALM: Final = tuple(entry for point in NAMES for entry in calm(point))
WILD: Final = tuple(entry for point in NAMES for entry in wild(point))
MIXED: Final = (*CALM * 2, *WILD)
ORDERLY: Final = (*CALM, *(entry for entry in WILD if entry[0] != "before_tool_call"))
"""What gives the same result for every order of answers.

A gate that fails does not: an edited call passes it while others are run.
"""


@define
class Draws:
    """Choices, read off bytes; when these are used up, always the first."""

    data: Iterator[int]

    def below(self, most: int) -> int:
        """A number below this."""
        number = next(self.data, 0)
        if most > BYTE:
            number = number * BYTE + next(self.data, 0)
        return number % most

    def pick(self, pool: Sequence[T]) -> T:
        """One of these."""
        return pool[self.below(len(pool))]

    def some(self, pool: Sequence[T], least: int, most: int) -> tuple[T, ...]:
        """A few of these."""
        count = least + self.below(most - least + 1)
        return tuple(self.pick(pool) for _ in range(count))


BYTE: Final = 256
LENGTH: Final = 200
"""About what the longest program takes."""


@frozen
class Range:
    """What programs are drawn from.

    `errors` of eight answers of a model are none; a reply has `calls` calls at least.
    """

    pool: tuple[Entry, ...] = MIXED
    kinds: tuple[str, ...] = KINDS
    depth: int = 1
    names: tuple[str, ...] = NESTED
    decisions: tuple[str, ...] = DECISIONS
    errors: int = 1
    calls: int = 0
    output: Any = None


def program(draws: Draws, among: Range) -> Program:
    """A program."""
    return Program(
        setup(draws, among, among.depth), script(draws, among), moves(draws, among)
    )


def setup(draws: Draws, among: Range, depth: int) -> Setup:
    """A configuration; up to `depth` runs stand inside one another."""
    plans = tuple(plan(draws, among, n) for n in range(draws.below(4)))
    names = among.names if draws.below(2) else (draws.pick(among.names),)
    inside = setup(draws, among, depth - 1) if depth else None
    return Setup(
        plans,
        tuple((name, inside) for name in names) if inside else (),
        parallel=draws.pick((True, True, True, False)),
        steering=draws.pick(("one", "all")),
        follow_ups=draws.pick(("one", "all")),
        output=among.output if depth == among.depth else None,
    )


def plan(draws: Draws, among: Range, n: int) -> Plan:
    """A hook, with a few entries of the pool."""
    return Plan(
        f"h{n}",
        draws.some(among.pool, 1, 3),
        fail_closed=draws.pick((False, False, True)),
        tools=draws.pick((None, None, None, ("add",), ("note", CHILD))),
    )


def script(draws: Draws, among: Range) -> Script:
    """What it is answered."""
    return Script(
        tuple(answer(draws, among) for _ in range(1 + draws.below(3))),
        draws.some(OUTPUTS, 1, 3),
        draws.some(among.decisions, 1, 2),
        draws.pick(((FOUND[0],), (FOUND[1],), FOUND)),
    )


def answer(draws: Draws, among: Range) -> AssistantMessage | ModelError:
    """What a model answers: mostly calls, of whatever kind, now and then an error."""
    if draws.below(8) >= 8 - among.errors:
        return draws.pick(ERRORS)
    text = draws.pick(("", "well", "7"))
    said: tuple[Text, ...] = (Text(text),) if text else ()
    least = min(among.calls, 1) if draws.below(4) == 3 else max(among.calls, 1)
    return AssistantMessage(
        (*said, *draws.some(CALLS, least, 3)),
        finish=draws.pick(FINISHES),
        usage=draws.pick(USAGES),
    )


USUAL: Final[tuple[Any, ...]] = ("tools", "end")
UNUSUAL: Final[tuple[Any, ...]] = ("length", "refusal", "error", "aborted")
FINISHES: Final = (*USUAL * 16, *UNUSUAL)


def moves(draws: Draws, among: Range) -> tuple[Move, ...]:
    """What happens, in order."""
    count = 4 + draws.below(11)
    return tuple(Move(draws.pick(among.kinds), draws.below(4)) for _ in range(count))


def read(data: bytes) -> Draws:
    """The choices that these bytes are."""
    return Draws(iter(data))


BYTES: Final = st.binary(min_size=LENGTH, max_size=LENGTH)


def _drawn(made: Callable[[Draws], T]) -> st.SearchStrategy[T]:
    """What is made of bytes; composite, so that a failure prints what was made."""

    @st.composite
    def drawn(draw: st.DrawFn) -> T:
        return made(read(draw(BYTES)))

    return drawn()


def programs(
    pool: tuple[Entry, ...] = MIXED, **more: Any
) -> st.SearchStrategy[Program]:
    """Programs whose hooks are of this pool; see `Range` for the rest."""
    among = Range(pool, **more)
    return _drawn(lambda draws: program(draws, among))


def setups(pool: tuple[Entry, ...] = MIXED, **more: Any) -> st.SearchStrategy[Setup]:
    """Configurations whose hooks are of this pool."""
    among = Range(pool, **more)
    return _drawn(lambda draws: setup(draws, among, among.depth))


def scripts(**more: Any) -> st.SearchStrategy[Script]:
    """What runs are answered."""
    among = Range(**more)
    return _drawn(lambda draws: script(draws, among))
