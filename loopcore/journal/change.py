"""`Change`: something that another configuration does otherwise, and who makes it so."""

from collections.abc import Iterable

from attrs import frozen

from loopcore.events import HookWrote
from loopcore.hooks import Ask, Block
from loopcore.journal.folding import Step


@frozen
class Change:
    """Something that another configuration does otherwise.

    Args:
        journal: the file, or the run's name.
        number: at which input, from 1.
        turn: in which turn.
        what: what it is about, such as a call.
        old, new: how it was, and how it is.
        hook, point: the hook that makes the difference, if one does.
    """

    journal: str
    number: int
    turn: int
    what: str
    old: str
    new: str
    hook: str = ""
    point: str = ""


@frozen
class Both:
    """The same input under two configurations."""

    journal: str
    old: Step
    new: Step

    def change(
        self,
        what: str,
        fates: tuple[str, str],
        points: Iterable[str] = (),
        n: int | None = None,
    ) -> Change:
        """A change of this step; the hook is one that wrote at one of these points.

        `n` is the place of the call that it is about.
        """
        hook, point = self._writer(tuple(points), n)
        turn = max(self.old.before.turns, 1)
        return Change(self.journal, self.old.number, turn, what, *fates, hook, point)

    def _writer(self, points: tuple[str, ...], n: int | None) -> tuple[str, str]:
        now, then = _writes(self.new, points, n), _writes(self.old, points, n)
        differ = [w for w in now if w not in then] + [w for w in then if w not in now]
        strongest = sorted(differ, key=_force, reverse=True)
        return next(((w.hook, w.point) for w in strongest), ("", ""))


def _writes(step: Step, points: tuple[str, ...], n: int | None) -> list[HookWrote]:
    events = (event for event in step.effects.tell if isinstance(event, HookWrote))
    return [
        event
        for event in events
        if event.point in points and (n is None or event.n.split(".")[0] == str(n))
    ]


def _force(event: HookWrote) -> int:
    """How much it weighs: of several opinions, the strictest is what holds."""
    match getattr(event.update, "decision", None):
        case Block():
            return 2
        case Ask():
            return 1
        case _:
            return 0
