"""Folding the hooks of a point: each sees the value as updated so far."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

from attrs import frozen
from returns.result import Failure, Success

from loopcore.frozen import EMPTY, UNSET, FrozenDict, Json, NotJson, evolve, freeze
from loopcore.hooks.fault import Fault, bad_memo, raised, unfit, unreadable, wrong
from loopcore.hooks.merge import later
from loopcore.hooks.points import POINTS, PointName
from loopcore.hooks.rule import Hooks, Need
from loopcore.hooks.updates import Update, rules
from loopcore.hooks.views import Found, View
from loopcore.inputs import ServiceError
from loopcore.messages import ModelError
from loopcore.state import State


@frozen(weakref_slot=False)
class Folded:
    """What the hooks of a point decided together.

    `view` is as the next hook would see it, `update` all they wrote, `wrote` who wrote
    what in order, `writers` who last wrote each field. `fault` or `need` tell why the fold
    ended early, and `guarded` whether a hook that fails closed then did not have its say.
    """

    view: Any
    update: Any
    wrote: tuple[tuple[str, Update], ...] = ()
    writers: FrozenDict[str] = EMPTY
    fault: Fault | None = None
    need: tuple[str, Need] | None = None
    guarded: bool = False

    @property
    def memos(self) -> dict[str, Json]:
        """The memories that were written."""
        return {n: u.memo for n, u in self.wrote if u.memo is not UNSET}


Said: TypeAlias = Update | Need | Fault | None


def fold(hooks: tuple[Hooks, ...], point: PointName, view: View) -> Folded:
    """Ask each hook in order; stop at a verdict that ends the chain, a need or a fault.

    `view` carries no memory or answers; each hook is given its own.
    """
    folded = Folded(view, NOTHING_WRITTEN[point])
    for place, hook in enumerate(hooks):
        said = _ask(hook, point, folded.view)
        match said:
            case None:
                continue
            case Update():
                folded = _took(folded, point, hook.name, said)
            case Need():
                return evolve(
                    folded,
                    need=(hook.name, said),
                    guarded=_guards(hooks[place:], point, view),
                )
            case Fault():
                return evolve(
                    folded, fault=said, guarded=_guards(hooks[place:], point, view)
                )
        if POINTS[point].over(folded.view):
            break
    return folded


NOTHING_WRITTEN: Final = {name: point.update() for name, point in POINTS.items()}


def _guards(rest: Iterable[Hooks], point: PointName, view: View) -> bool:
    return any(hook.fail_closed and hook.at(point, view) for hook in rest)


def _took(folded: Folded, point: PointName, name: str, update: Update) -> Folded:
    merged = folded.update | update if folded.wrote else update
    changed = [f for f in update.written if _changed(f, folded.update, merged)]
    return evolve(
        folded,
        view=POINTS[point].show(folded.view, update),
        update=merged,
        wrote=(*folded.wrote, (name, update)),
        writers=FrozenDict({**folded.writers, **dict.fromkeys(changed, name)}),
    )


def _changed(name: str, old: Update, new: Update) -> bool:
    """Whether the field is this update's now: a verdict that lost is not.

    An equal value is still the later writer's: identity is not the same after a reload.
    """
    if name == "memo":
        return False
    is_value = rules(type(new))[name] is later
    return is_value or getattr(old, name) is not getattr(new, name)


def _ask(hook: Hooks, point: PointName, view: View) -> Said:
    function = hook.at(point, view)
    if function is None:
        return None
    state = view.state
    seen = evolve(
        view,
        memo=_memo_of(view, hook),
        answers=view.answers or (answers(state, hook.name) if state.known else EMPTY),
    )
    try:
        returned = function(seen)
    except Exception as error:  # noqa: BLE001  # a hook's failure is a value here
        return raised(hook, point, view, error)
    return _read(hook, point, view, returned)


def _memo_of(view: View, hook: Hooks) -> Json:
    """Its memory; in a test of hooks, the one that the view was made with."""
    if view.memo is not None:
        return view.memo
    return view.state.memos.get(hook.name, hook.memo)


def answers(state: State, hook: str) -> Mapping[str, Found]:
    """The answers that this hook asked for at this point."""
    mine = [k for k in state.known if k.hook == hook and k.value is not UNSET]
    return FrozenDict({k.key: _found(k.value) for k in mine})


def _found(value: Any) -> Found:  # noqa: ANN401  # JSON, a reply or an error
    failed = isinstance(value, ModelError | ServiceError)
    return Failure(value) if failed else Success(value)


def _read(hook: Hooks, point: PointName, view: View, returned: object) -> Said:
    """What a hook returned, as an update; a bare value is what its point is about."""
    kind = POINTS[point]
    if returned is None or type(returned) is Need:
        return returned
    try:
        if type(returned) is not kind.update and isinstance(returned, kind.bare):
            make: Any = kind.update
            returned = make(returned)
        if type(returned) is kind.update:
            return _taken(hook, point, view, returned)
    except NotJson as problem:
        return bad_memo(hook, point, view, problem)
    except Exception as problem:  # noqa: BLE001  # whatever its values do
        return unreadable(hook, point, view, returned, problem)
    return wrong(hook, point, view, returned)


def _taken(hook: Hooks, point: PointName, view: View, update: Update) -> Said:
    problem = POINTS[point].problem(update)
    return unfit(hook, point, view, problem) if problem else _with_memo(update)


def _with_memo(update: Update) -> Update | None:
    if update.memo is UNSET:
        return update if update.written else None
    return evolve(update, memo=freeze(update.memo, "memo"))
