"""generateContent: any reply is read, any history is sent, as the service would have it."""

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Any, Final

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
from loopcore.messages import Finish, Part
from loopcore_adapters.gemini import Encoder, encode
from loopcore_adapters.gemini.kept import keep
from loopcore_adapters.gemini.parts import UNSIGNED
from loopcore_adapters.loose import Json
from tests.gemini_reading import MODEL, called, counts, event, feed, said, thought
from tests.gemini_rules import NEWER, OLDER, Rules, accept
from tests.reading import cut

CUTS: Final = st.lists(st.integers(0, 10_000), max_size=12)
ENDS: Final = st.sampled_from([b"\n", b"\r\n", b"\r"])
HEARTBEATS: Final = st.sampled_from([b"", b":\n\n", b": ping\n\n", b"event: x\n\n"])
ARGUMENTS: Final = st.dictionaries(
    st.text(max_size=4), st.text(max_size=8) | st.integers(), max_size=3
)
SIGNATURES: Final = st.sampled_from([None, "c2ln", "b3RoZXI="])
PICTURE: Final = {"inlineData": {"mimeType": "image/png", "data": "Y2F0"}}


def sign(part: dict[str, Json], signature: str | None) -> dict[str, Json]:
    """The part, with this signature if there is one."""
    return part | ({"thoughtSignature": signature} if signature else {})


@frozen
class Said:
    """A part of a reply: what it is, and the pieces that a server may say it in."""

    parts: tuple[Part, ...]
    pieces: list[dict[str, Json]]


@st.composite
def words(draw: st.DrawFn) -> Said:
    text, thinks = draw(st.text(max_size=12)), draw(st.booleans())
    made: dict[str, Json] = thought(text) if thinks else {"text": text}
    signature = draw(SIGNATURES)
    if signature:
        part = Thinking(text, signature) if thinks else Text(text, signature=signature)
        return Said((part,), [sign(made, signature)])
    units = text.encode("utf-16-le")
    size = draw(st.integers(1, 5)) * 2
    cuts = range(0, len(units), size)
    pieces = [units[n : n + size].decode("utf-16-le", "surrogatepass") for n in cuts]
    part = Thinking(text) if thinks else Text(text)
    return Said((part,) if text else (), [made | {"text": piece} for piece in pieces])


@st.composite
def calls(draw: st.DrawFn) -> Said:
    name, args = draw(st.text(max_size=6)), draw(ARGUMENTS)
    number, signature = draw(st.integers(0, 99)), draw(SIGNATURES)
    text = json.dumps(args, ensure_ascii=False, separators=(",", ":"))
    parsed = ToolCall.parse(name, text, f"k{number}")
    call = ToolCall(name, parsed.arguments, parsed.id, raw=text, signature=signature)
    return Said((call,), [sign(called(name, args, id=f"k{number}"), signature)])


@st.composite
def shown(draw: st.DrawFn) -> Said:
    image, signature = Image("Y2F0", "image/png"), draw(SIGNATURES)
    signed = (keep({"thoughtSignature": signature}),) if signature else ()
    return Said((image, *signed), [sign(PICTURE, signature)])


@st.composite
def others(draw: st.DrawFn) -> Said:
    part = sign({"executableCode": {"code": draw(st.text(max_size=5))}}, None)
    return Said((keep(part),), [part])


def joined(parts: Iterable[Part]) -> list[Part]:
    """Unsigned words of one kind that stand side by side are one part."""
    found = list[Part]()
    for part in parts:
        match found[-1:], part:
            case [Text(before, signature=None)], Text(more, signature=None):
                found[-1] = Text(before + more)
            case [Thinking(before, None, False)], Thinking(more, None, False):
                found[-1] = Thinking(before + more)
            case _:
                found.append(part)
    return found


SAID: Final = st.one_of(words(), words(), calls(), shown(), others())


@st.composite
def streams(draw: st.DrawFn) -> tuple[AssistantMessage, bytes]:
    """A reply, and a stream that says it."""
    all_said = draw(st.lists(SAID, max_size=5))
    pieces = [piece for one in all_said for piece in one.pieces]
    chunks = list[bytes]()
    while pieces:
        size = draw(st.integers(1, 3))
        chunks.append(event(said(*pieces[:size])))
        pieces = pieces[size:]
    chunks.append(event(said(reason="STOP", usageMetadata=counts(7, 3))))
    found = joined(part for one in all_said for part in one.parts)
    tools = any(isinstance(part, ToolCall) for part in found)
    message = AssistantMessage(
        found, model=MODEL, finish="tools" if tools else "end", usage=Usage(7, 3)
    )
    beat = draw(HEARTBEATS)
    body = beat.join([b"", *chunks]).replace(b"\r\n", b"\n")
    return message, body.replace(b"\n", draw(ENDS))


