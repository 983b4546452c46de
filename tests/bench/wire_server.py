"""A server that speaks four wires as fast as it can, in a process of its own.

`python tests/bench/wire_server.py` prints its address, and ends with its standard input.
The first part of a path says what it answers: "burst" a long text, its events as fast as
they go, "paced" the same with a pause between them, "turn" one tool call.
"""

import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, Final, TypeAlias

DELTAS: Final = 2_000
PACED: Final = 500
PAUSE: Final = 0.0005
WORD: Final = "hello "
ARGUMENTS: Final = '{"city":"Paris"}'
NUMBERS: Final = count()

Fields: TypeAlias = dict[str, Any]


def event(value: dict[str, Any], name: str = "") -> bytes:
    """One server-sent event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(value)}\n\n".encode()


def chat(deltas: int) -> Iterator[bytes]:
    """Chat Completions: so many pieces of text, or one call."""
    top: Fields = {
        "id": "c",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
    }

    def chunk(delta: dict[str, Any], reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        return event({**top, "choices": [choice], "usage": None})

    function: Fields = {"name": "weather", "arguments": ARGUMENTS}
    call: Fields = {"index": 0, "id": f"call_{next(NUMBERS)}", "type": "function"}
    for _ in range(deltas):
        yield chunk({"content": WORD})
    if not deltas:
        yield chunk({"role": "assistant", "content": "I look."})
        yield chunk({"tool_calls": [{**call, "function": function}]})
    yield chunk({}, "stop" if deltas else "tool_calls")
    usage: Fields = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
    yield event({**top, "choices": [], "usage": usage}) + b"data: [DONE]\n\n"


def messages(deltas: int) -> Iterator[bytes]:
    """Anthropic's Messages."""

    def said(kind: str, **more: Any) -> bytes:
        return event({"type": kind, **more}, kind)

    usage: Fields = {"input_tokens": 9, "output_tokens": 1}
    start: Fields = {"id": "m", "type": "message", "role": "assistant", "model": "m"}
    start |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    call: Fields = {
        "type": "tool_use",
        "id": f"call_{next(NUMBERS)}",
        "name": "weather",
    }
    yield said("message_start", message=start)
    block: Fields = {"type": "text", "text": ""} if deltas else {**call, "input": {}}
    yield said("content_block_start", index=0, content_block=block)
    for _ in range(deltas):
        delta = {"type": "text_delta", "text": WORD}
        yield said("content_block_delta", index=0, delta=delta)
    if not deltas:
        delta = {"type": "input_json_delta", "partial_json": ARGUMENTS}
        yield said("content_block_delta", index=0, delta=delta)
    yield said("content_block_stop", index=0)
    ended = {"stop_reason": "end_turn" if deltas else "tool_use", "stop_sequence": None}
    yield said("message_delta", delta=ended, usage={"output_tokens": 3})
    yield said("message_stop")


