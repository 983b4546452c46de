"""Reading generateContent responses, and writing what a server may say."""

import json
from typing import Final

from loopcore import CallModel, UserMessage
from loopcore_adapters.gemini import Decoder
from loopcore_adapters.loose import Json
from tests.reading import Reading

MODEL: Final = "gemini:gemini-3-flash"
CALL: Final = CallModel("r1.1.1.model.1", MODEL, [UserMessage("hi")])
SIGNED: Final = "c2lnbmVk"


def event(value: Json) -> bytes:
    """A server-sent event with this JSON."""
    return b"data: %s\r\n\r\n" % json.dumps(value).encode()


def said(*parts: Json, reason: str | None = None, **more: Json) -> dict[str, Json]:
    """A chunk whose one candidate has these parts; text is a part of text."""
    shaped = [{"text": part} if isinstance(part, str) else part for part in parts]
    candidate: dict[str, Json] = {"content": {"parts": shaped, "role": "model"}}
    if reason:
        candidate["finishReason"] = reason
    return {"candidates": [{**candidate, "index": 0}], **more}


def says(*parts: Json, reason: str | None = None, **more: Json) -> bytes:
    """The same as an event."""
    return event(said(*parts, reason=reason, **more))


def counts(prompt: int, made: int, **more: int) -> dict[str, int]:
    """Usage: what is named is a count of its own."""
    named = {f"{name}TokenCount": number for name, number in more.items()}
    return {"promptTokenCount": prompt, "candidatesTokenCount": made, **named}


STOP: Final = says(reason="STOP")


def called(name: str, args: Json = None, **more: Json) -> dict[str, Json]:
    """A part that calls a function."""
    function = {"name": name} if args is None else {"name": name, "args": args}
    function |= {"id": more.pop("id")} if "id" in more else {}
    return {"functionCall": function, **more}


def thought(text: str, **more: Json) -> dict[str, Json]:
    """A part that is thinking."""
    return {"text": text, "thought": True, **more}


READING: Final = Reading(Decoder, CALL)
feed, result, reply, error = (
    READING.feed,
    READING.result,
    READING.reply,
    READING.error,
)