@given(streams(), CUTS)
def test_a_reply_is_read_whole_however_it_is_said_and_cut(
    told: tuple[AssistantMessage, bytes], places: list[int]
) -> None:
    """`feed` also asserts that what was told adds up to the message."""
    message, body = told
    reads = cut(body, {place % (len(body) + 1) for place in places})
    assert feed(reads) == message


@given(streams(), st.integers(0, 10_000))
def test_a_cut_stream_is_never_a_whole_reply(
    told: tuple[AssistantMessage, bytes], place: int
) -> None:
    """A beginning of a stream is a fault that holds a beginning of the reply."""
    message, body = told
    shorter = body[: place % len(body)]
    found = feed([shorter])
    if isinstance(found, AssistantMessage):
        assert b'"finishReason": "STOP"' in shorter
        assert found.parts == message.parts
        return
    assert found.kind in {"cut_stream", "bad_response"}
    text = found.partial.text if found.partial else ""
    assert message.text.startswith(text.rstrip("\ufffd"))


NAMES: Final = (
    *("candidates", "content", "parts", "finishReason", "index", "error", "code"),
    *("text", "thought", "thoughtSignature", "functionCall", "name", "args", "id"),
    *("inlineData", "mimeType", "data", "promptFeedback", "blockReason", "details"),
    *("usageMetadata", "promptTokenCount", "executableCode", "message", "status"),
)
LOOSE: Final[st.SearchStrategy[Json]] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["STOP", "SAFETY", "image/png"])
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(st.lists(LOOSE, max_size=5), CUTS)
def test_any_json_is_a_reply_or_a_fault(chunks: list[Json], places: list[int]) -> None:
    shaped = [{"candidates": [{"content": {"parts": [chunk]}}]} for chunk in chunks]
    ended = event(said(reason="STOP"))
    for body in (
        b"".join(map(event, chunks)),
        b"".join(map(event, shaped)) + ended,
        json.dumps(chunks).encode(),
        json.dumps(shaped).encode(),
        *(json.dumps(chunk).encode() for chunk in chunks),
    ):
        reads = cut(body, {place % (len(body) + 1) for place in places})
        assert feed(reads) == feed([body])


@given(st.binary(max_size=200), CUTS)
def test_any_bytes_are_a_fault(body: bytes, places: list[int]) -> None:
    reads = cut(body, {place % (len(body) + 1) for place in places})
    found = feed(reads)
    assert isinstance(found, ModelError)
    assert found == feed([body])


MODELS: Final[dict[str, Rules]] = {MODEL: NEWER, "gemini:gemini-2.5-flash": OLDER}
MAKERS: Final = (*MODELS, "other:model", "")
TEXTS: Final = st.text(st.characters(exclude_categories=()), max_size=5)
IDS: Final = st.sampled_from(["", "c1", "c2", "call/3|fc", "x" * 200, "ü 1", "\ud800"])
FUNCTIONS: Final = st.sampled_from(["a", "fs.read", "", "7up", "odd name", "x" * 99])
IMAGES: Final = st.sampled_from(
    [
        *(Image("Y2F0", f"image/{kind}") for kind in ("png", "jpg", "heic", "gif")),
        Image("\ud800", "image/png"),
        Image("", "image/png"),
    ]
)
FINISHES: Final[tuple[Finish, ...]] = ("end", "tools", "length", "error", "aborted")
KEPT: Final[st.SearchStrategy[Json]] = st.sampled_from(
    [
        {"thoughtSignature": "c2ln"},
        {"executableCode": {"code": "1"}},
        {"toolCall": {"id": "1"}, "thoughtSignature": "c2ln"},
    ]
)


def signature_of(maker: str) -> str:
    """A signature that tells who made it."""
    return b64encode(f"by {maker}.".encode()).decode()


@st.composite
def replies(draw: st.DrawFn) -> AssistantMessage:
    """A reply by anyone, signed by its maker or not at all."""
    maker = draw(st.sampled_from(MAKERS))
    signed = st.sampled_from([None, signature_of(maker), "no base64", '{"a": 1}'])
    raws = st.sampled_from(["{}", "", "[", '{"a":1}', '{"a": NaN}'])
    part = st.one_of(
        st.builds(Text, TEXTS, signature=signed),
        IMAGES,
        st.builds(Thinking, TEXTS, signed, st.booleans()),
        KEPT.map(keep) if maker in MODELS else st.nothing(),
        st.builds(ToolCall.parse, FUNCTIONS, raws, IDS),
        st.builds(ToolCall, FUNCTIONS, id=IDS, signature=signed),
    )
    parts = draw(st.lists(part, max_size=4))
    return AssistantMessage(parts, model=maker, finish=draw(st.sampled_from(FINISHES)))


