"""The official SDK and this wire, against one server: the same requests, the same replies."""

import asyncio
import json
from typing import Any, Final

import pytest
from openai import APIStatusError, AsyncOpenAI
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ParsedChatCompletion

from loopcore import (
    AssistantMessage,
    CallModel,
    Image,
    ModelError,
    SystemMessage,
    Text,
    ToolCall,
    ToolResultMessage,
    ToolSpec,
    Usage,
    UserMessage,
)
from loopcore_adapters import connect
from tests.chat_server import (
    DONE,
    ChatServer,
    call,
    chat_server,
    delta,
    finish,
    says,
    says_json,
    usage,
)
from tests.reading import Told
from tests.test_chat_recordings import REPLIES, recorded

KEY: Final = "sk-nobody"
SCHEMA: Final = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
}
WEATHER: Final = ToolSpec("weather", "The weather of a city.", SCHEMA)
FUNCTION: Final = {
    "name": "weather",
    "description": "The weather of a city.",
    "parameters": SCHEMA,
}
TOOL: Final = {"type": "function", "function": FUNCTION}
OUTPUT: Final = {
    "type": "json_schema",
    "json_schema": {"name": "output", "schema": SCHEMA},
}


def called(call_id: str, city: str) -> Any:
    function = {"name": "weather", "arguments": json.dumps({"city": city})}
    return {"id": call_id, "type": "function", "function": function}


def calling(call_id: str, city: str) -> ToolCall:
    return ToolCall.parse("weather", json.dumps({"city": city}), call_id)


CONVERSATIONS: Final[dict[str, tuple[dict[str, Any], dict[str, Any]]]] = {
    "a question": (
        {"messages": [{"role": "user", "content": "hi"}]},
        {"messages": [UserMessage("hi")]},
    ),
    "a system prompt and options": (
        {
            "messages": [
                {"role": "system", "content": "Be kind."},
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": "hello"},
                {"role": "system", "content": "In French."},
                {"role": "user", "content": "again"},
            ],
            "temperature": 0,
            "max_completion_tokens": 9,
            "reasoning_effort": "low",
        },
        {
            "system": "Be kind.",
            "messages": [
                UserMessage("hi"),
                AssistantMessage("hello"),
                SystemMessage("In French."),
                UserMessage("again"),
            ],
            "options": {"temperature": 0, "max_completion_tokens": 9},
            "thinking": "low",
        },
    ),
    "a picture": (
        {
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "what?"},
                        {
                            "type": "image_url",
                            "image_url": {"url": "data:image/png;base64,Y2F0"},
                        },
                    ],
                }
            ]
        },
        {"messages": [UserMessage([Text("what?"), Image("Y2F0", "image/png")])]},
    ),
    "tools, their calls and results": (
        {
            "messages": [
                {"role": "user", "content": "Weather?"},
                {
                    "role": "assistant",
                    "content": "I look.",
                    "tool_calls": [called("a", "Oslo"), called("b", "Rome")],
                },
                {"role": "tool", "tool_call_id": "a", "content": "rain"},
                {"role": "tool", "tool_call_id": "b", "content": "sun"},
            ],
            "tools": [TOOL],
            "tool_choice": "required",
            "parallel_tool_calls": False,
        },
        {
            "messages": [
                UserMessage("Weather?"),
                AssistantMessage(
                    [Text("I look."), calling("a", "Oslo"), calling("b", "Rome")],
                    finish="tools",
                ),
                ToolResultMessage("a", "weather", "rain"),
                ToolResultMessage("b", "weather", "sun"),
            ],
            "tools": (WEATHER,),
            "options": {"tool_choice": "required", "parallel_tool_calls": False},
        },
    ),
    "an output": (
        {"messages": [{"role": "user", "content": "hi"}], "response_format": OUTPUT},
        {"messages": [UserMessage("hi")], "output": SCHEMA},
    ),
}

STREAMS: Final = {
    "text": [
        delta(role="assistant", content=""),
        delta(content="Hel"),
        delta(content="lo"),
    ],
    "calls by turns": [
        call(index=0, id="a", type="function", name="weather", arguments=""),
        call(index=1, id="b", type="function", name="weather", arguments=""),
        call(index=0, arguments='{"city":'),
        call(index=1, arguments='{"city":"Rome"}'),
        call(index=0, arguments='"Oslo"}'),
    ],
    "text and a call": [
        delta(role="assistant", content="I look."),
        call(index=0, id="a", type="function", name="weather", arguments="{}"),
    ],
    "a refusal": [delta(role="assistant", refusal="I will"), delta(refusal=" not.")],
    "odd characters": [delta(content='中\u2028"😀\\'), delta(content="\n\x7f")],
}
ENDS: Final = {
    "text": "length",
    "calls by turns": "tool_calls",
    "text and a call": "tool_calls",
}


