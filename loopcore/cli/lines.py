"""A run as JSON Lines, for programs: each event as it comes, and the result last."""

import json
from typing import Any

import click

from loopcore import CallModel, Effect, Event, RequestApproval, State
from loopcore.cli.show import Ending
from loopcore.codec import to_json
from loopcore.events import Ended, Started
from loopcore.frozen import Json, evolve
from loopcore.messages import transcript
from loopcore.shapes import unshaped


class Lines:
    """Writes one JSON object a line, in ASCII, with its `type`.

    Events have the form that saved states have. Model requests come without their
    messages: each was told when it was stored.
    """

    def begin(self, state: State, title: str) -> None:
        """Nothing: the events say it."""

    def event(self, event: Event) -> None:
        """An event."""
        _write(_told(event))

    def asked(self, effect: RequestApproval) -> None:
        """Nothing: the result has what waits."""

    def say(self, text: str) -> None:
        """Nothing: the result has it."""

    def interrupted(self) -> None:
        """Nothing: the result has it."""

    def end(self, ending: Ending) -> None:
        """The result."""
        result = ending.result
        _write(
            {
                "type": "Result",
                "run_id": result.state.run_id,
                "output": unshaped(result.output),
                "stop": result.stop and to_json(result.stop),
                "waiting": [_short(effect) for effect in result.waiting],
                "turns": result.state.turns,
                "usage": to_json(result.usage),
                "seconds": round(ending.seconds, 3),
                "saved": ending.saved,
            }
        )


def _told(event: Event) -> dict[str, Any]:
    if not isinstance(event, Started | Ended):
        return _object(event, Event)
    bare = evolve(event, effect=_bare(event.effect))
    return {**_object(bare, Event), "effect": _short(event.effect)}


def _short(effect: Effect) -> dict[str, Any]:
    """An effect without its messages, rather than with none."""
    told = _object(_bare(effect), Effect)
    return {key: value for key, value in told.items() if key != "messages"}


def _bare(effect: Effect) -> Effect:
    """Nothing is encoded that is then left out."""
    if isinstance(effect, CallModel):
        return evolve(effect, messages=transcript())
    return effect


def _object(value: object, kind: Any) -> dict[str, Any]:  # noqa: ANN401  # a union
    told: Any = to_json(value, kind)
    return dict(told)


def _write(data: Json) -> None:
    click.echo(json.dumps(data, default=_told_of))


def _told_of(value: object) -> Json:
    """What JSON does not have and an output may hold, as JSON."""
    told = unshaped(value)
    return str(value) if told is value else told
