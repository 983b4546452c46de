"""Responses: for any history the request keeps the rules, for any stream the reply is one."""

import json
from typing import Any, Final

from attrs import evolve
from hypothesis import assume, given
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
    UserMessage,
    project,
)
from loopcore_adapters.responses import Encoder, encode
from loopcore_adapters.responses.dialect import (
    LLAMACPP,
    LOCAL,
    OPENAI,
    PLAIN,
    Dialect,
)
from tests.reading import cut, unquoted
from tests.responses_reading import MODEL, call, event, feed, message, stream, thought
from tests.responses_rules import Server, broken

Json = Any

DIALECTS: Final = st.sampled_from(
    [PLAIN, OPENAI, LOCAL, LLAMACPP, Dialect(images=False)]
)
IDS: Final = st.sampled_from(
    ["", "c1", "c2", "call_3|fc_3", "x" * 70, "functions.a:0", "\ud800", "中"]
)
TEXT: Final = st.text(max_size=5) | st.sampled_from(["", " ", "a\ud83d", "\u2028"])


def sealed(item_id: Json, **more: Json) -> str:
    """The signature of a thought."""
    item: Json = {"type": "reasoning", "id": item_id, "summary": [], **more}
    return json.dumps(item, separators=(",", ":"))


OPENED: Final = [{"type": "reasoning_text", "text": "hm"}]
THOUGHTS: Final = st.sampled_from(
    [
        None,
        "c2lnbmVk",
        "{",
        '[{"type":"reasoning.text"}]',
        *(sealed(name, encrypted_content="xx") for name in ("rs_1", "rs_2", "rs_3")),
        sealed("rs_4"),
        sealed("rs_5", content=OPENED, encrypted_content="xx"),
        sealed("rs_6", encrypted_content="xx")[:-4],
        sealed("rs 7\n", encrypted_content="xx"),
        '{"type":"reasoning","summary":[],"encrypted_content":"xx"}',
    ]
)
VOICES: Final = st.sampled_from(
    [
        None,
        "c2lnbmVk",
        "[]",
        *(json.dumps({"id": name}) for name in ("msg_1", "msg_2", "m", "msg_é", "")),
        '{"id":"msg_1","phase":"commentary"}',
        '{"id":"msg_3","phase":"final_answer","refusal":true}',
        '{"id":7,"phase":"odd"}',
    ]
)
ITEMS: Final = st.sampled_from([None, "fc_1", "fc_2", "fc_3", "fc é", '{"a":1}', "xx"])

TEXTS: Final = st.builds(Text, TEXT, signature=VOICES)
PICTURES: Final = st.just(Image("Y2F0", "image/png"))
THINKING: Final = st.builds(Thinking, TEXT, THOUGHTS, st.booleans())


def asks(name: str, arguments: str, call_id: str, signature: str | None) -> ToolCall:
    return evolve(ToolCall.parse(name, arguments, call_id), signature=signature)


CALLS: Final = st.builds(
    asks,
    st.sampled_from(["a", "b", "", "not a name", "x" * 70, "\ud800"]),
    st.sampled_from(["{}", "", "[", '{"a":1}', '{"a":NaN}', "7"]),
    IDS,
    ITEMS,
)
MODELS: Final = st.sampled_from([MODEL, MODEL, "other:model", ""])
FINISHES: Final = st.sampled_from(["end", "tools", "length", "refusal", "error"])
REPLIES: Final = st.builds(
    AssistantMessage,
    st.lists(TEXTS | PICTURES | THINKING | CALLS, max_size=6),
    model=MODELS,
    finish=FINISHES,
)
RESULTS: Final = st.builds(
    ToolResultMessage,
    IDS,
    st.sampled_from(["a", "\ud800"]),
    st.lists(TEXTS | PICTURES, max_size=3),
    st.sampled_from(["ok", "error", "timeout"]),
)
HISTORY: Final[st.SearchStrategy[list[Message]]] = st.lists(
    st.one_of(
        st.builds(UserMessage, st.lists(TEXTS | PICTURES | THINKING, max_size=3)),
        st.builds(SystemMessage, st.lists(TEXTS | PICTURES, max_size=2)),
        st.builds(CustomMessage, st.just("note"), st.just(None)),
        REPLIES,
        RESULTS,
    ),
    max_size=8,
)
OUTPUTS: Final[list[Json]] = [None, {"type": "object"}]
TOOLS: Final = (ToolSpec("a", "Does."), ToolSpec("b"))


