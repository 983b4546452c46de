"""Whose an effect is, and so where its answer goes: the run's own, or one inside it."""

from collections.abc import Iterator

from loopcore.state import Running, State


def place_of(state: State, effect_id: str) -> int | None:
    """The slot whose nested run an effect belongs to; None if it is the run's own."""
    if effect_id in state.pending:
        return None
    for place, child in children(state):
        if effect_id.startswith(f"{child.run_id}.") or _had(child, effect_id):
            return place
    return None


def _had(state: State, effect_id: str) -> bool:
    """Whether a run, or one inside it, asked for this under a name that it had before."""
    inside = any(_had(child, effect_id) for _, child in children(state))
    return inside or effect_id in state.pending or effect_id in state.closed


def children(state: State) -> Iterator[tuple[int, State]]:
    """The nested runs of the open turn, each with the place of its call."""
    slots = state.turn.slots if state.turn else ()
    for place, slot in enumerate(slots):
        if isinstance(slot, Running) and slot.child:
            yield place, slot.child
