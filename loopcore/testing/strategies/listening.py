"""Hooks that note what hooks are shown."""

from collections.abc import Callable
from typing import Any

from attrs import frozen

from loopcore.frozen import evolve
from loopcore.hooks.fold import code_of
from loopcore.hooks.points import PointName
from loopcore.hooks.rule import Hooks


@frozen(eq=False)
class Heard:
    """A hook was asked: where, and what it saw."""

    hook: Hooks
    point: PointName
    view: Any


@frozen(eq=False, slots=False)
class Listening:
    """A hook's function at a point, that notes what it is shown."""

    function: Callable[[Any], object]
    note: Callable[[Any], None]

    def __call__(self, view: Any) -> object:  # noqa: ANN401  # a view of the point
        self.note(view)
        return self.function(view)

    @property
    def __code__(self) -> Any:  # noqa: ANN401  # faults name the line of the hook itself
        return code_of(self.function)


def listening(hook: Hooks, hear: Callable[[Heard], None]) -> Hooks:
    """The same rule; whenever it is asked, that is heard first."""
    functions = {
        point: Listening(function, _noting(hook, point, hear))
        for point, function in hook.functions.items()
    }
    return with_functions(hook, functions)


def _noting(
    hook: Hooks, point: PointName, hear: Callable[[Heard], None]
) -> Callable[[Any], None]:
    return lambda view: hear(Heard(hook, point, view))


def with_functions(hook: Hooks, functions: Any) -> Hooks:  # noqa: ANN401  # by point
    """The rule with these in place of its functions, unchecked: that reads their code."""
    return evolve(hook, **functions)
