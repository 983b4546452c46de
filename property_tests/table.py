"""Hooks made of data: what each says at a point, turn by turn; and a spy that listens.

A table hook is pure: what it says depends on the turn, the place of the call and its
memory, none of which depends on the order in which answers arrive.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, get_args

from attrs import field, frozen

from loopcore.frozen import evolve
from loopcore.hooks import Hooks, Need
from loopcore.hooks.points import CALL_POINTS, POINTS, PointName

NAMES: Final[tuple[PointName, ...]] = get_args(PointName)


@frozen
class Say:
    """Returns this, whatever it sees."""

    value: object


@frozen
class Fail:
    """Raises."""


@frozen
class Count:
    """Remembers how often it was asked, and writes nothing else."""


@frozen
class After:
    """Needs this first."""

    need: Need
    then: "Deed"


@frozen
class Edited:
    """Does this about a call that a person let pass as edited, and else nothing."""

    then: "Deed"


Deed: TypeAlias = Say | Fail | Count | After | Edited
Entry: TypeAlias = tuple[PointName, Deed]


class TableError(Exception):
    """What a failing entry raises."""


Functions: TypeAlias = Mapping[PointName, Callable[[Any], object]]


def do(deed: Deed, point: PointName, view: Any) -> object:  # any view
    """What a hook with this entry returns."""
    match deed:
        case Say(value):
            return value
        case Fail():
            message = "this entry fails"
            raise TableError(message)
        case Count():
            update: Any = POINTS[point].update
            return update(memo=(view.memo or 0) + 1)
        case Edited(then):
            return do(then, point, view) if view.approved else None
        case After(need, then):
            answered: bool = need.key in view.answers
            return do(then, point, view) if answered else need


@frozen
class Plan:
    """A hook as data. The entries of a point take turns; after the last comes silence."""

    name: str
    entries: tuple[Entry, ...] = ()
    fail_closed: bool = False
    tools: tuple[str, ...] | None = None

    def hook(self) -> Hooks:
        """The hook."""
        said: dict[PointName, tuple[Deed, ...]] = {}
        for point, deed in self.entries:
            said[point] = (*said.get(point, ()), deed)
        return _hook(
            {point: _function(point, deeds) for point, deeds in said.items()},
            Hooks(self.name, fail_closed=self.fail_closed, tools=self.tools),
        )


def _hook(functions: Functions, rule: Hooks) -> Hooks:
    """The rule with these functions, unchecked: the check reads their code, and is slow."""
    changed: dict[str, Any] = {str(name): done for name, done in functions.items()}
    return evolve(rule, **changed)


def _function(point: PointName, deeds: tuple[Deed, ...]) -> Callable[[Any], object]:
    def function(view: Any) -> object:  # any view
        place: int = (view.turn - 1 + _place(point, view)) % (len(deeds) + 1)
        return do(deeds[place], point, view) if place < len(deeds) else None

    return function


def _place(point: PointName, view: Any) -> int:  # any view
    """Which call of its reply it is about; 0 at the points that are about no call."""
    turn = view.state.turn
    return int(turn.at) if point in CALL_POINTS and turn else 0


@frozen
class Raised:
    """What the spy heard when a hook raised."""

    error: Exception = field(eq=str)


@frozen(eq=False)
class Said:
    """One of these hooks was asked: where, what it saw, what it said."""

    place: str
    point: PointName
    n: int
    hook: str
    view: Any
    value: object
    hooks: tuple[Hooks, ...]


EYE: Final = "eye"


def spied(hooks: tuple[Hooks, ...], heard: list[Said]) -> tuple[Hooks, ...]:
    """The same hooks, everything they say noted, after one that sees all and is silent.

    The silent one is asked first, so that each pass of a point begins with it.
    """
    eye = _hook(dict.fromkeys(NAMES, _silent), Hooks(EYE))
    every = (eye, *hooks)
    return tuple(_spied(hook, Ear(hook.name, every, heard)) for hook in every)


def _silent(view: object) -> None:
    """Sees, and says nothing."""


@frozen(eq=False)
class Ear:
    """Notes what one of these hooks sees and says."""

    hook: str
    hooks: tuple[Hooks, ...]
    heard: list[Said]

    def note(self, point: PointName, view: Any, value: object) -> None:
        """It was asked."""
        place, n = view.state.place, _place(point, view)
        self.heard.append(Said(place, point, n, self.hook, view, value, self.hooks))


def _spied(hook: Hooks, ear: Ear) -> Hooks:
    functions: Functions = {
        point: _listening(point, function, ear)
        for point, function in hook.functions.items()
    }
    return _hook(functions, hook)


def _listening(
    point: PointName, function: Callable[[Any], object], ear: Ear
) -> Callable[[Any], object]:
    def listening(view: Any) -> object:  # any view
        try:
            value = function(view)
        except Exception as error:
            ear.note(point, view, Raised(error))
            raise
        ear.note(point, view, value)
        return value

    return listening
