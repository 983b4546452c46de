"""What the official SDK of Anthropic sends and understands, and what this wire does.

Both are pointed at one local server. Where both define a thing, it is the same.
"""

import asyncio
import json
from collections.abc import Iterator
from typing import Any, Final

import anthropic
import pytest
from anthropic.types import Message as Reply

from loopcore import (
    AssistantMessage,
    CallModel,
    Interpreter,
    LoopConfig,
    ModelError,
    Text,
    Thinking,
    ToolCall,
    Usage,
    UserMessage,
    run_sync,
    tool,
)
from loopcore_adapters import connect
from tests.chat_server import Answer, ChatServer, Json, says, says_json, serving
from tests.messages_reading import (
    PING,
    STOP,
    call,
    closed,
    ended,
    fails,
    grown,
    opened,
    start,
    text,
    thought,
    whole,
)
from tests.reading import Told
from tests.test_messages_recordings import REPLIES, recorded

NAME: Final = "claude-opus-4-6"
MODEL: Final = f"anthropic:{NAME}"
KEY: Final = "sk-a-key-of-nobody"
HI: Final[list[Json]] = [
    {"role": "user", "content": [{"type": "text", "text": "hi"}]},
]


def client(server: ChatServer) -> anthropic.Anthropic:
    return anthropic.Anthropic(
        api_key=KEY, base_url=server.url.removesuffix("/v1"), max_retries=0
    )


def asked(server: ChatServer) -> AssistantMessage | ModelError:
    """What this wire makes of the server's next answer."""
    model = connect(MODEL, base_url=server.url, api_key=KEY)
    effect = CallModel("i", MODEL, [UserMessage("hi")])

    async def one_call() -> AssistantMessage | ModelError:
        return await model.call(effect, Told())

    return asyncio.run(one_call())


def part(block: Any) -> Any:
    """A block of the SDK as a part."""
    match block.type:
        case "text":
            return Text(block.text)
        case "thinking":
            return Thinking(block.thinking, block.signature)
        case "redacted_thinking":
            return Thinking("", block.data, redacted=True)
        case _:
            return block.name, block.input, block.id


def loose(found: Any) -> Any:
    """A part; of a call only what the SDK keeps of it."""
    if isinstance(found, ToolCall):
        return found.name, json.loads(found.text), found.id
    return found


FINISHES: Final = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tools",
    "max_tokens": "length",
    "pause_turn": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}


def usage(reply: Reply) -> Usage:
    counts = reply.usage
    details = counts.output_tokens_details
    return Usage(
        counts.input_tokens,
        counts.output_tokens,
        counts.cache_read_input_tokens or 0,
        counts.cache_creation_input_tokens or 0,
        details.thinking_tokens if details else 0,
    )


def same(theirs: Reply, ours: AssistantMessage | ModelError) -> None:
    assert isinstance(ours, AssistantMessage), ours
    assert [loose(one) for one in ours.parts] == [part(b) for b in theirs.content]
    assert ours.finish == FINISHES[theirs.stop_reason or ""]
    assert ours.usage == usage(theirs)


FIRST: Final = start(input_tokens=25, output_tokens=1, cache_read_input_tokens=7)
STREAMS: Final = {
    "text": text(0, "Hel", "lo \N{GRINNING FACE}"),
    "texts": text(0, "a") + PING + text(1, "b"),
    "thinking": thought(0, "sig", "h", "m") + text(1, "a"),
    "redacted": opened(0, "redacted_thinking", data="Em0=") + closed(0) + text(1, "a"),
    "call": call(0, "toolu_1", "look", '{"q": "', 'a"}'),
    "calls": text(0, "I look.") + call(1, "t1", "look", "{}") + call(2, "t2", "look"),
    "between": thought(0, "s1", "a")
    + text(1, "b")
    + thought(2, "s2")
    + call(3, "t", "look"),
}


LAST: Final = {"output_tokens": 9, "output_tokens_details": {"thinking_tokens": 3}}
REASONS: Final = {
    **dict.fromkeys(STREAMS, "end_turn"),
    **dict.fromkeys(("call", "calls", "between"), "tool_use"),
}


