"""A configuration with a spy on every hook, here and in the runs inside."""

import functools
from typing import Any, Final

from attrs import field, frozen

from loopcore.config import AnyConfig, rehooked, with_functions
from loopcore.hooks.points import POINTS, PointName
from loopcore.hooks.rule import Hooks
from loopcore.reducer import Effects, step
from loopcore.state import State
from loopcore.testing.invariants.passes import Raised, Said, heard

EYE: Final = "eye"
"""The hook that sees all and is silent; it is asked first, so each pass begins with it."""


class Spy(functools.partial[object]):
    """A hook's function that notes what it sees and says.

    A partial, so that an error still names the function's own file and line.
    """

    point: PointName
    hook: str
    hooks: tuple[Hooks, ...]
    ears: list[Said]

    def __call__(self, view: Any, /) -> object:  # noqa: ANN401  # any view
        try:
            value = super().__call__(view)
        except Exception as error:
            self._note(view, Raised(error))
            raise
        self._note(view, value)
        return value

    def _note(self, view: Any, value: object) -> None:  # noqa: ANN401  # any view
        self.ears.append(heard(self.point, view, self.hook, value, self.hooks))


def _spy(point: PointName, hook: Hooks, ears: list[Said]) -> Spy:
    spy = Spy(hook.functions[point])
    spy.point, spy.hook, spy.ears = point, hook.name, ears
    return spy


def _silent(view: object) -> None:
    """Sees, and says nothing."""


def spied(config: AnyConfig, ears: list[Said]) -> AnyConfig:
    """The same configuration, with everything that its hooks are asked and say noted."""
    return rehooked(config, lambda hooks: _listening(hooks, ears))


def _listening(hooks: tuple[Hooks, ...], ears: list[Said]) -> tuple[Hooks, ...]:
    every = (_eye(hooks), *hooks)
    spies: list[dict[PointName, Spy]] = [
        {point: _spy(point, hook, ears) for point in hook.functions} for hook in every
    ]
    for spy in (spy for functions in spies for spy in functions.values()):
        spy.hooks = every
    return tuple(
        with_functions(hook, done) for done, hook in zip(spies, every, strict=True)
    )


def _eye(hooks: tuple[Hooks, ...]) -> Hooks:
    """The silent hook, under a name that no other has."""
    name = EYE
    while any(hook.name == name for hook in hooks):
        name += "_"
    return with_functions(Hooks(name), dict.fromkeys(POINTS, _silent))


@frozen(eq=False)
class Watched:
    """A configuration, and the same with a spy on every hook."""

    plain: AnyConfig
    spied: AnyConfig
    ears: list[Said] = field(repr=False)

    @classmethod
    def of(cls, config: AnyConfig) -> "Watched":
        """This configuration, watched."""
        ears: list[Said] = []
        return cls(config, spied(config, ears), ears)

    def step(self, ready: State) -> tuple[State, Effects, tuple[Said, ...]]:
        """The step, and what its hooks were asked and said."""
        self.ears.clear()
        state, effects = step(self.spied, ready)
        return state, effects, tuple(self.ears)
