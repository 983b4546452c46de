"""Asking every hook twice: LOOPCORE_CHECK=1 finds hooks that do not say the same again."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

from attrs import frozen

from loopcore.config import AnyConfig, rehooked, with_functions
from loopcore.hooks.code import code_of
from loopcore.hooks.fault import HookFault
from loopcore.hooks.points import POINTS, PointName
from loopcore.hooks.rule import Function, Hooks, Need
from loopcore.runtime.purity.blame import blame
from loopcore.runtime.purity.differences import Returned, differing, is_same, returned
from loopcore.runtime.purity.watch import Lookout

C = TypeVar("C", bound=AnyConfig)

UNKNOWN: Final = (
    "What it says must follow from its view alone; something else makes the difference, "
    "which is not seen from here."
)


def asked_twice(config: C) -> C:
    """The configuration with hooks that are asked twice, nested ones too."""
    return rehooked(config, lambda hooks: map(_hook, hooks))


def _hook(hook: Hooks) -> Hooks:
    functions: dict[PointName, Function] = {
        point: Twice(point, done) for point, done in hook.functions.items()
    }
    return with_functions(hook, functions)


@frozen(slots=False)
class Twice:
    """A hook's function at a point, called twice; two answers are the hook's fault."""

    point: PointName
    function: Callable[[Any], object]

    def __call__(self, view: Any) -> object:  # noqa: ANN401  # a view of the point
        said = self.function(view)
        if not _is_answer(self.point, said):  # it is told what that is instead
            return said
        first, again = returned(self.point, said), self._again(view)
        if not is_same(first, again):
            raise HookFault(two_answers(self.function, view, differing(first, again)))
        return said

    def _again(self, view: Any) -> Returned:  # noqa: ANN401  # as above
        try:
            return returned(self.point, self.function(view))
        except Exception as error:  # noqa: BLE001  # that is an answer, too
            return {"raised": error}

    @property
    def __code__(self) -> Any:  # noqa: ANN401  # faults name the line of the hook itself
        return code_of(self.function)


def _is_answer(point: PointName, said: object) -> bool:
    """Whether a hook may return this at all."""
    kind = POINTS[point]
    return said is None or isinstance(said, (kind.update, Need, *kind.bare))


def two_answers(function: Callable[[Any], object], view: object, both: str) -> str:
    """What is wrong with a hook that does not say the same again, and why it does not."""
    watch = Lookout(function)
    try:
        with watch:
            function(view)
    except Exception:  # noqa: BLE001, S110  # it is only asked what it reaches
        pass
    cause = blame(watch.found) if watch.found else UNKNOWN
    return f"gave two answers to the same view ({both}). {cause}"
