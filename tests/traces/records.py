"""Messages of a recorded trace as loopcore's records, and back."""

from collections.abc import Iterable
from typing import Final

from loopcore import (
    AssistantMessage,
    CustomMessage,
    Image,
    Message,
    ModelError,
    SystemMessage,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    project,
)
from loopcore.frozen import Json
from loopcore.messages import Finish, Outcome, Part

FINISH: Final[dict[str, Finish]] = {
    "stop": "end",
    "tool_use": "tools",
    "length": "length",
    "error": "error",
    "aborted": "aborted",
}
STOP_REASON: Final = {finish: reason for reason, finish in FINISH.items()}
TOKENS: Final[dict[Outcome, str]] = {
    "unknown_tool": "<unknown_tool>",
    "invalid_arguments": "<invalid_arguments>",
    "blocked": "<blocked>",
    "cancelled": "<aborted>",
    "truncated": "<truncated>",
    "interrupted": "<interrupted>",
}
"""Wording that an engine invents; a text that the scenario gave is never replaced."""


def message(said: Json) -> Message:
    """A message of a scenario."""
    match said["role"]:
        case "user":
            return UserMessage(parts(said["content"]))
        case "custom":
            return CustomMessage(said["kind"], said["text"])
        case "tool_result":
            return ToolResultMessage(
                said["call_id"],
                said["tool"],
                parts(said["content"]),
                "error" if said["is_error"] else "ok",
            )
        case _:
            return reply(said)


def reply(said: Json) -> AssistantMessage:
    """An assistant message, also one that a scenario gives as an answer."""
    text = said.get("error_message")
    return AssistantMessage(
        parts(said["content"]),
        model=said.get("model", ""),
        finish=FINISH[said["stop_reason"]],
        error=None if text is None else ModelError(text, "server"),
    )


def parts(blocks: Iterable[Json]) -> tuple[Part, ...]:
    """Content blocks as parts."""
    return tuple(map(_part, blocks))


def _part(block: Json) -> Part:
    match block["type"]:
        case "text":
            return Text(block["text"])
        case "thinking":
            return Thinking(block["thinking"])
        case "image":
            return Image(block["data"], block["mime"])
        case _:
            return ToolCall(block["name"], block["arguments"], block["id"])


def shown(said: Message, given: frozenset[str]) -> Json:
    """A message as a trace writes it; `given` are the texts of the scenario itself."""
    match said:
        case UserMessage() | SystemMessage():
            return {"role": "user", "content": blocks(said.parts)}
        case CustomMessage(kind, data):
            return {"role": "custom", "kind": kind, "text": data}
        case AssistantMessage():
            return _shown_reply(said, given)
        case ToolResultMessage():
            return _shown_result(said, given)


def _shown_reply(said: AssistantMessage, given: frozenset[str]) -> Json:
    row = {
        "role": "assistant",
        "content": blocks(said.parts),
        "stop_reason": STOP_REASON[said.finish],
        "model": said.model,
    }
    if said.error and said.error.message in given:
        row["error_message"] = said.error.message
    return row


def _shown_result(said: ToolResultMessage, given: frozenset[str]) -> Json:
    return {
        "role": "tool_result",
        "call_id": said.call_id,
        "tool": said.name,
        "content": result_blocks(said.outcome, said.parts, given),
        "is_error": said.is_error,
    }


def result_blocks(
    outcome: Outcome, content: Iterable[Part], given: frozenset[str]
) -> list[Json]:
    """A result's content, invented wording as its token."""
    found = blocks(content)
    invented = outcome in TOKENS and not any(b.get("text") in given for b in found)
    return [{"type": "text", "text": TOKENS[outcome]}] if invented else found


def blocks(content: Iterable[Part]) -> list[Json]:
    """Parts as content blocks."""
    return list(map(_block, content))


def _block(part: Part) -> Json:
    match part:
        case Text(text):
            return {"type": "text", "text": text}
        case Thinking(text):
            return {"type": "thinking", "thinking": text}
        case Image(data, mime):
            return {"type": "image", "data": data, "mime": mime}
        case ToolCall(name, arguments, id):
            return {"type": "tool_call", "id": id, "name": name, "arguments": arguments}


def sendable(history: Iterable[Message], given: frozenset[str]) -> list[Json]:
    """What of these messages a model may be sent."""
    return [shown(one, given) for one in project(tuple(history))]


def texts(scenario: Json) -> frozenset[str]:
    """What the scenario itself says where an engine might use words of its own."""
    gate = scenario["hooks"].get("before_tool_call", {})
    decisions = (*gate.get("calls", {}).values(), *gate.get("tools", {}).values())
    replies = scenario["replies"]
    said = (
        *(decision.get("reason") for decision in decisions),
        *(reply.get("error_message") for reply in replies),
        *(reply.get("fail") for reply in replies),
        scenario.get("raise", {}).get("message"),
    )
    return frozenset(text for text in said if text)
