"""A run on a screen: what a model says while it says it, and each call in a line."""

import re
from collections.abc import Mapping
from typing import Final

from loopcore import (
    AssistantMessage,
    CallModel,
    Event,
    ModelError,
    RequestApproval,
    RunTool,
    Sleep,
    State,
    ToolOutput,
    ToolResultMessage,
)
from loopcore.cli.calls import Calls
from loopcore.cli.harmless import one_line, spoken_value
from loopcore.cli.page import Page
from loopcore.cli.show import Ending
from loopcore.cli.summary import summary
from loopcore.events import Delta, Ended, MessageAdded, RunStart, Started

COLUMN: Final = 56
"""Where outcomes stand."""

STYLES: Final = {"ok": "green", "needs approval": "yellow"}
"""Of outcomes; the others are red."""


class Screen:
    """Shows the events of a run, in the order in which they come.

    Of runs nested in it only the calls are shown. `thinking` shows what a model thinks.
    """

    def __init__(self, page: Page, *, thinking: bool = False) -> None:
        self._page, self._thinking = page, thinking
        self._run_id, self._main = "", re.compile("")
        self._streamed: list[str] = []
        self._error: ModelError | None = None
        self._calls = Calls()
        self._asked: set[str] = set()

    def begin(self, state: State, title: str) -> None:
        """A run begins, or goes on with what it had asked for."""
        self._run_id = state.run_id
        self._main = re.compile(rf"{re.escape(state.run_id)}\.\d+\.\d+\.model\.\d+")
        self._calls.know(state)
        self._page.bare_line(title, "dim")

    def event(self, event: Event) -> None:
        """Show this, if it is something to see."""
        if event.run_id == self._run_id:
            self._page.turn(0 if isinstance(event, RunStart) else event.turn)
        match event:
            case Delta() if self._main.fullmatch(event.effect_id):
                self._delta(event)
            case Started():
                self._started(event)
            case Ended():
                self._ended(event)
            case MessageAdded(message=AssistantMessage() as message):
                self._replied(event, message)
            case MessageAdded(message=ToolResultMessage() as message):
                self._settled(event, message)
            case _:
                pass

    def asked(self, effect: RequestApproval) -> None:
        """Show the whole of a call that a person is to decide on, once."""
        if effect.id in self._asked:
            return
        self._asked.add(effect.id)
        line = _call(effect.spec.name, effect.arguments, whole=True)
        self._page.open(effect.id, f"→ {line}")
        self._outcome("needs approval")
        if effect.question:
            self._page.line(effect.question)

    def say(self, text: str) -> None:
        """A sentence to the person."""
        self._page.line(text)

    def interrupted(self) -> None:
        """What comes next begins a line."""
        self._page.interrupted()

    def end(self, ending: Ending) -> None:
        """What came of it, in a line, after what went wrong."""
        for effect in ending.result.approvals:
            self.asked(effect)
        stop = ending.result.stop
        if stop and stop.detail:
            self._page.line(str(stop), None if stop.reason == "done" else "red")
        self._page.bare_line(summary(ending), "dim")

    def _delta(self, event: Delta) -> None:
        if event.text:
            self._streamed.append(event.text)
            self._page.flow("text", event.text)
        elif event.thinking and self._thinking:
            self._page.flow("thinking", event.thinking, "dim")

    def _started(self, event: Started) -> None:
        match event.effect:
            case CallModel(id=effect_id) if self._main.fullmatch(effect_id):
                self._streamed.clear()
            case RunTool() as effect:
                self._calls.ran(event.run_id, effect)
                line = f"→ {_call(effect.spec.name, effect.arguments)}"
                self._page.open(effect.id, line, depth=self._depth(event.run_id))
            case Sleep(seconds=seconds):
                self._page.line(f"{self._error}; again in {seconds:g} s", "red")
            case _:
                pass

    def _ended(self, event: Ended) -> None:
        match event.effect:
            case CallModel() if isinstance(event.value, ModelError):
                self._error = event.value
            case RunTool() as effect:
                self._calls.ran(event.run_id, effect)  # it may have begun elsewhere
                if not self._page.is_open(effect.id):
                    line = f"← {_call(effect.spec.name, effect.arguments)}"
                    self._page.open(effect.id, line, depth=self._depth(event.run_id))
                self._outcome(_outcome_of(event), event.seconds)
            case _:
                pass

    def _replied(self, event: MessageAdded, message: AssistantMessage) -> None:
        self._calls.replied(event.run_id, message)
        if event.run_id != self._run_id:
            return
        if message.text != "".join(self._streamed):
            self._page.end()
            self._page.flow("text", message.text)
        self._page.end()

    def _settled(self, event: MessageAdded, message: ToolResultMessage) -> None:
        call = self._calls.settled(event.run_id, message)
        if call is None:
            return
        line = f"→ {_call(call.name, call.arguments)}"
        self._page.open("result", line, depth=self._depth(event.run_id))
        self._outcome(message.outcome)

    def _outcome(self, outcome: str, seconds: float | None = None) -> None:
        gap = " " * max(5 - len(outcome), 2)
        took = "" if seconds is None else f"{gap}{seconds:.2f} s"
        self._page.close(COLUMN, (outcome, STYLES.get(outcome, "red")), (took, None))

    def _depth(self, run_id: str) -> int:
        return run_id.removeprefix(self._run_id).count(".run.")


def _outcome_of(event: Ended) -> str:
    return event.value.outcome if isinstance(event.value, ToolOutput) else "cancelled"


def _call(name: str, arguments: Mapping[str, object], *, whole: bool = False) -> str:
    """A call in a line; only what a person decides on is shown as a whole."""
    said = (
        f"{one_line(key)}={spoken_value(value, whole=whole)}"
        for key, value in arguments.items()
    )
    return f"{one_line(name)}  {' '.join(said)}".rstrip()
