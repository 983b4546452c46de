"""Responses that no sound server gives: each is one result, and never an empty success."""

import json
import time
from collections.abc import Callable, Iterable
from typing import Any, Final

import pytest

from loopcore import (
    AssistantMessage,
    CallModel,
    ModelError,
    UserMessage,
)
from loopcore_adapters.connect import WIRES
from tests import responses_reading as responses
from tests.chat_reading import Told
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
    return decoder.finish()


def parts_of(found: Result) -> list[Json]:
    """The parts of a reply."""
    assert isinstance(found, AssistantMessage), found
    return list(found.parts)


def fault_of(found: Result) -> ModelError:
    """The fault that there is instead of a reply."""
    assert isinstance(found, ModelError), found
    return found


SIZES: Final = 2_000, 16_000
"""How many pieces are sent, and how many of them take at most so many times as long."""


def seconds(wire: str, body: bytes) -> float:
    """How long it takes to read this."""
    began = time.process_time()
    read(wire, [body])
    return time.process_time() - began


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
def test_the_time_to_read_grows_as_what_is_read(sent: Callable[[int], bytes]) -> None:
    """Eight times as much may take twenty times as long, but not sixty-four times."""
    few, many = map(sent, SIZES)
    first = min(seconds("responses", few) for _ in range(3))
    assert min(seconds("responses", many) for _ in range(2)) < 20 * first + 0.05


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
