"""What the pytest plug-in says: where two values differ, and what happened in a run."""

from collections.abc import Callable
from typing import Any, Final

from loopcore.events import (
    Delta,
    Ended,
    Event,
    HookWrote,
    MessageAdded,
    RunEnd,
    RunStart,
    Started,
    TurnEnd,
)
from loopcore.runtime.inspect import Inspector
from loopcore.testing.differences import LISTS, clipped, differences, lines
from loopcore.testing.doubles.effects import described

MOST: Final = 20
"""How many differences are told of, unless all are asked for."""


def compared(left: object, right: object, *, whole: bool = False) -> list[str]:
    """Where these differ, a line for each place, after a line for both."""
    found = differences(left, right)
    told = lines(found, 10_000 if whole else MOST)
    return [f"{_named(left)} == {_named(right)}", *told]


def _named(value: Any) -> str:  # noqa: ANN401  # anything may be compared
    """A value in a line; of a list, what it is a list of."""
    if not isinstance(value, LISTS):
        return clipped(value)
    items = tuple[Any, ...](value)  # pyright: ignore[reportUnknownArgumentType]  # of anything
    kinds = ", ".join(sorted({type(one).__name__ for one in items}))
    return f"<{len(items)} of {kinds or 'nothing'}>"


class RunLog(Inspector):
    """An inspector that keeps every event but deltas; its text has a line for each."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def on_event(self, event: Event) -> None:
        """Keep it, unless it is a piece of what comes whole."""
        if not isinstance(event, Delta):
            self.events.append(event)

    def __str__(self) -> str:
        times = [event.at for event in self.events if event.at is not None]
        return "\n".join(_line(event, min(times, default=0.0)) for event in self.events)


def _line(event: Event, began: float) -> str:
    at = "" if event.at is None else f"{event.at - began:.3f}"
    return f"{at:>8} s  {event.run_id}  {WORDS[type(event)](event)}"


def _ended(event: Ended) -> str:
    what = "is cancelled" if event.cancelled else f"gives {clipped(event.value)}"
    return f"{event.effect.id} {what}"


def _wrote(event: HookWrote) -> str:
    return f"hook {event.hook!r} wrote {clipped(event.update)} at {event.point}"


WORDS: Final[dict[type[Event], Callable[[Any], str]]] = {
    RunStart: lambda event: f"begins: {clipped(event.messages)}",
    Started: lambda event: f"wants {described(event.effect)}",
    Delta: lambda event: f"{event.effect_id} tells a piece",
    Ended: _ended,
    HookWrote: _wrote,
    MessageAdded: lambda event: f"stores {clipped(event.message)}",
    TurnEnd: lambda event: f"turn {event.turn} is over",
    RunEnd: lambda event: f"ends: {event.stop}",
}
"""What is told of each event."""