def responses(deltas: int) -> Iterator[bytes]:
    """OpenAI's Responses."""
    numbers = count()

    def said(kind: str, **more: Any) -> bytes:
        return event({"type": kind, "sequence_number": next(numbers), **more}, kind)

    at: Fields = {"item_id": "i", "output_index": 0}
    speak = _spoken(deltas, at) if deltas else _called(at)
    first, *rest = speak
    last = rest[-1][1]["item"]
    yield said("response.created", response={**RESPONSE, "output": []})
    for kind, more in (first, *rest):
        yield said(kind, **more)
    usage: Fields = {"input_tokens": 9, "output_tokens": 3, "total_tokens": 12}
    usage |= {"input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0}}
    usage |= {"output_tokens_details": {"reasoning_tokens": 0}}
    ended = {**RESPONSE, "status": "completed", "output": [last], "usage": usage}
    yield said("response.completed", response=ended)


RESPONSE: Final[dict[str, Any]] = {
    "id": "r",
    "object": "response",
    "created_at": 1,
    "model": "m",
    "tools": [],
    "status": "in_progress",
    "tool_choice": "auto",
    "parallel_tool_calls": True,
    "error": None,
    "metadata": {},
}
Named = Iterator[tuple[str, dict[str, Any]]]


def _spoken(deltas: int, at: dict[str, Any]) -> Named:
    item: Fields = {"id": "i", "type": "message", "role": "assistant", "content": []}
    whole: Fields = {"type": "output_text", "text": WORD * deltas, "annotations": []}
    at = {**at, "content_index": 0}
    begun: Fields = {**item, "status": "in_progress"}
    yield "response.output_item.added", {"output_index": 0, "item": begun}
    yield "response.content_part.added", {**at, "part": {**whole, "text": ""}}
    for _ in range(deltas):
        yield "response.output_text.delta", {**at, "delta": WORD, "logprobs": []}
    yield "response.output_text.done", {**at, "text": whole["text"], "logprobs": []}
    yield "response.content_part.done", {**at, "part": whole}
    done: Fields = {**item, "status": "completed", "content": [whole]}
    yield "response.output_item.done", {"output_index": 0, "item": done}


def _called(at: dict[str, Any]) -> Named:
    call: Fields = {
        "id": "i",
        "type": "function_call",
        "call_id": f"call_{next(NUMBERS)}",
    }
    call |= {"name": "weather", "arguments": "", "status": "in_progress"}
    yield "response.output_item.added", {"output_index": 0, "item": call}
    yield "response.function_call_arguments.delta", {**at, "delta": ARGUMENTS}
    said: Fields = {**at, "arguments": ARGUMENTS, "name": "weather"}
    yield "response.function_call_arguments.done", said
    done: Fields = {**call, "status": "completed", "arguments": ARGUMENTS}
    yield "response.output_item.done", {"output_index": 0, "item": done}


def gemini(deltas: int) -> Iterator[bytes]:
    """Google's streamGenerateContent."""

    def chunk(part: dict[str, Any], **more: Any) -> bytes:
        content = {"parts": [part], "role": "model"}
        usage = {
            "promptTokenCount": 9,
            "candidatesTokenCount": 3,
            "totalTokenCount": 12,
        }
        top = {"usageMetadata": usage, "modelVersion": "m", "responseId": "r"}
        return event({"candidates": [{"content": content, "index": 0, **more}], **top})

    call: Fields = {
        "id": f"call_{next(NUMBERS)}",
        "name": "weather",
        "args": {"city": "Paris"},
    }
    for _ in range(deltas):
        yield chunk({"text": WORD})
    last: dict[str, Any] = {"text": WORD} if deltas else {"functionCall": call}
    yield chunk(last, finishReason="STOP")


SPOKEN: Final[dict[str, Callable[[int], Iterator[bytes]]]] = {
    "/chat/completions": chat,
    "/messages": messages,
    "/responses": responses,
    ":streamGenerateContent": gemini,
}
LONG: Final = {
    (kind, way): b"".join(speak(deltas)) if kind == "burst" else tuple(speak(deltas))
    for way, speak in SPOKEN.items()
    for kind, deltas in (("burst", DELTAS), ("paced", PACED))
}
HEAD: Final = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"


async def answer(path: str, writer: asyncio.StreamWriter) -> None:
    """One response."""
    kind = path.split("/")[1]
    way = next(way for way in SPOKEN if way in path)
    if kind == "paced":
        writer.write(HEAD + b"transfer-encoding: chunked\r\n\r\n")
        for piece in LONG[kind, way]:
            assert isinstance(piece, bytes)
            writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            await writer.drain()
            await asyncio.sleep(PAUSE)
        writer.write(b"0\r\n\r\n")
    else:
        whole = LONG[kind, way] if kind == "burst" else b"".join(SPOKEN[way](0))
        assert isinstance(whole, bytes)
        writer.write(HEAD + b"content-length: %d\r\n\r\n" % len(whole) + whole)
    await writer.drain()


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """The requests of one connection in turn."""
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            lines = head.decode().lower().split("\r\n")
            length = next(v for v in lines if v.startswith("content-length:"))
            await reader.readexactly(int(length.partition(":")[2]))
            await answer(head.decode().split(" ")[1], writer)
    except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
        writer.close()


async def main() -> None:
    """Listen until standard input ends."""
    listening = await asyncio.start_server(serve, "127.0.0.1", 0, limit=2**20)
    port = listening.sockets[0].getsockname()[1]
    sys.stdout.write(f"http://127.0.0.1:{port}\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)
    listening.close()


if __name__ == "__main__":
    asyncio.run(main())
