"""Watching: inspectors are told each event; what they do never touches the run."""

import logging
import warnings
from asyncio import CancelledError
from difflib import get_close_matches
from typing import Any, Final

from loopcore.effects import CallModel, RunTool
from loopcore.events import (
    Ended,
    Event,
    MessageAdded,
    RunEnd,
    RunStart,
    Started,
    TurnEnd,
)
from loopcore.messages import ToolResultMessage
from loopcore.runtime.outcome import shown

LOGGER: Final = logging.getLogger("loopcore")


class Inspector:
    """Watches runs: override the moments you want.

    `on_event` gets every event, the others those of their moment. What they raise is
    logged, once for each kind of event, and changes nothing. A method that is nearly
    called like one of these, and so is never called, is a `UserWarning`.
    """

    def __init_subclass__(cls, **more: Any) -> None:  # noqa: ANN401  # as of any class
        super().__init_subclass__(**more)
        for name in vars(cls):
            for meant in _meant(name):
                warnings.warn(MISSPELT.format(cls.__name__, name, meant), stacklevel=2)

    def on_event(self, event: Event) -> None:
        """Anything at all happened, deltas included."""

    def on_run_start(self, event: RunStart) -> None:
        """A run began."""

    def on_model_start(self, event: Started, effect: CallModel) -> None:
        """A model is asked: `effect` holds the request as it is shown."""

    def on_model_end(self, event: Ended, effect: CallModel) -> None:
        """A model replied, failed or was cancelled: `event.value` is its raw answer."""

    def on_tool_start(self, event: Started, effect: RunTool) -> None:
        """A tool is run: `effect.spec` is its definition."""

    def on_tool_end(self, event: Ended, effect: RunTool) -> None:
        """A tool ended, however it did: `event.value` is its raw output."""

    def on_tool_result(self, event: MessageAdded, message: ToolResultMessage) -> None:
        """A result was stored, also of a call that never ran."""

    def on_turn_end(self, event: TurnEnd) -> None:
        """A turn is over."""

    def on_run_end(self, event: RunEnd) -> None:
        """A run is over."""


def _meant(name: str) -> list[str]:
    """The moment that a method's name nearly is, if it is none."""
    moments = [known for known in vars(Inspector) if known.startswith("on_")]
    strange = name.startswith("on_") and name not in moments
    return get_close_matches(name, moments, n=1, cutoff=0.8) if strange else []


MISSPELT: Final = (
    "{}.{} is no moment of an Inspector, so nobody calls it. Did you mean {!r}?"
)


def inform(inspector: Inspector, event: Event) -> None:
    """Tell an inspector of an event, by the method of its moment."""
    inspector.on_event(event)
    match event:
        case RunStart():
            inspector.on_run_start(event)
        case Started():
            _inform_of_start(inspector, event)
        case Ended():
            _inform_of_end(inspector, event)
        case MessageAdded(message=ToolResultMessage() as message):
            inspector.on_tool_result(event, message)
        case TurnEnd():
            inspector.on_turn_end(event)
        case RunEnd():
            inspector.on_run_end(event)
        case _:
            pass


def _inform_of_start(inspector: Inspector, event: Started) -> None:
    match event.effect:
        case CallModel() as effect:
            inspector.on_model_start(event, effect)
        case RunTool() as effect:
            inspector.on_tool_start(event, effect)
        case _:
            pass


def _inform_of_end(inspector: Inspector, event: Ended) -> None:
    match event.effect:
        case CallModel() as effect:
            inspector.on_model_end(event, effect)
        case RunTool() as effect:
            inspector.on_tool_end(event, effect)
        case _:
            pass


class Watchers:
    """Inspectors, and which of them have failed at what."""

    def __init__(self, inspectors: tuple[Inspector, ...]) -> None:
        self._inspectors = inspectors
        self._failed: set[tuple[int, type[Event]]] = set()

    def tell(self, *events: Event) -> None:
        """Tell all inspectors of these, in order."""
        for event in events:
            for place, inspector in enumerate(self._inspectors):
                self._inform(place, inspector, event)

    def _inform(self, place: int, inspector: Inspector, event: Event) -> None:
        try:
            inform(inspector, event)
        except (Exception, CancelledError):  # watching never touches the run
            kind = type(event)
            if (place, kind) in self._failed:
                return
            self._failed.add((place, kind))
            LOGGER.warning(RAISED, shown(inspector), kind.__name__, exc_info=True)


RAISED: Final = (
    "Inspector %s raised at %s; the run goes on. This is logged once for each kind of "
    "event."
)
