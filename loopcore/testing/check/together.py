"""Hooks that stand together: what one forbids, no later one allows."""

from typing import Any, Final, TypeAlias

from loopcore.frozen import UNSET, evolve
from loopcore.hooks.fold import Folded, fold
from loopcore.hooks.merge import STRICT, Ask, Block
from loopcore.hooks.points import PointName
from loopcore.hooks.rule import Hooks
from loopcore.runtime.purity import brief
from loopcore.testing.check.asking import ask, place
from loopcore.testing.check.broken import Breach, broken

Hooked: TypeAlias = tuple[Hooks, ...]


def first_at(hooks: Hooked, point: PointName) -> Hooks | None:
    """The first of these hooks that has something to say at a point."""
    return next((hook for hook in hooks if point in hook.functions), None)


def stand_together(hooks: Hooked, point: PointName, view: Any) -> None:  # noqa: ANN401  # a view
    """Ask all of these hooks about the view that the first of them saw.

    Raises:
        Breach: if a later hook lifts what an earlier one decided.
    """
    folded = fold(hooks, point, view)
    if folded.fault or folded.need:
        return
    named = {hook.name: hook for hook in hooks}
    for place_of, (name, update) in enumerate(folded.wrote):
        later = folded.wrote[place_of + 1 :]
        written = [f for f in LIMITS if getattr(update, f, UNSET) is not UNSET]
        for field in written:
            wrote = getattr(update, field)
            _kept(named, point, view, (name, field, wrote, later))
    if point == "before_tool_call":
        _still_passes(hooks, point, view, folded)


def _kept(
    named: dict[str, Hooks],
    point: PointName,
    view: Any,  # noqa: ANN401  # a view
    written: tuple[str, str, Any, Any],
) -> None:
    """A limit that is written as a value is the later writer's."""
    name, field, wrote, later = written
    for other, update in later:
        again = getattr(update, field, UNSET)
        if again is not UNSET and LIMITS[field](wrote, again, view):
            raise _lifted(named[name], named[other], point, view, (field, wrote, again))


def _ends(wrote: Any, again: Any, view: object) -> bool:  # noqa: ANN401, ARG001  # verdicts
    return wrote is True and again is False


def _narrows(wrote: Any, again: Any, view: Any) -> bool:  # noqa: ANN401  # of tools
    """Tools that were offered, that one hook took away and a later one gives back."""
    gone = [tool for tool in view.tools if tool not in wrote]
    return any(tool in again for tool in gone)


LIMITS: Final = {"terminate": _ends, "tools": _narrows}


def _lifted(
    first: Hooks,
    later: Hooks,
    point: PointName,
    view: Any,  # noqa: ANN401  # a view
    values: tuple[str, Any, Any],
) -> Breach:
    field, wrote, again = values
    sentence = (
        f"Hook {later.name!r} lifts what hook {first.name!r} decided at {point}: it writes "
        f"{field}={brief(again)} ({place(later, point)}) over {field}={brief(wrote)} "
        f"({place(first, point)}). `{field}` is a value, and a value is the later "
        f"writer's. Put {first.name!r} after {later.name!r}, or decide by a verdict, "
        f"which no later hook lifts: {VERDICTS[field]}."
    )
    return broken("stands", later.name, sentence, view)


VERDICTS: Final = {
    "terminate": "`StopUpdate` at should_stop_after_turn",
    "tools": "`Block(...)` at before_tool_call",
}


def _still_passes(hooks: Hooked, point: PointName, view: Any, folded: Folded) -> None:  # noqa: ANN401  # a view
    """A gate has seen the arguments that the call will run with."""
    if folded.view.problem or folded.view.arguments == view.arguments:
        return
    final = evolve(folded.view, decision=None, memo=view.memo)
    for n, hook in enumerate(hooks):
        decision = ask(hook, point, final).said.get("decision", UNSET)
        if not isinstance(decision, Block | Ask):
            continue
        if _rank(decision) > _rank(folded.view.decision):
            raise _slipped(hook, hooks[n + 1 :], point, view, decision)


def _rank(decision: object) -> int:
    """How strict a verdict is."""
    return next((n for n, kind in enumerate(STRICT) if isinstance(decision, kind)), -1)


def _slipped(
    gate: Hooks,
    later: Hooked,
    point: PointName,
    view: Any,  # noqa: ANN401  # a view
    decision: Block | Ask,
) -> Breach:
    names = ", ".join(repr(hook.name) for hook in later) or "another hook"
    sentence = (
        f"Hook {gate.name!r} let a call pass at {point} ({place(gate, point)}), whose "
        f"arguments {names} then changed to some for which it says {brief(decision)}. "
        f"Put {gate.name!r} after {names}, so that it decides about what will run."
    )
    return broken("stands", gate.name, sentence, view)
