"""Messages: any history can be sent, and any reply is read whole however it is cut."""

import json
from collections.abc import Iterable
from typing import Any, Final, Literal, TypeAlias

from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st

from loopcore import (
    AssistantMessage,
    CallModel,
    CustomMessage,
    Image,
    Message,
    ModelError,
    SystemMessage,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    ToolSpec,
    Usage,
    UserMessage,
    project,
)
from loopcore.frozen import freeze_object
from loopcore_adapters.loose import Json
from loopcore_adapters.messages import Encoder, encode
from loopcore_adapters.messages.schema import cut as cut_schema
from tests.chat_reading import MODEL
from tests.messages_reading import (
    STOP,
    call,
    closed,
    ended,
    event,
    feed,
    opened,
    start,
    text,
    thought,
    whole,
)
from tests.messages_rules import problems
from tests.reading import cut, unquoted

# Requests.

NAMES: Final = (
    "anthropic:claude-sonnet-4-5",
    "anthropic:claude-opus-4-1-20250805",
    "anthropic:claude-3-5-haiku-latest",
    "anthropic:claude-sonnet-4-6",
    "anthropic:claude-sonnet-5-5",
    "anthropic:claude-fable-5",
    "anthropic:claude-opus-9",
    "llamacpp:qwen",
)
MAKERS: Final = st.sampled_from([*NAMES[:3], NAMES[-1], "openai:gpt-5.2", ""])
SAYINGS: Final = st.text(max_size=5) | st.sampled_from([" ", "\n", "\ud800", "é\udc00"])
IMAGES: Final = st.builds(
    Image,
    st.sampled_from(["Y2F0", "", " "]),
    st.sampled_from(["image/png", "image/JPEG", "image/bmp", ""]),
)
TOKENS: Final = st.sampled_from([None, "", "Em0=", '{"id": "rs_1"}', "\u2028"])
THOUGHTS: Final = st.builds(Thinking, SAYINGS, TOKENS, st.booleans())
TEXTS: Final = st.builds(Text, SAYINGS, signature=TOKENS)
IDS: Final = st.sampled_from(
    ["", "c1", "c2", "call/3|fc_1", "x" * 64, "x" * 80, "x" * 81, "toolu_1", "é"]
)
CALLS: Final = st.builds(
    ToolCall.parse,
    st.sampled_from(["look", "", "look now!", "y" * 90, "fs.read"]) | SAYINGS,
    st.sampled_from(["{}", "", " ", "[", "[1]", '{"a":1}', '{"a":"\\ud800"}', "NaN"]),
    IDS,
)
Outcome: TypeAlias = Literal["ok", "error"]
OUTCOMES: Final = st.sampled_from(["ok", "error", "timeout", "interrupted"])
SAID: Final = st.lists(TEXTS | IMAGES | THOUGHTS, max_size=3)
REPLIES: Final = st.builds(
    AssistantMessage,
    st.lists(TEXTS | IMAGES | THOUGHTS | CALLS, max_size=5),
    model=MAKERS,
    finish=st.sampled_from(["end", "tools", "length", "refusal", "error", "aborted"]),
)
MESSAGES: Final[st.SearchStrategy[Message]] = st.one_of(
    st.builds(UserMessage, SAID),
    st.builds(SystemMessage, SAID),
    REPLIES,
    REPLIES,
    st.builds(ToolResultMessage, IDS, st.just("look"), SAID, OUTCOMES),
    st.builds(CustomMessage, st.just("note"), st.just(1)),
)
HISTORIES: Final = st.lists(MESSAGES, max_size=9)
TOOLS: Final = st.sets(st.sampled_from(["look", "find", "final_output"])).map(
    lambda names: tuple(ToolSpec(name) for name in sorted(names))
)
LEVELS: Final[st.SearchStrategy[Json]] = st.sampled_from(
    [None, "off", "low", "medium", "high"]
)
OPTIONS: Final = st.fixed_dictionaries(
    {},
    optional={
        "max_tokens": st.sampled_from([1, 1_024, 2_047, 2_048, 5_000, 64_000]),
        "tool_choice": st.just({"type": "auto"}),
        "cache_control": st.none(),
        "temperature": st.just(0),
    },
)

