"""Responses that no sound server gives: each is one result, and never an empty success."""

import json
from collections.abc import Callable, Iterable
from typing import Any, Final

import pytest
from attrs import evolve

from loopcore import (
    AssistantMessage,
    CallModel,
    ModelError,
    UserMessage,
)
from loopcore_adapters.connect import WIRES
from loopcore_adapters.faults import retry_after
from tests import chat_server as chat
from tests import gemini_reading as gemini
from tests import messages_reading as messages
from tests import responses_reading as responses
from tests.counting import calls
from tests.reading import Told
from tests.responses_reading import begins, event, said, whole
from tests.wire_rules import MODELS

Json = Any
Result = AssistantMessage | ModelError


def read(wire: str, reads: Iterable[bytes], **more: Json) -> Result:
    """The result of these reads."""
    call = CallModel("r1.1.1.model.1", MODELS[wire], [UserMessage("hi")])
    decoder: Json = WIRES[wire].decode(call, Told())
    for name, value in more.items():
        setattr(decoder, name, value)
    for data in reads:
        if decoder.feed(data):
            break
    found: Result = decoder.finish()
    return found


def parts_of(found: Result) -> list[Json]:
    """The parts of a reply."""
    assert isinstance(found, AssistantMessage), found
    return list(found.parts)


def fault_of(found: Result) -> ModelError:
    """The fault that there is instead of a reply."""
    assert isinstance(found, ModelError), found
    return found


SIZES: Final = 200, 1_600
"""How many pieces are sent, at first and then."""


def steps(wire: str, body: bytes) -> int:
    """How many functions are called to read this."""
    return calls(lambda: read(wire, [body]))


def many_new_ids(count: int) -> bytes:
    """Calls that are announced under other ids than they are given at the end."""
    begun = [begins("function_call", n, id=f"a{n}") for n in range(count)]
    output = [responses.call("look", "{}", "c", id=f"b{n}") for n in range(count)]
    return b"".join([*begun, responses.ended(output=output)])


def many_wholes(count: int) -> bytes:
    """A long text that is said to be whole, again and again, and to be another."""
    again = event("response.output_text.done", text="y") * count
    return b"".join([said("x" * 50 * count), again, responses.ended()])


def many_pictures(count: int) -> bytes:
    """Images in one response."""
    image = {"type": "image_generation_call", "result": "Zm9v"}
    return responses.ended(output=[image] * count)


@pytest.mark.parametrize("sent", [many_new_ids, many_wholes, many_pictures])
def test_the_work_to_read_grows_as_what_is_read(sent: Callable[[int], bytes]) -> None:
    """Eight times as much takes eight times the steps, and not sixty-four times."""
    few, many = map(sent, SIZES)

    assert steps("responses", many) < 10 * steps("responses", few)


