"""Messages that wait: steering for a gap between turns, follow-ups for the end."""

from typing import Any, Literal, TypeAlias

from pyrsistent import PVector

from loopcore.config import Drain
from loopcore.frozen import evolve, vector
from loopcore.inputs import FollowUp, Steer, Withdraw
from loopcore.reducer.out import Out, store
from loopcore.state import Queued, State

Queue: TypeAlias = Literal["steering", "follow_ups"]


def enqueue(state: State, given: Steer | FollowUp) -> State:
    """It waits under its key."""
    queued = Queued(given.say, given.key)
    if isinstance(given, Steer):
        return evolve(state, steering=state.steering.append(queued))
    return evolve(state, follow_ups=state.follow_ups.append(queued))


def withdraw(state: State, given: Withdraw) -> State:
    """What still waits under the key (without one: all) is forgotten."""
    return evolve(
        state,
        steering=vector(q for q in state.steering if not matches(given, q)),
        follow_ups=vector(q for q in state.follow_ups if not matches(given, q)),
    )


def matches(given: Withdraw, queued: Queued) -> bool:
    """Whether this is meant."""
    return given.key is None or given.key == queued.key


def drain(state: State, out: Out, queue: Queue, mode: Drain) -> tuple[State, bool]:
    """Store what a queue gives now: its oldest entry, or all. Whether it gave any."""
    waiting: PVector[Queued] = getattr(state, queue)
    if not waiting:
        return state, False
    taken = 1 if mode == "one" else len(waiting)
    entries = tuple(waiting)
    left: dict[str, Any] = {queue: vector(entries[taken:])}
    state = evolve(state, **left)
    said = (m for entry in entries[:taken] for m in entry.messages)
    return store(state, out, *said), True
