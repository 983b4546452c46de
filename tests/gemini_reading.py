"""Reading generateContent responses, and writing what a server may say."""

import json
from collections.abc import Iterable
from typing import Final

from loopcore import (
    AssistantMessage,
    CallModel,
    Image,
    ModelError,
    UserMessage,
)
from loopcore_adapters.gemini import Decoder
from loopcore_adapters.loose import Json
from tests.chat_reading import Sum, Told, cut
from tests.chat_reading import sums_of as sums_without_pictures

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


def sums_of(message: AssistantMessage | None) -> dict[int, Sum]:
    """What must have been told of this message; nothing of pictures."""
    parts = enumerate(message.parts if message else ())
    seen = {place: part for place, part in parts if not isinstance(part, Image)}
    sums = (sums_without_pictures(AssistantMessage([part])) for part in seen.values())
    return {place: found[0] for place, found in zip(seen, sums, strict=True) if found}


def feed(
    reads: Iterable[bytes], fault: ModelError | None = None, call: CallModel = CALL
) -> AssistantMessage | ModelError:
    """The result of these reads, checked against what was told."""
    told = Told()
    decoder = Decoder(call, told)
    for data in reads:
        if decoder.feed(data):
            break
    result = decoder.finish(fault)
    whole = result.partial if isinstance(result, ModelError) else result
    assert told.sums() == sums_of(whole)
    return result


def result(
    *body: bytes, fault: ModelError | None = None, call: CallModel = CALL
) -> AssistantMessage | ModelError:
    """The result of this body, which is the same whole and byte by byte."""
    whole = b"".join(body)
    found = feed([whole], fault, call)
    assert found == feed(cut(whole, range(1, len(whole))), fault, call)
    return found


def reply(*body: bytes, call: CallModel = CALL) -> AssistantMessage:
    """The reply that this body is."""
    found = result(*body, call=call)
    assert isinstance(found, AssistantMessage), found
    return found


def error(*body: bytes, fault: ModelError | None = None) -> ModelError:
    """The fault that this body is."""
    found = result(*body, fault=fault)
    assert isinstance(found, ModelError), found
    return found
