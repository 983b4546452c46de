"""`backtest`: what another configuration would have done in runs that were recorded."""

import warnings
from collections.abc import Iterable, Iterator
from os import PathLike
from typing import TypeAlias

from attrs import evolve, frozen
from returns.result import Failure

from loopcore.config import AnyConfig
from loopcore.effects import Sleep
from loopcore.events import Event, HookWrote, TurnEnd
from loopcore.hiding import Patterns
from loopcore.journal.change import Both, CallKey, Change, Side
from loopcore.journal.changes import GOES_ON, calls_told, changes, stores_same
from loopcore.journal.compare import difference
from loopcore.journal.divergence import Divergence
from loopcore.journal.folding import Refused, Step
from loopcore.journal.journal import Journal, JournalError, TornLine
from loopcore.journal.many import Told, each, several
from loopcore.journal.paired import paired
from loopcore.state import State


@frozen
class Redacted:
    """A journal that is still to be read, and what its recorder was told to hide."""

    path: str | PathLike[str]
    redact: Patterns


Source: TypeAlias = str | PathLike[str] | Journal | Redacted


@frozen
class Finding:
    """What a backtest found in one journal.

    Args:
        journal: the file, or the run's name.
        inputs, turns: how many it has.
        changes: what is otherwise.
        again: an effect that would have to be asked, as the record has no answer to it;
            it tells nothing of what comes after. Empty if there is none.
        stale: how the old configuration differs from the record; then nothing is compared.
        broken: why it could not be read.
    """

    journal: str
    inputs: int = 0
    turns: int = 0
    changes: tuple[Change, ...] = ()
    again: str = ""
    stale: Divergence | None = None
    broken: JournalError | None = None

    @property
    def is_same(self) -> bool:
        """Whether both configurations do the same, as far as that can be known."""
        return not (self.changes or self.stale or self.broken)


@frozen(repr=False)
class Backtest:
    """What a backtest found, journal by journal. Empty ones are the same."""

    findings: tuple[Finding, ...]

    @property
    def same(self) -> tuple[str, ...]:
        """The journals in which nothing changes."""
        return tuple(f.journal for f in self.findings if f.is_same)

    @property
    def changed(self) -> tuple[Change, ...]:
        """All that changes, in the journals' order."""
        return tuple(change for found in self.findings for change in found.changes)

    @property
    def stale(self) -> tuple[Divergence, ...]:
        """How journals differ from what the old configuration does."""
        return tuple(found.stale for found in self.findings if found.stale)

    @property
    def broken(self) -> tuple[JournalError, ...]:
        """Why journals could not be read."""
        return tuple(found.broken for found in self.findings if found.broken)

    @property
    def by_hook(self) -> dict[str, int]:
        """In how many journals each hook changes something, most first; "" for no hook."""
        counts: dict[str, int] = {}
        for found in self.findings:
            for hook in {change.hook for change in found.changes}:
                counts[hook] = counts.get(hook, 0) + 1
        return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))

    def table(self, most: int | None = 20) -> str:
        """What changes, as text: at most so many rows, None for all."""
        from loopcore.journal.tables import told  # noqa: PLC0415  # it needs this class

        return told(self, most)

    def __repr__(self) -> str:
        counts = {
            "same": len(self.same),
            "changed": sum(1 for found in self.findings if found.changes),
            "stale": len(self.stale),
            "broken": len(self.broken),
        }
        said = ", ".join(f"{count} {name}" for name, count in counts.items())
        return f"<backtest of {len(self.findings)} journals: {said}>"


