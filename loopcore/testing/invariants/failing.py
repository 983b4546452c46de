"""No hook fails: a run that a failing hook ended proves nothing of what it cut short."""

from collections.abc import Iterable, Iterator
from typing import Final

from attrs import frozen

from loopcore.events import Event, MessageAdded, RunEnd, Stop
from loopcore.hooks.fold import ALL_OVER, ONE_CALL
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
        match event:
            case RunEnd(stop=Stop(reason="hook_error", hook=str(), detail=said)):
                yield said
            case MessageAdded(
                message=ToolResultMessage(outcome="invalid_arguments", text=said)
            ) if said.startswith(HOOK):
                yield said
            case _:
                pass


HOOK: Final = "Hook '"
"""How what is said of a hook that failed begins."""


def _heard(one: Pass) -> None:
    """What was heard of a hook that raised, whatever became of it."""
    last = one.said[-1]
    if isinstance(last.value, Raised):
        error = named(last.value.error)
        hold(False, "Hook {!r} raised {} ({})", last.hook, error, one.told())  # noqa: FBT003  # heard
