"""A long run: what hooks do late, and what they do about all that may go wrong."""

from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeAlias

from attrs import define, field
from returns.result import Failure

from loopcore.config import LoopConfig
from loopcore.hooks.fault import Fault
from loopcore.hooks.rule import Hooks
from loopcore.inputs import Input
from loopcore.reducer import advance
from loopcore.runtime.purity import Lookout
from loopcore.state import State
from loopcore.testing.check.asking import Asked, ask, failing
from loopcore.testing.check.broken import Breach, broken
from loopcore.testing.check.course import Offer, program_of
from loopcore.testing.check.growing import (
    ENOUGH,
    MEASURED,
    Sizes,
    refuse_growing,
    size,
    take,
)
from loopcore.testing.check.one_view import Judge, keep_pairs
from loopcore.testing.check.rebuilt import Copies
from loopcore.testing.check.talk import Talk
from loopcore.testing.check.together import first_at, stand_together
from loopcore.testing.strategies.listening import Heard, listening
from loopcore.testing.strategies.walking import Walk

Seen: TypeAlias = tuple[Heard, Asked]

RUN_ID: Final = "long"


def long_run(hooks: tuple[Hooks, ...], offer: Offer, judge: Judge) -> list[Seen]:
    """Drive a long run under these hooks, every turn of it a little different.

    Returns:
        The views that were looked at closely, and what was said about each.

    Raises:
        Breach: for a memo that keeps growing, or for another law that is broken late.
    """
    run = LongRun(hooks, offer, judge)
    sizes: Sizes = {hook.name: [] for hook in hooks}
    for turns in (*MEASURED[:1], ENOUGH, *MEASURED[1:]):
        take(turns - run.turns, run.say)
        found = {hook.name: size(run.state, hook.name) for hook in hooks}
        if turns == ENOUGH and not any(found.values()):
            return run.watch.closely
        if turns in MEASURED:
            _noted(sizes, found)
    refuse_growing(hooks, sizes, run.talk, (run.state, run.said))
    return run.watch.closely


def _noted(sizes: Sizes, found: dict[str, int]) -> None:
    for name, measured in sizes.items():
        measured.append(found[name])


class _Late(BaseException):
    """Found while a run is stepped, which would take an exception for a hook's own."""

    def __init__(self, found: Breach) -> None:
        super().__init__(found)
        self.broken = found


