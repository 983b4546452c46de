"""Models: an identity, and the call."""

import asyncio
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import Any, Final, TypeAlias

from attrs import field, frozen

from loopcore.effects import CallModel
from loopcore.events import Tell
from loopcore.frozen import a
from loopcore.messages import AssistantMessage, ModelError
from loopcore.runtime.context import Cancelled
from loopcore.runtime.outcome import cancelled_from_outside, spoken
from loopcore.runtime.threads import GRACE, in_task

Called: TypeAlias = AssistantMessage | ModelError
Call: TypeAlias = Callable[[CallModel, Tell], Awaitable[Called]]


@frozen
class Model:
    """A model's two halves: its identity "provider:name", and the call.

    `call`, an `async def`, reports what it gets piece by piece. It returns failures, as a
    `ModelError`.
    """

    id: str
    call: Call = field(repr=False)


async def call_model(
    model: Model, effect: CallModel, tell: Tell, grace: float = GRACE
) -> Called:
    """What a model gave. Whatever it raises or returns, it is a reply or an error."""
    name = f"model {model.id} ({effect.id})"
    try:
        work: Any = model.call(effect, tell)
        if not isawaitable(work):
            return ModelError(NOT_AWAITED.format(model.id, a(work)), "bad_response")
        called: Any = await in_task(work, name, Cancelled(), grace)
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
    return ModelError(WRONG.format(model.id, a(called)), "bad_response")


WRONG: Final = "{} gave {}; a model gives an AssistantMessage or a ModelError"
NOT_AWAITED: Final = (
    "The call of {} gave {}, which cannot be awaited: make it an `async def`."
)
