"""The same run in each way of driving it: plain, streamed, by hand, and resumed.

By hand and resumed, effects are performed one at a time; resumed, the state is saved and
loaded before every input.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import pytest
from attrs import evolve

from loopcore import (
    Event,
    Given,
    Inspector,
    Interpreter,
    LoopConfig,
    RunResult,
    State,
    run,
    stream,
)
from loopcore.events import Delta, Started
from loopcore.frozen import EMPTY
from loopcore.testing import ScriptedModel, ScriptedTools
from tests.driving import MODEL, Run
from tests.leaks import alone

WAYS: Final = ("run", "stream", "hand", "resumed")
TOGETHER: Final = ("run", "stream")
"""Those that perform what waits at the same time."""

every_way = pytest.mark.parametrize("way", WAYS)
together = pytest.mark.parametrize("way", TOGETHER)


class Seen(Inspector):
    """Keeps every event."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def on_event(self, event: Event) -> None:
        self.events.append(event)


def play(
    way: str,
    config: LoopConfig[Any],
    *capabilities: Any,
    given: Iterable[Given] = ("go",),
    inspectors: Iterable[Inspector] = (),
    **more: Any,
) -> Run:
    """A run "r" that was driven in this way; what an inspector saw is what it was told."""
    seen = Seen()
    interpreter = Interpreter(*capabilities, inspectors=[*inspectors, seen], **more)
    state = DRIVE[way](config, interpreter, tuple(given))
    told = tuple(event for event in seen.events if not isinstance(event, Delta))
    started = tuple(event.effect for event in told if isinstance(event, Started))
    return Run(config, state, told, started)


def scripted(
    way: str,
    config: LoopConfig[Any],
    *replies: Any,
    tools: Mapping[str, Iterable[object]] = EMPTY,
    **more: Any,
) -> Run:
    """A run of a model that says these, and of tools whose calls end in these ways."""
    model = ScriptedModel(*replies, id=MODEL)
    played = play(way, config, model, *ScriptedTools(config, tools), **more)
    model.assert_complete()
    return played


def output(played: Run) -> Any:
    """What it came to."""
    return RunResult.of(played.config, played.state).output


def _run(config: LoopConfig[Any], interpreter: Interpreter, given: Any) -> State:
    return alone(run(config, interpreter, *given, run_id="r")).state


def _stream(config: LoopConfig[Any], interpreter: Interpreter, given: Any) -> State:
    async def streamed() -> State:
        events = stream(config, interpreter, *given, run_id="r")
        async for _ in events:
            pass
        return events.state

    return alone(streamed())


def _by_hand(config: LoopConfig[Any], interpreter: Interpreter, given: Any) -> State:
    return _folded(Hand(config, interpreter), given)


def _resumed(config: LoopConfig[Any], interpreter: Interpreter, given: Any) -> State:
    return _folded(Hand(config, interpreter, reload=True), given)


class Hand:
    """Gives a run one input after the other, and tells the inspectors what it tells."""

    def __init__(
        self, config: LoopConfig[Any], interpreter: Interpreter, *, reload: bool = False
    ) -> None:
        self.run = Run(config, State.start(config, run_id="r"))
        self._interpreter, self._reload = interpreter, reload
        self._lacking: set[str] = set()

    def give(self, given: Given) -> None:
        """One input more."""
        if self._reload:
            loaded = State.loads(self.run.state.dumps()).unwrap()
            self.run = evolve(self.run, state=loaded)
        before = len(self.run.told)
        self.run = self.run.give(given)
        self._interpreter.tell(*self.run.told[before:])

    def perform(self) -> bool:
        """Perform what waits first and can be had here; False if nothing is left."""
        for effect in self.run.state.waiting:
            if effect.id not in self._lacking:
                answer = self._interpreter.perform_sync(effect)
                self._lacking.add(effect.id)
                if answer:
                    self.give(answer)
                return True
        return False


def _folded(hand: Hand, given: tuple[Given, ...]) -> State:
    for one in given:
        hand.give(one)
    while hand.perform():
        pass
    return hand.run.state


DRIVE: Final[dict[str, Callable[[LoopConfig[Any], Interpreter, Any], State]]] = {
    "run": _run,
    "stream": _stream,
    "hand": _by_hand,
    "resumed": _resumed,
}
