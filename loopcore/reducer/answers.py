"""Answers: whether one can be taken, by this run or by one inside it."""

import difflib
from typing import Final

from returns.result import Failure, Success

from loopcore.arguments import arguments_for
from loopcore.effects import (
    CallModel,
    Consult,
    Effect,
    RequestApproval,
    RunTool,
    Sleep,
    answers,
)
from loopcore.frozen import a, evolve
from loopcore.inputs import (
    Answer,
    Edit,
)
from loopcore.reducer.out import the_turn
from loopcore.routing import place_of
from loopcore.state import Rejected, Running, State


def check_answer(state: State, answer: Answer) -> Answer:
    """The answer as it can be taken, by this run or by one inside it."""
    place = place_of(state, answer.effect_id)
    if place is not None:
        slot = the_turn(state).slots[place]
        assert isinstance(slot, Running)  # noqa: S101  # place_of looked
        assert slot.child is not None  # noqa: S101
        return check_answer(slot.child, answer)
    effect = state.pending.get(answer.effect_id)
    if effect is None:
        raise _not_waiting(state, answer.effect_id)
    if not answers(effect, answer.value):
        raise _wrong_kind(effect, answer.value)
    if isinstance(effect, RequestApproval) and isinstance(answer.value, Edit):
        return _edited(effect, answer, answer.value)
    return answer


def _wrong_kind(effect: Effect, value: object) -> Rejected:
    kind = type(effect).__name__
    named = kind
    if isinstance(effect, RunTool | RequestApproval):
        named = f"{kind} {effect.spec.name!r}"
    return Rejected(
        "wrong_kind",
        f"{effect.id} is {named} and cannot take {a(value)}. Build the answer from the "
        f"effect: `effect.{BUILDERS[type(effect)]}`.",
    )


BUILDERS: Final[dict[type[Effect], str]] = {
    CallModel: "reply(...)",
    RunTool: "reply(...)",
    RequestApproval: "approve()",
    Consult: "reply(...)",
    Sleep: "done()",
}


def _edited(effect: RequestApproval, answer: Answer, edit: Edit) -> Answer:
    match arguments_for(effect.spec, edit.arguments):
        case Success(arguments):
            return evolve(answer, value=Edit(arguments))
        case Failure(problem):
            raise Rejected(
                "invalid_arguments",
                f"Cannot take this edit of {effect.id}; the question stays open. {problem}",
            )


def _not_waiting(state: State, effect_id: str) -> Rejected:
    closed = state.closed.get(effect_id)
    if closed and closed.how == "answered":
        return Rejected(
            "duplicate",
            f"{effect_id} was answered already (input {closed.input}). Nothing changed.",
        )
    said = f"{effect_id} is not waiting in run {state.run_id!r}"
    if closed:
        text = f"{said}: it was cancelled by {closed.by} at input {closed.input}."
        return Rejected("stranger", f"{text} Nothing changed.")
    if _is_past(state, effect_id):
        text = f"{said}: it belongs to a turn that is over."
        return Rejected("duplicate", f"{text} Nothing changed.")
    return Rejected("stranger", f"{said}: {_never(state, effect_id)} Nothing changed.")


def _is_past(state: State, effect_id: str) -> bool:
    """Ids are positions: an older run or turn of this conversation, or an ended call."""
    own = f"{state.run_id}."
    numbers = effect_id.removeprefix(own).split(".")
    if not effect_id.startswith(own) or len(numbers) < 4:  # noqa: PLR2004  # run.turn.what.n
        return False
    place = _number(numbers[0]), _number(numbers[1])
    return (1, 1) <= place < (state.run, state.turns) or effect_id.startswith(
        tuple(f"{known}." for known in state.closed)
    )


def _number(text: str) -> int:
    """A number that a run or turn may have; 0 if it is none."""
    return int(text) if text.isdecimal() and len(text) < LONGEST else 0


LONGEST: Final = 19


def _never(state: State, effect_id: str) -> str:
    ids = [effect.id for effect in state.waiting]
    near = difflib.get_close_matches(effect_id, ids, cutoff=0.8)
    hint = f" Did you mean {near[0]}?" if near else ""
    return f"it was never asked.{hint}"
