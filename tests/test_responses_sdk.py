"""The official SDK and this wire, against one server: the same requests, the same replies."""

import asyncio
from typing import Any, Final

import pytest
from openai import APIError, APIStatusError, AsyncOpenAI
from openai.types.responses import Response

from loopcore import (
    AssistantMessage,
    CallModel,
    Image,
    ModelError,
    SystemMessage,
    Text,
    Thinking,
    ToolResultMessage,
    ToolSpec,
    Usage,
    UserMessage,
)
from loopcore_adapters import connect
from tests.chat_server import ChatServer, chat_server, says, says_json
from tests.reading import Told
from tests.responses_reading import body, call, event, message, stream, thought
from tests.test_responses_recordings import REPLIES, recorded

Json = Any
KEY: Final = "sk-nobody"
SCHEMA: Final = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
}
WEATHER: Final = ToolSpec("weather", "The weather of a city.", SCHEMA)
TOOL: Final = {
    "type": "function",
    "name": "weather",
    "description": "The weather of a city.",
    "parameters": SCHEMA,
    "strict": False,
}
STATELESS: Final = {"store": False, "include": ["reasoning.encrypted_content"]}
HI: Final = {"role": "user", "content": [{"type": "input_text", "text": "hi"}]}
PICTURE: Final = {
    "type": "input_image",
    "detail": "auto",
    "image_url": "data:image/png;base64,Y2F0",
}


async def asked(server: ChatServer, **fields: Json) -> Response:
    """What the SDK makes of the server's answer to a streamed request."""
    async with AsyncOpenAI(api_key=KEY, base_url=server.url, max_retries=0) as client:
        fields = {**STATELESS, "model": "gpt-5.2", "input": [HI], **fields}
        async with client.responses.stream(**fields) as events:
            return await events.get_final_response()


async def ours(server: ChatServer, **fields: Json) -> AssistantMessage | ModelError:
    """What this wire makes of it."""
    fields = {"messages": [UserMessage("hi")], **fields}
    options = fields.pop("given", {})
    model = connect("openai:gpt-5.2", base_url=server.url, api_key=KEY, **options)
    return await model.call(CallModel("i", "openai:gpt-5.2", **fields), Told())


CONVERSATIONS: Final[dict[str, tuple[Json, Json]]] = {
    "a question": ({}, {}),
    "a system prompt, instructions, and options": (
        {
            "instructions": "Be kind.",
            "input": [
                HI,
                {"type": "message", "role": "assistant", "content": "hello"},
                {
                    "role": "developer",
                    "content": [{"type": "input_text", "text": "In French."}],
                },
                HI,
            ],
            "temperature": 0,
            "max_output_tokens": 9,
            "reasoning": {"effort": "low", "summary": "auto"},
        },
        {
            "system": "Be kind.",
            "messages": [
                UserMessage("hi"),
                AssistantMessage("hello"),
                SystemMessage("In French."),
                UserMessage("hi"),
            ],
            "options": {"temperature": 0, "max_output_tokens": 9},
            "thinking": "low",
        },
    ),
    "a picture": (
        {"input": [{"role": "user", "content": [*HI["content"], PICTURE]}]},
        {"messages": [UserMessage([Text("hi"), Image("Y2F0", "image/png")])]},
    ),
    "an output": (
        {
            "text": {
                "format": {"type": "json_schema", "name": "output", "schema": SCHEMA}
            }
        },
        {"output": SCHEMA},
    ),
}


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_the_same_is_asked(name: str) -> None:
    their, our = CONVERSATIONS[name]

    async def run() -> ChatServer:
        answer = says(*stream(message("hello")))
        async with chat_server(answer, answer) as server:
            await asked(server, **their)
            await ours(server, **our)
        return server

    one, other = asyncio.run(run()).requests
    assert one.body == other.body
    assert (one.path, one.headers["authorization"]) == (
        other.path,
        other.headers["authorization"],
    )


def test_the_same_is_asked_after_tools_were_called() -> None:
    """The SDK's way is to give back all that came; so thoughts and ids are as they came."""
    output = [
        thought("Look.", encrypted_content="gAAA"),
        message("I look.", phase="commentary"),
        call("weather", '{"city": "Oslo"}', "c1", id="fc_1"),
        call("weather", '{"city": "Rome"}', "c2", id="fc_2"),
    ]
    picture = [{"type": "input_text", "text": "sun"}, PICTURE]
    results = [("c1", "rain"), ("c2", picture)]
    tools = {"tools": [TOOL], "tool_choice": "auto"}

    async def run() -> ChatServer:
        first, last = says(*stream(*output)), says(*stream(message("It rains.")))
        async with chat_server(first, last, first, last) as server:
            came = await asked(server, **tools)
            given = [
                {"type": "function_call_output", "call_id": call_id, "output": text}
                for call_id, text in results
            ]
            back = [item.to_dict() for item in came.output]
            await asked(server, **tools, input=[HI, *back, *given])
            await _our_turns(server)
        return server

    requests = asyncio.run(run()).requests
    assert requests[0].body == requests[2].body
    assert _plain(requests[1].body) == _plain(requests[3].body)


async def _our_turns(server: ChatServer) -> None:
    wishes: Json = {"tools": (WEATHER,), "options": {"tool_choice": "auto"}}
    reply = await ours(server, **wishes)
    assert isinstance(reply, AssistantMessage)
    seen = (Text("sun"), Image("Y2F0", "image/png"))
    answers = [
        ToolResultMessage("c1", "weather", "rain"),
        ToolResultMessage("c2", "weather", seen),
    ]
    await ours(server, messages=[UserMessage("hi"), reply, *answers], **wishes)


