"""Is a state one that a run can go on from? What `step` relies on, said as sentences.

Every state that `step` gives is sound. One that comes from outside need not be.
"""

from collections.abc import Iterator
from typing import Final, TypeAlias

from loopcore.codec import DecodeError, to_json
from loopcore.effects import (
    CallModel,
    Consult,
    Effect,
    RequestApproval,
    RunTool,
    Sleep,
    answers,
    is_retry,
)
from loopcore.frozen import UNSET, FrozenDict, dump_json
from loopcore.inputs import (
    Abort,
    Answer,
    Continue,
    Prompt,
    Value,
)
from loopcore.routing import children, place_of
from loopcore.state import Asked, Ready, Running, Settled, Slot, State, Turn

Problems: TypeAlias = Iterator[tuple[str, str]]
"""Where something is wrong, and what."""


def refuse_unsound(state: State) -> None:
    """Raise the first thing that is wrong with a state, if anything is."""
    for path, problem in _problems(state):
        raise DecodeError(path, problem)


def _problems(state: State) -> Problems:
    yield from _identity(state)
    yield from _stage(state)
    if state.turn:
        yield from _bounds(state.turn)
        yield from _at_stage(state, state.turn)
    yield from _known(state)
    yield from _pending(state)
    yield from _inbox(state)


def _identity(state: State) -> Problems:
    if not state.run_id:
        yield "run_id", "is empty"
    counts = ("run", "turns", "requests", "repairs", "inputs")
    yield from ((n, "is below 0") for n in counts if getattr(state, n) < 0)


def _stage(state: State) -> Problems:
    """Out of a run there is nothing open; in one there is a turn."""
    if state.stage not in STAGES:
        yield "stage", f"must be one of {', '.join(STAGES)}, is {state.stage!r}"
    if state.stage != "idle":
        if state.turn is None:
            yield "turn", f"is missing, though the stage is {state.stage!r}"
        return
    for name in ("turn", "pending", "known", "ending"):
        if getattr(state, name):
            yield name, "must be empty, as the stage is 'idle'"


def _bounds(turn: Turn) -> Problems:
    if not 0 <= turn.first <= turn.last <= len(turn.slots):
        yield "turn.last", f"and first must be in 0 to {len(turn.slots)}, in order"
    if not 0 <= turn.at <= turn.last:
        yield "turn.at", f"must be in 0 to {turn.last}, is {turn.at}"


STAGES: Final = {
    "idle": "",
    "rest": "",
    "transform_context": "",
    "after_model_call": "reply",
    "on_model_error": "error",
    "prepare_tool_call": "reply",
    "before_tool_call": "reply",
    "after_tool_call": "reply",
    "after_tool_result": "reply",
    "prepare_next_turn": "reply",
    "should_stop_after_turn": "reply",
}
"""The stages at which a state can rest, and what of its turn each is about."""

SLOTS: Final[dict[str, type[Slot]]] = {
    "before_tool_call": Ready,
    "after_tool_result": Settled,
}
"""The slot that a stage is about."""


def _at_stage(state: State, turn: Turn) -> Problems:
    needed = STAGES.get(state.stage, "")
    if turn.reply is None and (needed == "reply" or turn.slots):
        yield "turn.reply", "is missing"
    if turn.error is None and needed == "error":
        yield "turn.error", "is missing"
    kind = SLOTS.get(state.stage)
    if kind and (turn.at == turn.last or not isinstance(_slot(turn, turn.at), kind)):
        yield "turn.at", f"must be the place of a {kind.__name__}"


def _slot(turn: Turn, n: int) -> Slot | None:
    return turn.slots[n] if 0 <= n < len(turn.slots) else None


def _known(state: State) -> Problems:
    """A hook's needs park the run at its point, until they are answered."""
    if bool(state.known) != (state.stage not in ("idle", "rest")):
        yield "known", f"does not go with the stage {state.stage!r}"
    for n, known in enumerate(state.known):
        if known.value is UNSET and known.effect_id not in state.pending:
            yield f"known[{n}].effect_id", "is neither answered nor pending"


def _pending(state: State) -> Problems:
    """Each effect has a place in the turn, which no other effect has."""
    taken: dict[Place, str] = {}
    for n, effect in enumerate(state.pending.values()):
        place = _place(state, effect)
        if place is None:
            yield f"pending[{n}].id", f"has no place in the turn: {effect.id!r}"
        elif place in taken:
            yield f"pending[{n}].id", f"has the place of {taken[place]!r}"
        else:
            taken[place] = effect.id
            yield from _agreement(state, effect, place, f"pending[{n}]")


Place: TypeAlias = str | int
"""Where an answer goes: to a slot, a hook's need, or the turn's own request or sleep."""


def _place(state: State, effect: Effect) -> Place | None:
    """Where its answer goes; None if nowhere."""
    if any(known.effect_id == effect.id for known in state.known):
        return effect.id if isinstance(effect, CallModel | Consult) else None
    if state.turn is None or isinstance(effect, Consult):
        return None
    retry = isinstance(effect, Sleep) and is_retry(effect.id)
    if isinstance(effect, CallModel) or retry:
        return TURN
    number = _number(effect.id)
    return number if _is_open(_slot(state.turn, number), effect) else None


TURN: Final = "turn"


def _is_open(slot: Slot | None, effect: Effect) -> bool:
    """Whether a slot waits for an effect of this kind."""
    match effect, slot:
        case RunTool(), Running(child=None):
            return True
        case RequestApproval(), Asked(edited=None):
            return True
        case Sleep(), Running(child=child):
            return child is not None
        case _:
            return False


def _agreement(state: State, effect: Effect, place: Place, path: str) -> Problems:
    """What is run, or shown to a person, is what its slot says."""
    slot = _slot(state.turn, place) if state.turn and isinstance(place, int) else None
    if not isinstance(effect, RunTool | RequestApproval) or slot is None:
        return
    for name in ("call", "spec", "arguments"):
        if _differ(getattr(effect, name), getattr(slot, name, None)):
            yield f"{path}.{name}", f"is not that of turn.slots[{place}]"


def _differ(one: object, other: object) -> bool:
    """Not by `!=` alone, which takes 1 for True."""
    return one is not other and _text(one) != _text(other)


def _text(value: object) -> str:
    return dump_json(value if isinstance(value, FrozenDict) else to_json(value))


def _number(effect_id: str) -> int:
    """The call that an effect is about; -1 if its id does not say."""
    digits = effect_id.rsplit(".", 1)[-1]
    plain = digits.isascii() and digits.isdecimal() and len(digits) <= MOST_DIGITS
    return int(digits) if plain else -1


MOST_DIGITS: Final = 9


def _inbox(state: State) -> Problems:
    """What was delivered has to be what the door lets in."""
    match state.inbox:
        case Prompt() | Continue() if state.stage != "idle":
            yield "inbox", "starts a run, though one is open"
        case Abort() if state.stage == "idle":
            yield "inbox", "stops a run, though none is open"
        case Answer(effect_id, value) if not _is_awaited(state, effect_id, value):
            yield "inbox", f"is no answer that {effect_id!r} waits for"
        case _:
            return


def _is_awaited(state: State, effect_id: str, value: Value) -> bool:
    place = place_of(state, effect_id)
    if place is not None:
        return _is_awaited(dict(children(state))[place], effect_id, value)
    effect = state.pending.get(effect_id)
    return effect is not None and answers(effect, value)