def streamed(server: ChatServer) -> Reply:
    """What the SDK makes of the server's next answer."""
    with (
        client(server) as sdk,
        sdk.messages.stream(model=NAME, max_tokens=9, messages=HI) as stream,
    ):
        return stream.get_final_message()


def both(answer: Answer) -> tuple[Reply, AssistantMessage]:
    """What the SDK and this wire make of one answer."""
    with serving(answer, answer) as server:
        theirs, ours = streamed(server), asked(server)
    assert isinstance(ours, AssistantMessage), ours
    return theirs, ours


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_is_understood_the_same(name: str) -> None:
    last = ended(REASONS[name], **LAST) + STOP
    same(*both(says(FIRST, STREAMS[name], last)))


@pytest.mark.parametrize("reason", FINISHES)
def test_a_reason_is_understood_the_same(reason: str) -> None:
    same(*both(says(FIRST, text(0, "a"), ended(reason, **LAST), STOP)))


@pytest.mark.parametrize(
    "counts",
    [
        {"output_tokens": 15},
        {"output_tokens": 15, "input_tokens": None},
        {"output_tokens": 15, "input_tokens": 0},
        {"output_tokens": 15, "cache_read_input_tokens": 9},
        {"output_tokens": 15, "cache_creation_input_tokens": 4},
    ],
)
def test_counts_are_understood_the_same(counts: dict[str, Json]) -> None:
    """Reports 75, 76: totals, and null is no count."""
    same(*both(says(FIRST, text(0, "a"), ended("end_turn", **counts), STOP)))


@pytest.mark.parametrize("name", [n for n in REPLIES if "nonstream" not in n])
def test_a_recorded_stream_is_understood_the_same(name: str) -> None:
    """Of a server that is not Anthropic's."""
    same(*both(says(recorded(name))))


@pytest.mark.parametrize(
    "blocks",
    [
        [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
        [{"type": "tool_use", "id": "t", "name": "look", "input": {"q": [1, None]}}],
        [{"type": "redacted_thinking", "data": "x"}, {"type": "text", "text": "a"}],
    ],
    ids=["texts", "call", "redacted"],
)
def test_a_response_in_one_piece_is_understood_the_same(blocks: list[Json]) -> None:
    reason = "tool_use" if blocks[0]["type"] == "tool_use" else "end_turn"
    body = whole(
        *blocks, reason=reason, id="m", model=NAME, usage={**LAST, "input_tokens": 3}
    )
    answer = says(body, kind="application/json")
    with serving(answer, answer) as server, client(server) as sdk:
        theirs = sdk.messages.create(model=NAME, max_tokens=9, messages=HI)
        same(theirs, asked(server))


MEANS: Final[dict[type[Exception], str]] = {
    anthropic.BadRequestError: "bad_request",
    anthropic.AuthenticationError: "auth",
    anthropic.PermissionDeniedError: "auth",
    anthropic.NotFoundError: "no_such_model",
    anthropic.ContentTooLargeError: "context_overflow",
    anthropic.RateLimitError: "rate_limit",
    anthropic.InternalServerError: "server",
    anthropic.OverloadedError: "overloaded",
}
STATUSES: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}


@pytest.mark.parametrize("status", STATUSES)
def test_an_error_is_understood_the_same(status: int) -> None:
    """Its kind, its message, and the name of the request."""
    error = {"type": STATUSES[status], "message": "model: none"}
    body = {"type": "error", "error": error, "request_id": "req_1"}
    answer = says_json(body, status, request_id="req_1")
    with serving(answer, answer) as server, client(server) as sdk:
        with pytest.raises(anthropic.APIStatusError) as raised:
            sdk.messages.create(model=NAME, max_tokens=9, messages=HI)
        ours = asked(server)
    theirs = raised.value
    assert isinstance(ours, ModelError)
    assert ours.kind == MEANS[type(theirs)]
    assert ours.message.startswith(theirs.api_message or "?")
    assert (ours.status, ours.request_id) == (theirs.status_code, theirs.request_id)


