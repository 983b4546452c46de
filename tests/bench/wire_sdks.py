"""The official SDKs, used as their own documentation uses them."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final

from anthropic import AsyncAnthropic
from google import genai
from google.genai import types
from openai import AsyncOpenAI

from tests.bench.wire_bodies import ASKED, BASES, BODIES, KEY, ROUNDS, asked

Json = Any
Open = Callable[..., Awaitable[AsyncIterator[Json]]]
Read = Callable[[Json], str | None]


def chat_sdk(url: str) -> Open:
    client: Json = AsyncOpenAI(api_key=KEY, base_url=url, max_retries=0)
    create: Open = client.chat.completions.create
    return create


def responses_sdk(url: str) -> Open:
    client: Json = AsyncOpenAI(api_key=KEY, base_url=url, max_retries=0)
    create: Open = client.responses.create
    return create


def messages_sdk(url: str) -> Open:
    client: Json = AsyncAnthropic(api_key=KEY, base_url=url, max_retries=0)
    create: Open = client.messages.create
    return create


def gemini_sdk(url: str) -> Open:
    client = genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=url))

    def stream(**fields: Json) -> Awaitable[AsyncIterator[Json]]:
        config = types.GenerateContentConfig(tools=fields["tools"])
        return client.aio.models.generate_content_stream(
            model="m", contents=fields["contents"], config=config
        )

    return stream


def chat_text(event: Json) -> str | None:
    return event.choices[0].delta.content if event.choices else None


def chat_id(event: Json) -> str | None:
    calls = event.choices[0].delta.tool_calls if event.choices else None
    return calls[0].id if calls else None


def messages_text(event: Json) -> str | None:
    found = event.type == "content_block_delta" and event.delta.type == "text_delta"
    return event.delta.text if found else None


def messages_id(event: Json) -> str | None:
    found = (
        event.type == "content_block_start" and event.content_block.type == "tool_use"
    )
    return event.content_block.id if found else None


def responses_text(event: Json) -> str | None:
    return event.delta if event.type == "response.output_text.delta" else None


def responses_id(event: Json) -> str | None:
    return event.item.call_id if event.type == "response.output_item.added" else None


def gemini_text(event: Json) -> str | None:
    return str(event.candidates[0].content.parts[0].text)


def gemini_id(event: Json) -> str | None:
    call = event.candidates[0].content.parts[0].function_call
    return call.id if call else None


SDKS: Final[dict[str, tuple[Callable[[str], Open], Read, Read]]] = {
    "chat": (chat_sdk, chat_text, chat_id),
    "messages": (messages_sdk, messages_text, messages_id),
    "responses": (responses_sdk, responses_text, responses_id),
    "gemini": (gemini_sdk, gemini_text, gemini_id),
}


class Sdk:
    """The SDK of a wire, and its own list of messages."""

    def __init__(self, wire: str, url: str) -> None:
        make, self.text_of, self.id_of = SDKS[wire]
        self.wire, self.open = wire, make(url + BASES[wire])
        self.history = asked(ASKED)[wire]

    async def read(self) -> int:
        stream = await self.open(**BODIES[self.wire](self.history))
        return len("".join([self.text_of(event) or "" async for event in stream]))

    async def turn(self) -> None:
        stream = await self.open(**BODIES[self.wire](self.history))
        found = [self.id_of(event) async for event in stream]
        self.history += ROUNDS[self.wire](next(filter(None, found)))
