"""The transcripts of a run and of the runs nested in it, from point to point."""

from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from attrs import define, field

from loopcore import Message, State
from loopcore.events import MessageAdded
from loopcore.hooks import TurnUpdate
from loopcore_adapters.viewer.known import Known
from loopcore_adapters.viewer.lists import coded, ranges
from loopcore_adapters.viewer.timeline import Point

Turning: TypeAlias = list[Any]
"""`[point, {"+": ranges}]` for messages that came, `[point, {"=": list}]` for another
transcript, which may be told by the one before."""

NOTHING: Final = object()


@define
class Lane:
    """One run's transcript: the numbers of its messages, and how it came to them."""

    numbers: list[int] = field(factory=list[int])
    turnings: list[Turning] = field(factory=list[Turning])
    _seen: object = NOTHING

    def follow(self, known: Known, point: Point, run: State) -> None:
        """The run as it is at this point."""
        now = run.transcript
        if now is self._seen:
            return
        self._seen = now
        hook = _rewriter(point, run.run_id)
        if hook is not None or not self._grows(known, run):
            shown = known.shown(now, self.numbers, hook or "")
            self._replace(point.number, shown)
            return
        new = [now[place] for place in range(len(self.numbers), len(now))]
        self.add(known, point.number, new)

    def add(self, known: Known, number: int, new: list[Message]) -> None:
        """These messages came."""
        if new:
            numbers = known.numbers(new)
            self.numbers.extend(numbers)
            self.turnings.append([number, {"+": ranges(numbers)}])

    def _grows(self, known: Known, run: State) -> bool:
        count = len(self.numbers)
        if len(run.transcript) < count:
            return False
        return not count or known.number(run.transcript[count - 1]) == self.numbers[-1]

    def _replace(self, number: int, now: list[int]) -> None:
        self.turnings.append([number, {"=": coded(now, self.numbers)}])
        self.numbers = now


def _rewriter(point: Point, run_id: str) -> str | None:
    """The hook that rewrote this run's transcript here, if one did."""
    found = (
        wrote.hook
        for wrote in reversed(point.wrote)
        if isinstance(wrote.update, TurnUpdate)
        and wrote.run_id == run_id
        and "transcript" in wrote.fields
    )
    return next(found, None)


@define
class Lanes:
    """A lane for each run, in the order in which they began."""

    known: Known
    lanes: dict[str, Lane] = field(factory=dict[str, Lane])

    def follow(self, point: Point) -> None:
        """All runs, as they are at this point."""
        live = {run.run_id: run for run in runs(point.state)}
        for run_id, run in live.items():
            self.of(run_id).follow(self.known, point, run)
        for event in point.effects.tell:
            if isinstance(event, MessageAdded) and event.run_id not in live:
                self.of(event.run_id).add(self.known, point.number, [event.message])

    def of(self, run_id: str) -> Lane:
        """The lane of this run."""
        return self.lanes.setdefault(run_id, Lane())


def runs(state: State) -> Iterator[State]:
    """A run, and all that are nested in it."""
    yield state
    for child in state.children:
        yield from runs(child)
