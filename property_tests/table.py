"""Hooks made of data: what each says at a point, turn by turn.

A table hook is pure: what it says depends on the turn, the place of the call and its
memory, none of which depends on the order in which answers arrive.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, get_args

from attrs import frozen

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