PARTS: Final = st.lists(TEXTS.map(Text) | IMAGES, max_size=3)
RESULTS: Final = st.builds(
    ToolResultMessage,
    IDS,
    FUNCTIONS,
    PARTS,
    st.sampled_from(["ok", "error", "timeout"]),
)
HISTORY: Final[st.SearchStrategy[list[Message]]] = st.lists(
    st.one_of(
        st.builds(UserMessage, PARTS),
        replies(),
        RESULTS,
        st.builds(SystemMessage, TEXTS),
        st.just(CustomMessage("note", 1)),
    ),
    max_size=8,
)
TOOLS: Final = (ToolSpec("fs.read", "Reads."), ToolSpec("a", "", {"type": "object"}))


def request(history: Iterable[Message], model: str, system: str = "") -> CallModel:
    return CallModel("i", model, history, system, TOOLS)


@given(HISTORY, st.sampled_from(list(MODELS)), TEXTS)
def test_any_history_is_one_that_the_service_takes(
    history: list[Message], model: str, system: str
) -> None:
    """Invariant 10: the strict validator speaks for the service."""
    body = accept(encode(request(history, model, system)), MODELS[model])
    assert body["contents"]


@given(HISTORY, st.sampled_from(list(MODELS)))
def test_a_signature_goes_to_its_maker_only(history: list[Message], model: str) -> None:
    body = encode(request(history, model)).body.decode()
    for maker in MAKERS:
        assert maker == model or signature_of(maker) not in body
    assert model == MODEL or UNSIGNED not in body


def read_back(contents: Iterable[Any], model: str) -> Iterator[Message]:
    """A history of which these are the contents."""
    waiting = list[str]()
    for place, content in enumerate(contents):
        parts = content["parts"]
        if content["role"] == "model":
            waiting = [
                part["functionCall"].get("id", f"{place}.{n}")
                for n, part in enumerate(parts)
                if "functionCall" in part
            ]
            ids = iter(waiting)
            made = [one for part in parts for one in _part(part, ids)]
            yield AssistantMessage(made, model=model)
        elif "functionResponse" in parts[0]:
            for part, call_id in zip(parts, waiting, strict=True):
                yield _result(part["functionResponse"], call_id)
        else:
            yield UserMessage([one for part in parts for one in _part(part, iter(()))])


def _part(part: dict[str, Any], ids: Iterator[str]) -> Iterator[Part]:
    signature = part.get("thoughtSignature")
    if "functionCall" in part:
        call = part["functionCall"]
        yield ToolCall(call["name"], call["args"], next(ids), signature=signature)
    elif "inlineData" in part:
        yield Image(part["inlineData"]["data"], part["inlineData"]["mimeType"])
        if signature:
            yield keep({"thoughtSignature": signature})
    elif "text" not in part:
        yield keep(part)
    elif part.get("thought"):
        yield Thinking(part["text"], signature)
    else:
        yield Text(part["text"], signature=signature)


def _result(answer: dict[str, Any], call_id: str) -> ToolResultMessage:
    ((outcome, text),) = answer["response"].items()
    images = [inner["inlineData"] for inner in answer.get("parts", ())]
    seen = [Image(one["data"], one["mimeType"]) for one in images]
    said_in: list[Part] = [Text(text), *seen]
    if outcome == "output":
        return ToolResultMessage(call_id, answer["name"], said_in)
    return ToolResultMessage(call_id, answer["name"], said_in, "error")


@given(HISTORY, st.sampled_from(list(MODELS)))
def test_what_is_adapted_needs_no_more_of_it(
    history: list[Message], model: str
) -> None:
    """Adapting twice is adapting once: what was sent, taken as history, is sent again."""
    once = json.loads(encode(request(history, model)).body)["contents"]
    again = json.loads(encode(request(read_back(once, model), model)).body)
    assert again["contents"] == once
    assert encode(request(project(history), model)).body == (
        encode(request(history, model)).body
    )


@st.composite
def rounds(draw: st.DrawFn) -> list[list[Message]]:
    """What a run stores: prompts, and replies with their results beside them."""
    found = list[list[Message]]()
    for reply in draw(st.lists(replies(), min_size=1, max_size=5)):
        prompt = draw(st.booleans() | st.just(value=True))
        if prompt:
            found.append([UserMessage(draw(PARTS))])
        results = [
            ToolResultMessage(call.id, call.name, draw(PARTS)) for call in reply.calls
        ]
        found.append([reply, *results])
    return found


@given(rounds(), st.sampled_from(list(MODELS)))
def test_a_longer_conversation_begins_with_the_same_bytes(
    said_in: list[list[Message]], model: str
) -> None:
    """One connected model keeps what it made, and says the same as a fresh one."""
    encoder, before = Encoder(), b""
    for history in accumulate(said_in):
        body = encoder(request(history, model)).body
        assert body == encode(request(history, model)).body
        assert body.startswith(before)
        before = body.removesuffix(b"]}]}").removesuffix(_ENDING).removesuffix(_EMPTY)


_ENDING: Final = b']},{"role":"user","parts":[{"text":"[Go on.]"}'
_EMPTY: Final = b'{"role":"user","parts":[{"text":"[Nothing was said yet.]"}'