def _plain(body: Json) -> Json:
    """The body without what the SDK's own reading adds to what it echoes."""
    for item in body["input"]:
        for part in item.get("content") or ():
            part.pop("logprobs", None)
            part.pop("parsed", None)
        item.pop("parsed_arguments", None)
    return body


OUTPUTS: Final[dict[str, list[Json]]] = {
    "text": [message("Hello")],
    "several texts": [message("a", "b"), message("c", id="msg_2")],
    "calls": [call("weather", '{"city":"Oslo"}'), call("b", "{}", "c2", id="fc_2")],
    "a thought, a text and a call": [
        thought("First.", "Then.", encrypted_content="gAAA"),
        message("I look."),
        call("weather", "{}"),
    ],
    "a refusal": [
        {**message(), "content": [{"type": "refusal", "refusal": "I will not."}]}
    ],
    "odd characters": [message('中\u2028"😀\\\n\x7f')],
}


def both(answer: Json, *, streamed: bool = True) -> tuple[Response, AssistantMessage]:
    """The same response, read twice."""

    async def run() -> Json:
        async with chat_server(answer, answer) as server:
            if streamed:
                return await asked(server), await ours(server)
            return await _in_one_piece(server), await ours(
                server, given={"stream": False}
            )

    snapshot, reply = asyncio.run(run())
    assert isinstance(reply, AssistantMessage)
    return snapshot, reply


async def _in_one_piece(server: ChatServer) -> Response:
    async with AsyncOpenAI(api_key=KEY, base_url=server.url, max_retries=0) as client:
        return await client.responses.create(model="gpt-5.2", input="hi")


def told(snapshot: Response) -> Json:
    """The SDK's reply, in the words of this project."""
    words, calls, thoughts = "", list[Json](), list[str]()
    for item in snapshot.output:
        if item.type == "message":
            parts: Json = item.content
            words += "".join(getattr(p, "text", "") or p.refusal for p in parts)
        elif item.type == "function_call":
            calls.append((item.call_id, item.name, item.arguments))
        elif item.type == "reasoning":
            thoughts.append("\n\n".join(part.text for part in item.summary))
    return words, calls, thoughts, counted(snapshot)


def counted(snapshot: Response) -> Usage:
    counts = snapshot.usage
    assert counts
    cached = counts.input_tokens_details.cached_tokens
    made: Json = counts.output_tokens_details
    return Usage(
        counts.input_tokens - cached,
        counts.output_tokens,
        cached,
        reasoning=made.reasoning_tokens if made else 0,
    )


def understood(reply: AssistantMessage) -> Json:
    calls = [(c.id, c.name, c.raw) for c in reply.calls]
    thoughts = [part.text for part in reply.parts if isinstance(part, Thinking)]
    return reply.text, calls, thoughts, reply.usage


@pytest.mark.parametrize("name", OUTPUTS)
def test_the_same_is_understood(name: str) -> None:
    snapshot, reply = both(says(*stream(*OUTPUTS[name])))

    assert told(snapshot) == understood(reply)


@pytest.mark.parametrize("name", OUTPUTS)
def test_the_same_is_understood_in_one_piece(name: str) -> None:
    answer = says(body(*OUTPUTS[name]), kind="application/json")
    snapshot, reply = both(answer, streamed=False)

    assert told(snapshot) == understood(reply)


STREAMED: Final = [name for name in REPLIES if not name.endswith("nonstream")]


@pytest.mark.parametrize("name", STREAMED)
def test_the_same_is_understood_of_a_real_server(name: str) -> None:
    """The SDK's own snapshots need places, which this server does not say: its last event."""

    async def last(server: ChatServer) -> Json:
        async with AsyncOpenAI(api_key=KEY, base_url=server.url) as client:
            events = await client.responses.create(model="m", input="hi", stream=True)
            return [one async for one in events][-1]

    async def run() -> Json:
        answer = says(recorded(name))
        async with chat_server(answer, answer) as server:
            return await last(server), await ours(server)

    ended, reply = asyncio.run(run())
    assert told(ended.response) == understood(reply)


def test_the_same_is_known_of_an_error_in_a_stream() -> None:
    error = {"type": "server_error", "code": "server_error", "message": "It broke."}
    answer = says(*stream(message("some"))[:5], event("error", error=error))

    async def run() -> Json:
        async with chat_server(answer, answer) as server:
            with pytest.raises(APIError) as caught:
                await asked(server)
            return caught.value, await ours(server)

    their, our = asyncio.run(run())
    assert isinstance(our, ModelError)
    assert ("It broke.", "server") == (our.message, our.kind)
    assert their.message == our.message


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422, 429, 500, 503])
def test_the_same_is_known_of_an_error(status: int) -> None:
    """Its status, its message and the name that the provider gave the request."""
    error = {"message": "no", "type": "t", "param": None, "code": None}
    answer = says_json({"error": error}, status, x_request_id="req-7")

    async def run() -> Json:
        async with chat_server(answer, answer) as server:
            with pytest.raises(APIStatusError) as caught:
                await asked(server)
            return caught.value, await ours(server)

    their, our = asyncio.run(run())
    assert isinstance(our, ModelError)
    assert (their.status_code, their.request_id) == (our.status, our.request_id)
    said: Json = their.body
    assert our.message.startswith(said["message"])
