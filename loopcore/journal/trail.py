"""Where a journal ends, told without folding it: what its last state must agree with."""

from typing import TypeAlias

from loopcore.inputs import Answer
from loopcore.journal.digests import Digests
from loopcore.journal.journal import Journal
from loopcore.journal.lines import Entry
from loopcore.state import State

Told: TypeAlias = str | float | frozenset[str] | None


def misfit(journal: Journal, state: State, digests: Digests) -> str:
    """In what this state is not the journal's last one; nothing if it may well be.

    The configuration may have changed meanwhile, so nothing is folded.
    """
    start, entries = journal.start, journal.entries
    times = [entry.at for entry in entries if entry.at is not None]
    pairs: tuple[tuple[str, Told, Told], ...] = (
        ("run", start.run_id, state.run_id),
        ("inputs taken", start.inputs + len(entries), state.inputs),
        (
            "waiting for",
            waiting_at_end(journal),
            frozenset(e.id for e in state.waiting),
        ),
        ("time", max([start.now, *times], key=_time), state.now),
    )
    for what, here, there in pairs:
        if here != there:
            return f"{what}: {_said(here)} in the file, {_said(there)} in the state"
    return "" if _last_is_known(journal, state, digests) else "it has other messages"


def waiting_at_end(journal: Journal) -> frozenset[str]:
    """The ids of what was asked and neither answered nor cancelled."""
    waiting = {effect.id for effect in journal.start.waiting}
    for entry in journal.entries:
        waiting |= {asked["id"] for asked in entry.led.get("ask", ())}
        waiting -= closed_by(entry)
    return frozenset(waiting)


def closed_by(entry: Entry) -> set[str]:
    """The ids of the effects that this input ended."""
    answered = (
        {entry.input.effect_id} if isinstance(entry.input, Answer) else set[str]()
    )
    return answered | set(entry.led.get("cancel", ()))


def _time(at: float | None) -> float:
    return float("-inf") if at is None else at


def _said(value: Told) -> str:
    match value:
        case str() | float() | int() | None:
            return str(value)
        case _:
            return ", ".join(sorted(value)) or "nothing"


def _last_is_known(journal: Journal, state: State, digests: Digests) -> bool:
    """Whether the newest message is one that the journal tells of."""
    told = {
        digest for entry in journal.entries for digest in entry.led.get("added", ())
    }
    rewritten = any("replaced" in entry.led for entry in journal.entries)
    if rewritten or not told or not state.transcript:
        return True
    last = digests(state.transcript[-1])
    return last in told or last in {digests(m) for m in journal.start.transcript}
