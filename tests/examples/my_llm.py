"""Somebody's own way to ask a model, as `by_hand.py` has it: here a rule, not a model."""

from collections.abc import Iterable

from loopcore import AssistantMessage, Message, ToolCall, ToolResultMessage


def complete(messages: Iterable[Message]) -> AssistantMessage:
    """Look at the weather once, then answer."""
    for message in messages:
        if isinstance(message, ToolResultMessage):
            return AssistantMessage(f"Take one. {message.text}.")
    call = ToolCall("weather", {"city": "Paris"}, "c1")
    return AssistantMessage(call, finish="tools")