class TestResponses:
    @pytest.mark.parametrize(
        "body",
        [
            event("response.completed"),
            event("response.completed", response=[]),
            event("response.completed", response={"id": "resp_1"}),
            event("response.completed", response={"output": 7}),
            responses.ended(output=7),
            responses.ended(output=[7]),
            responses.ended(output=[{"type": "mystery", "text": "Hello."}]),
            responses.ended(output=[{**responses.message(), "content": 7}]),
            responses.ended(output=[{**responses.message(), "content": [7]}]),
            responses.ended(
                output=[
                    {**responses.message(), "content": [{"type": "audio", "x": "y"}]}
                ]
            ),
            responses.ended(
                output=[
                    {
                        **responses.message(),
                        "content": [{"type": "output_text", "text": 7}],
                    }
                ]
            ),
            responses.body({"type": "custom_tool_call", "input": "x"}),
            json.dumps({"status": "completed"}).encode(),
            b"".join([whole("mystery", text="Hello."), responses.ended(output=[])]),
        ],
    )
    def test_what_is_not_understood_is_no_empty_success(self, body: bytes) -> None:
        assert responses.error(body).kind == "bad_response"

    @pytest.mark.parametrize(
        "output", [[], [responses.message()], [responses.message("")]]
    )
    def test_a_model_may_have_nothing_to_say(self, output: Json) -> None:
        assert list(responses.reply(responses.body(*output)).parts) == []

    def test_what_is_not_known_beside_an_answer_is_passed_over(self) -> None:
        search = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
        body = responses.body(search, responses.message("Found."))
        assert responses.reply(body).text == "Found."

    @pytest.mark.parametrize("kind", ["failed", "completed", "incomplete"])
    @pytest.mark.parametrize("status", ["completed", "failed", "incomplete", None])
    def test_an_error_is_no_reply_whatever_the_event_and_the_status(
        self, kind: str, status: Json
    ) -> None:
        error = {"code": "rate_limit_exceeded", "message": "Slow down."}
        none = list[Json]()
        response: Json = {"status": status, "error": error, "output": none}
        found = responses.error(said("A"), event(f"response.{kind}", response=response))
        assert (found.kind, found.message) == ("rate_limit", "Slow down.")

    def test_an_event_of_failure_is_no_reply_whatever_its_status(self) -> None:
        end = event("response.failed", response={"status": "completed"})
        assert responses.error(said("A"), end).kind == "server"

    def test_an_item_that_is_announced_again_is_the_same(self) -> None:
        added = begins("function_call", id="fc_1", call_id="c1", name="look")
        done = whole(
            "function_call", id="fc_1", call_id="c1", name="look", arguments="{}"
        )
        found = responses.reply(
            added, added, done, done, responses.ended(output=[]), added
        )
        assert [made.id for made in found.calls] == ["c1"]

    def test_items_that_share_an_id_are_told_apart_by_their_places(self) -> None:
        sent = [
            begins("function_call", n, id="fc_0", call_id=f"c{n}", name="look")
            for n in range(3)
        ]
        found = responses.reply(*sent, responses.ended(output=[]))
        assert [made.id for made in found.calls] == ["c0", "c1", "c2"]


# The other wires.


def completion(**message: Json) -> bytes:
    """A chat completion in one piece."""
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return json.dumps({"object": "chat.completion", "choices": [choice]}).encode()


def contents(content: Json) -> bytes:
    """A response of generateContent with this content."""
    candidate = {"content": content, "finishReason": "STOP", "index": 0}
    return gemini.event({"candidates": [candidate]})


def delta(kind: str, **fields: Json) -> bytes:
    """A reply of one delta over Messages."""
    said = [messages.opened(0, text=""), messages.grown(0, kind, **fields)]
    return b"".join([messages.start(), *said, messages.ended(), messages.STOP])


ODD: Final[list[tuple[str, bytes]]] = [
    ("chat", completion(content=7)),
    ("chat", completion(content={"text": "Hello."})),
    ("chat", completion(content=[7])),
    ("chat", completion(content=[{"type": "audio", "data": "x"}])),
    ("chat", completion(content=None, tool_calls={"name": "look"})),
    ("chat", completion(content=None, audio={"transcript": "Hello.", "data": "x"})),
    ("chat", completion(content=None, reasoning_content={"text": "hm"})),
    ("chat", chat.delta(reasoning=["hm"]) + chat.finish("stop") + chat.DONE),
    ("chat", chat.delta(content=7) + chat.finish("stop") + chat.DONE),
    ("messages", messages.whole(7, 7)),
    ("messages", messages.whole({"type": "text", "text": 7})),
    ("messages", messages.whole({"type": "mystery"})),
    ("messages", b'{"type":"message","content":7,"stop_reason":"end_turn"}'),
    ("messages", b'{"type":"message","content":{},"stop_reason":"end_turn"}'),
    ("messages", delta("text", text=7)),
    ("messages", delta("mystery", text="Hello.")),
    ("gemini", contents(7)),
    ("gemini", contents([{"text": "Hello."}])),
    ("gemini", contents({"parts": {"text": "Hello."}})),
    ("gemini", contents({"parts": "Hello."})),
    ("gemini", contents({"parts": ["Hello."]})),
    ("gemini", contents({"parts": [{"text": 7}]})),
    ("gemini", contents({"parts": [{"mystery": "Hello."}]})),
    ("gemini", contents({"parts": [{"inlineData": {"mimeType": "audio/wav"}}]})),
    ("gemini", contents({"parts": [{"fileData": {"fileUri": "https://h/f"}}]})),
    ("gemini", contents({"parts": [{"functionCall": "look"}]})),
]


