"""Hooks that note what hooks are shown."""

from collections.abc import Callable
from typing import Any

from attrs import define, frozen

from loopcore.config import with_functions
from loopcore.hooks.code import code_of
from loopcore.hooks.fault import HookFault
from loopcore.hooks.points import PointName
from loopcore.hooks.rule import Function, Hooks


@define(eq=False)
class Heard:
    """A hook was asked: where, what it saw, and what it said if it said anything.

    `copy` is for whoever listens: what the view was before the hook saw it.
    """

    hook: Hooks
    point: PointName
    view: Any
    said: tuple[object, ...] = ()
    copy: Any = None


@frozen(eq=False, slots=False)
class Listening:
    """A hook's function at a point, that tells what it is shown before it answers."""

    hook: Hooks
    point: PointName
    hear: Callable[[Heard], None]

    def __call__(self, view: Any) -> object:  # noqa: ANN401  # a view of the point
        heard = Heard(self.hook, self.point, view)
        self.hear(heard)
        try:
            said = self.hook.functions[self.point](view)
        except SystemExit as left:
            raise HookFault(leaving(self.point, left)) from left
        heard.said = (said,)
        return said

    @property
    def __code__(self) -> Any:  # noqa: ANN401  # faults name the line of the hook itself
        return code_of(self.hook.functions[self.point])


def leaving(point: PointName, left: SystemExit) -> str:
    """What is wrong with a hook that ends the program."""
    return (
        f"raised SystemExit({left.code!r}) at {point}, which ends the program. To end the "
        "run, return a reason at should_stop_after_turn."
    )


def listening(hook: Hooks, hear: Callable[[Heard], None]) -> Hooks:
    """The same rule; whenever it is asked, that is heard first."""
    functions: dict[PointName, Function] = {
        point: Listening(hook, point, hear) for point in hook.functions
    }
    return with_functions(hook, functions)
