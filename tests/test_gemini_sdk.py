"""The official SDK and this wire, against one server: the same requests, the same replies."""

import asyncio
import json
from base64 import b64decode, b64encode
from collections.abc import Iterable
from typing import Any, Final

import pytest
from google.genai import Client
from google.genai.errors import APIError
from google.genai.types import (
    Blob,
    Content,
    FunctionCall,
    FunctionCallingConfig,
    FunctionCallingConfigMode,
    FunctionDeclaration,
    FunctionResponse,
    FunctionResponsePart,
    GenerateContentConfig,
    GenerateContentResponse,
    HttpOptions,
    Part,
    ThinkingConfig,
    ThinkingLevel,
    Tool,
    ToolConfig,
)

from loopcore import (
    AssistantMessage,
    CallModel,
    Image,
    ModelError,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    ToolSpec,
    Usage,
    UserMessage,
)
from loopcore_adapters import connect
from loopcore_adapters.gemini.kept import keep, kept
from loopcore_adapters.loose import items, members
from tests.chat_server import ChatServer, Request, chat_server, says_json
from tests.chat_server import says as answers
from tests.gemini_reading import SIGNED, called, counts, said, says, thought
from tests.reading import Told

KEY: Final = "nobodys-key"
NAME: Final = "gemini-3-flash"
MODEL: Final = f"gemini:{NAME}"
SIGNATURE: Final = b64decode(SIGNED)
CAT: Final = Image("Y2F0", "image/png")
SCHEMA: Final = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
}
WEATHER: Final = ToolSpec("weather", "The weather of a city.", SCHEMA)
FUNCTION: Final = FunctionDeclaration(
    name="weather", description="The weather of a city.", parameters_json_schema=SCHEMA
)


def user(*parts: Part) -> Content:
    return Content(role="user", parts=list(parts))


def model(*parts: Part) -> Content:
    return Content(role="model", parts=list(parts))


def text(words: str, **more: Any) -> Part:
    return Part(text=words, **more)


def calls(call_id: str, city: str, signature: bytes | None = None) -> Part:
    call = FunctionCall(id=call_id, name="weather", args={"city": city})
    return Part(function_call=call, thought_signature=signature)


def gives(call_id: str, response: dict[str, str], *pictures: bytes) -> Part:
    parts = [
        FunctionResponsePart.from_bytes(data=data, mime_type="image/png")
        for data in pictures
    ]
    answer = FunctionResponse(id=call_id, name="weather", response=response)
    answer.parts = parts or None
    return Part(function_response=answer)


def calling(call_id: str, city: str, signature: str | None = None) -> ToolCall:
    return ToolCall("weather", {"city": city}, call_id, signature=signature)