@pytest.mark.parametrize(("wire", "body"), ODD)
def test_what_is_not_understood_is_no_empty_success(wire: str, body: bytes) -> None:
    assert fault_of(read(wire, [body])).kind == "bad_response"


BROKEN_OFF: Final = {
    "a field": b'error: {"code":500,"message":"Out of memory.","type":"server_error"}',
    "a line": b'{"error":{"code":500,"message":"Out of memory.","status":"INTERNAL"}}',
    "an event": b'event: error\ndata: {"error":{"code":500,"message":"Out of memory."}}',
}
BEGUN: Final = {
    "chat": chat.delta(content="Hel"),
    "responses": said("Hel"),
    "messages": messages.start() + messages.text(0, "Hel"),
    "gemini": gemini.says("Hel"),
}


@pytest.mark.parametrize("end", ["\n\n", "\r\n", ""])
@pytest.mark.parametrize("way", BROKEN_OFF)
@pytest.mark.parametrize("wire", WIRES)
def test_why_a_server_breaks_off_is_told_however_it_says_it(
    wire: str, way: str, end: str
) -> None:
    """Some do not dress it as an event; what had come is kept."""
    body = BEGUN[wire] + BROKEN_OFF[way] + end.encode()
    found = fault_of(read(wire, [body]))
    assert (found.message, found.kind) == ("Out of memory.", "server")
    assert found.partial == evolve(found.partial or AssistantMessage(()), content="Hel")
    assert found == read(wire, [bytes([one]) for one in body])


@pytest.mark.parametrize("wire", WIRES)
def test_a_stream_that_breaks_off_in_its_first_event_is_cut(wire: str) -> None:
    """It may well have been a reply, so it is worth another try."""
    first = BEGUN[wire].replace(b"\r", b"").split(b"\n\n", maxsplit=1)[0]
    for length in range(6, len(first) - 1):
        found = fault_of(read(wire, [first[:length]]))
        assert (found.kind, found.partial) == ("cut_stream", None), first[:length]
    assert fault_of(read(wire, [b"data: 7\n\ndat"])).kind == "bad_response"
    assert fault_of(read(wire, [b"database: broken"])).kind == "bad_response"


SILENT: Final[list[tuple[str, bytes]]] = [
    ("chat", completion(content="")),
    ("chat", completion(content=None)),
    ("chat", completion(content=[])),
    ("chat", completion(content=[{"type": "text", "text": ""}])),
    ("messages", messages.whole()),
    ("messages", messages.whole({"type": "text", "text": ""})),
    ("messages", delta("text", text="")),
    ("gemini", contents(None)),
    ("gemini", contents({})),
    ("gemini", contents({"parts": []})),
    ("gemini", contents({"parts": [{"text": ""}]})),
    ("gemini", contents({"parts": [{"text": "", "thoughtSignature": "c2ln"}]})),
]


@pytest.mark.parametrize(("wire", "body"), SILENT)
def test_a_model_may_have_nothing_to_say(wire: str, body: bytes) -> None:
    found = read(wire, [body])
    assert isinstance(found, AssistantMessage)
    assert (found.text, found.finish) == ("", "end")