LEAVES: Final[st.SearchStrategy[Json]] = st.sampled_from(
    [
        {"type": "integer", "minimum": 1},
        {"type": "string", "format": "email", "maxLength": 3},
        {"type": "string", "format": "odd"},
        {"type": ["string", "null"]},
        {"enum": ["a", None, 1]},
        {"const": 1},
        {"$ref": "#/$defs/A"},
        {"$ref": "#/$defs/B", "description": "b"},
        {"type": "object"},
        {},
        True,
    ]
)


COMBINED: Final = ("anyOf", "oneOf", "allOf")
CLOSED: Final = st.sampled_from([{}, {"additionalProperties": False}, {"title": "T"}])


def an_object(properties: Json, more: dict[str, Json]) -> Json:
    return {"type": "object", "properties": properties, **more}


def an_array(items: Json, least: int) -> Json:
    return {"type": "array", "items": items, "minItems": least}


def combined(word: str, several: Json) -> Json:
    return {word: several}


def nested(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    """Schemas of these."""
    named = st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
    several = st.lists(inner, min_size=1, max_size=2)
    return st.one_of(
        st.builds(an_object, named, CLOSED),
        st.builds(an_array, inner, st.integers(0, 2)),
        st.builds(combined, st.sampled_from(COMBINED), several),
    )


def defining(schema: Json, definitions: dict[str, Json]) -> dict[str, Json]:
    rest = {"anyOf": [schema]} if schema is True else schema
    return {**rest, "$defs": definitions}


SCHEMAS: Final[st.SearchStrategy[dict[str, Json]]] = st.builds(
    defining,
    st.recursive(LEAVES, nested, max_leaves=5),
    st.fixed_dictionaries({"A": LEAVES, "B": LEAVES}),
)


@st.composite
def effects(draw: st.DrawFn) -> CallModel:
    """What a run may ask of a model, at its oddest."""
    output = draw(st.none() | SCHEMAS)
    return CallModel(
        "r1.1.1.model.1",
        draw(st.sampled_from(NAMES)),
        draw(HISTORIES),
        draw(SAYINGS),
        draw(TOOLS),
        thinking=draw(LEVELS),
        options=draw(OPTIONS),
        output=None if output is None else freeze_object(output),
    )


@given(effects())
def test_any_request_is_one_that_the_service_takes(asked: CallModel) -> None:
    assert problems(encode(asked).body) == []


def shows(history: Iterable[Message], model: str = NAMES[0]) -> list[Json]:
    """The messages of a request that shows these."""
    effect = CallModel("i", model, list(history), options={"cache_control": None})
    return list(json.loads(encode(effect).body)["messages"])


def read_back(messages: Iterable[Json], model: str) -> list[Message]:
    """The history that these messages of a request are."""
    found = list[Message]()
    names = dict[str, str]()
    for message in messages:
        if message["role"] == "assistant":
            names |= {b["id"]: b["name"] for b in message["content"] if "id" in b}
            parts = [part(block) for block in message["content"]]
            found.append(AssistantMessage(parts, model=model))
            continue
        for block in message["content"]:
            if block["type"] != "tool_result":
                found.append(UserMessage([part(block)]))
                continue
            outcome: Outcome = "error" if block.get("is_error") else "ok"
            said = [part(inner) for inner in block["content"]]
            call_id = block["tool_use_id"]
            found.append(ToolResultMessage(call_id, names[call_id], said, outcome))
    return found


def part(block: Any) -> Any:
    """The part that a block is."""
    match block["type"]:
        case "text":
            return Text(block["text"])
        case "image":
            return Image(block["source"]["data"], block["source"]["media_type"])
        case "thinking":
            return Thinking(block["thinking"], block["signature"])
        case "redacted_thinking":
            return Thinking("", block["data"], redacted=True)
        case _:
            return ToolCall(block["name"], block["input"], block["id"])


@given(HISTORIES, st.sampled_from(NAMES))
def test_adapting_twice_is_adapting_once(history: list[Message], model: str) -> None:
    """What was sent, taken for history, is sent as it is; so is what `project` leaves."""
    once = shows(history, model)
    assert shows(read_back(once, model), model) == once
    assert shows(project(history), model) == once


def said(messages: list[Json]) -> list[tuple[str, Json]]:
    """Each block, and who says it; less what stands for nothing at the end."""
    found = [(m["role"], block) for m in messages for block in m["content"]]
    made_up = (
        {"type": "text", "text": "[Go on.]"},
        {
            "type": "text",
            "text": "[Nothing was said yet.]",
        },
    )
    return found[:-1] if found[-1][1] in made_up else found


@given(HISTORIES, HISTORIES)
def test_a_longer_conversation_begins_with_the_same_blocks(
    before: list[Message], after: list[Message]
) -> None:
    """Unless what comes later belongs to what was said before: results, at most."""
    shorter, longer = list(project(before)), list(project([*before, *after]))
    if longer[: len(shorter)] == shorter:
        first = said(shows(shorter))
        assert said(shows(longer))[: len(first)] == first


@given(st.lists(HISTORIES, min_size=1, max_size=4), st.sampled_from(NAMES), TOOLS)
def test_what_is_kept_of_earlier_requests_changes_nothing(
    turns: list[list[Message]], model: str, tools: tuple[ToolSpec, ...]
) -> None:
    """One encoder for a conversation that goes on gives what a new one gives."""
    encoder, history = Encoder(), list[Message]()
    for turn in turns:
        history += turn
        effect = CallModel("i", model, list(history), tools=tools)
        assert encoder(effect).body == encode(effect).body
        other = CallModel("i", NAMES[1], list(history[:2]), tools=tools)
        assert encoder(other).body == encode(other).body


@given(SCHEMAS)
def test_a_schema_is_cut_once(schema: dict[str, Json]) -> None:
    found = cut_schema(schema)
    assert found is None or cut_schema(found) == found


# Responses.

WORDS: Final = st.text(min_size=1, max_size=12)
ARGUMENTS: Final = st.dictionaries(
    st.text(max_size=4), st.text(max_size=8) | st.integers(), max_size=3
)
CUTS: Final = st.lists(st.integers(0, 10_000), max_size=12)
ENDS: Final = st.sampled_from([b"\n", b"\r\n", b"\r"])
HEARTBEATS: Final = st.sampled_from(
    [
        b"",
        b":\n\n",
        b": ping\n\n",
        b'event: ping\ndata: {"type": "ping"}\n\n',
        b"data:\n\n",
    ]
)


@frozen
class Said:
    """A part of a reply, as a server streams it and as it says it at once."""

    part: Any
    stream: bytes
    block: Json


def pieces(draw: st.DrawFn, whole: str) -> list[str]:
    """The text as a server may part it: also inside a character that JSON escapes."""
    units = whole.encode("utf-16-le", "surrogatepass")
    size = draw(st.integers(1, 5)) * 2
    return [
        units[place : place + size].decode("utf-16-le", "surrogatepass")
        for place in range(0, len(units), size)
    ]


@st.composite
def parts(draw: st.DrawFn, place: int) -> Said:
    """A part of a reply at this place."""
    kind = draw(st.sampled_from(["text", "thinking", "redacted", "call"]))
    words = draw(WORDS)
    if kind == "text":
        block = {"type": "text", "text": words}
        return Said(Text(words), text(place, *pieces(draw, words)), block)
    if kind == "thinking":
        block = {"type": "thinking", "thinking": words, "signature": "sig"}
        stream = thought(place, "sig", *pieces(draw, words))
        return Said(Thinking(words, "sig"), stream, block)
    if kind == "redacted":
        block = {"type": "redacted_thinking", "data": "Em0="}
        stream = opened(place, "redacted_thinking", data="Em0=") + closed(place)
        return Said(Thinking("", "Em0=", redacted=True), stream, block)
    arguments = draw(ARGUMENTS)
    raw = json.dumps(arguments, ensure_ascii=draw(st.booleans()))
    called = {"id": f"k{place}", "name": words, "input": arguments}
    stream = call(place, f"k{place}", words, *pieces(draw, raw))
    made = ToolCall.parse(words, raw, f"k{place}")
    return Said(made, stream, {"type": "tool_use", **called})


@st.composite
def replies(draw: st.DrawFn) -> list[Said]:
    return [draw(parts(place)) for place in range(draw(st.integers(0, 4)))]


def message(reply: list[Said]) -> AssistantMessage:
    found = AssistantMessage(
        [one.part for one in reply], model=MODEL, usage=Usage(7, 3)
    )
    calls = AssistantMessage(
        found.parts, model=MODEL, finish="tools", usage=Usage(7, 3)
    )
    return calls if found.calls else found


@st.composite
def streams(draw: st.DrawFn) -> tuple[list[Said], bytes]:
    """A reply, and a stream that says it."""
    reply = draw(replies())
    reason = "tool_use" if message(reply).calls else "end_turn"
    events = [
        start(input_tokens=7, output_tokens=1),
        *(one.stream for one in reply),
        ended(reason, output_tokens=3),
        STOP,
    ]
    beat = draw(HEARTBEATS)
    return reply, beat.join([b"", *events]).replace(b"\n", draw(ENDS))


def reads(body: bytes, places: list[int]) -> list[bytes]:
    return cut(body, {place % (len(body) + 1) for place in places})


@given(streams(), CUTS)
def test_a_reply_is_read_whole_however_it_is_said_and_cut(
    streamed: tuple[list[Said], bytes], places: list[int]
) -> None:
    """`feed` also asserts that what was told adds up to the message."""
    reply, body = streamed
    assert feed(reads(body, places)) == message(reply)


@given(streams(), st.integers(0, 10_000))
def test_a_cut_stream_is_never_a_whole_reply(
    streamed: tuple[list[Said], bytes], place: int
) -> None:
    """A beginning of a stream is a fault that holds a beginning of the reply."""
    reply, body = streamed
    shorter = body[: place % len(body)]
    found = feed([shorter])
    if b'"message_delta"' in shorter and isinstance(found, AssistantMessage):
        assert found.parts == message(reply).parts
        return
    assert isinstance(found, ModelError)
    assert found.kind == "cut_stream" or len(shorter) < len(b"event:")
    begun = found.partial.text if found.partial else ""
    assert message(reply).text.startswith(begun.rstrip("\ufffd"))


def alike(parts: Iterable[Any]) -> list[Any]:
    """The parts, their calls without the text of their arguments."""
    return [
        (part.name, part.arguments, part.id) if isinstance(part, ToolCall) else part
        for part in parts
    ]


@given(replies())
def test_a_reply_is_the_same_in_one_piece(reply: list[Said]) -> None:
    counts = {"input_tokens": 7, "output_tokens": 3}
    found = feed([whole(*(one.block for one in reply), usage=counts)])
    assert isinstance(found, AssistantMessage)
    assert alike(found.parts) == alike(message(reply).parts)
    assert (found.finish, found.usage) == (message(reply).finish, Usage(7, 3))


WORDS_OF_IT: Final = (
    *(
        "type",
        "index",
        "delta",
        "content_block",
        "message",
        "content",
        "error",
        "usage",
    ),
    *("text", "thinking", "signature", "data", "partial_json", "id", "name", "input"),
    *("stop_reason", "stop_details", "output_tokens", "input_tokens"),
)
KINDS: Final = st.sampled_from(
    (
        *(
            "message_start",
            "content_block_start",
            "content_block_delta",
            "message_delta",
        ),
        *("content_block_stop", "message_stop", "message", "error", "ping", "text"),
        *(
            "tool_use",
            "thinking",
            "redacted_thinking",
            "text_delta",
            "input_json_delta",
        ),
        *("signature_delta", "thinking_delta", "server_tool_use", "odd"),
    )
)
LOOSE: Final[st.SearchStrategy[Json]] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | KINDS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(WORDS_OF_IT), inner, max_size=4)
    ),
    max_leaves=20,
)


def an_event(kind: str, fields: dict[str, Json]) -> bytes:
    return event(kind, **fields)


EVENTS: Final = st.builds(
    an_event,
    KINDS,
    st.dictionaries(st.sampled_from(WORDS_OF_IT[1:]), LOOSE, max_size=3),
)


@given(st.lists(EVENTS, max_size=6), CUTS)
def test_any_events_are_a_reply_or_a_fault(
    events: list[bytes], places: list[int]
) -> None:
    body = b"".join(events)
    assert unquoted(feed(reads(body, places))) == unquoted(feed([body]))


@given(LOOSE, CUTS)
def test_any_json_is_a_reply_or_a_fault(value: Json, places: list[int]) -> None:
    for body in (
        json.dumps(value).encode(),
        json.dumps({"type": "message", "content": value}).encode(),
        b"data: " + json.dumps(value).encode() + b"\n\n",
    ):
        assert feed(reads(body, places)) == feed([body])


@given(st.binary(max_size=200), CUTS)
def test_any_bytes_are_a_fault(body: bytes, places: list[int]) -> None:
    found = feed(reads(body, places))
    assert isinstance(found, ModelError)
    assert found == feed([body])