HI: Final = user(text("hi"))
CONVERSATIONS: Final[dict[str, tuple[Any, GenerateContentConfig, dict[str, Any]]]] = {
    "a question": (
        [HI],
        GenerateContentConfig(),
        {"messages": [UserMessage("hi")]},
    ),
    "a system prompt and options": (
        [HI, model(text("hello")), user(text("again"))],
        GenerateContentConfig(
            system_instruction=Content(parts=[text("Be kind.")]),
            temperature=0,
            max_output_tokens=9,
            stop_sequences=["x"],
            thinking_config=ThinkingConfig(
                include_thoughts=True, thinking_level=ThinkingLevel.LOW
            ),
        ),
        {
            "system": "Be kind.",
            "messages": [
                UserMessage("hi"),
                AssistantMessage("hello"),
                UserMessage("again"),
            ],
            "options": {"temperature": 0, "maxOutputTokens": 9, "stopSequences": ["x"]},
            "thinking": "low",
        },
    ),
    "pictures, seen and drawn": (
        [
            user(
                text("what?"),
                Part(inline_data=Blob(data=b"cat", mime_type="image/png")),
            ),
            model(
                Part(
                    inline_data=Blob(data=b"cat", mime_type="image/png"),
                    thought_signature=SIGNATURE,
                )
            ),
            user(text("more")),
        ],
        GenerateContentConfig(),
        {
            "messages": [
                UserMessage([Text("what?"), CAT]),
                AssistantMessage(
                    [CAT, keep({"thoughtSignature": SIGNED})], model=MODEL
                ),
                UserMessage("more"),
            ]
        },
    ),
    "thoughts, tools, their calls and results": (
        [
            user(text("Weather?")),
            model(
                text("Two cities.", thought=True),
                text("I look.", thought_signature=SIGNATURE),
                calls("a", "Oslo", SIGNATURE),
                calls("b", "Rome"),
            ),
            user(
                gives("a", {"output": "rain"}, b"cat"),
                gives("b", {"error": "no such city"}),
            ),
        ],
        GenerateContentConfig(
            tools=[Tool(function_declarations=[FUNCTION])],
            tool_config=ToolConfig(
                function_calling_config=FunctionCallingConfig(
                    mode=FunctionCallingConfigMode.ANY
                )
            ),
        ),
        {
            "messages": [
                UserMessage("Weather?"),
                AssistantMessage(
                    [
                        Thinking("Two cities."),
                        Text("I look.", signature=SIGNED),
                        calling("a", "Oslo", SIGNED),
                        calling("b", "Rome"),
                    ],
                    model=MODEL,
                    finish="tools",
                ),
                ToolResultMessage("a", "weather", [Text("rain"), CAT]),
                ToolResultMessage("b", "weather", "no such city", "error"),
            ],
            "tools": (WEATHER,),
            "options": {"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}},
        },
    ),
    "an output": (
        [HI],
        GenerateContentConfig(
            response_mime_type="application/json", response_json_schema=SCHEMA
        ),
        {"messages": [UserMessage("hi")], "output": SCHEMA},
    ),
}


def client(server: ChatServer) -> Client:
    options = HttpOptions(base_url=_root(server), api_version="v1beta")
    return Client(api_key=KEY, http_options=options)


def _root(server: ChatServer) -> str:
    return server.url.removesuffix("/v1")


async def theirs(
    server: ChatServer,
    contents: Any,
    config: GenerateContentConfig | None = None,
) -> list[GenerateContentResponse]:
    """What the SDK makes of the server's answer, chunk by chunk."""
    async with client(server).aio as sdk:
        stream = await sdk.models.generate_content_stream(
            model=NAME, contents=contents, config=config
        )
        return [chunk async for chunk in stream]


async def ours(server: ChatServer, **asked: Any) -> AssistantMessage | ModelError:
    """What this wire makes of it."""
    found = connect(MODEL, base_url=_root(server), api_key=KEY)
    return await found.call(CallModel("r.1.1.model.1", MODEL, **asked), Told())


def canonical(body: Any) -> Any:
    """The protocol has two names for each field, and an empty message is none."""
    if items(body):
        return [canonical(value) for value in items(body)]
    named = {_camel(name): canonical(each) for name, each in members(body).items()}
    named = {n: v for n, v in named.items() if (n, v) != ("generationConfig", {})}
    return named if isinstance(body, dict) else body


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_the_same_is_asked(name: str) -> None:
    contents, config, our = CONVERSATIONS[name]

    async def run() -> list[Request]:
        answer = answers(says("a", reason="STOP"))
        async with chat_server(answer, answer) as server:
            await theirs(server, contents, config)
            await ours(server, **our)
        return server.requests

    one, other = asyncio.run(run())
    assert canonical(one.body) == other.body
    assert one.path == other.path
    assert one.headers["x-goog-api-key"] == other.headers["x-goog-api-key"]


def test_the_same_is_asked_in_one_piece() -> None:
    async def run() -> Any:
        answer = says_json(said("a", reason="STOP", usageMetadata=counts(7, 3)))
        async with chat_server(answer, answer) as server:
            async with client(server).aio as sdk:
                their = await sdk.models.generate_content(model=NAME, contents=[HI])
            our = await ours(
                server, messages=[UserMessage("hi")], options={"stream": False}
            )
        return server.requests, their, our

    (one, other), their, our = asyncio.run(run())
    assert (one.path, canonical(one.body)) == (other.path, other.body)
    assert told([their]) == understood(our)


USAGE: Final = counts(9, 3, cachedContent=4, thoughts=5, total=17)
PICTURE: Final = {"inlineData": {"mimeType": "image/png", "data": "Y2F0"}}
STREAMS: Final[dict[str, list[Any]]] = {
    "text": [["Hel"], ["lo"]],
    "odd characters": [['中\u2028"😀\\'], ["\n\x7f"]],
    "thoughts, then text with a signature": [
        [thought("Plan: ")],
        [thought("greet.")],
        ["Hello"],
        [{"text": "", "thoughtSignature": SIGNED}],
    ],
    "calls, the first with a signature": [
        ["I look."],
        [called("weather", {"city": "Oslo"}, id="a", thoughtSignature=SIGNED)],
        [called("weather", {"city": "Rome"}, id="b"), called("now", {}, id="c")],
    ],
    "a picture": [["See: "], [PICTURE], [{**PICTURE, "thoughtSignature": SIGNED}]],
}


def told(chunks: Iterable[GenerateContentResponse]) -> Any:
    """The SDK's reply, in the words of this project; what is not signed is joined."""
    found = list[Any]()
    reason, usage = "", Usage()
    for chunk in chunks:
        counted = chunk.usage_metadata
        usage = _counted(counted) if counted else usage
        for candidate in chunk.candidates or ():
            reason = (
                candidate.finish_reason and candidate.finish_reason.value
            ) or reason
            content = candidate.content
            for part in (content and content.parts) or ():
                _add(found, *_shown(part))
    return [one for one in found if any(one[1:])], reason, usage


def _add(found: list[Any], kind: str, what: Any, signature: str) -> None:
    grows = kind in {"text", "thought"} and not signature
    if grows and found and found[-1][0] == kind and not found[-1][2]:
        found[-1] = (kind, found[-1][1] + what, "")
    else:
        found.append((kind, what, signature))


def _shown(part: Part) -> tuple[str, Any, str]:
    signature = b64encode(part.thought_signature or b"").decode()
    if part.function_call:
        call = part.function_call
        return "call", (call.id, call.name, call.args), signature
    if part.inline_data:
        data = b64encode(part.inline_data.data or b"").decode()
        return "picture", (data, part.inline_data.mime_type), signature
    return "thought" if part.thought else "text", part.text or "", signature


def _counted(counted: Any) -> Usage:
    cached = counted.cached_content_token_count or 0
    thoughts = counted.thoughts_token_count or 0
    return Usage(
        counted.prompt_token_count - cached,
        counted.candidates_token_count + thoughts,
        cached,
        reasoning=thoughts,
    )


REASONS: Final = {"end": "STOP", "tools": "STOP", "length": "MAX_TOKENS"}


def understood(reply: AssistantMessage) -> Any:
    found = list[Any]()
    for part in reply.parts:
        match part:
            case Text(words):
                found.append(("text", words, part.signature or ""))
            case Thinking(redacted=True):
                kind, what, _ = found.pop()
                found.append((kind, what, kept(part)["thoughtSignature"]))
            case Thinking(words):
                found.append(("thought", words, part.signature or ""))
            case ToolCall(name, arguments, call_id):
                made = (call_id, name, dict(arguments))
                found.append(("call", made, part.signature or ""))
            case Image(data, mime):
                found.append(("picture", (data, mime), ""))
    return found, REASONS[reply.finish], reply.usage


@pytest.mark.parametrize("name", STREAMS)
def test_the_same_is_understood(name: str) -> None:
    """Parts, signatures, calls, the reason, and the counts."""
    reason = "MAX_TOKENS" if name == "text" else "STOP"
    chunks = [says(*parts) for parts in STREAMS[name]]
    body = (*chunks, says(reason=reason, usageMetadata=USAGE))

    async def run() -> Any:
        async with chat_server(answers(*body), answers(*body)) as server:
            their = await theirs(server, [HI])
            return their, await ours(server, messages=[UserMessage("hi")])

    their, our = asyncio.run(run())
    assert told(their) == understood(our)


@pytest.mark.parametrize(
    ("status", "name"),
    [
        (400, "INVALID_ARGUMENT"),
        (403, "PERMISSION_DENIED"),
        (404, "NOT_FOUND"),
        (429, "RESOURCE_EXHAUSTED"),
        (500, "INTERNAL"),
        (503, "UNAVAILABLE"),
        (504, "DEADLINE_EXCEEDED"),
    ],
)
def test_the_same_is_known_of_an_error(status: int, name: str) -> None:
    error = {"error": {"code": status, "message": "no", "status": name}}
    answer = says_json(error, status)

    async def run() -> Any:
        async with chat_server(answer, answer) as server:
            with pytest.raises(APIError) as caught:
                await theirs(server, [HI])
            return caught.value, await ours(server, messages=[UserMessage("hi")])

    their, our = asyncio.run(run())
    assert isinstance(our, ModelError)
    assert their.code == our.status
    assert our.message.startswith(their.message)


def test_an_error_in_the_stream_is_one_for_both() -> None:
    error = {"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}
    body = says("a") + b"data: " + json.dumps(error).encode() + b"\r\n\r\n"

    async def run() -> Any:
        async with chat_server(answers(body), answers(body)) as server:
            with pytest.raises(APIError) as caught:
                await theirs(server, [HI])
            return caught.value, await ours(server, messages=[UserMessage("hi")])

    their, our = asyncio.run(run())
    assert (their.code, their.message) == (our.status, our.message)
