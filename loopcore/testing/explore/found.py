"""What exploring came to: how much was seen, and the shortest way to what is broken."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from os import PathLike
from typing import Final

from attrs import field, frozen

from loopcore.config import AnyConfig
from loopcore.effects import RequestApproval, RunTool
from loopcore.frozen import FrozenDict, counted
from loopcore.inputs import Answer, Input
from loopcore.journal import Entry, Journal
from loopcore.reducer import advance
from loopcore.state import State
from loopcore.wording import spoken

LONGEST: Final = 300
"""How much of an input is printed."""


@frozen(eq=False, repr=False)
class Counterexample:
    """The inputs after which a law does not hold: no shorter order breaks one.

    Args:
        law: the name of what is broken; `said` is what is wrong.
        inputs: all that happened, in order; the last broke it.
        config, first: where it began.
        times: when each was given, if that matters; None for one that was given at no time.
    """

    law: str
    said: str
    inputs: tuple[Input, ...]
    config: AnyConfig
    first: State
    times: tuple[float | None, ...] = ()

    @property
    def journal(self) -> Journal:
        """The way as a journal: to be kept, replayed, shrunk, explained and looked at.

        If the last step raises, it ends before it.
        """
        return journal_of(self.config, self.first, tuple(map(Entry, *self.given)))

    @property
    def given(self) -> tuple[tuple[Input, ...], tuple[float | None, ...]]:
        """The inputs, and the time of each."""
        return self.inputs, self.times or (None,) * len(self.inputs)

    def write(self, path: str | PathLike[str]) -> None:
        """Write the journal to a new file.

        Raises:
            FileExistsError: if there is such a file.
        """
        self.journal.write(path)

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """What is broken, and what leads to it."""
        said = f": {self.said}" if self.said else ""
        yield f"{self.law}{said}"
        yield from self.program()

    def program(self) -> Iterator[str]:
        """The inputs that lead to it, line by line."""
        yield f"It takes {counted(len(self.inputs), 'input')}:"
        state = self.first
        for n, (given, at) in enumerate(zip(*self.given, strict=True), 1):
            told = "" if at is None else f"  # at={at!r}"
            yield f"  {n}. {shown(state, given)}{told}"
            if n < len(self.inputs):  # a hook that is not pure may lead elsewhere now
                moved = advance(self.config, state, given, at=at)
                state = moved.map(lambda after: after[0]).value_or(state)
        yield f"Before the last of them it was {state!r}."


def journal_of(config: AnyConfig, first: State, given: Sequence[Entry]) -> Journal:
    """These inputs as a journal, up to what cannot be taken (again)."""
    for end in range(len(given), 0, -1):
        with suppress(Exception):  # what is broken may be that a step raises
            return Journal.of(config, first, given[:end]).unwrap()
    return Journal.of(config, first, ()).unwrap()


def shown(state: State, given: Input) -> str:
    """An input as the call that makes it, and what it is about."""
    text = repr(given)
    short = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
    if not isinstance(given, Answer):
        return short
    asked = next((e for e in state.waiting if e.id == given.effect_id), None)
    about = asked if isinstance(asked, RunTool | RequestApproval) else None
    return f"{short}  # {spoken(about)}" if about else short


def _counts(given: Mapping[str, int]) -> FrozenDict[int]:
    return FrozenDict(given)


@frozen(repr=False, eq=False)
class Exploration:
    """What exploring came to.

    Args:
        states: how many different states were seen.
        steps: how many steps were taken between them.
        depth: how many inputs the longest way of these has.
        reasons: how many of the states are ends, by the reason of their stop.
        complete: whether that is all there is; `bound` may have ended it before.
        counterexample: the shortest way to something broken, None if nothing is.
    """

    states: int
    steps: int
    depth: int
    reasons: Mapping[str, int] = field(converter=_counts)
    complete: bool
    counterexample: Counterexample | None

    @property
    def endings(self) -> int:
        """How many of the states are ends."""
        return sum(self.reasons.values())

    def __repr__(self) -> str:
        if self.counterexample is None:
            return f"<{self._counted()}; nothing is broken>"
        return f"{self.counterexample!r}\n({self._counted()}.)"

    def _counted(self) -> str:
        all_of = "" if self.complete else ", not all there are"
        return (
            f"{counted(self.states, 'state')}{all_of}, "
            f"{counted(self.endings, 'ending')}{by_reason(self.reasons)}, "
            f"{counted(self.steps, 'step')}, {counted(self.depth, 'input')} deep"
        )


def by_reason(reasons: Mapping[str, int]) -> str:
    """How many runs ended for each reason, the most frequent first."""
    found = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    told = ", ".join(f"{count:,} {reason}" for reason, count in found)
    return f" ({told})" if told else ""
