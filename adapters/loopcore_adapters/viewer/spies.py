"""Hooks that are watched: which of them was asked about which call, and who spoke."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import attrs
from attrs import frozen

from loopcore import LoopConfig, Nested
from loopcore.hooks import Hooks, Need

AnyConfig: TypeAlias = LoopConfig[Any]
View: TypeAlias = Any
"""The view of any point."""


@frozen
class Heard:
    """A hook that was asked.

    Args:
        run_id, hook, point: who was asked, and where.
        place: the place of the call that it was asked about in its reply; -1 for none.
        spoke: whether it wrote anything.
        view: what it saw.
    """

    run_id: str
    hook: str
    point: str
    place: int
    spoke: bool
    view: View


class Spied:
    """A hook's function, called as before; what it was asked about is noted."""

    def __init__(
        self, function: Callable[[View], Any], note: Callable[[View, Any], None]
    ) -> None:
        self._function, self._note = function, note
        # The loop names a failing hook's line, and finds it by the function's code.
        code = getattr(_whole(function), "__code__", None)
        if code is not None:
            self.__code__ = code

    def __call__(self, view: View) -> Any:  # noqa: ANN401  # what the hook gives
        said = self._function(view)
        self._note(view, said)
        return said


def _whole(function: Any) -> Any:  # noqa: ANN401  # any callable
    """What a partial calls, or an object's own call."""
    while isinstance(function, partial):
        function = function.func
    return function if hasattr(function, "__code__") else type(function).__call__


class Spies:
    """A configuration whose hooks are watched: it leads wherever its original leads."""

    def __init__(self, config: AnyConfig) -> None:
        self._heard: list[Heard] = []
        self.config = self._watched(config)

    def take(self) -> tuple[Heard, ...]:
        """Who was asked since the last time."""
        found = tuple(self._heard)
        self._heard.clear()
        return found

    def _watched(self, config: AnyConfig) -> AnyConfig:
        tools = [
            attrs.evolve(tool, config=self._watched(tool.config))
            if isinstance(tool, Nested)
            else tool
            for tool in config.tools
        ]
        hooks = [self._hook(hook) for hook in config.hooks]
        return attrs.evolve(config, tools=tools, hooks=hooks)

    def _hook(self, hook: Hooks) -> Hooks:
        spied: dict[str, Any] = {
            point: Spied(function, self._noting(hook.name, point))
            for point, function in hook.functions.items()
        }
        return attrs.evolve(hook, **spied)

    def _noting(self, hook: str, point: str) -> Callable[[View, Any], None]:
        def note(view: View, said: Any) -> None:  # noqa: ANN401  # what the hook gave
            run_id, place = view.state.run_id, _place(view)
            heard = Heard(run_id, hook, point, place, _speaks(said), view)
            self._heard.append(heard)

        return note


def _speaks(said: Any) -> bool:  # noqa: ANN401  # what a hook gave
    """Whether something is written by it; an update may write nothing."""
    if said is None or isinstance(said, Need):
        return False
    return bool(getattr(said, "written", True))


def _place(view: View) -> int:
    """Which call of the newest reply a view is about."""
    call, turn = getattr(view, "call", None), view.state.turn
    if call is None or turn is None or turn.reply is None:
        return -1
    calls = turn.reply.calls
    same = [n for n, one in enumerate(calls) if one is call]
    equal = [n for n, one in enumerate(calls) if one == call]
    return next(iter([*same, *equal]), -1)
