"""Folding a journal again: each input, and what a step makes of it now."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from attrs import frozen
from returns.result import Failure

from loopcore.config import AnyConfig
from loopcore.frozen import FrozenDict, Json
from loopcore.inputs import Input
from loopcore.journal.digests import Digests
from loopcore.journal.journal import Journal, refuse_no_journal
from loopcore.journal.ledger import Ledger
from loopcore.journal.lines import Entry
from loopcore.reducer import Effects, deliver, step
from loopcore.state import Rejected, State

NOTHING: Final[FrozenDict[Json]] = FrozenDict()
"""What a step leads to that was not taken."""


@frozen
class Step:
    """One input of a journal, folded again.

    Args:
        number: the input's, from 1.
        entry: what was recorded.
        before, state: the run before and after.
        effects: what it led to, events included.
        led: the same in digests.
    """

    number: int
    entry: Entry
    before: State
    state: State
    effects: Effects
    led: Json

    @property
    def input(self) -> Input:
        """What happened."""
        return self.entry.input


@frozen
class Refused:
    """An input that the run cannot take any more."""

    number: int
    entry: Entry
    state: State
    why: Rejected


def steps(
    config: AnyConfig, journal: Journal, ledger: Ledger | None = None
) -> Iterator[Step | Refused]:
    """Fold it, one input after the other; the last of them is one that is refused."""
    refuse_no_journal(journal)
    ledger, state = ledger or Ledger(Digests(journal.hide)), journal.start
    opened = journal.opened
    for number, entry in enumerate(journal.entries, 1):
        if number - 1 in opened:
            ledger.reset()
        placed = deliver(state, entry.input, at=entry.at)
        if isinstance(placed, Failure):
            yield Refused(number, entry, state, placed.failure())
            return
        after, effects = step(config, placed.unwrap())
        led = ledger.entry(after, effects)
        yield Step(number, entry, state, after, effects, led)
        state = after


def notes_of(every: Sequence[Step | Refused]) -> tuple[str, ...]:
    """What to know of all that is told: the record may be of another configuration."""
    strayed = (s.number for s in every if isinstance(s, Step) and s.led != s.entry.led)
    refused = (one.number for one in every if isinstance(one, Refused))
    first = [ELSEWHERE.format(number) for number in islice(strayed, 1)]
    return (*first, *(NO_LONGER.format(number) for number in refused))


ELSEWHERE: Final = (
    "(input {} led elsewhere when this was recorded: what is told is what comes of it "
    "now)"
)
NO_LONGER: Final = "(the record goes on, but input {} no longer fits)"