def backtest(
    journals: Iterable[Source],
    *,
    old: AnyConfig,
    new: AnyConfig,
    lenient: bool = False,
    workers: int | None = None,
    progress: Told | None = None,
) -> Backtest:
    """What another configuration would have done. Nothing is performed.

    Each journal is folded by both. A recorded answer is taken by the new one if it asks
    the same there; what would have to be asked again ends what can be known.

    Args:
        journals: files or journals.
        old: the configuration they were recorded with; where it does not lead to what was
            recorded, the journal is stale.
        new: the other one.
        lenient: go on past a request that differs, as if the model had said the same.
        workers: how many processes; None for one on each core where that pays.
        progress: told how many journals are done, and of how many.
    """

    def look(source: Source) -> Finding:
        return found_in(source, old, new, lenient=lenient)

    found = each(look, several("backtest", journals), workers, progress)
    return Backtest(found)


def found_in(
    source: Source, old: AnyConfig, new: AnyConfig, *, lenient: bool = False
) -> Finding:
    """What a backtest finds in one journal."""
    journal = read(source)
    if isinstance(journal, JournalError):
        return Finding(journal.path, broken=journal)
    name = journal.path or journal.run_id
    so_far = SoFar(name, journal.start)
    for pair in paired(journal, old, new, lenient=lenient):
        one = pair if isinstance(pair, Refused) else pair[0]
        if isinstance(pair, Refused) or pair[0].led != pair[0].entry.led:
            stale = difference(old, journal, one)
            return Finding(name, len(journal.entries), so_far.turns, stale=stale)
        so_far.take(*pair)
    told = tuple(_to_the_end(change, so_far.old) for change in _once(so_far.found))
    return Finding(name, len(journal.entries), so_far.turns, told, so_far.again)


class SoFar:
    """What was found up to a step, and what has to be known of it in those to come."""

    def __init__(self, name: str, start: State) -> None:
        self._name, self.old, self._new = name, start, start
        self.turns, self.found = 0, list[Change]()
        self._same, self._known = True, dict[CallKey, bool]()
        self._wrote: tuple[tuple[HookWrote, ...], tuple[HookWrote, ...]] = ((), ())

    def take(self, was: Step, now: Step | None) -> None:
        """An input as it was, and as it is; None if it does not fit any more."""
        self.old, self.turns = was.state, _turns(was.effects.tell, self.turns)
        if now:
            self._compare(was, now)
        self._same &= stores_same(was, now)

    def _compare(self, was: Step, now: Step) -> None:
        old, new = Side(was, self._wrote[0]), Side(now, self._wrote[1])
        both = Both(self._name, old, new, self._same, self._known)
        self.found += changes(both)
        self._known = {**calls_told(both), **self._known}
        self._new, self._wrote = now.state, (old.after(), new.after())

    @property
    def again(self) -> str:
        """What the new run waits for and the old one in the end did not."""
        same = {effect.id: effect for effect in self.old.waiting}
        waits = [e for e in self._new.waiting if same.get(e.id) != e]
        asked = [e for e in waits if not isinstance(e, Sleep)]
        return next((effect.id for effect in (*asked, *waits)), "")


def _once(found: Iterable[Change]) -> Iterator[Change]:
    """What changes; a setting that every request then has is told of the first one."""
    before: dict[str, tuple[str, str, str]] = {}
    for change in found:
        told = change.old, change.new, change.hook
        if change.what.startswith("request: ") and before.get(change.what) == told:
            continue
        before[change.what] = told
        yield change


def _to_the_end(change: Change, end: State) -> Change:
    """The change, told with how the old run ended if the new one stopped before."""
    if change.what == "stop" and change.old == GOES_ON and end.stop:
        later = ", later" if change.new == str(end.stop) else ""
        return evolve(change, old=f"{end.stop}{later}")
    return change


def _turns(events: Iterable[Event], turns: int) -> int:
    return turns + sum(1 for event in events if isinstance(event, TurnEnd))


def read(source: Source) -> Journal | JournalError:
    """The journal, if it can be read. That its last line is torn is no news here."""
    if isinstance(source, Journal):
        return source
    path, redact = (
        (source.path, source.redact) if isinstance(source, Redacted) else (source, ())
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TornLine)
        found = Journal.read(path, redact=redact)
    return found.failure() if isinstance(found, Failure) else found.unwrap()
