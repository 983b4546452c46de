"""History: each call with its one result beside it, and what of it a model is sent."""

from collections.abc import Iterable
from operator import is_
from typing import Final

from loopcore.messages import (
    AssistantMessage,
    CustomMessage,
    Message,
    ToolCall,
    ToolResultMessage,
)

UNANSWERED: Final = "No result of this call was recorded."


def repair(history: Iterable[Message]) -> Iterable[Message]:
    """Each call with its one result beside it, in the order of the calls.

    Strays and second results are left out, displaced results moved, missing ones made
    (outcome "interrupted"). History that needs no repair comes back as the same object.
    """
    source = history if isinstance(history, tuple) else tuple(history)
    mended = tuple(_paired(source))
    same = len(mended) == len(source) and all(map(is_, mended, source))
    return history if same else mended


def _paired(source: tuple[Message, ...]) -> Iterable[Message]:
    results = _results(source)
    for place, message in enumerate(source):
        if isinstance(message, ToolResultMessage):
            continue
        yield message
        if isinstance(message, AssistantMessage):
            yield from (_answer(results, place, call) for call in message.calls)


def _results(
    source: tuple[Message, ...],
) -> dict[tuple[int, str], list[ToolResultMessage]]:
    """The results for each reply and call id: a result belongs to the latest such call."""
    found: dict[tuple[int, str], list[ToolResultMessage]] = {}
    asked: dict[str, int] = {}
    for place, message in enumerate(source):
        if isinstance(message, AssistantMessage):
            asked.update((call.id, place) for call in message.calls)
        elif isinstance(message, ToolResultMessage) and message.call_id in asked:
            key = asked[message.call_id], message.call_id
            found.setdefault(key, []).append(message)
    return found


def _answer(
    results: dict[tuple[int, str], list[ToolResultMessage]], place: int, call: ToolCall
) -> ToolResultMessage:
    waiting = results.get((place, call.id))
    if waiting:
        return waiting.pop(0)
    return ToolResultMessage(call.id, call.name, UNANSWERED, "interrupted")


def project(history: Iterable[Message]) -> Iterable[Message]:
    """What a model may be sent: `repair`, less custom messages and failed replies.

    History that needs no change comes back as the same object.
    """
    source = history if isinstance(history, tuple) else tuple(history)
    kept = tuple(message for message in source if _sendable(message))
    return repair(history if len(kept) == len(source) else kept)


def _sendable(message: Message) -> bool:
    if isinstance(message, AssistantMessage):
        return not message.failed
    return not isinstance(message, CustomMessage)
