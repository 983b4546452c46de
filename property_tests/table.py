"""Hooks made of data: what each says at a point, turn by turn.

A table hook is pure: what it says depends on the turn, the place of the call and its
memory, none of which depends on the order in which answers arrive.
"""

from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias, get_args

from attrs import frozen

from loopcore.hooks import (
    ContextUpdate,
    Hooks,
    Need,
    RawCallUpdate,
    ReplyUpdate,
    RetryUpdate,
    StopUpdate,
    ToolCallUpdate,
    ToolResultUpdate,
    TurnUpdate,
)

PointName: TypeAlias = Literal[
    "transform_context",
    "after_model_call",
    "on_model_error",
    "prepare_tool_call",
    "before_tool_call",
    "after_tool_call",
    "after_tool_result",
    "prepare_next_turn",
    "should_stop_after_turn",
]
NAMES: Final[tuple[PointName, ...]] = get_args(PointName)
UPDATES: Final[dict[PointName, type[Any]]] = {
    "transform_context": ContextUpdate,
    "after_model_call": ReplyUpdate,
    "on_model_error": RetryUpdate,
    "prepare_tool_call": RawCallUpdate,
    "before_tool_call": ToolCallUpdate,
    "after_tool_call": ToolResultUpdate,
    "after_tool_result": ToolResultUpdate,
    "prepare_next_turn": TurnUpdate,
    "should_stop_after_turn": StopUpdate,
}
CALL_POINTS: Final = NAMES[3:7]
"""Those that are about one call."""


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


def do(deed: Deed, point: PointName, view: Any) -> object:  # any view
    """What a hook with this entry returns."""
    match deed:
        case Say(value):
            return value
        case Fail():
            message = "this entry fails"
            raise TableError(message)
        case Count():
            return UPDATES[point](memo=(view.memo or 0) + 1)
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
        functions: dict[str, Any] = {
            point: _function(point, deeds) for point, deeds in said.items()
        }
        return Hooks(
            self.name, fail_closed=self.fail_closed, tools=self.tools, **functions
        )


def _function(point: PointName, deeds: tuple[Deed, ...]) -> Callable[[Any], object]:
    def function(view: Any) -> object:  # any view
        place: int = (view.turn - 1 + _place(point, view)) % (len(deeds) + 1)
        return do(deeds[place], point, view) if place < len(deeds) else None

    return function


def _place(point: PointName, view: Any) -> int:  # any view
    """Which call of its reply it is about; 0 at the points that are about no call."""
    turn = view.state.turn
    return int(turn.at) if point in CALL_POINTS and turn else 0
