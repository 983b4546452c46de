"""What a state amounts to."""

from typing import Generic

from attrs import frozen
from pyrsistent import PVector
from typing_extensions import TypeVar

from loopcore.config import LoopConfig, T
from loopcore.effects import Effect, RequestApproval
from loopcore.events import Stop
from loopcore.messages import Message, Usage
from loopcore.reducer.nested import last_text
from loopcore.reducer.output import value_of
from loopcore.state import State
from loopcore.wording import describe, spoken

U = TypeVar("U", default=str)


class NotDone(Exception):
    """From unwrap(): the run has no output. Carries `stop` and `state`."""

    def __init__(self, stop: Stop | None, state: State) -> None:
        super().__init__(stop, state)
        self.stop, self.state = stop, state

    def __str__(self) -> str:
        said = f"Run {self.state.run_id!r} has no output: "
        if self.stop and self.stop.reason == "done":
            return f"{said}{self.stop}. The model was free to give none."
        if self.stop:
            return f"{said}{str(self.stop).removesuffix('.')}. {GO_ON}"
        asked = ", ".join(map(spoken, self.state.approvals))
        if asked:
            return f"{said}it is paused, waiting for approval of {asked}. {DECIDE}"
        advice = PERFORM if self.state.waiting else BEGIN
        return f"{said}it is {describe(self.state)}. {advice}"


GO_ON = (
    "The work is in `why.state`; go on with "
    "`run(config, interpreter, Continue(), state=why.state)`."
)
DECIDE = "Save `why.state`, or answer `why.state.approvals[0].approve()` and run again."
PERFORM = "Answer what `why.state.waiting` asks for."
BEGIN = 'Say something: `run(config, interpreter, "...", state=why.state)`.'


@frozen(repr=False)
class RunResult(Generic[T]):
    """What a run came to so far.

    Args:
        state: the resume token.
        output: what the run came to when it is done, else None: its last reply's text, or
            the value of the type that the configuration wants.
    """

    state: State
    output: T | None

    @staticmethod
    def of(config: LoopConfig[U], state: State) -> "RunResult[U]":
        """What this state amounts to under this configuration."""
        done = state.stop is not None and state.stop.reason == "done"
        output = value_of(config, last_text(state)).value if done else None
        return RunResult(state, output)

    @property
    def stop(self) -> Stop | None:
        """Why it ended; None if it did not."""
        return self.state.stop

    @property
    def waiting(self) -> tuple[Effect, ...]:
        """What it waits for."""
        return self.state.waiting

    @property
    def approvals(self) -> tuple[RequestApproval, ...]:
        """What a person is asked."""
        return self.state.approvals

    @property
    def messages(self) -> PVector[Message]:
        """The run's own messages."""
        return self.state.new

    @property
    def usage(self) -> Usage:
        """Tokens of this run, nested runs included."""
        return self.state.usage

    def unwrap(self) -> T:
        """The output.

        Raises:
            NotDone: if there is none; the state is in it.
        """
        if self.output is None:
            raise NotDone(self.stop, self.state)
        return self.output

    def __repr__(self) -> str:
        return repr(self.state)
