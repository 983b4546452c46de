"""Reading responses of the wire "responses", and the streams that say them."""

import json
from collections.abc import Iterator
from typing import Any, Final

from loopcore import CallModel, UserMessage
from loopcore_adapters.responses import Decoder
from tests.reading import Reading

Json = Any
MODEL: Final = "openai:gpt-5.2"
CALL: Final = CallModel("r1.1.1.model.1", MODEL, [UserMessage("hi")])


def event(kind: str, **fields: Json) -> bytes:
    """One event of a stream."""
    data = json.dumps({"type": kind, **fields})
    return f"event: {kind}\ndata: {data}\n\n".encode()


def ended(status: str = "completed", **fields: Json) -> bytes:
    """The event that ends a stream."""
    return event(f"response.{status}", response={"status": status, **fields})


def said(text: str, **fields: Json) -> bytes:
    """A piece of a text."""
    return event("response.output_text.delta", delta=text, **fields)


def begins(kind: str, index: int = 0, **item: Json) -> bytes:
    """An item is announced."""
    item = {"type": kind, "status": "in_progress", **item}
    return event("response.output_item.added", output_index=index, item=item)


def whole(kind: str, index: int = 0, **item: Json) -> bytes:
    """An item is whole."""
    item = {"type": kind, "status": "completed", **item}
    return event("response.output_item.done", output_index=index, item=item)


def call(name: str, arguments: Json, call_id: str = "c1", **item: Json) -> Json:
    """A whole call, as the output has it."""
    return {
        "type": "function_call",
        "id": "fc_1",
        "call_id": call_id,
        "name": name,
        "arguments": arguments,
        "status": "completed",
        **item,
    }


def message(*texts: str, **item: Json) -> Json:
    """A whole message, as the output has it."""
    none: list[Json] = []
    content = [{"type": "output_text", "text": t, "annotations": none} for t in texts]
    return {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": content,
        **item,
    }


def thought(*summary: str, **item: Json) -> Json:
    """A whole thought, as the output has it."""
    texts = [{"type": "summary_text", "text": text} for text in summary]
    return {"type": "reasoning", "id": "rs_1", "summary": texts, **item}


USAGE: Final = {
    "input_tokens": 10,
    "input_tokens_details": {"cached_tokens": 4},
    "output_tokens": 5,
    "output_tokens_details": {"reasoning_tokens": 2},
    "total_tokens": 15,
}


def response(*output: Json, **fields: Json) -> Json:
    """A whole response."""
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1.0,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "model": "gpt-5.2",
        "output": list(output),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": USAGE,
        **fields,
    }


def body(*output: Json, **fields: Json) -> bytes:
    """A response in one piece."""
    return json.dumps(response(*output, **fields)).encode()


def stream(*output: Json, size: int = 3, **fields: Json) -> list[bytes]:
    """The events that say this response, as the protocol's inventor sends them."""
    full = response(*output, **fields)
    begun: Json = {**full, "status": "in_progress", "output": [], "usage": None}
    kinds: list[tuple[str, Json]] = [("response.created", {"response": begun})]
    kinds += [("response.in_progress", {"response": begun})]
    for index, item in enumerate(output):
        kinds += _item(index, item, size)
    kinds += [(f"response.{full['status']}", {"response": full})]
    return [
        event(kind, sequence_number=number, **more)
        for number, (kind, more) in enumerate(kinds)
    ]


def _item(index: int, item: Json, size: int) -> Iterator[tuple[str, Json]]:
    place = {"output_index": index}
    empty = {**item, "status": "in_progress", **EMPTY.get(item["type"], {})}
    yield "response.output_item.added", {**place, "item": empty}
    at = {**place, "item_id": item["id"]}
    if item["type"] == "message":
        yield from _content(at, item["content"], size)
    elif item["type"] == "reasoning":
        yield from _summary(at, item["summary"], size)
    elif item["type"] == "function_call":
        kind = "response.function_call_arguments"
        text = item["arguments"]
        for piece in _pieces(text, size):
            yield f"{kind}.delta", {**at, "delta": piece}
        yield f"{kind}.done", {**at, "arguments": text, "name": item["name"]}
    yield "response.output_item.done", {**place, "item": item}


EMPTY: Final[Json] = {
    "message": {"content": []},
    "reasoning": {"summary": [], "encrypted_content": "not-yet"},
    "function_call": {"arguments": ""},
    "image_generation_call": {"result": None},
}
"""What an item has when it is announced."""


def _content(at: Json, content: Json, size: int) -> Iterator[tuple[str, Json]]:
    for place, part in enumerate(content):
        where = {**at, "content_index": place}
        name = "refusal" if part["type"] == "refusal" else "text"
        kind = "response.refusal" if name == "refusal" else "response.output_text"
        more: Json = {} if name == "refusal" else {"logprobs": []}
        yield "response.content_part.added", {**where, "part": {**part, name: ""}}
        for piece in _pieces(part[name], size):
            yield f"{kind}.delta", {**where, "delta": piece, **more}
        yield f"{kind}.done", {**where, name: part[name], **more}
        yield "response.content_part.done", {**where, "part": part}


def _summary(at: Json, summary: Json, size: int) -> Iterator[tuple[str, Json]]:
    for place, part in enumerate(summary):
        where = {**at, "summary_index": place}
        kind = "response.reasoning_summary"
        yield f"{kind}_part.added", {**where, "part": {**part, "text": ""}}
        for piece in _pieces(part["text"], size):
            yield f"{kind}_text.delta", {**where, "delta": piece}
        yield f"{kind}_text.done", {**where, "text": part["text"]}
        yield f"{kind}_part.done", {**where, "part": part}


def _pieces(text: str, size: int) -> list[str]:
    return [text[place : place + size] for place in range(0, len(text), size)]


READING: Final = Reading(Decoder, CALL)
feed, result, reply, error = (
    READING.feed,
    READING.result,
    READING.reply,
    READING.error,
)
