"""No hook fails: a run that a failing hook ended proves nothing of what it cut short."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from attrs import frozen

from loopcore.events import Event, MessageAdded, RunEnd
from loopcore.hooks.fault import ALL_OVER, ONE_CALL
from loopcore.messages import ToolResultMessage
from loopcore.testing.invariants.mistakes import named
from loopcore.testing.invariants.moment import Moment, Unheld, hold
from loopcore.testing.invariants.passes import Pass, Raised


@frozen
class Unfailing:
    """No hook fails (hooks_may_fail=True allows it)."""

    def see(self, moment: Moment) -> "Unfailing":
        """Look at a step."""
        unfailing(moment.effects.tell)
        for one in moment.passes:
            _heard(one)
        return self


def unfailing(tell: Iterable[Event]) -> None:
    """Hold that no hook failed, as far as events tell.

    Raises:
        Unheld: with the hook, the error, its file and line.
    """
    for said in failures(tell):
        raise Unheld(said.removesuffix(f" {ALL_OVER}").removesuffix(f" {ONE_CALL}"))


def failures(tell: Iterable[Event]) -> Iterator[str]:
    """What is said of hooks that failed: at the end of a run, or of the call not run."""
    for event in tell:
        read = READ.get(type(event))
        said = read(event) if read else ""
        if said:
            yield said


def _ended(event: RunEnd) -> str:
    stop = event.stop
    return stop.detail if stop.hook and stop.reason == "hook_error" else ""


def _not_run(event: MessageAdded) -> str:
    message = event.message
    if not isinstance(message, ToolResultMessage):
        return ""
    told = message.outcome == "invalid_arguments" and message.text.startswith(BEGINS)
    return message.text if told else ""


BEGINS: Final = ("Hook '", 'Hook "')
"""How a result begins that a hook's failure is told in: a name with a ' stands in "."""

READ: Final[dict[type[Event], Callable[[Any], str]]] = {
    RunEnd: _ended,
    MessageAdded: _not_run,
}
"""Which events tell of hooks: every step of every simulated run is looked at."""


def _heard(one: Pass) -> None:
    """What was heard of a hook that raised, whatever became of it."""
    last = one.said[-1]
    if isinstance(last.value, Raised):
        error = named(last.value.error)
        hold(False, "Hook {!r} raised {} ({})", last.hook, error, one.told())  # noqa: FBT003  # heard
