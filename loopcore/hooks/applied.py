"""Asking some hooks about one view: for tests of hooks."""

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import frozen

from loopcore.hooks.fold import fold
from loopcore.hooks.points import POINTS, PointName
from loopcore.hooks.rule import Hooks


@frozen(weakref_slot=False)
class Applied:
    """What some hooks decide together about one view; for tests.

    Args:
        view: as the next hook would see it.
        update: all they wrote, of the class of the point: a ToolCallUpdate where a call
            is judged. A field that none of them wrote is UNSET.
        writers: who last wrote each field.
    """

    view: Any
    update: Any
    writers: Mapping[str, str]


def apply(
    hooks: Iterable[Hooks],
    view: Any,  # noqa: ANN401  # any kind of view
    point: PointName | None = None,
) -> Applied:
    """What these hooks decide together, for tests of hooks.

    `point` is the first point of this kind of view that one of them cares about, unless
    given. The view's memo and answers, if it has them, are given to each hook. A fault or
    a need is raised as an error that says so.
    """
    if isinstance(hooks, Hooks):
        message = "apply() takes a list of rules: write `apply([rule], view)`"
        raise TypeError(message)
    chosen = tuple(hooks)
    found = point or _point_of(chosen, view)
    folded = fold(chosen, found, view)
    if folded.fault:
        raise ValueError(folded.fault.alone)
    if folded.need:
        name, need = folded.need
        message = f"Hook {name!r} needs {need.key!r} at {found}; put it in view.answers"
        raise ValueError(message)
    return Applied(folded.view, folded.update, folded.writers)


def _point_of(hooks: tuple[Hooks, ...], view: Any) -> PointName:  # noqa: ANN401  # a view of any point
    points: list[PointName] = [n for n, p in POINTS.items() if isinstance(view, p.view)]
    if not points:
        message = (
            f"{view!r} is no view; take one of loopcore.hooks, such as ToolCallView"
        )
        raise TypeError(message)
    for point in points:
        if any(hook.at(point, view) for hook in hooks):
            return point
    return points[0]
