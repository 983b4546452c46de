"""What hooks were asked and said, as passes of points: by this a run is judged.

Verdicts are judged by what a listening hook heard, never by what the reducer wrote.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, TypeAlias

from attrs import evolve as changed
from attrs import field, frozen

from loopcore.arguments import arguments_for
from loopcore.events import Stop
from loopcore.frozen import EMPTY, UNSET, FrozenDict, Json, evolve, freeze
from loopcore.hooks.merge import Allow, Ask, Block, Verdict
from loopcore.hooks.points import CALL_POINTS, POINTS, PointName
from loopcore.hooks.rule import Hooks, Need
from loopcore.reducer import Effects

End: TypeAlias = Literal["done", "need", "fault"]


@frozen
class Raised:
    """What was heard when a hook raised."""

    error: Exception = field(eq=str)


@frozen(eq=False)
class Said:
    """One of these hooks was asked: where, what it saw, what it said.

    `wrote` are the fields that it writes, None for what no hook may return there. `first`
    is the silent hook with which each pass begins.
    """

    place: str
    point: PointName
    n: int
    hook: str
    view: Any
    value: object
    wrote: Mapping[str, Any] | None
    hooks: tuple[Hooks, ...]
    first: bool = False


def heard(
    point: PointName,
    view: Any,  # noqa: ANN401  # of the point
    hook: str,
    value: object,
    hooks: tuple[Hooks, ...],
) -> Said:
    """What a hook said of this view; the first of `hooks` sees all and is silent."""
    return Said(
        view.state.place,
        point,
        number(point, view),
        hook,
        view,
        value,
        wrote(point, value),
        hooks,
        hook == hooks[0].name,
    )


def number(point: PointName, view: Any) -> int:  # noqa: ANN401  # any view
    """Which call of its reply it is about; 0 at the points that are about no call."""
    turn = view.state.turn
    return int(turn.at) if point in CALL_POINTS and turn else 0


def wrote(point: PointName, value: object) -> FrozenDict[Any] | None:
    """The fields that a hook writes by returning this; None if it may not return it."""
    if value is None or type(value) is Need:
        return EMPTY
    if isinstance(value, Raised):
        return None
    try:
        return _fields(point, value)
    except Exception:  # noqa: BLE001  # whatever its values do
        return None


def _fields(point: PointName, value: Any) -> FrozenDict[Any] | None:  # noqa: ANN401  # what a hook gave
    kind, make = POINTS[point], POINTS[point].update
    made: Any = make
    if isinstance(value, kind.bare):
        value = made(value)
    if type(value) is not make or kind.problem(value):
        return None
    fields = {name: getattr(value, name) for name in value.written}
    if "memo" in fields:
        fields["memo"] = freeze(fields["memo"])
    return FrozenDict(fields)


@frozen(eq=False)
class Pass:
    """One pass of a point: who was asked, in order, and how it ended.

    `end` is done, need (parked: nothing of it may be kept) or fault.
    """

    place: str
    point: PointName
    n: int
    said: tuple[Said, ...]
    end: End

    @property
    def view(self) -> Any:  # noqa: ANN401  # a view of the point
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
        said = self.said if self.end == "done" else self.said[:-1]
        kept = () if self.end == "need" else said
        return tuple(one for one in kept if one.wrote)

    def last(self, name: str, otherwise: Any = UNSET) -> Any:  # noqa: ANN401  # any field's value
        """What was last written to a field."""
        found = self.all(name)
        return found[-1] if found else otherwise

    def all(self, name: str) -> list[Any]:
        """All that was written to a field, in order."""
        wrote = (said.wrote or EMPTY for said in self.taken)
        return [fields[name] for fields in wrote if name in fields]

    def told(self) -> str:
        """Where it was, for people."""
        about = f", call {self.n}" if self.point in CALL_POINTS else ""
        return f"{self.point} of {self.place}{about}"


def passes(said: tuple[Said, ...], effects: Effects) -> Iterator[Pass]:
    """The passes of a step, in order: each begins with the hook that sees all."""
    starts = [n for n, one in enumerate(said) if one.first]
    for start, stop in zip(starts, [*starts, None][1:], strict=True):
        one = said[start:stop]
        yield Pass(one[0].place, one[0].point, one[0].n, one, _end(one[-1], effects))


def _end(last: Said, effects: Effects) -> End:
    if last.wrote is None:
        return "fault"
    if not isinstance(last.value, Need):
        return "done"
    where = f"{last.place}.{last.point}."
    if last.point in CALL_POINTS:
        where += f"{last.n}."
    who = f".{last.hook}.{last.value.key}"
    asked = (effect.id for effect in effects.perform)
    parked = any(i.startswith(where) and i.endswith(who) for i in asked)
    return "need" if parked else "fault"


def cares(hook: Hooks, point: PointName, view: Any) -> bool:  # noqa: ANN401  # any view
    """Whether a hook is to be asked about this."""
    if getattr(hook, point) is None:
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


def stop_of(one: Pass) -> tuple[bool | str | Stop, str] | None:
    """The first yes that was said, and who said it."""
    for said in one.taken:
        if (said.wrote or EMPTY).get("stop"):
            return (said.wrote or EMPTY)["stop"], said.hook
    return None


def fitted(one: Pass) -> FrozenDict[Json] | None:
    """The arguments that came out of a gate; None if some do not fit."""
    found: FrozenDict[Json] = one.view.arguments
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
            name = (said[hook.name].wrote or EMPTY).get("name", view.name)
            view = evolve(view, name=name)
    return names


def end_of(one: Pass) -> int | None:
    """How many were asked until the chain ended early: it must, at what decides a call."""
    if one.end != "done":
        return len(one.said)
    if one.point != "before_tool_call":
        return None
    sofar = (changed(one, said=one.said[:n]) for n in range(1, len(one.said) + 1))
    ends = (part for part in sofar if shut(part))
    return next((len(part.said) for part in ends), None)


def shut(one: Pass) -> bool:
    """Whether a gate is shut, whoever else is asked: by a block or unfit arguments."""
    return isinstance(verdict(one), Block) or fitted(one) is None
