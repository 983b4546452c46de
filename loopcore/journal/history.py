"""The history of a message: who asked for it, let it pass, performed, shaped and showed it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from attrs import evolve, frozen
from pyrsistent import PVector

from loopcore.effects import CallModel, Effect
from loopcore.events import Ended, Event, HookWrote, MessageAdded, Started
from loopcore.hooks import TurnUpdate
from loopcore.journal.folding import Step
from loopcore.messages import Message


@frozen
class Shaped:
    """A hook wrote these fields of something; `n` says which call or attempt it was."""

    run_id: str
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
        message: what is stored there.
        turn: in which it was stored; 0 for one that was there from the start.
        step: the step that stored it; None for one that was there from the start.
        hook: the one that wrote it into the transcript, if one did.
    """

    place: int
    message: Message
    turn: int = 0
    step: Step | None = None
    hook: str = ""


def stored(
    start: Sequence[Message], run_id: str, steps: Sequence[Step]
) -> list[Stored]:
    """The messages that a run has in the end, in order, each with how it came there."""
    found = [Stored(n, message) for n, message in enumerate(start)]
    for step, event in told(steps):
        match event:
            case MessageAdded(run_id=own, turn=turn) if own == run_id:
                found.append(Stored(len(found), event.message, turn, step))
            case HookWrote(run_id=own, update=TurnUpdate(transcript=PVector())):
                found = _rewritten(found, event, step) if own == run_id else found
            case _:
                pass
    return found


def told(steps: Iterable[Step]) -> Iterator[tuple[Step, Event]]:
    """What these steps told, in order, each with its step."""
    for step in steps:
        for event in step.effects.tell:
            yield step, event


def _rewritten(before: list[Stored], event: HookWrote, step: Step) -> list[Stored]:
    """A transcript that a hook replaced: what is still there came as it had come."""
    known = {id(one.message): one for one in before}
    return [
        evolve(known[id(message)], place=place)
        if id(message) in known
        else Stored(place, message, event.turn, step, event.hook)
        for place, message in enumerate(event.update.transcript)
    ]


@frozen
class Performed:
    """An effect from its request to its end. `run_id` is the run that asked for it."""

    run_id: str
    effect: Effect
    asked: Step
    ended: Step | None = None
    value: Any = None
    seconds: float | None = None
    cancelled: bool = False


def performed(steps: Sequence[Step]) -> dict[str, Performed]:
    """Every effect that was asked, by its id, and how it ended."""
    found: dict[str, Performed] = {}
    for step, event in told(steps):
        match event:
            case Started(effect=effect, run_id=run_id):
                found[effect.id] = Performed(run_id, effect, step)
            case Ended(effect=effect, run_id=run_id):
                bare = found.get(effect.id) or Performed(run_id, effect, step)
                found[effect.id] = _ended(bare, event, step)
            case _:
                pass
    return found


def _ended(one: Performed, event: Ended, step: Step) -> Performed:
    return evolve(
        one,
        ended=step,
        value=event.value,
        seconds=event.seconds,
        cancelled=event.cancelled,
    )


def wrote(steps: Sequence[Step]) -> Iterator[Shaped]:
    """What hooks wrote, in order."""
    for _, event in told(steps):
        if isinstance(event, HookWrote):
            update = event.update
            yield Shaped(
                event.run_id, event.hook, event.point, event.n, update.written, update
            )


def requests(
    steps: Sequence[Step], run_id: str | None = None
) -> list[tuple[Step, CallModel]]:
    """The requests of a record, in order: all, or those of this run alone."""
    return [
        (step, event.effect)
        for step, event in told(steps)
        if isinstance(event, Started) and isinstance(event.effect, CallModel)
        if run_id in (None, event.run_id)
    ]
