"""Common slips in what a run is given: refused in a sentence, before anything starts."""

from typing import Final

from returns.result import Failure, Success

from loopcore.config import LoopConfig
from loopcore.effects import CallModel, Consult, RequestApproval, RunTool, Sleep
from loopcore.inputs import (
    INPUTS,
    Approve,
    Edit,
    Input,
    Prompt,
    Reject,
    Respond,
    ServiceError,
)
from loopcore.messages import MESSAGES, ModelError
from loopcore.reducer import RunResult
from loopcore.reducer.answers import BUILDERS
from loopcore.reducer.door import refuse_other
from loopcore.runtime.interpreter import Interpreter
from loopcore.runtime.outcome import shown
from loopcore.runtime.parts import EFFECTS
from loopcore.state import State
from loopcore.tools import ToolOutput

VALUES: Final = (Approve, Edit, Reject, Respond, ServiceError, ModelError, ToolOutput)


def refuse_slips(
    config: object, interpreter: object, state: object, run_id: object
) -> None:
    """Refuse what is no configuration, interpreter, state or name of a run."""
    if not isinstance(config, LoopConfig):
        swapped = isinstance(config, Interpreter) and isinstance(
            interpreter, LoopConfig
        )
        raise TypeError(SWAPPED if swapped else NO_CONFIG.format(shown(config, 80)))
    if not isinstance(interpreter, Interpreter):
        raise TypeError(NO_INTERPRETER.format(shown(interpreter, 80)))
    if state is not None:
        _refuse_no_state(state)
    if run_id is not None and not isinstance(run_id, str):
        message = (
            f"run_id= takes text, the name of a new run; it got {shown(run_id, 80)}."
        )
        raise TypeError(message)


SWAPPED: Final = (
    "The configuration comes first, then the interpreter: write "
    "`run(config, interpreter, ...)`."
)
NO_CONFIG: Final = (
    "A run needs a LoopConfig as its first argument, but got {}. Write "
    "`run(config, interpreter, ...)`."
)
NO_INTERPRETER: Final = (
    "A run needs an Interpreter as its second argument, but got {}. Write "
    "`run(config, Interpreter(model, *tools), ...)`."
)


def _refuse_no_state(state: object) -> None:
    match state:
        case State():
            pass
        case RunResult():
            raise TypeError(A_RESULT)
        case bytes() | str():
            raise TypeError(SAVED)
        case _:
            if isinstance(state, Success | Failure):
                refuse_other(state, "state=")  # pyright: ignore[reportUnknownArgumentType]  # of anything
            message = f"state= needs a State, such as result.state; it got {shown(state, 80)}."  # pyright: ignore[reportUnknownArgumentType]  # of anything
            raise TypeError(message)


A_RESULT: Final = (
    "state= needs a State, but got a RunResult: write `state=result.state`."
)
SAVED: Final = (
    "state= needs a State, but got one that is saved: write "
    "`state=State.loads(saved).unwrap()`."
)


def input_of(given: object) -> Input:
    """What is given to a run, as an input: text and a message are a `Prompt`.

    Raises:
        TypeError: for what is none, saying what to write.
    """
    if isinstance(given, INPUTS):
        return given
    if isinstance(given, (str, *MESSAGES)):
        return Prompt(given)
    raise TypeError(_instead(given))


def _instead(given: object) -> str:
    """Why this is no input, and what to write."""
    kind = type(given).__name__
    match given:
        case CallModel() | RunTool() | RequestApproval() | Consult() | Sleep():
            builder = BUILDERS[type(given)]
            return (
                f"{given.id} is a {kind}, which is a question and no answer. Build the "
                f"answer from it: `effect.{builder}`."
            )
        case list() | tuple():
            return LISTS[_kind_of(given)].format(kind)  # pyright: ignore[reportUnknownArgumentType]  # of anything
        case State() | RunResult():
            return f"A {kind} is no input: give it as `state=`."
        case _:
            return NO_ANSWER.format(kind) if isinstance(given, VALUES) else NONE(kind)


def _kind_of(given: list[object] | tuple[object, ...]) -> str:
    kinds = (("texts", (str,)), ("messages", MESSAGES), ("inputs", (*INPUTS, *EFFECTS)))
    found = (
        name for name, kind in kinds if all(isinstance(one, kind) for one in given)
    )
    return next(found, "inputs") if given else "nothing"


LISTS: Final = {
    "texts": "A {} of texts is no input: give one text, such as `' '.join(texts)`.",
    "messages": "A {} of messages is no input: say them with `Prompt(messages)`. A "
    "recorded history goes to `State.start(config, run_id=..., transcript=messages)`.",
    "inputs": "A {} is no input: give each as an argument of its own, `*answers`.",
    "nothing": "An empty {} is no input: leave it out to give nothing, or write "
    "`*answers`.",
}
NO_ANSWER: Final = (
    "{} does not say what it answers. Build the answer from the effect, as in "
    "`result.approvals[0].approve()`; each of `result.waiting` has such methods."
)
NONE: Final = (
    "{} is no input; give text, a message, Prompt, Continue, Steer, FollowUp, Withdraw, "
    "Abort, or an answer that an effect built."
).format
