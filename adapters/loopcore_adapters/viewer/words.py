"""Inputs and effects in a few words."""

from collections.abc import Mapping
from typing import Any, Final, assert_never

from loopcore import (
    Abort,
    Answer,
    Approve,
    AssistantMessage,
    CallModel,
    Consult,
    Continue,
    Edit,
    Effect,
    FollowUp,
    Input,
    ModelError,
    Prompt,
    Reject,
    RequestApproval,
    Respond,
    RunTool,
    ServiceError,
    Sleep,
    State,
    Steer,
    ToolOutput,
    Withdraw,
)

SHOWN: Final = 60
"""How many characters of a value are told in a line."""


def said_of(effect: Effect) -> str:
    """An effect: its kind and what it is about."""
    match effect:
        case CallModel():
            return (
                f"CallModel {effect.model}, {counted(len(effect.messages), 'message')}"
            )
        case RunTool():
            return f"RunTool {call(effect.spec.name, effect.arguments)}"
        case RequestApproval():
            return f"RequestApproval {call(effect.spec.name, effect.arguments)}"
        case Consult():
            return f"Consult {effect.service}"
        case Sleep():
            return f"Sleep {effect.seconds:g} s"
        case _:
            assert_never(effect)


def counted(number: int, noun: str) -> str:
    """So many of these.

    >>> counted(1, "input"), counted(1204, "input")
    ('1 input', '1,204 inputs')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def call(name: str, arguments: Mapping[str, Any]) -> str:
    """A call of a tool, its arguments shortened."""
    said = (f"{key}={short(repr(value))}" for key, value in arguments.items())
    return short(" ".join((name, *said)), 2 * SHOWN)


def short(text: str, most: int = SHOWN) -> str:
    """The text, cut if it is long."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def kind_of(given: Input) -> str:
    """The kind of an input: prompt, reply, tool, person, service, sleep, queue or abort."""
    match given:
        case Prompt() | Continue():
            return "prompt"
        case Steer() | FollowUp() | Withdraw():
            return "queue"
        case Abort():
            return "abort"
        case Answer():
            return _kind_of_answer(given)
        case _:
            assert_never(given)


def _kind_of_answer(answer: Answer) -> str:
    match answer.value:
        case AssistantMessage():
            return "reply"
        case ModelError():
            return "fault"
        case ToolOutput():
            return "tool"
        case Approve() | Edit() | Reject() | Respond():
            return "person"
        case None:
            return "sleep"
        case _:
            return "service"


def told(given: Input, before: State) -> str:
    """An input in a line; for an answer, what it answers."""
    match given:
        case Prompt(say=say) | Steer(say=say) | FollowUp(say=say):
            text = " ".join(message.text for message in say)
            return f"{NAMES[type(given)]} {short(repr(text))}"
        case Withdraw(key=key):
            return f"withdraw {'all' if key is None else key!r}"
        case Abort(reason=reason):
            return f"abort {reason}".rstrip()
        case Continue():
            return "continue"
        case Answer():
            return _answer(given, before)
        case _:
            assert_never(given)


NAMES: Final = {Prompt: "prompt", Steer: "steer", FollowUp: "follow-up"}


def _answer(answer: Answer, before: State) -> str:
    effect = next((e for e in before.waiting if e.id == answer.effect_id), None)
    about = _about(effect) if effect else ""
    took = "" if answer.seconds is None else f"{answer.seconds:.2f} s"
    how = _how(answer)
    return ", ".join(filter(None, (f"answer to {answer.effect_id}", about, how, took)))


def _about(effect: Effect) -> str:
    match effect:
        case CallModel():
            return effect.model
        case RunTool() | RequestApproval():
            return effect.spec.name
        case Consult():
            return effect.service
        case Sleep():
            return ""
        case _:
            assert_never(effect)


def _how(answer: Answer) -> str:
    """How an effect ended, where its answer says so."""
    match answer.value:
        case AssistantMessage(finish=finish):
            return "" if finish in ("end", "tools") else finish
        case ModelError(kind=kind):
            return f"failed: {kind}"
        case ToolOutput(outcome=outcome):
            return outcome
        case Approve() | Edit() | Reject() | Respond():
            return type(answer.value).__name__.lower()
        case ServiceError():
            return "failed"
        case _:
            return ""