@define(eq=False)
class Onlooker:
    """Sees what hooks are about to see: what is new closely, and of the rest a little."""

    hooks: tuple[Hooks, ...]
    judge: Judge
    seen: int = 0
    kinds: set[object] = field(factory=set[object])
    closely: list[Seen] = field(factory=list[Seen])
    last: Heard | None = None
    copies: Copies = field(factory=Copies)

    def hear(self, heard: Heard) -> None:
        """Look at this view."""
        self.seen += 1
        self.last = heard
        try:
            self._look(heard)
        except Breach as found:
            raise _Late(found) from None

    def _look(self, heard: Heard) -> None:
        hook, point, view = heard.hook, heard.point, heard.view
        if self._is_new(heard) or self.seen % CLOSELY == 0 or self._reaches(heard):
            heard.copy = self.copies.of(view)
            self.closely.append((heard, self.judge.judge(heard)))
        if len(self.hooks) > 1 and hook is first_at(self.hooks, point):
            stand_together(self.hooks, point, view)
        if self.seen % PAIRS == 0:
            keep_pairs(hook, point, view)

    def _is_new(self, heard: Heard) -> bool:
        """Whether a view of this kind was not seen before."""
        kind = (heard.hook.name, heard.point, *look_of(heard.view))
        is_new = kind not in self.kinds
        self.kinds.add(kind)
        return is_new

    def _reaches(self, heard: Heard) -> bool:
        """Whether the hook calls something of the world about this view.

        What goes over all messages is watched less often the more there are.
        """
        messages = len(getattr(heard.view, "messages", ()))
        if self.seen % (1 + messages // MANY):
            return False
        function: Any = heard.hook.functions[heard.point]
        with Lookout(function, around=False) as watch:
            ask(heard.hook, heard.point, heard.view)
        return bool(watch.found)


MANY: Final = 20
"""How many messages make a view one that is watched less often."""

CLOSELY: Final = 50
"""Of views like others that were seen, one of so many is looked at closely."""

PAIRS: Final = 4
"""And one of so many for its pairs."""

EARLY: Final = 8
"""Each of so many turns is a kind of its own."""


def look_of(view: Any) -> tuple[object, ...]:  # noqa: ANN401  # a view of any point
    """What makes this view another than those seen before."""
    message, error = getattr(view, "message", None), getattr(view, "error", None)
    return (
        min(view.turn, EARLY),
        getattr(message, "finish", None),
        getattr(error, "kind", None),
        getattr(view, "outcome", None),
        getattr(view, "approved", None),
        getattr(view, "spec", view) is None,
    )


Broken: TypeAlias = tuple[Breach, list[int]]
"""A law that is broken, and the numbers of what was said until then."""


class LongRun:
    """A run that goes on and on, and what was given to it."""

    def __init__(self, hooks: tuple[Hooks, ...], offer: Offer, judge: Judge) -> None:
        self.watch = Onlooker(hooks, judge)
        self._hooks, self.talk = hooks, Talk(offer)
        self.config = LoopConfig(
            model="test:model",
            tools=offer.tools,
            hooks=[listening(hook, self.watch.hear) for hook in hooks],
        )
        self.begun = self.state = State.start(self.config, run_id=RUN_ID)
        self._taken: list[tuple[Input, float]] = []
        self._numbers: list[int] = []
        self.turns = self.said = 0

    def say(self) -> bool:
        """Say one thing more; whether that began a turn.

        Raises:
            Breach: for a law that is broken by that, as short as it is found again.
        """
        self.said += 1
        before = self.turns
        found = self.give(self.said)
        if found:
            raise self._shortened(found)
        return self.turns != before

    def give(self, number: int) -> Breach | None:
        """What happens as the nth thing of all; the law that is broken by that."""
        given, at = self.talk(self.state, number), float(number)
        self._taken.append((given, at))
        self._numbers.append(number)
        try:
            moved = advance(self.config, self.state, given, at=at)
        except _Late as found:
            return self._late(found.broken)
        if isinstance(moved, Failure):  # it does not fit here; the next thing may
            self._taken.pop()
            return None
        before = self.state.requests
        self.state, _ = moved.unwrap()
        self.turns += self.state.requests != before
        return self._failed()

    def _late(self, found: Breach) -> Breach:
        messages = len(self.state.transcript)
        late = f" It is seen in a long run, once {messages} messages are stored."
        return self._at(
            broken(found.law, found.hook, found.sentence + late, found.view)
        )

    def _failed(self) -> Breach | None:
        """The fault of a hook that ended the run in this step."""
        stop, last = self.state.stop, self.watch.last
        if not stop or stop.reason != "hook_error" or last is None:
            return None
        if not self._taken or self.state.stage != "idle":
            return None
        self.watch.last = None
        where = f" (It is seen in turn {self.state.turns} of a long run.)"
        fault = Fault(stop.hook or "", stop.point or "", stop.detail)
        return self._at(failing(fault, last.view, where))

    def _at(self, found: Breach) -> Breach:
        walk = Walk(self.config, self.state, self.begun, tuple(self._taken))
        found.program = program_of(walk, self._hooks)
        return found

    def _shortened(self, found: Breach) -> Breach:
        """The same law of the same hook, broken by fewer things that happen."""
        numbers, chunk, left = self._numbers, len(self._numbers) // 2, MOST
        while chunk and left > 0:
            again, tried = self._first(_without(numbers, chunk), found)
            left -= tried * len(numbers)
            if again:
                found, numbers = again
            else:
                chunk //= 2
        return found

    def _first(
        self, ways: Iterable[list[int]], sought: Breach
    ) -> tuple[Broken | None, int]:
        """The first of these ways that still leads there, and how many were tried."""
        tried = 0
        for way in ways:
            tried += 1
            again = self._again(way, sought)
            if again:
                return again, tried
        return None, tried

    def _again(self, numbers: Iterable[int], sought: Breach) -> Broken | None:
        run = LongRun(self._hooks, self.talk.offer, self.watch.judge)
        for number in numbers:
            found = run.give(number)
            if found:
                same = _who(found) == _who(sought)
                return (found, run._numbers) if same else None
        return None


MOST: Final = 5_000
"""How much is said, at most, in runs that are driven again so that one becomes shorter."""


def _without(numbers: list[int], chunk: int) -> Iterator[list[int]]:
    """These, each time without so many others of them."""
    for start in range(0, len(numbers), chunk):
        yield numbers[:start] + numbers[start + chunk :]


def _who(found: Breach) -> tuple[str, str]:
    """Which law is broken by whom."""
    return found.law, found.hook
