"""What a step wants done, and the four ways in which effects come and go."""

from collections.abc import Iterable
from typing import Any

from attrs import frozen
from pyrsistent import PVector

from loopcore.effects import Effect
from loopcore.events import Ended, Event, MessageAdded, Started
from loopcore.frozen import FrozenDict, constructor, evolve
from loopcore.inputs import Answer
from loopcore.messages import NO_USAGE, AssistantMessage, Message, ModelError, Usage
from loopcore.state import Closed, Slot, State, Turn


@constructor
@frozen
class Effects:
    """What a step wants done: perform these, cancel those ids, tell these events."""

    perform: tuple[Effect, ...] = ()
    cancel: tuple[str, ...] = ()
    tell: tuple[Event, ...] = ()

    def __add__(self, other: "Effects") -> "Effects":
        return Effects(
            self.perform + other.perform,
            self.cancel + other.cancel,
            self.tell + other.tell,
        )


NOTHING = Effects()


class Out:
    """This step's effects so far: appended to, never read."""

    def __init__(self) -> None:
        self.perform: list[Effect] = []
        self.cancel: list[str] = []
        self.tell: list[Event] = []

    def effects(self) -> Effects:
        """All of it."""
        return Effects(tuple(self.perform), tuple(self.cancel), tuple(self.tell))

    def add(self, effects: Effects) -> None:
        """A nested run's effects."""
        self.perform += effects.perform
        self.cancel += effects.cancel
        self.tell += effects.tell


def where(state: State) -> dict[str, Any]:
    """What every event carries."""
    return {"run_id": state.run_id, "turn": state.turns, "at": state.now}


def request(state: State, out: Out, effect: Effect) -> State:
    """Want this performed."""
    return evolve(state, pending=asked(state, out, effect))


def asked(state: State, out: Out, *effects: Effect) -> FrozenDict[Effect]:
    """Want these performed: what is pending then."""
    out.perform += effects
    out.tell += [Started(effect, **where(state)) for effect in effects]
    return FrozenDict({**state.pending, **{effect.id: effect for effect in effects}})


def close(state: State, out: Out, answer: Answer) -> tuple[State, Effect]:
    """The effect got its answer."""
    effect = state.pending[answer.effect_id]
    ended = Ended(effect, answer.value, answer.seconds, **where(state))
    out.tell.append(ended)
    closed = Closed("answered", state.inputs)
    state = evolve(
        state,
        pending=state.pending.without(effect.id),
        closed=state.closed.with_(effect.id, closed),
    )
    return state, effect


def cancel(state: State, out: Out, ids: Iterable[str], by: str) -> State:
    """These are no longer wanted."""
    gone = [state.pending[effect_id] for effect_id in ids]
    if not gone:
        return state
    out.cancel += (effect.id for effect in gone)
    out.tell += (Ended(effect, cancelled=True, **where(state)) for effect in gone)
    closed = Closed("cancelled", state.inputs, by)
    ended = dict.fromkeys((effect.id for effect in gone), closed)
    left = {k: v for k, v in state.pending.items() if k not in ended}
    return evolve(
        state,
        pending=FrozenDict(left),
        closed=FrozenDict({**state.closed, **ended}),
    )


def store(
    state: State, out: Out, *messages: Message, turn: Turn | None = None
) -> State:
    """Add these to the transcript, and leave the open turn like this."""
    out.tell += (MessageAdded(message=m, **where(state)) for m in messages)
    return evolve(
        state,
        transcript=added(state.transcript, messages),
        new=added(state.new, messages),
        turn=turn or state.turn,
    )


def added(stored: PVector[Message], messages: tuple[Message, ...]) -> PVector[Message]:
    """The vector with these at its end; one is appended much faster than extended."""
    if len(messages) == 1:
        return stored.append(messages[0])
    return stored.extend(messages) if messages else stored


def spend(state: State, usage: Usage) -> State:
    """Count these tokens, for the run and for its open turn."""
    if usage == NO_USAGE:
        return state
    turn = state.turn and evolve(state.turn, usage=_sum(state.turn.usage, usage))
    return evolve(state, usage=_sum(state.usage, usage), turn=turn)


def _sum(before: Usage, usage: Usage) -> Usage:
    """All these tokens; most turns have one reply, and nothing to add it to."""
    return usage if before is NO_USAGE else before + usage


def pay(state: State, value: object) -> State:
    """Count the tokens of an answer, if it is a reply or a part of one."""
    match value:
        case AssistantMessage(usage=usage):
            return spend(state, usage)
        case ModelError(partial=AssistantMessage(usage=usage)):
            return spend(state, usage)
        case _:
            return state


def the_turn(state: State) -> Turn:
    """The open turn, which every stage of a turn has."""
    assert state.turn is not None  # noqa: S101  # the table enters no such stage without one
    return state.turn


def put(state: State, place: int, slot: Slot, at: int | None = None) -> State:
    """The state with this slot at a place of its batch, whose stages then are at `at`."""
    turn = the_turn(state)
    slots = (*turn.slots[:place], slot, *turn.slots[place + 1 :])
    turn = evolve(turn, slots=slots, at=turn.at if at is None else at)
    return evolve(state, turn=turn)


def move(state: State, at: int) -> State:
    """The state with its batch's stages at this slot."""
    if the_turn(state).at == at:
        return state
    return evolve(state, turn=evolve(the_turn(state), at=at))
