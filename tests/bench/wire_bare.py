"""A bare httpx loop: what a program does that knows one protocol, and no faults."""

import json
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

import httpx

from tests.bench.wire_bodies import ASKED, BODIES, KEY, PATHS, ROUNDS, asked

Json = Any
Read = Callable[[Json], str]


def chat_text(event: Json) -> str:
    return event["choices"][0]["delta"].get("content") or "" if event["choices"] else ""


def chat_id(event: Json) -> str:
    calls = event["choices"][0]["delta"].get("tool_calls") if event["choices"] else None
    return calls[0]["id"] if calls else ""


def messages_text(event: Json) -> str:
    if event["type"] != "content_block_delta":
        return ""
    return str(event["delta"].get("text", ""))


def messages_id(event: Json) -> str:
    if event["type"] != "content_block_start":
        return ""
    return str(event["content_block"].get("id", ""))


def responses_text(event: Json) -> str:
    return event["delta"] if event["type"] == "response.output_text.delta" else ""


def responses_id(event: Json) -> str:
    added = event["type"] == "response.output_item.added"
    return event["item"].get("call_id", "") if added else ""


def gemini_text(event: Json) -> str:
    return str(event["candidates"][0]["content"]["parts"][0].get("text", ""))


def gemini_id(event: Json) -> str:
    part = event["candidates"][0]["content"]["parts"][0]
    return part["functionCall"]["id"] if "functionCall" in part else ""


TEXTS: Final[dict[str, Read]] = {
    "chat": chat_text,
    "messages": messages_text,
    "responses": responses_text,
    "gemini": gemini_text,
}
IDS: Final[dict[str, Read]] = {
    "chat": chat_id,
    "messages": messages_id,
    "responses": responses_id,
    "gemini": gemini_id,
}


class Bare:
    """What a program does that knows one protocol, and no faults."""

    def __init__(self, wire: str, url: str) -> None:
        self.wire, self.url = wire, url + PATHS[wire]
        self.http = httpx.AsyncClient(headers={"authorization": f"Bearer {KEY}"})
        self.history = asked(ASKED)[wire]

    async def events(self) -> AsyncIterator[Json]:
        body = BODIES[self.wire](self.history)
        async with self.http.stream("POST", self.url, json=body) as response:
            async for line in response.aiter_lines():
                if line.startswith("data: ") and line != "data: [DONE]":
                    yield json.loads(line[6:])

    async def read(self) -> int:
        text_of = TEXTS[self.wire]
        return len("".join([text_of(event) async for event in self.events()]))

    async def turn(self) -> None:
        id_of = IDS[self.wire]
        found = [id_of(event) async for event in self.events()]
        self.history += ROUNDS[self.wire](next(filter(None, found)))
