"""Asking the hooks of a point: a transaction that is kept whole, or not at all."""

from typing import Any, Final

from loopcore.config import AnyConfig
from loopcore.events import HookWrote, Stop
from loopcore.frozen import UNSET, FrozenDict, evolve
from loopcore.hooks.fault import Fault
from loopcore.hooks.fold import Folded, fold
from loopcore.hooks.points import PointName
from loopcore.hooks.rule import Need
from loopcore.reducer.out import Out, request, where
from loopcore.state import Known, State

MOST_NEEDS: Final = 8


def ask(  # a point is named by all of these
    config: AnyConfig,
    state: State,
    out: Out,
    point: PointName,
    n: str,
    view: Any,  # noqa: ANN401  # a view of the point
) -> tuple[State, Folded | None]:
    """What the hooks of a point decide together; None when one has to be answered first.

    Until then nothing of the pass is kept, and the stage of the point's name is entered
    again with the answer. `n` tells one passage of the point from another in its turn.
    """
    folded = fold(config.hooks_at[point], point, view)
    if folded.need:
        name, need = folded.need
        refusal = _refusal(state, name, need)
        if not refusal:
            return _park(state, out, point, n, name, need), None
        folded = evolve(folded, fault=Fault(name, point, refusal))
    return _commit(state, out, point, n, folded), folded


def unheard(config: AnyConfig, state: State, point: PointName) -> bool:
    """Whether nobody has a say at this point, so that nothing is made to be shown."""
    return not (config.hooks_at[point] or state.known)


def _refusal(state: State, name: str, need: Need) -> str:
    said = f"Hook {name!r} needs {need.key!r}"
    if state.ending:
        return f"{said}, but the run is ending and nothing further is asked."
    if any(k.hook == name and k.key == need.key for k in state.known):
        return (
            f"{said} again: it was answered already. Read view.answers[{need.key!r}]."
        )
    if sum(k.hook == name for k in state.known) >= MOST_NEEDS:
        return f"{said}: more than {MOST_NEEDS} answers at one point."
    return ""


def _park(  # an effect id is made of all of these
    state: State, out: Out, point: str, n: str, name: str, need: Need
) -> State:
    effect = need.effect(
        f"{state.place}.{point}.{n}.{name}.{need.key}", state.settings.model
    )
    known = (*state.known, Known(name, need.key, effect.id))
    return request(evolve(state, stage=point, known=known), out, effect)


def _commit(state: State, out: Out, point: str, n: str, folded: Folded) -> State:
    if state.known:
        state = evolve(state, stage="rest", known=())
    if not folded.wrote:
        return state
    out.tell += (
        HookWrote(hook=hook, point=point, update=update, n=n, **where(state))
        for hook, update in folded.wrote
    )
    memos = folded.memos
    return evolve(state, memos=FrozenDict({**state.memos, **memos})) if memos else state


def parked(state: State) -> bool:
    """Whether a hook waits for an answer."""
    return any(known.value is UNSET for known in state.known)


def fault_stop(fault: Fault) -> Stop:
    """A hook failed: the stop that names it."""
    return Stop(
        "hook_error",
        fault.sentence,
        hook=fault.hook,
        point=fault.point,
        error=fault.error or None,
    )


def hook_stop(folded: Folded, point: str) -> Stop | None:
    """The stop that hooks decided on, if they did, under the name of the first."""
    wish = folded.view.stop
    hook = folded.writers.get("stop")
    match wish:
        case Stop():
            return evolve(wish, hook=wish.hook or hook, point=wish.point or point)
        case str() if wish:
            return Stop("hook", wish, hook=hook, point=point)
        case True:
            return Stop("hook", hook=hook, point=point)
        case _:
            return None
