"""Reading Messages responses, and what a server of this protocol says, event by event."""

import json
from typing import Final

from loopcore import CallModel, UserMessage
from loopcore_adapters.loose import Json
from loopcore_adapters.messages import Decoder
from tests.chat_reading import MODEL
from tests.reading import Reading

CALL: Final = CallModel("r1.1.1.model.1", MODEL, [UserMessage("hi")])


def event(kind: str, **fields: Json) -> bytes:
    """One event, named as servers name them."""
    data = json.dumps({"type": kind, **fields})
    return f"event: {kind}\ndata: {data}\n\n".encode()


def start(**usage: Json) -> bytes:
    """The first event, with these counts."""
    message: Json = {"id": "msg_1", "type": "message", "role": "assistant"}
    rest: Json = {"content": [], "model": "m", "stop_reason": None, "usage": usage}
    return event("message_start", message={**message, **rest})


def opened(index: int, kind: str = "text", **fields: Json) -> bytes:
    """A block begins."""
    block = {"type": kind, **fields}
    return event("content_block_start", index=index, content_block=block)


def grown(index: int, kind: str, **fields: Json) -> bytes:
    """A piece of a block: its kind without the `_delta`."""
    delta = {"type": f"{kind}_delta", **fields}
    return event("content_block_delta", index=index, delta=delta)


def closed(index: int) -> bytes:
    """A block ends."""
    return event("content_block_stop", index=index)


def ended(
    reason: str | None = "end_turn", /, details: Json = None, **usage: Json
) -> bytes:
    """Why the reply ends, and the counts at its end."""
    delta = {"stop_reason": reason, "stop_sequence": None, "stop_details": details}
    return event("message_delta", delta=delta, usage=usage)


STOP: Final = event("message_stop")
PING: Final = event("ping")


def text(index: int, *pieces: str) -> bytes:
    """A whole block of text."""
    said = [grown(index, "text", text=piece) for piece in pieces]
    return b"".join([opened(index, text=""), *said, closed(index)])


def thought(index: int, signature: str, *pieces: str) -> bytes:
    """A whole block of thinking."""
    said = [grown(index, "thinking", thinking=piece) for piece in pieces]
    first = opened(index, "thinking", thinking="", signature="")
    signed = [grown(index, "signature", signature=signature)] if signature else []
    return b"".join([first, *said, *signed, closed(index)])


def call(index: int, call_id: str, name: str, *pieces: str) -> bytes:
    """A whole call."""
    said = [grown(index, "input_json", partial_json=piece) for piece in pieces]
    first = opened(index, "tool_use", id=call_id, name=name, input={})
    return b"".join([first, *said, closed(index)])


def fails(kind: str, message: str = "Overloaded", **more: Json) -> bytes:
    """An error in the stream."""
    return event("error", error={"type": kind, "message": message}, **more)


def whole(*content: Json, reason: str | None = "end_turn", **more: Json) -> bytes:
    """A response in one piece."""
    message = {"type": "message", "role": "assistant", "content": content}
    return json.dumps({**message, "stop_reason": reason, **more}).encode()


def said(words: str) -> bytes:
    """A whole streamed reply of text."""
    counts = {"input_tokens": 7, "output_tokens": 1}
    return start(**counts) + text(0, words) + ended(output_tokens=3) + STOP


ASKS_AND_ANSWERS: Final = (
    start(input_tokens=5, output_tokens=1)
    + call(0, "toolu_1", "weather", '{"city": ', '"Paris"}')
    + ended("tool_use", output_tokens=2)
    + STOP,
    said("Take one."),
)
"""Two replies: one asks for the weather in Paris, the other answers."""


READING: Final = Reading(Decoder, CALL)
feed, result, reply, error = (
    READING.feed,
    READING.result,
    READING.reply,
    READING.error,
)
