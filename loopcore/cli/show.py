"""What both ways of showing a run have: the screen for people, lines for programs."""

from typing import Protocol

from attrs import frozen

from loopcore import Event, RequestApproval, RunResult, State


@frozen
class Ending:
    """Where a run ended or waits. `seconds` is how long it ran.

    `saved` is the file that holds it, `go_on` the command that goes on with it, if so.
    """

    result: RunResult
    seconds: float
    saved: str | None = None
    go_on: str | None = None


class Show(Protocol):
    """Shows a run while it goes on."""

    def begin(self, state: State, title: str) -> None:
        """A run begins, or goes on."""

    def event(self, event: Event) -> None:
        """Something happened."""

    def asked(self, effect: RequestApproval) -> None:
        """A person is to decide on this; said once."""

    def say(self, text: str) -> None:
        """Something about the run, for people."""

    def interrupted(self) -> None:
        """Ctrl-C was pressed while it went on."""

    def end(self, ending: Ending) -> None:
        """It stopped, or waits."""
