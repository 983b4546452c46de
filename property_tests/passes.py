"""What the spy heard, as passes of points: this is what a run is judged by."""

from collections.abc import Iterator
from typing import Any, Final

import attrs
from attrs import frozen

from loopcore.arguments import arguments_for
from loopcore.frozen import UNSET, evolve
from loopcore.hooks import Allow, Ask, Block, Hooks, Need
from loopcore.hooks.merge import Verdict
from loopcore.hooks.points import CALL_POINTS, POINTS, PointName
from property_tests.catalogue import WRONG
from property_tests.table import EYE, Raised, Said
from property_tests.world import Moment

UPDATES: Final = tuple(point.update for point in POINTS.values())
FIRST: Final[dict[PointName, str]] = {
    "transform_context": "messages",
    "after_model_call": "message",
    "before_tool_call": "decision",
    "should_stop_after_turn": "stop",
}
"""The field that a bare value is for."""

BAD: Final = frozenset(
    (point, id(value)) for point, values in WRONG.items() for value in values
)


def is_bad(said: Said) -> bool:
    """Whether this may not be returned there."""
    return (said.point, id(said.value)) in BAD


@frozen(eq=False)
class Pass:
    """One pass of a point: who was asked, in order, and how it ended.

    `end` is done, need (parked: nothing of it may be kept) or fault.
    """

    place: str
    point: PointName
    n: int
    said: tuple[Said, ...]
    end: str

    @property
    def view(self) -> Any:  # a view of the point
        """What the first hook saw."""
        return self.said[0].view

    @property
    def run_id(self) -> str:
        """The run that it is a pass of."""
        return str(self.view.state.run_id)

    @property
    def key(self) -> tuple[str, int]:
        """The call that it is about."""
        return self.place, self.n

    @property
    def taken(self) -> tuple[Said, ...]:
        """What was said and stands: of a fault, all that came before."""
        heard = self.said if self.end == "done" else self.said[:-1]
        kept = () if self.end == "need" else heard
        return tuple(said for said in kept if fields(said))

    def last(self, name: str, otherwise: Any = UNSET) -> Any:
        """What was last written to a field."""
        found = otherwise
        for said in self.taken:
            found = fields(said).get(name, found)
        return found

    def all(self, name: str) -> list[Any]:
        """All that was written to a field, in order."""
        return [fields(s)[name] for s in self.taken if name in fields(s)]


def fields(said: Said) -> dict[str, Any]:
    """The fields that this writes, whatever form it was said in; a mistake writes none."""
    value = said.value
    if value is None or isinstance(value, Need | Raised) or is_bad(said):
        return {}
    if not isinstance(value, UPDATES):
        return {FIRST[said.point]: value}
    named = ((f.name, getattr(value, f.name)) for f in attrs.fields(type(value)))
    return {name: given for name, given in named if given is not UNSET}


def passes(moment: Moment) -> Iterator[Pass]:
    """The passes of a step, in order: each begins with the hook that sees all."""
    starts = [n for n, said in enumerate(moment.said) if said.hook == EYE]
    for start, stop in zip(starts, [*starts, None][1:], strict=True):
        said = moment.said[start:stop]
        first = said[0]
        yield Pass(first.place, first.point, first.n, said, _end(moment, said[-1]))


def _end(moment: Moment, last: Said) -> str:
    if isinstance(last.value, Raised) or is_bad(last):
        return "fault"
    if not isinstance(last.value, Need):
        return "done"
    where = f"{last.place}.{last.point}."
    if last.point in CALL_POINTS:
        where += f"{last.n}."
    who = f".{last.hook}.{last.value.key}"
    asked = (effect.id for effect in moment.effects.perform)
    parked = any(i.startswith(where) and i.endswith(who) for i in asked)
    return "need" if parked else "fault"


def cares(hook: Hooks, point: PointName, view: Any) -> bool:
    """Whether a hook is to be asked about this."""
    if hook.functions.get(point) is None:
        return False
    return hook.tools is None or point not in CALL_POINTS or view.tool in hook.tools


def guarded(one: Pass) -> bool:
    """Whether a hook that fails closed did not have its say."""
    hooks = one.said[0].hooks
    rest = hooks[[hook.name for hook in hooks].index(one.said[-1].hook) :]
    return any(h.fail_closed and cares(h, one.point, one.view) for h in rest)


RANK: Final = (Allow, Ask, Block)


def verdict(one: Pass) -> Verdict | None:
    """The strictest of what was said; two questions are both asked."""
    found: Verdict | None = None
    for said in one.all("decision"):
        if isinstance(found, Ask) and isinstance(said, Ask):
            found = Ask("\n".join(q for q in (found.question, said.question) if q))
        elif found is None or RANK.index(type(said)) > RANK.index(type(found)):
            found = said
    return found


def stop_of(one: Pass) -> Any:  # True, a reason or a Stop; None for no
    """The first yes that was said, and who said it."""
    for said in one.taken:
        if fields(said).get("stop"):
            return fields(said)["stop"], said.hook
    return None


def fitted(one: Pass) -> Any:  # arguments, or None if some do not fit
    """The arguments that came out of a gate."""
    found = one.view.arguments
    for given in one.all("arguments"):
        fit = arguments_for(one.view.spec, given).value_or(None)
        if fit is None:
            return None
        found = fit
    return found


def due(one: Pass) -> list[str]:
    """Who is to be asked, in order, if the chain goes on to its end."""
    view = one.view
    names: list[str] = []
    said = {said.hook: said for said in one.said}
    for hook in one.said[0].hooks:
        if not cares(hook, one.point, view):
            continue
        names.append(hook.name)
        if one.point == "prepare_tool_call" and hook.name in said:
            name = fields(said[hook.name]).get("name", view.name)
            view = evolve(view, name=name)
    return names


def end_of(one: Pass) -> int | None:
    """How many were asked until the chain ended early: it must, at what decides a call."""
    if one.end != "done":
        return len(one.said)
    if one.point != "before_tool_call":
        return None
    sofar = (evolve(one, said=one.said[:n]) for n in range(1, len(one.said) + 1))
    ends = (part for part in sofar if shut(part))
    return next((len(part.said) for part in ends), None)


def shut(one: Pass) -> bool:
    """Whether a gate is shut, whoever else is asked: by a block or unfit arguments."""
    return isinstance(verdict(one), Block) or fitted(one) is None
