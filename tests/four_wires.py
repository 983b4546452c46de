"""One reply as a server says it over each of the four wires, and what judges requests."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from attrs import frozen

from tests import chat_server as chat
from tests import gemini_reading as gemini
from tests import messages_reading as messages
from tests import responses_reading as responses

Json: TypeAlias = Any

PATHS: Final = {
    "chat": "/chat/completions",
    "responses": "/responses",
    "messages": "/messages",
    "gemini": ":streamGenerateContent",
}
KEYS: Final = {
    "chat": "authorization",
    "responses": "authorization",
    "messages": "x-api-key",
    "gemini": "x-goog-api-key",
}
"""The header that has the key."""


@frozen
class Thought:
    """What a model thinks, and the provider's signature of it."""

    text: str
    signature: str


@frozen
class Called:
    """What a model calls."""

    id: str
    name: str
    arguments: dict[str, Json]


Said: TypeAlias = str | Thought | Called


def over_chat(*said: Said) -> bytes:
    """Chat Completions; thoughts have no signature there."""
    pieces, calls = list[bytes](), [one for one in said if isinstance(one, Called)]
    for one in said:
        match one:
            case str():
                pieces.append(chat.delta(content=one))
            case Thought():
                pieces.append(chat.delta(reasoning_content=one.text))
            case Called():
                arguments = json.dumps(one.arguments)
                place = calls.index(one)
                call = {"index": place, "id": one.id, "name": one.name}
                pieces.append(chat.call(**call, arguments=arguments))
    reason = "tool_calls" if calls else "stop"
    return b"".join([*pieces, chat.finish(reason), chat.usage(7, 3), chat.DONE])


def over_messages(*said: Said) -> bytes:
    """Anthropic's Messages."""
    pieces = [messages.start(input_tokens=7, output_tokens=1)]
    for place, one in enumerate(said):
        match one:
            case str():
                pieces.append(messages.text(place, one))
            case Thought():
                pieces.append(messages.thought(place, one.signature, one.text))
            case Called():
                arguments = json.dumps(one.arguments)
                pieces.append(messages.call(place, one.id, one.name, arguments))
    calls = any(isinstance(one, Called) for one in said)
    end = messages.ended("tool_use" if calls else "end_turn", output_tokens=3)
    return b"".join([*pieces, end, messages.STOP])


def over_responses(*said: Said) -> bytes:
    """OpenAI's Responses."""
    items = [_item(place, one) for place, one in enumerate(said)]
    pieces = [
        responses.event("response.output_item.done", output_index=place, item=item)
        for place, item in enumerate(items)
    ]
    usage = {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}
    return b"".join([*pieces, responses.ended(output=items, usage=usage)])


def _item(place: int, one: Said) -> dict[str, Json]:
    match one:
        case str():
            return dict(responses.message(one, id=f"msg_{place}"))
        case Thought():
            secret = {"encrypted_content": one.signature}
            return dict(responses.thought(one.text, id=f"rs_{place}", **secret))
        case Called():
            arguments = json.dumps(one.arguments)
            call = responses.call(one.name, arguments, one.id, id=f"fc_{place}")
            return dict(call)


def over_gemini(*said: Said) -> bytes:
    """Google's generateContent; the signature stands on the part after the thought."""
    parts, signature = list[Json](), dict[str, Json]()
    for one in said:
        match one:
            case str():
                parts.append({"text": one, **signature})
                signature = {}
            case Thought():
                parts.append(gemini.thought(one.text))
                signature = {"thoughtSignature": one.signature}
            case Called():
                more = {"id": one.id, **signature}
                parts.append(gemini.called(one.name, one.arguments, **more))
                signature = {}
    counts = gemini.counts(7, 3)
    return gemini.says(*parts, reason="STOP", usageMetadata=counts)


SPEECH: Final[Mapping[str, Callable[..., bytes]]] = {
    "chat": over_chat,
    "responses": over_responses,
    "messages": over_messages,
    "gemini": over_gemini,
}
"""How each wire says these parts of a reply; it counts 7 tokens in and 3 out."""


def over(wire: str, *said: Said) -> chat.Answer:
    """The answer of a server."""
    return chat.says(SPEECH[wire](*said))


def wire_of(path: str) -> str:
    """Over which wire a request came."""
    (wire,) = (wire for wire, way in PATHS.items() if way in path)
    return wire


def by_path(*said: Said) -> chat.Answer:
    """An answer over whatever wire it is asked for."""

    async def answer(connection: chat.Connection) -> None:
        await over(wire_of(connection.path), *said)(connection)

    return answer