@st.composite
def requests(draw: st.DrawFn) -> CallModel:
    """Any history in which somebody spoke, and any wish beside it."""
    return CallModel(
        draw(st.sampled_from(["i", "r1.1.1.model.1", "a\n.b.1.2.model.1"])),
        draw(st.sampled_from([MODEL, "openai:gpt-4o", "other:a:b"])),
        [*draw(HISTORY), UserMessage("hi"), *draw(HISTORY)],
        draw(st.sampled_from(["", "Be kind.", "\ud800"])),
        draw(st.sampled_from([(), TOOLS[:1], TOOLS])),
        thinking=draw(st.sampled_from([None, "off", "low", "high"])),
        output=draw(st.sampled_from(OUTPUTS)),
    )


def server_of(dialect: Dialect) -> Server:
    """A server that takes what this dialect says, and nothing else."""
    pictures, told = (dialect.images, dialect.result_images), dialect.role != "user"
    return Server(*pictures, open_thoughts=True, instructions=told)


@given(requests(), DIALECTS)
def test_any_request_keeps_the_rules(asked: CallModel, dialect: Dialect) -> None:
    """Whatever history holds, and whoever made it."""
    assert [] == broken(encode(asked, dialect).body, server_of(dialect))


@given(requests(), DIALECTS)
def test_to_adapt_twice_is_to_adapt_once(asked: CallModel, dialect: Dialect) -> None:
    projected = evolve(asked, messages=list(project(asked.messages)))

    assert encode(asked, dialect).body == encode(projected, dialect).body


@given(HISTORY, DIALECTS, st.lists(st.integers(0, 99), max_size=4))
def test_what_is_kept_of_a_conversation_changes_no_request(
    history: list[Message], dialect: Dialect, turns: list[int]
) -> None:
    """An encoder that has seen parts of it says what one says that saw nothing."""
    encoder = Encoder(dialect)
    for turn in turns:
        shown = history[: turn % (len(history) + 1)]
        for model in (MODEL, "other:model"):
            asked = CallModel("i", model, shown, tools=TOOLS[: turn % 3])
            assert encode(asked, dialect).body == encoder(asked).body


@given(HISTORY, DIALECTS, st.integers(0, 99))
def test_a_longer_conversation_begins_with_the_same_bytes(
    history: list[Message], dialect: Dialect, length: int
) -> None:
    """As long as somebody spoke, and nothing later answers what was asked before."""
    shorter = history[: length % (len(history) + 1)]
    sent, all_sent = tuple(project(shorter)), tuple(project(history))
    assume(sent == all_sent[: len(sent)])
    begins, longer = (
        encode(CallModel("i", MODEL, one), dialect).body.partition(b'],"include"')[0]
        for one in (shorter, history)
    )

    assume(NOBODY not in begins)
    assert longer.startswith(begins.removesuffix(GO_ON))


GO_ON: Final = b',{"role":"user","content":[{"type":"input_text","text":"[Go on.]"}]}'
NOBODY: Final = b"[Nothing was said yet.]"


@given(HISTORY, DIALECTS)
def test_nothing_of_another_models_secrets_is_sent(
    history: list[Message], dialect: Dialect
) -> None:
    """R2: signatures go only to the model that made them."""
    body = encode(CallModel("i", "mine:alone", history), dialect).body

    assert not any(word in body for word in (b"rs_", b"msg_", b'"fc_', b"c2lnbmVk"))


WORDS: Final = st.text(min_size=1, max_size=12)
ARGUMENTS: Final = st.dictionaries(
    st.text(max_size=4), st.text(max_size=8) | st.integers(), max_size=3
).map(json.dumps)


@st.composite
def outputs(draw: st.DrawFn) -> list[Json]:
    """The output of a response: thoughts, messages, calls, each with its own id."""
    kinds = draw(st.lists(st.sampled_from(["thought", "message", "call"]), max_size=5))
    return [_item(draw, kind, number) for number, kind in enumerate(kinds)]


