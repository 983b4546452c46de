"""`Change`: something that another configuration does otherwise, and who makes it so."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from attrs import frozen

from loopcore.events import Event, HookWrote, TurnEnd
from loopcore.hooks import Ask, Block
from loopcore.journal.folding import Step

CallKey: TypeAlias = tuple[str, int, int]
"""A call by its run, its turn and its place in the reply."""

MEMO: Final = "memo"


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
class Writing:
    """Where a hook can have written what differs: at these points, in a turn's order.

    Args:
        points: of several, the first at which something else was written is the cause.
        field: which field; empty for any.
        call: of which call it is; then all of the call's turn counts, as a call is
            decided and its result shaped before that is stored.
    """

    points: tuple[str, ...] = ()
    field: str = ""
    call: CallKey | None = None

    def includes(self, event: HookWrote, point: str) -> bool:
        """Whether this is what may have made the difference, at that point."""
        wrote = [name for name in event.update.written if name != MEMO]
        fits = self.field in wrote if self.field else bool(wrote)
        return event.point == point and fits and self._is_about(event)

    def _is_about(self, event: HookWrote) -> bool:
        if self.call is None:
            return True
        run_id, turn, place = self.call
        n = event.n.split(".")[0]
        same_call = event.point == "after_model_call" or n == str(place)
        return same_call and (event.run_id, event.turn) == (run_id, turn)


@frozen
class Side:
    """A step under one of two configurations.

    `before` is what hooks wrote in its turn in earlier steps.
    """

    step: Step
    before: tuple[HookWrote, ...] = ()

    def writes(self, where: Writing, point: str) -> list[HookWrote]:
        """What may have made a difference."""
        events = (*(self.before if where.call else ()), *_wrote(self.step.effects.tell))
        return [event for event in events if where.includes(event, point)]

    def after(self) -> tuple[HookWrote, ...]:
        """What hooks have written so far in the turn that is open after this step."""
        told = self.step.effects.tell
        ends = [n for n, event in enumerate(told) if _ends(event, self.step)]
        if ends:
            return tuple(_wrote(told[ends[-1] + 1 :]))
        return (*self.before, *_wrote(told))


@frozen
class Both:
    """The same input under two configurations.

    Args:
        journal: the file, or the run's name.
        old, new: the step that each took.
        same_history: whether all that was stored before it is the same.
        known: the calls that were told before; True for one whose result only follows.
    """

    journal: str
    old: Side
    new: Side
    same_history: bool
    known: Mapping[CallKey, bool]

    def change(
        self, what: str, fates: tuple[str, str], where: Writing | None = None
    ) -> Change:
        """A change of this step; the hook is the one that wrote it."""
        hook, point = self._writer(where or Writing())
        step = self.old.step
        turn = max(step.before.turns, 1)
        return Change(self.journal, step.number, turn, what, *fates, hook, point)

    def _writer(self, where: Writing) -> tuple[str, str]:
        """Of several opinions at one point, the strictest is what holds."""
        for point in where.points:
            now, then = self.new.writes(where, point), self.old.writes(where, point)
            differ = [*_beyond(now, then), *_beyond(then, now)]
            strongest = sorted(differ, key=_force, reverse=True)
            for one in strongest[:1]:
                return one.hook, one.point
        return "", ""


def _wrote(told: Iterable[Event]) -> Iterator[HookWrote]:
    return (event for event in told if isinstance(event, HookWrote))


def _ends(event: Event, step: Step) -> bool:
    return isinstance(event, TurnEnd) and event.run_id == step.state.run_id


def _beyond(some: list[HookWrote], others: list[HookWrote]) -> list[HookWrote]:
    """Those of some that the others do not have; what is remembered does not count."""
    known = [*map(_opinion, others)]
    return [event for event in some if _opinion(event) not in known]


def _opinion(event: HookWrote) -> tuple[object, ...]:
    update = event.update
    fields = tuple((n, getattr(update, n)) for n in update.written if n != MEMO)
    return event.hook, event.point, event.n, event.run_id, event.turn, fields


def _force(event: HookWrote) -> int:
    """How much it weighs."""
    match getattr(event.update, "decision", None):
        case Block():
            return 2
        case Ask():
            return 1
        case _:
            return 0
