"""Chat Completions: for any reply, any server's manner and any cut, the same comes out."""

import json
from typing import Final

from attrs import evolve, frozen
from hypothesis import assume, given
from hypothesis import strategies as st

from loopcore import (
    AssistantMessage,
    CallModel,
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
from loopcore_adapters.chat import Dialect, Encoder, encode
from loopcore_adapters.faults import http_fault
from loopcore_adapters.loose import Json
from loopcore_adapters.providers import PROVIDERS
from loopcore_adapters.sse import BOM, Events
from tests.chat_reading import MODEL, feed
from tests.chat_rules import Server, broken
from tests.chat_server import DONE, delta, event, finish, usage
from tests.reading import cut

WORDS: Final = st.text(min_size=1, max_size=12)
IDS: Final = st.sampled_from(["", "c1", "c2", "call/3|fc", "x" * 70, "functions.a:0"])
ARGUMENTS: Final = st.dictionaries(
    st.text(max_size=4), st.text(max_size=8) | st.integers(), max_size=3
)
CUTS: Final = st.lists(st.integers(0, 10_000), max_size=12)
ENDS: Final = st.sampled_from([b"\n", b"\r\n", b"\r"])
HEARTBEATS: Final = st.sampled_from([b"", b":\n\n", b": ping\n\n", b"event: x\n\n"])


@frozen
class Reply:
    """What a server has to say."""

    thinking: str
    text: str
    calls: list[tuple[str, str, str]]

    @property
    def message(self) -> AssistantMessage:
        thought = [Thinking(self.thinking)] if self.thinking else []
        text = [Text(self.text)] if self.text else []
        calls = [ToolCall.parse(name, args, id_) for id_, name, args in self.calls]
        return AssistantMessage(
            [*thought, *text, *calls],
            model=MODEL,
            finish="tools" if calls else "end",
            usage=Usage(7, 3),
        )


@st.composite
def replies(draw: st.DrawFn) -> Reply:
    names = draw(st.lists(WORDS, max_size=3))
    calls = [
        (
            f"k{place}",
            name,
            json.dumps(draw(ARGUMENTS), ensure_ascii=draw(st.booleans())),
        )
        for place, name in enumerate(names)
    ]
    return Reply(draw(st.text(max_size=12)), draw(st.text(max_size=12)), calls)


def pieces(draw: st.DrawFn, text: str) -> list[str]:
    """The text as a server may part it: also inside a character that JSON escapes."""
    units = text.encode("utf-16-le", "surrogatepass")
    size = draw(st.integers(1, 5)) * 2
    return [
        units[place : place + size].decode("utf-16-le", "surrogatepass")
        for place in range(0, len(units), size)
    ]


@st.composite
def streams(draw: st.DrawFn) -> tuple[Reply, bytes]:
    """A reply, and a stream that says it."""
    reply = draw(replies())
    chunks = [delta(reasoning_content=p) for p in pieces(draw, reply.thinking)]
    chunks += [delta(content=p) for p in pieces(draw, reply.text)]
    entries = [_entries(draw, place, call) for place, call in enumerate(reply.calls)]
    if draw(st.booleans()):
        entries = [_by_turns(entries)]
    chunks += [delta(tool_calls=[entry]) for call in entries for entry in call]
    chunks += [finish("tool_calls" if reply.calls else "stop"), usage(7, 3), DONE]
    beat = draw(HEARTBEATS)
    return reply, beat.join([b"", *chunks]).replace(b"\n", draw(ENDS))


def _entries(draw: st.DrawFn, place: int, call: tuple[str, str, str]) -> list[Json]:
    call_id, name, arguments = call
    first = {"index": place, "id": call_id, "function": {"name": name, "arguments": ""}}
    rest = [
        {"index": place, "function": {"arguments": p}} for p in pieces(draw, arguments)
    ]
    return [first, *rest]


def _by_turns(entries: list[list[Json]]) -> list[Json]:
    length = max(map(len, entries), default=0)
    return [one[n] for n in range(length) for one in entries if n < len(one)]


@given(streams(), CUTS)
def test_a_reply_is_read_whole_however_it_is_said_and_cut(
    said: tuple[Reply, bytes], places: list[int]
) -> None:
    """`feed` also asserts that what was told adds up to the message."""
    reply, body = said
    reads = cut(body, {place % (len(body) + 1) for place in places})
    assert feed(reads) == reply.message


@given(streams(), st.integers(0, 10_000))
def test_a_cut_stream_is_never_a_whole_reply(
    said: tuple[Reply, bytes], place: int
) -> None:
    """A beginning of a stream is a fault that holds a beginning of the reply."""
    reply, body = said
    shorter = body[: place % len(body)]
    found = feed([shorter])
    if b'"finish_reason": "' in shorter and isinstance(found, AssistantMessage):
        assert found.parts == reply.message.parts
        return
    assert isinstance(found, ModelError)
    assert found.kind in {"cut_stream", "bad_response"}
    text = found.partial.text if found.partial else ""
    assert reply.text.startswith(text.rstrip("\ufffd"))


@given(replies())
def test_a_reply_is_the_same_in_one_piece(reply: Reply) -> None:
    message = {
        "content": reply.text,
        "reasoning_content": reply.thinking,
        "tool_calls": [
            {"id": id_, "function": {"name": name, "arguments": arguments}}
            for id_, name, arguments in reply.calls
        ],
    }
    counts = {"prompt_tokens": 7, "completion_tokens": 3}
    body = {"choices": [{"message": message}], "usage": counts}
    assert feed([json.dumps(body).encode()]) == reply.message


NAMES: Final = (
    *("choices", "delta", "message", "finish_reason", "index", "error", "code", "type"),
    *("content", "text", "refusal", "reasoning", "reasoning_details", "signature"),
    *("tool_calls", "function", "name", "arguments", "id", "extra_content"),
    *("usage", "prompt_tokens", "prompt_tokens_details"),
)
LOOSE: Final[st.SearchStrategy[Json]] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(st.lists(LOOSE, max_size=5), CUTS)
def test_any_json_is_a_reply_or_a_fault(chunks: list[Json], places: list[int]) -> None:
    shaped = [{"choices": [{"delta": chunk, "index": 0}]} for chunk in chunks]
    for body in (
        b"".join(map(event, chunks)),
        b"".join(map(event, shaped)) + DONE,
        json.dumps(chunks).encode(),
        *(json.dumps(chunk).encode() for chunk in chunks),
        *(json.dumps({"choices": [{"message": c}]}).encode() for c in chunks),
    ):
        reads = cut(body, {place % (len(body) + 1) for place in places})
        assert feed(reads) == feed([body])


@given(st.binary(max_size=200), CUTS)
def test_any_bytes_are_a_fault(body: bytes, places: list[int]) -> None:
    reads = cut(body, {place % (len(body) + 1) for place in places})
    found = feed(reads)
    assert isinstance(found, ModelError)
    assert found == feed([body])


@given(
    st.integers(300, 599),
    st.dictionaries(st.sampled_from(["retry-after", "retry-after-ms"]), st.text()),
    st.binary(max_size=50) | LOOSE.map(lambda value: json.dumps(value).encode()),
)
def test_any_error_response_is_a_fault(
    status: int, headers: dict[str, str], body: bytes
) -> None:
    found = http_fault(status, headers, body, 0.0)
    assert found.status == status
    assert found.retry_after is None or found.retry_after >= 0


STREAM: Final = st.lists(
    st.sampled_from(
        (
            b"data: ",
            b"data:",
            b":",
            b"event: a",
            b"x",
            b"\n",
            b"\r",
            b"\r\n",
            b"\xff",
            "é".encode(),
            BOM,
        )
    ),
    max_size=30,
).map(b"".join)


@given(STREAM, CUTS)
def test_events_are_the_same_however_the_bytes_are_cut(
    body: bytes, places: list[int]
) -> None:
    def events(reads: list[bytes]) -> list[object]:
        decoder = Events()
        found: list[object] = [e for read in reads for e in decoder.feed(read)]
        return [*found, *decoder.finish()]

    reads = cut(body, {place % (len(body) + 1) for place in places})
    assert events(reads) == events([body])


PARTS: Final = st.one_of(
    st.text(max_size=5).map(Text),
    st.just(Image("Y2F0", "image/png")),
    st.builds(Thinking, st.text(max_size=5), st.none() | st.text(max_size=5)),
)
CALLS: Final = st.builds(
    ToolCall.parse,
    st.text(max_size=5),
    st.sampled_from(["{}", "", "[", '{"a":1}']),
    IDS,
)
MODELS: Final = st.sampled_from([MODEL, "other:model"])
HISTORY: Final[st.SearchStrategy[list[Message]]] = st.lists(
    st.one_of(
        st.builds(UserMessage, st.lists(PARTS, max_size=3)),
        st.builds(SystemMessage, st.lists(PARTS, max_size=3)),
        st.builds(AssistantMessage, st.lists(PARTS | CALLS, max_size=4), model=MODELS),
        st.builds(ToolResultMessage, IDS, st.just("a"), st.lists(PARTS, max_size=2)),
    ),
    max_size=8,
)


OUTPUTS: Final[list[Json]] = [None, {"type": "object"}]
TOOLS: Final = (ToolSpec("a", "Does."), ToolSpec("b"))
CHAT: Final = [name for name, provider in PROVIDERS.items() if "chat" in provider.wires]
EXTRAS: Final = frozenset(("thinking", "chat_template_kwargs", "enable_thinking")) | {
    "reasoning"
}
THOUGHTS: Final = frozenset(("reasoning", "reasoning_content", "reasoning_details"))


def dialect_of(provider: str) -> Dialect:
    encoder = PROVIDERS[provider].wires["chat"].encoder({})
    assert isinstance(encoder, Encoder)
    return encoder.dialect


def server_of(dialect: Dialect) -> Server:
    """A server that takes what this dialect says, and nothing else."""
    return Server(
        body=EXTRAS,
        assistant=THOUGHTS & {dialect.thinking},
        call=frozenset(("extra_content",)),
        parts=frozenset(("thinking",) if dialect.thinking == "content" else ()),
        call_id=dialect.call_id,
        images=dialect.images,
        system_once=dialect.system_once,
        ordered=dialect.ordered,
    )


@st.composite
def requests(draw: st.DrawFn) -> CallModel:
    """Any history in which somebody spoke, and any wish beside it."""
    return CallModel(
        "i",
        MODEL,
        [*draw(HISTORY), UserMessage("hi"), *draw(HISTORY)],
        draw(st.sampled_from(["", "Be kind.", "\ud800"])),
        draw(st.sampled_from([(), TOOLS[:1], TOOLS])),
        thinking=draw(st.sampled_from([None, "off", "low", "high"])),
        output=draw(st.sampled_from(OUTPUTS)),
    )


@given(requests(), st.sampled_from(CHAT))
def test_any_request_keeps_the_rules_of_any_server(call: CallModel, name: str) -> None:
    """Whatever history holds, and whoever made it."""
    dialect = dialect_of(name)

    assert broken(encode(call, dialect).body, server_of(dialect)) == []


@given(requests(), st.sampled_from(CHAT))
def test_to_adapt_twice_is_to_adapt_once(call: CallModel, name: str) -> None:
    dialect = dialect_of(name)
    projected = evolve(call, messages=list(project(call.messages)))

    assert encode(call, dialect).body == encode(projected, dialect).body


@given(HISTORY, st.sampled_from(CHAT), st.lists(st.integers(0, 99), max_size=4))
def test_what_is_kept_of_a_conversation_changes_no_request(
    history: list[Message], name: str, turns: list[int]
) -> None:
    """An encoder that has seen parts of it says what one says that saw nothing."""
    dialect = dialect_of(name)
    encoder = Encoder(dialect)
    for turn in turns:
        shown = history[: turn % (len(history) + 1)]
        for model in (MODEL, "other:model"):
            call = CallModel("i", model, shown, tools=TOOLS[: turn % 3])
            assert encoder(call).body == encode(call, dialect).body


@given(HISTORY, st.sampled_from(CHAT), st.integers(0, 99))
def test_a_longer_conversation_begins_with_the_same_bytes(
    history: list[Message], name: str, length: int
) -> None:
    """As long as somebody spoke, and nothing later answers what was asked before."""
    shorter = history[: length % (len(history) + 1)]
    sent, all_sent = tuple(project(shorter)), tuple(project(history))
    assume(sent == all_sent[: len(sent)])
    dialect = evolve(dialect_of(name), cache_marks=False)
    begins, rest = (
        encode(CallModel("i", MODEL, one), dialect).body.partition(b'],"stream"')[0]
        for one in (shorter, history)
    )

    assume(not begins.endswith(NOBODY))
    assert rest.startswith(begins.removesuffix(GO_ON))


GO_ON: Final = b',{"role":"user","content":"[Go on.]"}'
NOBODY: Final = b'{"role":"user","content":"[Nothing was said yet.]"}'
"""What stands only at the end."""
