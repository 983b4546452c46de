"""Looking at a journal in a terminal: each key makes another look of the one before."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import Final

from attrs import evolve, frozen
from returns.result import Failure
from rich.console import Console

from loopcore.cli.mistakes import Mistake
from loopcore.cli.saving import go_on, reserve, save, saved_as
from loopcore.cli.view.keys import pressed
from loopcore.cli.view.screen import Look, chosen, screen
from loopcore.config import LoopConfig
from loopcore.journal import Journal, diff, explain, fork
from loopcore_adapters.viewer import Seen

HELP: Final = """\
←  →      the input before, the next one
t  T      the end of the next turn, of the one before
Home End  the beginning, the last input
↑  ↓      the message above, the one below
h         hooks in detail: each field, and who wrote nothing
d         what this input changed
e         where the message at ▸ came from
o         how the other run is different up to here
f         fork here: save the run as it stands, to go another way
Esc       back to the transcript
q         quit

○ left out of the newest request    ◐ shown otherwise than stored"""


@frozen
class Visit:
    """What is looked at: a journal of an app, and another one beside it if one is given."""

    app: str
    config: LoopConfig
    journal: Journal
    seen: Seen
    other: Journal | None = None

    def until(self, at: int) -> Journal:
        """The journal up to and with this input."""
        return evolve(self.journal, entries=self.journal.entries[:at])


def moved(visit: Visit, look: Look, key: str) -> Look | None:
    """Where one looks after a key; None to go."""
    if key == "q":
        return None
    bare = evolve(look, note="")
    do = KEYS.get(key)
    return do(visit, bare) if do else look


def _to(visit: Visit, look: Look, at: int) -> Look:
    at = max(0, min(visit.seen.timeline.last, at))
    return evolve(look, at=at, message=None, page=None)


def _turn(visit: Visit, look: Look) -> Look:
    turns = visit.seen.turns()
    place = bisect_right(turns, look.at)
    after = turns[place] if place < len(turns) else visit.seen.timeline.last
    return _to(visit, look, after)


def _turn_back(visit: Visit, look: Look) -> Look:
    turns = visit.seen.turns()
    place = bisect_left(turns, look.at)
    return _to(visit, look, turns[place - 1] if place else 0)


def _message(by: int) -> "Callable[[Visit, Look], Look]":
    def choose(visit: Visit, look: Look) -> Look:
        return evolve(look, message=max(chosen(visit.seen, look) + by, 1), page=None)

    return choose


def _explain(visit: Visit, look: Look) -> Look:
    place = chosen(visit.seen, look)
    what = f"message {place}" if place else "stop"
    try:
        text = explain(visit.config, visit.until(look.at), what)
    except (LookupError, ValueError) as problem:
        return evolve(look, note=str(problem))
    return evolve(look, page=(f"explain {what}", text))


def _fork(visit: Visit, look: Look) -> Look:
    run_id = f"{visit.journal.run_id}-{look.at}"
    file = saved_as(run_id)
    found = fork(visit.config, visit.until(look.at), run_id=run_id)
    if isinstance(found, Failure):
        return evolve(look, note=str(found.failure()))
    try:
        reserve(file, "the fork")
        save(found.unwrap(), file)
    except Mistake as problem:
        return evolve(look, note=str(problem))
    how = go_on(visit.app, file)
    return evolve(look, note=f"saved to {file} · go on with:  {how}")


def _other(visit: Visit, look: Look) -> Look:
    if visit.other is None:
        return evolve(look, note="There is no other run: --other JOURNAL gives one.")
    taken = visit.journal.start.inputs + look.at - visit.other.start.inputs
    there = evolve(visit.other, entries=visit.other.entries[: max(taken, 0)])
    found = diff(visit.config, visit.until(look.at), there)
    return evolve(look, page=(f"other run {visit.other.run_id}", str(found)))


KEYS: Final[dict[str, Callable[[Visit, Look], Look]]] = {
    "left": lambda visit, look: _to(visit, look, look.at - 1),
    "right": lambda visit, look: _to(visit, look, look.at + 1),
    "home": lambda visit, look: _to(visit, look, 0),
    "end": lambda visit, look: _to(visit, look, visit.seen.timeline.last),
    "t": _turn,
    "T": _turn_back,
    "up": _message(-1),
    "down": _message(1),
    "h": lambda _, look: evolve(look, hooks=not look.hooks, diff=False),
    "d": lambda _, look: evolve(look, diff=not look.diff),
    "e": _explain,
    "f": _fork,
    "o": _other,
    "?": lambda _, look: evolve(look, page=("keys", HELP)),
    "escape": lambda _, look: evolve(look, page=None),
}


def watch(visit: Visit, look: Look, console: Console) -> None:
    """Show the journal, and heed keys until one says to go."""
    with pressed() as key, console.screen(hide_cursor=True) as window:
        now: Look | None = look
        size, drawn = console.size, False
        while now is not None:
            if not drawn or console.size != size:
                size = console.size
                window.update(screen(visit.seen, now, size.width, size.height))
            hit = key()
            before = now
            now = None if hit is None else moved(visit, now, hit)
            drawn = now is before
