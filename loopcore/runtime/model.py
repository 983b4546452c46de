"""Models: an identity, and the call."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from attrs import field, frozen

from loopcore.effects import CallModel
from loopcore.events import Tell
from loopcore.messages import AssistantMessage, ModelError
from loopcore.runtime.outcome import cancelled_from_outside, spoken

Called: TypeAlias = AssistantMessage | ModelError
Call: TypeAlias = Callable[[CallModel, Tell], Awaitable[Called]]


@frozen
class Model:
    """A model's two halves: its identity "provider:name", and the call.

    `call` reports what it gets piece by piece. It returns failures, as a `ModelError`.
    """

    id: str
    call: Call = field(repr=False)


async def call_model(model: Model, effect: CallModel, tell: Tell) -> Called:
    """What a model gave. Whatever it raises or returns, it is a reply or an error."""
    try:
        called: Any = await model.call(effect, tell)
    except asyncio.CancelledError as problem:
        if cancelled_from_outside():
            raise
        return ModelError(spoken(problem), "raised")
    except TimeoutError as problem:
        return ModelError(spoken(problem), "timeout")
    except Exception as problem:  # noqa: BLE001  # a model's own fault ends no program
        return ModelError(spoken(problem), "raised")
    if isinstance(called, AssistantMessage | ModelError):
        return called
    return ModelError(WRONG.format(model.id, type(called).__name__), "bad_response")


WRONG = "{} gave a {}; a model gives an AssistantMessage or a ModelError"
