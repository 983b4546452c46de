"""Inputs: what happens to a run, in the past tense. All go in through `deliver`."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from attrs import field, frozen

from loopcore.frozen import (
    EMPTY,
    UNSET,
    FrozenDict,
    Json,
    Unset,
    clean,
    cleaned,
    cleaned_if_any,
    cleaned_or_unset,
    constructor,
    finite,
    freeze,
    freeze_object,
    one_of,
    takes,
)
from loopcore.messages import AssistantMessage, Message, ModelError, messages
from loopcore.settings import THINKING, ThinkingLevel, model_or_unset, specs_or_unset
from loopcore.tools import ToolOutput, ToolSpec


@constructor
@frozen
class Prompt:
    """Start a run from the configuration, with these changes. Memories stay."""

    say: tuple[Message, ...] = field(converter=messages)
    model: str | Unset = field(default=UNSET, converter=model_or_unset, kw_only=True)
    system: str | Unset = field(
        default=UNSET, kw_only=True, converter=cleaned_or_unset, validator=takes(str)
    )
    tools: tuple[ToolSpec, ...] | Unset = field(
        default=UNSET, converter=specs_or_unset, kw_only=True
    )
    thinking: ThinkingLevel | Unset | None = field(
        default=UNSET, kw_only=True, validator=one_of(*THINKING)
    )


@constructor
@frozen
class Continue:
    """Go on without saying anything, from where the state is, with these changes."""

    model: str | Unset = field(default=UNSET, converter=model_or_unset, kw_only=True)
    system: str | Unset = field(
        default=UNSET, kw_only=True, converter=cleaned_or_unset, validator=takes(str)
    )
    tools: tuple[ToolSpec, ...] | Unset = field(
        default=UNSET, converter=specs_or_unset, kw_only=True
    )
    thinking: ThinkingLevel | Unset | None = field(
        default=UNSET, kw_only=True, validator=one_of(*THINKING)
    )


@constructor
@frozen
class Steer:
    """Say this in the next gap between turns. `key` is for `Withdraw`."""

    say: tuple[Message, ...] = field(converter=messages)
    key: str | None = field(
        default=None, converter=cleaned_if_any, validator=takes(str, type(None))
    )


@constructor
@frozen
class FollowUp:
    """Say this when the run would otherwise end. `key` is for `Withdraw`."""

    say: tuple[Message, ...] = field(converter=messages)
    key: str | None = field(
        default=None, converter=cleaned_if_any, validator=takes(str, type(None))
    )


@constructor
@frozen
class Withdraw:
    """Take back what is still queued under this key; without one, all that is queued."""

    key: str | None = field(
        default=None, converter=cleaned_if_any, validator=takes(str, type(None))
    )


def _partials(given: Mapping[str, Any]) -> FrozenDict[AssistantMessage]:
    for effect_id, partial in given.items():
        if not isinstance(partial, AssistantMessage):
            kind = type(partial).__name__
            message = f"Abort(partials=...) takes replies; {effect_id} has a {kind}"
            raise TypeError(message)
    return FrozenDict(given)


@constructor
@frozen
class Abort:
    """Stop: nothing further is asked or run, every open call is answered.

    `partials` maps the ids of model effects to what they had streamed.
    """

    reason: str = field(default="", converter=clean)
    partials: FrozenDict[AssistantMessage] = field(
        default=EMPTY, converter=_partials, kw_only=True
    )


@constructor
@frozen
class Approve:
    """A person's answer: run it."""


@constructor
@frozen
class Edit:
    """A person's answer: run it with these arguments."""

    arguments: FrozenDict[Json] = field(converter=freeze_object)


@constructor
@frozen
class Reject:
    """A person's answer: do not run it. The model reads the reason."""

    reason: str = field(default="", converter=clean)


@constructor
@frozen
class Respond:
    """A person's answer: here is what it would have given."""

    output: ToolOutput = field(validator=takes(ToolOutput))


@constructor
@frozen
class ServiceError:
    """Why a service gave no answer."""

    message: str = field(converter=clean)

    def __str__(self) -> str:
        return self.message


Decision: TypeAlias = Approve | Edit | Reject | Respond
Value: TypeAlias = (
    AssistantMessage
    | ModelError
    | ToolOutput
    | Approve
    | Edit
    | Reject
    | Respond
    | ServiceError
    | Json
)


def _frozen_value(value: object) -> Value:
    return value if isinstance(value, RECORDS) else freeze(value)


RECORDS = (
    AssistantMessage,
    ModelError,
    ToolOutput,
    Approve,
    Edit,
    Reject,
    Respond,
    ServiceError,
)


@constructor
@frozen
class Answer:
    """The answer to an effect. Made by the effect, not by hand.

    `seconds` is how long it took, if anybody measured.
    """

    effect_id: str = field(converter=cleaned, validator=takes(str))
    value: Value = field(converter=_frozen_value)
    seconds: float | None = field(default=None, validator=finite)


Input: TypeAlias = Prompt | Continue | Steer | FollowUp | Withdraw | Abort | Answer
INPUTS = (Prompt, Continue, Steer, FollowUp, Withdraw, Abort, Answer)