@pytest.mark.parametrize("kind", STATUSES.values())
def test_an_error_in_a_stream_is_one_to_both(kind: str) -> None:
    """Report 57: the SDK keeps the status of the stream; here the body says the kind."""
    answer = says(FIRST, opened(0, text=""), grown(0, "text", text="a"), fails(kind))
    with serving(answer, answer) as server:
        with pytest.raises(anthropic.APIStatusError) as raised:
            streamed(server)
        ours = asked(server)
    assert isinstance(ours, ModelError)
    assert ours.partial
    assert (ours.partial.text, raised.value.type) == ("a", kind)


# Requests: one conversation with tools, by the SDK and by a run.

SYSTEM: Final = "Be brief."
QUESTION: Final = "What is it like in Paris and in Rome?"
CACHED: Final[Json] = {"cache_control": {"type": "ephemeral"}}


@tool
def weather(city: str) -> str:
    """Tells the weather in a city."""
    if city == "Rome":
        message = "no such place"
        raise LookupError(message)
    return f"Sunny in {city}."


TURNS: Final = [
    FIRST
    + thought(0, "sig", "Both, ", "then.")
    + text(1, "I ask.")
    + call(2, "toolu_1", "weather", '{"city": "Paris"}')
    + call(3, "toolu_2", "weather", '{"city": ', '"Rome"}')
    + ended("tool_use", **LAST)
    + STOP,
    FIRST
    + call(0, "toolu_3", "weather", '{"city": "Oslo"}')
    + ended("tool_use")
    + STOP,
    FIRST + text(0, "Sunny.") + ended() + STOP,
]


def by_the_sdk(server: ChatServer, options: dict[str, Json]) -> None:
    """The conversation as the SDK's documentation has it."""
    messages = list[Json]([{"role": "user", "content": QUESTION}])
    for _ in TURNS:
        with (
            client(server) as sdk,
            sdk.messages.stream(messages=messages, **options) as stream,
        ):
            reply = stream.get_final_message()
        messages.append(reply.to_param())
        if reply.stop_reason == "tool_use":
            messages.append({"role": "user", "content": list(results(reply))})


def results(reply: Reply) -> Iterator[Json]:
    """The results of the calls of a reply."""
    for block in reply.content:
        if block.type == "tool_use":
            city = block.input["city"]
            failed = city == "Rome"
            said = "LookupError: no such place" if failed else f"Sunny in {city}."
            result = {"type": "tool_result", "tool_use_id": block.id, "content": said}
            yield result | ({"is_error": True} if failed else {})


def plain(value: Json) -> Json:
    """The request, each text a block, less what is null: the SDK leaves both open."""
    if is_a(dict, value):
        found = {key: plain(one) for key, one in value.items() if one is not None}
        name = "content" if "content" in found else "system"
        blocks = [{"type": "text", "text": found.get(name)}]
        return {**found, name: blocks} if is_a(str, found.get(name)) else found
    return [plain(one) for one in value] if is_a(list, value) else value


def is_a(kind: type, value: object) -> bool:
    return isinstance(value, kind)


def test_a_conversation_is_sent_the_same() -> None:
    """Each request of it: signed thinking, parallel calls, a failed one, results."""
    answers = [says(turn) for turn in TURNS]
    spec = weather.spec
    offered = {"name": spec.name, "description": spec.description}
    options = {
        "model": NAME,
        "max_tokens": 20_000,
        "system": SYSTEM,
        "tools": [{**offered, "input_schema": json.loads(json.dumps(spec.parameters))}],
        "thinking": {"type": "adaptive", "display": "summarized"},
        "output_config": {"effort": "low"},
        **CACHED,
    }
    with serving(*answers, *answers) as server:
        model = connect(
            MODEL, base_url=server.url, api_key=KEY, max_tokens=20_000, **CACHED
        )
        config = LoopConfig(model=model, system=SYSTEM, tools=[weather], thinking="low")
        result = run_sync(config, Interpreter(model, weather), QUESTION)
        by_the_sdk(server, options)
        bodies = [plain(request.body) for request in server.requests]
    assert result.output == "Sunny."
    count = len(TURNS)
    assert len(bodies) == 2 * count
    for ours, theirs in zip(bodies[:count], bodies[count:], strict=True):
        assert ours == theirs
