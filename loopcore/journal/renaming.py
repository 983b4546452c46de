"""A run under another name: what it asks from then on has ids of its own.

Ids are idempotency keys. What waits keeps its id, as somebody may be about to perform it;
all that is asked later has an id that begins with the new name, or a tool would take it
for what the past had asked under the same id.
"""

from loopcore.frozen import FrozenDict, evolve
from loopcore.inputs import Abort, Answer, Input
from loopcore.state import Running, Slot, State, Turn


def renamed(state: State, run_id: str) -> State:
    """The run, and every run inside it, under this name."""
    found = evolve(state, run_id=run_id)
    if state.turn is None or not state.children:
        return found
    return evolve(found, turn=_inside(state.turn, found.place))


def _inside(turn: Turn, place: str) -> Turn:
    slots = (_slot(slot, f"{place}.run.{n}") for n, slot in enumerate(turn.slots))
    return evolve(turn, slots=tuple(slots))


def _slot(slot: Slot, run_id: str) -> Slot:
    if isinstance(slot, Running) and slot.child:
        return evolve(slot, child=renamed(slot.child, run_id))
    return slot


def retold(given: Input, before: str, state: State) -> Input:
    """A recorded input as the renamed run takes it; `before` was the run's name.

    An id that waits is meant as it is; another one is that of the same place in the run.
    """
    waiting = {effect.id for effect in state.waiting}

    def now(effect_id: str) -> str:
        is_old = effect_id not in waiting and effect_id.startswith(f"{before}.")
        return f"{state.run_id}{effect_id[len(before) :]}" if is_old else effect_id

    match given:
        case Answer():
            return evolve(given, effect_id=now(given.effect_id))
        case Abort(partials=partials):
            streamed = FrozenDict({now(name): one for name, one in partials.items()})
            return evolve(given, partials=streamed)
        case _:
            return given