def test_a_call_that_is_announced_again_is_the_same() -> None:
    """Over Messages; else a tool would run twice."""
    opened = messages.opened(0, "tool_use", id="t1", name="look", input={})
    piece = messages.grown(0, "input_json", partial_json='{"a": 1}')
    end = messages.ended("tool_use") + messages.STOP
    found = read("messages", [opened + opened + piece + opened + end])
    assert [(one.id, one.arguments) for one in parts_of(found)] == [("t1", {"a": 1})]


HALF: Final = "Zm9v\ud800"
PICTURES: Final = {
    "chat": chat.delta(images=[{"image_url": {"url": f"data:image/png;base64,{HALF}"}}])
    + chat.finish("stop")
    + chat.DONE,
    "responses": responses.ended(
        output=[
            {"type": "image_generation_call", "result": HALF, "output_format": HALF}
        ]
    ),
    "gemini": contents(
        {"parts": [{"inlineData": {"mimeType": f"image/{HALF}", "data": HALF}}]}
    ),
}


@pytest.mark.parametrize("wire", PICTURES)
def test_half_a_character_in_a_picture_can_be_stored(wire: str) -> None:
    (part,) = parts_of(read(wire, [PICTURES[wire]]))
    assert json.dumps([part.data, part.mime], ensure_ascii=False).encode()


LONG: Final = "x" * 100_000
FAULTS: Final[list[tuple[str, bytes]]] = [
    ("chat", chat.finish(LONG) + chat.DONE),
    ("messages", messages.start() + messages.ended(LONG) + messages.STOP),
    ("messages", messages.whole(reason="refusal", stop_details={"explanation": LONG})),
    ("messages", messages.whole(*({"type": f"t{n}"} for n in range(5_000)))),
    ("messages", messages.fails("api_error", LONG, request_id=LONG)),
    ("responses", responses.ended(LONG)),
    (
        "responses",
        responses.ended("incomplete", incomplete_details={"reason": LONG}),
    ),
    ("responses", responses.body(*({"type": f"t{n}"} for n in range(5_000)))),
    ("gemini", gemini.says(reason=LONG, responseId=LONG)),
    ("gemini", gemini.event({"promptFeedback": {"blockReason": LONG}})),
    ("gemini", contents({"parts": [{f"t{n}": 1} for n in range(5_000)]})),
]


@pytest.mark.parametrize(("wire", "body"), FAULTS)
def test_a_fault_is_told_briefly(wire: str, body: bytes) -> None:
    """Whatever a server puts into it: it is stored, and shown."""
    found = fault_of(read(wire, [body]))
    assert 0 < len(found.message) < 5_000
    assert len(found.request_id or "") <= 201


@pytest.mark.parametrize(
    "said",
    [
        *("nan", "inf", "1e400", "-5", "9" * 300, "5, 6", "\xff", ""),
        *("Fri, 31 Dec 9999 23:59:59 GMT", "Fri, 31 Dec 99999 23:59:59 GMT"),
    ],
    ids=lambda one: repr(one)[:40],
)
def test_who_asks_to_wait_for_ever_says_nothing_of_waiting(said: str) -> None:
    assert retry_after({"retry-after": said}, 0.0) is None
    assert retry_after({"retry-after-ms": said}, 0.0) is None


@pytest.mark.parametrize("wire", WIRES)
def test_a_stream_without_an_end_is_a_fault(wire: str) -> None:
    """Else it would fill the memory, however small its events are."""
    piece = {
        "chat": chat.delta(content="more "),
        "responses": said("more "),
        "messages": messages.grown(0, "text", text="more "),
        "gemini": gemini.says("more "),
    }[wire]
    call = CallModel("r1.1.1.model.1", MODELS[wire], [UserMessage("hi")])
    kind: Json = type(WIRES[wire].decode(call, Told()))
    decoder = kind(call, Told(), 1_000)
    assert any(decoder.feed(piece) for _ in range(2_000))
    found = fault_of(decoder.finish())
    assert (found.kind, found.partial is None) == ("bad_response", False)
    assert "more than 16000 bytes" in found.message
