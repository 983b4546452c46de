"""One record folded by two configurations at once, as far as the answers fit."""

from collections.abc import Iterator
from typing import TypeAlias

from returns.result import Failure

from loopcore.config import AnyConfig
from loopcore.effects import CallModel
from loopcore.frozen import Json
from loopcore.inputs import Answer
from loopcore.journal.digests import Digests
from loopcore.journal.folding import NOTHING, Refused, Step, steps
from loopcore.journal.journal import Journal
from loopcore.journal.ledger import Ledger
from loopcore.journal.lines import Entry
from loopcore.reducer import deliver, step

Pair: TypeAlias = tuple[Step, Step | None]
"""An input as it was, and as it is under the other configuration; None if it no longer fits."""


class Other:
    """The run as it goes under another configuration.

    A recorded answer fits if its effect asks the same. A model's reply fits if, besides,
    all that was stored before is the same; with `lenient`, always.
    """

    def __init__(self, config: AnyConfig, journal: Journal, *, lenient: bool) -> None:
        self._config, self._lenient = config, lenient
        self._ledger = Ledger(Digests(journal.hide))
        self.state = journal.start
        self.is_same = True
        self._asked: dict[str, tuple[Json, Json]] = {}

    def take(self, one: Step) -> Step | None:
        """The step that it takes with the same input, if that fits."""
        fits = self._fits(one.entry)
        placed = deliver(self.state, one.input, at=one.entry.at) if fits else None
        if placed is None or isinstance(placed, Failure):
            self._compare(one.led, NOTHING)
            return None
        before, (after, effects) = self.state, step(self._config, placed.unwrap())
        led = self._ledger.entry(after, effects)
        self.state = after
        self._compare(one.led, led)
        return Step(one.number, one.entry, before, after, effects, led)

    def reset(self) -> None:
        """Refer to nothing that was told before, as the record does from here."""
        self._ledger.reset()

    def _compare(self, then: Json, now: Json) -> None:
        stored = ("added", "replaced")
        self.is_same &= all(then.get(name) == now.get(name) for name in stored)
        was = {ask["id"]: ask for ask in then.get("ask", ())}
        self._asked |= {a["id"]: (was.get(a["id"]), a) for a in now.get("ask", ())}

    def _fits(self, entry: Entry) -> bool:
        if not isinstance(entry.input, Answer):
            return True
        effect_id = entry.input.effect_id
        was, now = self._asked.get(effect_id, (None, None))
        if now is None or now["kind"] != CallModel.__name__:
            return bool(was == now)
        return self._lenient or (was == now and self.is_same)


def paired(
    journal: Journal, old: AnyConfig, new: AnyConfig, *, lenient: bool = False
) -> Iterator[Pair | Refused]:
    """Each input under both configurations; the last is one that the old one refuses."""
    other, opened = Other(new, journal, lenient=lenient), journal.opened
    for one in steps(old, journal):
        if isinstance(one, Refused):
            yield one
            return
        if one.number - 1 in opened:
            other.reset()
        yield one, other.take(one)
