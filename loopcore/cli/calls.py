"""Which call a result is of: results are stored together, in the order of their calls."""

from loopcore import AssistantMessage, RunTool, State, ToolCall, ToolResultMessage
from loopcore.effects import call_number


class Calls:
    """The calls of each run's newest reply that have no stored result, by their places."""

    def __init__(self) -> None:
        self._left: dict[str, list[tuple[int, ToolCall]]] = {}
        self._ran: set[tuple[str, int]] = set()

    def know(self, state: State) -> None:
        """What a saved state holds, and the runs nested in it."""
        for message in reversed(state.transcript):
            if isinstance(message, AssistantMessage):
                self.replied(state.run_id, message)
                break
        for child in state.children:
            self.know(child)

    def replied(self, run_id: str, message: AssistantMessage) -> None:
        """A run has a new reply."""
        self._ran = {(run, place) for run, place in self._ran if run != run_id}
        self._left[run_id] = list(enumerate(message.calls))

    def ran(self, run_id: str, effect: RunTool) -> None:
        """A call was seen to run."""
        self._ran.add((run_id, call_number(effect.id)))

    def settled(self, run_id: str, result: ToolResultMessage) -> ToolCall | None:
        """The call that this result is of, unless it was seen to run."""
        left = self._left.get(run_id)
        place, call = left.pop(0) if left else (-1, ToolCall(result.name))
        return None if (run_id, place) in self._ran else call
