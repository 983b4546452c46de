"""The door: every input is checked against exactly what `step` will see."""

import difflib
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from returns.result import Failure, Success

from loopcore.arguments import arguments_for
from loopcore.effects import CallModel, Consult, Effect, RequestApproval, RunTool, Sleep
from loopcore.frozen import a, evolve, is_finite
from loopcore.inputs import (
    INPUTS,
    Abort,
    Answer,
    Approve,
    Continue,
    Edit,
    FollowUp,
    Input,
    Prompt,
    Reject,
    Respond,
    Steer,
    Withdraw,
)
from loopcore.messages import (
    MESSAGES,
    AssistantMessage,
    CustomMessage,
    Message,
    ModelError,
    SystemMessage,
    ToolResultMessage,
    UserMessage,
)
from loopcore.reducer.nested import place_of
from loopcore.reducer.out import the_turn
from loopcore.reducer.queues import matches
from loopcore.state import Rejected, Running, State, describe, spoken
from loopcore.tools import ToolOutput

Given: TypeAlias = str | Message | Input
Checked: TypeAlias = Success[State] | Failure[Rejected]


def deliver(state: State, given: Given, *, at: float | None = None) -> Checked:
    """The only door: place one input, or say why not. A bare text is a `Prompt`.

    `at` is the time in seconds; time never goes back. A refused input changes nothing.
    """
    refuse_other(state, "deliver()")
    try:
        taken = _taken(state, input_of(given))
    except Rejected as refused:
        return Failure(refused)
    return Success(evolve(state, inbox=taken, now=_now(state, at)))


def refuse_other(given: object, who: str) -> None:
    """Raise for what is no State, such as the result of deliver() itself."""
    if isinstance(given, State):
        return
    message = (
        f"{who} needs a State but got `{given}`. deliver(), advance() and State.loads() "
        "return a result: write `deliver(...).unwrap()` to insist, or "
        "`deliver(...).value_or(state)` to ignore what was refused."
    )
    raise TypeError(message)


def _now(state: State, at: float | None) -> float | None:
    if at is None:
        return state.now
    if not is_finite(at):
        message = f"deliver(at={at}): a time is a finite number of seconds"
        raise ValueError(message)
    return at if state.now is None else max(state.now, at)


def input_of(given: object) -> Input:
    """What is given, as an input: a text or a message is a `Prompt`."""
    if isinstance(given, INPUTS):
        return given
    if isinstance(given, (str, *MESSAGES)):
        return Prompt(given)
    message = (
        f"{type(given).__name__} is no input; give text, a message, Prompt, Continue, "
        "Steer, FollowUp, Withdraw, Abort, or an answer that an effect built"
    )
    raise TypeError(message)


def _taken(state: State, given: Input) -> Input:
    """The input as it can be taken now."""
    if state.inbox is not None:
        raise Rejected(
            "unstepped",
            f"Cannot take {a(given)}: run {state.run_id!r} holds a "
            f"{type(state.inbox).__name__} that was not stepped. Step it first, or use "
            "advance(config, state, ...).",
        )
    if isinstance(given, Answer):
        return check_answer(state, given)
    CHECKS[type(given)](state, given)
    return given


def _idle(state: State, given: Prompt | Continue) -> None:
    if state.stage == "idle":
        return
    raise Rejected(
        "busy",
        f"Cannot take {a(given)}: run {state.run_id!r} is {_doing(state)}. {_advice(state)}"
        "say more with Steer(...) or FollowUp(...), or end it with Abort().",
    )


def _doing(state: State) -> str:
    asked = state.approvals
    if asked:
        what = ", ".join(map(spoken, asked))
        return f"paused in turn {state.turns}, waiting for approval of {what}"
    return f"in turn {state.turns}, {describe(state)}"


def _advice(state: State) -> str:
    if state.approvals:
        return "Answer it (`state.approvals[0].approve()`), "
    return "Answer what it waits for (`state.waiting`), "


def _sayable(_: State, given: Prompt | Steer | FollowUp) -> None:
    if not given.say:
        raise Rejected(
            "empty",
            f"Cannot take {a(given)} that says nothing: give text or messages. "
            "To go on without saying anything: Continue().",
        )
    for place, message in enumerate(given.say):
        if isinstance(message, AssistantMessage | ToolResultMessage):
            raise Rejected(
                "bad_message",
                f"Cannot take {a(given)} with {type(message).__name__} (message {place}): "
                "only user, system and custom messages are said to a run. A recorded "
                "history goes to State.start(config, run_id=..., transcript=...).",
            )


def _prompt(state: State, given: Prompt) -> None:
    _idle(state, given)
    _sayable(state, given)


def _continue(state: State, given: Continue) -> None:
    _idle(state, given)
    if answerable(state) or state.steering or state.follow_ups:
        return
    raise Rejected(
        "nothing_to_continue",
        f"Cannot take a Continue: run {state.run_id!r} has nothing to answer, and nothing "
        "is queued. Say something with a Prompt.",
    )


def answerable(state: State) -> bool:
    """Whether the last message that a model is shown asks for an answer."""
    for message in reversed(state.transcript):
        match message:
            case UserMessage() | ToolResultMessage():
                return True
            case AssistantMessage():
                if not message.failed:
                    return False
            case SystemMessage() | CustomMessage():
                continue
    return False


def _abort(state: State, given: Abort) -> None:
    if state.stage != "idle":
        return
    raise Rejected(
        "not_running",
        f"Cannot take {a(given)}: run {state.run_id!r} is {describe(state)}; there is "
        "nothing to stop.",
    )


def _withdraw(state: State, given: Withdraw) -> None:
    if any(matches(given, q) for q in (*state.steering, *state.follow_ups)):
        return
    what = (
        "nothing is queued"
        if given.key is None
        else f"nothing is queued as {given.key!r}"
    )
    raise Rejected(
        "taken",
        f"Cannot take a Withdraw: {what} in run {state.run_id!r} (it was taken, withdrawn, "
        "or never given).",
    )


CHECKS: Final[dict[type, Callable[[State, Any], None]]] = {
    Prompt: _prompt,
    Continue: _continue,
    Steer: _sayable,
    FollowUp: _sayable,
    Withdraw: _withdraw,
    Abort: _abort,
}

VALUES: Final[dict[type[Effect], tuple[type, ...]]] = {
    CallModel: (AssistantMessage, ModelError),
    RunTool: (ToolOutput,),
    RequestApproval: (Approve, Edit, Reject, Respond),
    Sleep: (type(None),),
}
RECORDS: Final = (
    AssistantMessage,
    ModelError,
    ToolOutput,
    Approve,
    Edit,
    Reject,
    Respond,
)


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
    if not _fits(effect, answer.value):
        raise _wrong_kind(effect, answer.value)
    if isinstance(effect, RequestApproval) and isinstance(answer.value, Edit):
        return _edited(effect, answer, answer.value)
    return answer


def _fits(effect: Effect, value: object) -> bool:
    if isinstance(effect, Consult):
        return not isinstance(value, RECORDS)
    return isinstance(value, VALUES[type(effect)])


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