def _item(draw: st.DrawFn, kind: str, number: int) -> Json:
    if kind == "thought":
        summary = draw(st.lists(WORDS, max_size=3))
        more = draw(st.sampled_from([{}, {"encrypted_content": "xx"}]))
        return thought(*summary, id=f"rs_{number}", **more)
    if kind == "message":
        return message(*draw(st.lists(WORDS, max_size=2)), id=f"msg_{number}")
    return call(draw(WORDS), draw(ARGUMENTS), f"c{number}", id=f"fc_{number}")


CUTS: Final = st.lists(st.integers(0, 10_000), max_size=12)
ENDS: Final = st.sampled_from([b"\n", b"\r\n", b"\r"])
BEATS: Final = st.sampled_from([b"", b":\n\n", b": ping\n\n", event("keepalive")])


@given(outputs(), st.integers(1, 6), CUTS, ENDS, BEATS)
def test_a_reply_is_read_whole_however_it_is_said_and_cut(
    output: list[Json], size: int, places: list[int], end: bytes, beat: bytes
) -> None:
    """`feed` also asserts that what was told adds up to the message."""
    sent = beat.join([b"", *stream(*output, size=size)]).replace(b"\n", end)
    bare = [one for one in stream(*output) if b"response.completed" in one]
    reads = cut(sent, {place % (len(sent) + 1) for place in places})

    assert feed(bare) == feed(reads)


@given(outputs(), st.sampled_from(["output_index", "item_id", "sequence_number"]))
def test_a_server_may_leave_a_field_out(output: list[Json], name: str) -> None:
    """llama.cpp's knows no places, others no ids."""
    sent = [_without(name, one) for one in stream(*output)]

    assert feed(stream(*output)) == feed(sent)


def _without(name: str, sent: bytes) -> bytes:
    said = json.loads(sent.partition(b"data: ")[2])
    said.pop(name, None)
    return event(said.pop("type"), **said)


@given(outputs(), st.integers(0, 10_000))
def test_a_cut_stream_is_never_a_whole_reply(output: list[Json], place: int) -> None:
    """A beginning of a stream is a fault that holds a beginning of the reply."""
    sent = b"".join(stream(*output))
    found = feed([sent[: place % (len(sent) - 2)]])

    assert isinstance(found, ModelError)
    assert found.kind in {"cut_stream", "bad_response"}


NAMES: Final = (
    *("type", "item", "item_id", "output_index", "content_index", "summary_index"),
    *("delta", "part", "text", "refusal", "arguments", "name", "id", "call_id"),
    *("response", "status", "output", "content", "summary", "error", "code", "usage"),
    *("input_tokens", "incomplete_details", "reason", "encrypted_content", "result"),
)
KINDS: Final = st.sampled_from(
    [
        *("response.output_text.delta", "response.output_text.done"),
        *("response.output_item.added", "response.output_item.done"),
        *("response.content_part.added", "response.content_part.done"),
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.reasoning_summary_text.delta",
        *("response.completed", "response.incomplete", "response.failed"),
        *("message", "reasoning", "function_call", "image_generation_call", "error"),
        *("output_text", "refusal", "summary_text", "completed", "incomplete"),
    ]
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
        | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5)
    ),
    max_leaves=20,
)


@given(st.lists(LOOSE, max_size=5), st.lists(KINDS, min_size=5, max_size=5), CUTS)
def test_any_json_is_a_reply_or_a_fault(
    values: list[Json], kinds: list[str], places: list[int]
) -> None:
    named = zip(kinds, values, strict=False)
    events = [event(kind, **one) for kind, one in named if _is_event(one)]
    bodies = [json.dumps(one).encode() for one in (values, {"output": values})]
    for body in (b"".join(events), b"".join(map(_bare, values)), *bodies):
        reads = cut(body, {place % (len(body) + 1) for place in places})
        assert unquoted(feed([body])) == unquoted(feed(reads))


def _is_event(value: Json) -> bool:
    return isinstance(value, dict) and "type" not in value


def _bare(value: Json) -> bytes:
    return f"data: {json.dumps(value)}\n\n".encode()
