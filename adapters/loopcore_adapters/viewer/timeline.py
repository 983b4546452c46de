"""A timeline: a journal folded again, and at each input all that there is to see."""

from collections.abc import Iterator
from typing import Any, TypeAlias

import attrs
from attrs import frozen
from returns.result import Failure

from loopcore import Effects, Input, State, deliver, step
from loopcore.events import HookWrote
from loopcore.journal import Divergence, Entry, Journal, Note, replay
from loopcore_adapters.viewer.spies import AnyConfig, Heard, Spies

Update: TypeAlias = Any
"""An update of any point."""


@frozen
class Wrote:
    """What a hook wrote: `place` is the call it was about, -1 if about none.

    `view` is what it saw, None if that is not known.
    """

    hook: str
    point: str
    run_id: str
    place: int
    update: Update
    view: Any = None

    @property
    def fields(self) -> dict[str, Any]:
        """Each field that it wrote, and what it is to be."""
        return {name: getattr(self.update, name) for name in self.update.written}


@frozen
class Point:
    """A run after one of its inputs.

    Args:
        number: the input's, from 1; 0 is where the record begins.
        entry: what was recorded; None at 0.
        before, state: the run before and after.
        effects: what the input led to, events included.
        wrote: what hooks wrote, in order.
        silent: which hooks were asked and wrote nothing: `(hook, point)`.
        notes: what the driver noted after it.
        folded: whether the states are known; after a divergence only inputs are.
    """

    number: int
    entry: Entry | None
    before: State
    state: State
    effects: Effects = Effects()  # noqa: RUF009  # it is frozen
    wrote: tuple[Wrote, ...] = ()
    silent: tuple[tuple[str, str], ...] = ()
    notes: tuple[Note, ...] = ()
    folded: bool = True

    @property
    def input(self) -> Input | None:
        """What happened; None at the beginning."""
        return self.entry.input if self.entry else None


@frozen(repr=False)
class Timeline:
    """A recorded run at all its points. `divergence`: where it goes another way now."""

    journal: Journal
    points: tuple[Point, ...]
    divergence: Divergence | None = None

    @property
    def run_id(self) -> str:
        """The run's name."""
        return self.journal.run_id

    @property
    def last(self) -> int:
        """The number of the last input."""
        return len(self.points) - 1

    def __repr__(self) -> str:
        return f"<timeline of {self.run_id}: {self.last} inputs>"


def timeline(config: AnyConfig, journal: Journal) -> Timeline:
    """The journal's points under this configuration. Nothing is performed.

    Where the journal does not replay, the point of the divergence is as the configuration
    folds it now, and of later ones only what was recorded is known.
    """
    replayed = replay(config, journal)
    divergence = replayed.failure() if isinstance(replayed, Failure) else None
    end = divergence.number if divergence else len(journal.entries)
    notes = _notes(journal)
    points = [
        Point(0, None, journal.start, journal.start, notes=notes.get(0, ())),
        *_folded(config, journal, end),
    ]
    for entry in journal.entries[len(points) - 1 :]:
        last = points[-1].state
        points.append(Point(len(points), entry, last, last, folded=False))
    told = (attrs.evolve(one, notes=notes.get(one.number, ())) for one in points)
    return Timeline(journal, tuple(told), divergence)


def _notes(journal: Journal) -> dict[int, tuple[Note, ...]]:
    found: dict[int, tuple[Note, ...]] = {}
    for count, note in journal.notes:
        found[count] = (*found.get(count, ()), note)
    return found


def _folded(config: AnyConfig, journal: Journal, end: int) -> Iterator[Point]:
    """The points up to this one, or to an input that is refused."""
    spies, state = Spies(config), journal.start
    for number, entry in enumerate(journal.entries[:end], 1):
        placed = deliver(state, entry.input, at=entry.at)
        if isinstance(placed, Failure):
            return
        after, effects = step(spies.config, placed.unwrap())
        heard = spies.take()
        wrote = tuple(_attributed(effects, heard))
        silent = tuple((h.hook, h.point) for h in heard if not h.spoke)
        yield Point(number, entry, state, after, effects, wrote, silent)
        state = after


def _attributed(effects: Effects, heard: tuple[Heard, ...]) -> Iterator[Wrote]:
    """What was written, with the call it was about: both come in the order of asking."""
    spoken = iter([one for one in heard if one.spoke])
    for event in effects.tell:
        if not isinstance(event, HookWrote):
            continue
        who = (event.run_id, event.hook, event.point)
        found = next(
            (one for one in spoken if (one.run_id, one.hook, one.point) == who), None
        )
        place, view = (found.place, found.view) if found else (-1, None)
        yield Wrote(event.hook, event.point, event.run_id, place, event.update, view)
