"""The history of a message: who asked for it, let it pass, performed, shaped and showed it."""

from collections.abc import Iterator, Sequence
from typing import Any

from attrs import frozen

from loopcore.effects import CallModel, Effect
from loopcore.events import Ended, HookWrote, MessageAdded, Started
from loopcore.journal.folding import Step
from loopcore.messages import Message


@frozen
class Shaped:
    """A hook wrote these fields of something; `n` says which call or attempt it was."""

    hook: str
    point: str
    n: str
    fields: tuple[str, ...]
    update: Any


@frozen
class Stored:
    """A message as it came to be stored.

    Args:
        place: in the transcript of the run that has it, from 0.
        step: the step that stored it; None for one that was there from the start.
        run_id: the run that has it.
    """

    place: int
    message: Message
    step: Step | None
    run_id: str


def stored(
    start: Sequence[Message], run_id: str, steps: Sequence[Step]
) -> list[Stored]:
    """The messages of a run, in order, each with the step that stored it."""
    found = [Stored(n, message, None, run_id) for n, message in enumerate(start)]
    for step in steps:
        for event in step.effects.tell:
            if isinstance(event, MessageAdded) and event.run_id == run_id:
                found.append(Stored(len(found), event.message, step, run_id))
    return found


@frozen
class Performed:
    """An effect from its request to its end."""

    effect: Effect
    asked: Step
    ended: Step | None = None
    value: Any = None
    seconds: float | None = None
    cancelled: bool = False


def performed(steps: Sequence[Step]) -> dict[str, Performed]:
    """Every effect that was asked, by its id, and how it ended."""
    found: dict[str, Performed] = {}
    for step in steps:
        for event in step.effects.tell:
            match event:
                case Started(effect=effect):
                    found[effect.id] = Performed(effect, step)
                case Ended(effect=effect, value=value, seconds=seconds):
                    asked = found[effect.id].asked if effect.id in found else step
                    found[effect.id] = Performed(
                        effect, asked, step, value, seconds, event.cancelled
                    )
                case _:
                    pass
    return found


def wrote(steps: Sequence[Step]) -> Iterator[Shaped]:
    """What hooks wrote, in order."""
    for step in steps:
        for event in step.effects.tell:
            if isinstance(event, HookWrote):
                update = event.update
                yield Shaped(event.hook, event.point, event.n, update.written, update)


def requests(steps: Sequence[Step]) -> list[tuple[Step, CallModel]]:
    """The requests of a record, in order."""
    return [
        (step, effect)
        for step in steps
        for effect in step.effects.perform
        if isinstance(effect, CallModel)
    ]
