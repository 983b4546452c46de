"""The door: every input is checked against exactly what `step` will see."""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from returns.result import Failure, Success

from loopcore.config import LoopConfig
from loopcore.frozen import a, evolve, is_finite
from loopcore.inputs import (
    INPUTS,
    Abort,
    Answer,
    Continue,
    FollowUp,
    Input,
    Prompt,
    Steer,
    Withdraw,
)
from loopcore.messages import (
    MESSAGES,
    AssistantMessage,
    CustomMessage,
    Message,
    SystemMessage,
    ToolResultMessage,
    UserMessage,
)
from loopcore.reducer.answers import check_answer
from loopcore.reducer.queues import matches
from loopcore.state import Rejected, State
from loopcore.wording import describe, spoken

Given: TypeAlias = str | Message | Input
Checked: TypeAlias = Success[State] | Failure[Rejected]


def deliver(state: State, given: Given, *, at: float | None = None) -> Checked:
    """The only door: place one input, or say why not. A bare text is a `Prompt`.

    `at` is the time in seconds; time never goes back. A refused input changes nothing.

    Raises:
        TypeError: for what is no State, no input or no time, saying what to write.
        ValueError: for a time that is not finite.
    """
    refuse_other(state, "deliver()")
    try:
        taken = _taken(state, input_of(given))
    except Rejected as refused:
        return Failure(refused)
    return Success(evolve(state, inbox=taken, now=_now(state, at)))


def refuse_other(given: object, who: str) -> None:
    """Raise for what is no State, such as the result of deliver() itself."""
    if not isinstance(given, State):
        raise TypeError(_instead(given, who))


def _instead(given: Any, who: str) -> str:  # noqa: ANN401  # whatever came
    match given:
        case LoopConfig() if who in CONFIGS:
            return CONFIGS[who]
        case (State(), _):
            return PAIR.format(who)
        case Success() | Failure():
            return RESULT.format(who, given)  # pyright: ignore[reportUnknownArgumentType]  # of anything
        case _:
            return NO_STATE.format(who, a(given))


NO_STATE: Final = "{} needs a State; it got {}."
RESULT: Final = (
    "{} needs a State but got `{}`. deliver(), advance() and State.loads() return a "
    "result: write `deliver(...).unwrap()` to insist, or "
    "`deliver(...).value_or(state)` to ignore what was refused."
)
PAIR: Final = (
    "{} needs a State but got a step's pair, of the state and the effects: write "
    "`state, effects = step(config, state)`."
)
CONFIGS: Final = {
    "step()": "The configuration comes first, then the state: `step(config, state)`.",
    "advance()": "The configuration comes first, then the state: "
    "`advance(config, state, ...)`.",
    "deliver()": "deliver() takes no configuration: write `deliver(state, given)`.",
}


def _now(state: State, at: float | None) -> float | None:
    if at is None:
        return state.now
    message = f"at={at!r}: a time is a finite number of seconds"
    try:
        finite = is_finite(at) and not isinstance(at, bool)
    except TypeError:
        raise TypeError(message) from None
    if not finite:
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
            f"Cannot take {a(given)}: run {state.run_id!r} holds {a(state.inbox)} that was "
            "not stepped. Step it first, or use advance(config, state, ...).",
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
            case AssistantMessage(failed=False):
                return False
            case AssistantMessage() | SystemMessage() | CustomMessage():
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
