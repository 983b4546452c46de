"""A run as JSON Lines, for programs: each event as it comes, and the result last."""

import json

import click

from loopcore import CallModel, Effect, Event, RequestApproval, State
from loopcore.cli.show import Ending
from loopcore.codec import to_json
from loopcore.events import Ended, Started
from loopcore.frozen import Json, evolve
from loopcore.messages import transcript


class Lines:
    """Writes one JSON object a line, in ASCII, with its `type`.

    Events have the form that saved states have. Model requests come without their
    messages: each was told when it was stored.
    """

    def begin(self, state: State, title: str) -> None:
        """Nothing: the events say it."""

    def event(self, event: Event) -> None:
        """An event."""
        _write(to_json(_bare(event), Event))

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
                "output": result.output,
                "stop": result.stop and to_json(result.stop),
                "waiting": [to_json(_short(e), Effect) for e in result.waiting],
                "turns": result.state.turns,
                "usage": to_json(result.usage),
                "seconds": round(ending.seconds, 3),
                "saved": ending.saved,
            }
        )


def _bare(event: Event) -> Event:
    if isinstance(event, Started | Ended):
        return evolve(event, effect=_short(event.effect))
    return event


def _short(effect: Effect) -> Effect:
    return (
        evolve(effect, messages=transcript())
        if isinstance(effect, CallModel)
        else effect
    )


def _write(data: Json) -> None:
    click.echo(json.dumps(data))
