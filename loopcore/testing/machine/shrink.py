"""The shortest way found to what is broken: with less of what happened, and simpler."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias

from attrs import define
from returns.result import Failure

from loopcore.effects import Effect, RequestApproval, RunTool
from loopcore.frozen import evolve
from loopcore.inputs import Answer, Edit, Input, Prompt
from loopcore.messages import AssistantMessage, ToolCall
from loopcore.state import State
from loopcore.testing.invariants import Broken, Watch
from loopcore.tools import ToolOutput

Given: TypeAlias = tuple[Input, float | None]
Way: TypeAlias = tuple[Given, ...]
"""What happened, and when."""

MOST: Final = 3_000
"""How many steps are taken in all, looking for a shorter way."""


def shortest(first: Watch, way: Way, broken: Broken) -> tuple[tuple[Input, ...], str]:
    """The inputs of the shortest way found that breaks the same law, and what is wrong."""
    search = Shortening(first, broken.law, broken.said)
    found = search.broken_by(way, {}) or way
    again = True
    while again:
        again = False
        asked = search.asked(found)
        for smaller in _smaller(found):
            taken = search.broken_by(smaller, asked)
            if taken is not None and _size(taken) < _size(found):
                found, again = taken, True
                break
    return tuple(given for given, _ in found), search.said


def _size(way: Way) -> tuple[int, int]:
    return len(way), sum(len(repr(given)) for given in way)


Kind: TypeAlias = tuple[type[Effect], str]


@define(eq=False)
class Shortening:
    """Which ways break a law, as long as there is patience; `said` of the newest."""

    first: Watch
    law: str
    said: str
    left: int = MOST

    def broken_by(self, way: Way, asked: dict[str, Kind]) -> Way | None:
        """What of a way breaks the law, up to where it does; None if it does not."""
        watch, taken = self.first, list[Given]()
        for given, at in way if self.left > 0 else ():
            aimed = _aimed(watch.state, given, asked)
            self.left -= 1
            try:
                moved = watch.take(aimed, at=at)
            except Broken as broken:
                if broken.law != self.law:
                    return None
                self.said = broken.said
                return (*taken, (aimed, at))
            if not isinstance(moved, Failure):
                watch = moved.unwrap()
                taken.append((aimed, at))
        return None

    def asked(self, way: Way) -> dict[str, Kind]:
        """What each effect of a way is: its kind, and its tool if it has one."""
        watch, found = self.first, dict[str, Kind]()
        for given, at in way[:-1]:
            watch = watch.take(given, at=at).value_or(watch)
            found |= {effect.id: _kind(effect) for effect in watch.state.waiting}
        return found


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


def _smaller(way: Way) -> Iterator[Way]:
    """Ways with less in them, the boldest first."""
    size = len(way) // 2
    while size:
        for start in range(0, len(way), size):
            yield (*way[:start], *way[start + size :])
        size //= 2
    yield from _fewer_calls(way)
    for place, (given, at) in enumerate(way):
        for simpler in _simpler(given):
            yield (*way[:place], (simpler, at), *way[place + 1 :])
        if at is not None:
            yield (*way[:place], (given, None), *way[place + 1 :])


def _fewer_calls(way: Way) -> Iterator[Way]:
    """Without one call of a reply, and without what was answered to it."""
    for place, (given, at) in enumerate(way):
        match given:
            case Answer(effect_id=asked, value=AssistantMessage() as reply):
                for n, one in enumerate(reply.calls):
                    parts = [part for part in reply.parts if part is not one]
                    less = evolve(given, value=evolve(reply, content=tuple(parts)))
                    turn = asked.partition(".model.")[0]
                    rest = _less(way[place + 1 :], f"{turn}.run.{n}", f"{turn}.ask.{n}")
                    yield (*way[:place], (less, at), *rest)
            case _:
                pass


def _less(way: Way, *ids: str) -> Iterator[Given]:
    """What happened, less the answers to these."""
    return (one for one in way if getattr(one[0], "effect_id", "") not in ids)


def _simpler(given: Input) -> Iterator[Input]:
    """The same with less in it."""
    match given:
        case Prompt():
            yield Prompt("go")
        case Answer(value=AssistantMessage(parts=parts) as reply):
            for content in _less_content(parts):
                yield evolve(given, value=evolve(reply, content=content))
        case Answer(value=ToolOutput(outcome=outcome)):
            yield evolve(given, value=ToolOutput("ok"))
            yield evolve(given, value=ToolOutput("ok", outcome=outcome))
        case Answer(value=Edit()):
            yield evolve(given, value=Edit({}))
        case _:
            return


def _less_content(parts: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Without a part, or with a call that says less."""
    for place, part in enumerate(parts):
        yield _without(parts, place)
        if not isinstance(part, ToolCall):
            continue
        for key in part.arguments:
            less = ToolCall(part.name, part.arguments.without(key), part.id)
            yield (*parts[:place], less, *parts[place + 1 :])


def _without(items: Sequence[Any], place: int) -> tuple[Any, ...]:
    return (*items[:place], *items[place + 1 :])
