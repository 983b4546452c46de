"""The shortest way found to what is broken: with less of what happened, and simpler."""

import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final, TypeAlias

from attrs import define, field

from loopcore.effects import Effect, RequestApproval, RunTool
from loopcore.frozen import evolve
from loopcore.inputs import Answer, Input, Prompt
from loopcore.messages import AssistantMessage
from loopcore.state import State
from loopcore.testing.invariants import Broken
from loopcore.testing.machine.simpler import (
    bigger,
    is_plain,
    simpler_inputs,
    without_some,
)

if TYPE_CHECKING:
    from loopcore.testing.machine.run import MachineRun

Given: TypeAlias = tuple[Input, float | None]
Way: TypeAlias = tuple[Given, ...]
"""What happened, and when."""

Act: TypeAlias = Callable[["MachineRun"], object]
"""What is done with a run at the end of a way, where that is what shows the law broken."""

STEPS: Final = 20_000
"""How many inputs are given in all while a shorter way is looked for.

It is no time: on a slow machine the same way is told as on a quick one.
"""


def shortest(first: "MachineRun", way: Way, act: Act | None, broken: Broken) -> "Found":
    """The shortest way found that breaks the same law, and what is wrong there."""
    search = Shortening(first, act, Found(way, broken))
    search.best = search.broken_by(way) or search.best
    while search.is_shortened():
        pass
    return search.best


@define(eq=False)
class Found:
    """A way that breaks a law, and how."""

    way: Way
    broken: Broken

    @property
    def size(self) -> tuple[int, int, str]:
        """Of two ways the one with the smaller size is the better one."""
        texts = ["" if is_plain(g) else repr(g) for g, _ in self.way]
        timed = sum(at is not None for _, at in self.way)
        return len(self.way), sum(map(len, texts)) + timed, "".join(texts)


Kind: TypeAlias = tuple[type[Effect], str]


@define(eq=False)
class Shortening:
    """The best way so far, as long as there is patience.

    `runs` are where it led, input by input, so that a way that begins alike need not be
    gone from its beginning; `asked` is what each effect of it is; `left` is how many
    inputs may still be given.
    """

    first: "MachineRun"
    act: Act | None
    best: Found
    left: int = field(factory=lambda: STEPS)
    runs: list["MachineRun"] = field(factory=list["MachineRun"])
    asked: dict[str, Kind] = field(factory=dict[str, Kind])

    def is_shortened(self) -> bool:
        """Whether a better way than the best was found, which is the best now."""
        self.retrace()
        for way in smaller(self.best.way):
            if self.left <= 0:
                return False
            found = self.broken_by(way)
            if found and found.size < self.best.size:
                self.best = found
                return True
        return False

    def retrace(self) -> None:
        """Go the best way, and note where it leads."""
        run = self.first.fork()
        self.runs, self.asked = [run], {}
        for given, at in self.best.way[:-1]:
            run = run.fork()
            self.left -= 1
            try:
                run.give(given, at)
            except Broken:  # it does not break at the same place each time
                return
            self.runs.append(run)
            self.asked |= {effect.id: _kind(effect) for effect in run.state.waiting}

    def broken_by(self, way: Way) -> Found | None:
        """What of a way breaks the law, up to where it does; None if it does not."""
        same = self.same(way)
        run = (self.runs[same] if self.runs else self.first).fork()
        for given, at in way[same:]:
            aimed = _aimed(run.state, given, self.asked)
            self.left -= 1
            try:
                run.give(aimed, at)
            except Broken as broken:
                return self.found((*run.taken, (aimed, at)), broken)
        return self.broken_at_its_end(run)

    def broken_at_its_end(self, run: "MachineRun") -> Found | None:
        """What is shown broken by what is done with a run at the end of a way."""
        if not self.act or not run.taken:
            return None
        end = run.fork()
        try:
            self.act(end)
        except Broken as broken:
            return self.found(run.taken, broken)
        finally:
            self.left -= len(end.taken)
        return None

    def found(self, way: Way, broken: Broken) -> Found | None:
        """It, if it is the law that is looked for."""
        return Found(way, broken) if broken.law == self.best.broken.law else None

    def same(self, way: Way) -> int:
        """How many inputs are the same as those of the best way."""
        count = 0
        for one, other in zip(way, self.best.way[: len(self.runs) - 1], strict=False):
            if one is not other:
                break
            count += 1
        return count


def _kind(effect: Effect) -> Kind:
    tool = effect.spec.name if isinstance(effect, RunTool | RequestApproval) else ""
    return type(effect), tool


def _aimed(state: State, given: Input, asked: dict[str, Kind]) -> Input:
    """An answer, given to the first effect that wants one of the same kind.

    Ids are positions, so what is left out moves all that comes after it.
    """
    if not isinstance(given, Answer) or given.effect_id not in asked:
        return given
    waiting = [e.id for e in state.waiting if _kind(e) == asked[given.effect_id]]
    if not waiting or given.effect_id in waiting:
        return given
    return evolve(given, effect_id=waiting[0])


def smaller(way: Way) -> Iterator[Way]:
    """Ways with less in them, the boldest first."""
    yield from without_some(way)
    yield from _fewer_calls(way)
    yield from _sooner(way)
    for place, (given, at) in enumerate(way):
        before, after = way[:place], way[place + 1 :]
        if at is not None:
            yield (*before, (given, None), *after)
        for simpler in simpler_inputs(given):
            yield (*before, (simpler, at), *after)
    yield from _denser(way)


def _sooner(way: Way) -> Iterator[Way]:
    """Without an input before another, which comes at its time; or is a prompt then."""
    for place, ((_, one), (given, other)) in enumerate(itertools.pairwise(way)):
        times = [at for at in (one, other) if at is not None]
        before, after = way[:place], way[place + 2 :]
        for now in (given, Prompt("go")) if times else ():
            yield (*before, (now, max(times)), *after)


def _fewer_calls(way: Way) -> Iterator[Way]:
    """Without one call of a reply, and without what was answered to it."""
    for place, (given, at) in enumerate(way):
        for less, *gone in _with_a_call_less(given):
            rest = _less(way[place + 1 :], *gone)
            yield (*way[:place], (less, at), *rest)


def _with_a_call_less(given: Input) -> Iterator[tuple[Input, str, str]]:
    """A reply without each of its calls, and what is asked of that call."""
    if not isinstance(given, Answer) or not isinstance(given.value, AssistantMessage):
        return
    reply, turn = given.value, given.effect_id.partition(".model.")[0]
    for n, one in enumerate(reply.calls):
        parts = tuple(part for part in reply.parts if part is not one)
        less = evolve(given, value=evolve(reply, content=parts))
        yield less, f"{turn}.run.{n}", f"{turn}.ask.{n}"


def _less(way: Way, *ids: str) -> Iterator[Given]:
    """What happened, less the answers to these."""
    return (one for one in way if getattr(one[0], "effect_id", "") not in ids)


def _denser(way: Way) -> Iterator[Way]:
    """Ways with fewer inputs, of which one says more than it did."""
    for rest in _without_a_run(way):
        for place, (given, at) in enumerate(rest):
            more = bigger(given)
            yield from ((*rest[:place], (one, at), *rest[place + 1 :]) for one in more)


def _without_a_run(way: Way) -> Iterator[Way]:
    """A way without some inputs that follow each other, without the most first."""
    for size in range(len(way) - 1, 0, -1):
        for start in range(len(way) - size + 1):
            yield (*way[:start], *way[start + size :])