async def theirs(server: ChatServer, **asked: Any) -> ParsedChatCompletion[object]:
    """What the SDK makes of the server's answer."""
    async with AsyncOpenAI(api_key=KEY, base_url=server.url, max_retries=0) as client:
        stream = await client.chat.completions.create(
            model="m", stream=True, stream_options={"include_usage": True}, **asked
        )
        state = ChatCompletionStreamState()
        async for chunk in stream:
            state.handle_chunk(chunk)
        return state.current_completion_snapshot


async def ours(server: ChatServer, **asked: Any) -> AssistantMessage | ModelError:
    """What this wire makes of it."""
    model = connect("openai:m", wire="chat", base_url=server.url, api_key=KEY)
    return await model.call(CallModel("r.1.1.model.1", "openai:m", **asked), Told())


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_the_same_is_asked(name: str) -> None:
    their, our = CONVERSATIONS[name]

    async def run() -> ChatServer:
        answer = says(*STREAMS["text"], finish("stop"), usage(7, 3), DONE)
        async with chat_server(answer, answer) as server:
            await theirs(server, **their)
            await ours(server, **our)
        return server

    one, other = asyncio.run(run()).requests
    assert one.body == other.body
    assert (one.path, one.headers["authorization"]) == (
        other.path,
        other.headers["authorization"],
    )


def both(*body: bytes) -> tuple[ParsedChatCompletion[object], AssistantMessage]:
    """The same response, read twice."""

    async def run() -> Any:
        async with chat_server(says(*body), says(*body)) as server:
            return (
                await theirs(server, messages=[{"role": "user", "content": "hi"}]),
                await ours(server, messages=[UserMessage("hi")]),
            )

    snapshot, reply = asyncio.run(run())
    assert isinstance(reply, AssistantMessage)
    return snapshot, reply


FINISHES: Final = {"stop": "end", "tool_calls": "tools", "length": "length"}


def told(snapshot: ParsedChatCompletion[object]) -> Any:
    """The SDK's reply, in the words of this project."""
    (choice,) = snapshot.choices
    message = choice.message
    calls = [
        (c.id, c.function.name, c.function.arguments) for c in message.tool_calls or ()
    ]
    return (
        (message.content or "") + (message.refusal or ""),
        calls,
        "refusal" if message.refusal else FINISHES[choice.finish_reason],
        counted(snapshot),
    )


def counted(snapshot: ParsedChatCompletion[object]) -> Usage:
    counts = snapshot.usage
    assert counts
    cached = counts.prompt_tokens_details and counts.prompt_tokens_details.cached_tokens
    fresh = counts.prompt_tokens - (cached or 0)
    return Usage(fresh, counts.completion_tokens, cached or 0)


def said(reply: AssistantMessage) -> Any:
    calls = [(c.id, c.name, c.raw) for c in reply.calls]
    return reply.text, calls, reply.finish, reply.usage


@pytest.mark.parametrize("name", STREAMS)
def test_the_same_is_understood(name: str) -> None:
    end = finish(ENDS.get(name, "stop"))
    counts = usage(9, 3, prompt_tokens_details={"cached_tokens": 4}, total_tokens=12)
    snapshot, reply = both(*STREAMS[name], end, counts, DONE)

    assert told(snapshot) == said(reply)


STREAMED: Final = [name for name in REPLIES if recorded(name).startswith(b"data:")]


@pytest.mark.parametrize("name", STREAMED)
def test_the_same_is_understood_of_a_real_server(name: str) -> None:
    snapshot, reply = both(recorded(name))

    assert told(snapshot) == said(reply)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422, 429, 500, 503])
def test_the_same_is_known_of_an_error(status: int) -> None:
    """Its status, its message and the name that the provider gave the request."""
    error = {"message": "no", "type": "t", "param": None, "code": None}
    answer = says_json({"error": error}, status, x_request_id="req-7")

    async def run() -> Any:
        async with chat_server(answer, answer) as server:
            with pytest.raises(APIStatusError) as caught:
                await theirs(server, messages=[{"role": "user", "content": "hi"}])
            return caught.value, await ours(server, messages=[UserMessage("hi")])

    their, our = asyncio.run(run())
    assert isinstance(our, ModelError)
    assert (their.status_code, their.request_id) == (our.status, our.request_id)
    said: Any = their.body
    assert our.message.startswith(said["message"])
