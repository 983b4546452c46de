"""Responses of generateContent become one reply or one fault.

No server for it can be had here: the streams are made by hand, as Google's documentation
and its published protocol describe them.
"""

import json
import time
from collections.abc import Iterator
from itertools import pairwise
from random import Random
from typing import Final

import pytest

from loopcore import (
    AssistantMessage,
    CallModel,
    Image,
    ModelError,
    Text,
    Thinking,
    ToolCall,
    ToolSpec,
    Usage,
    UserMessage,
)
from loopcore_adapters.gemini import Decoder
from loopcore_adapters.gemini.decode import FAULTS, FINISHES
from loopcore_adapters.gemini.kept import keep
from loopcore_adapters.loose import Json
from tests.gemini_reading import (
    CALL,
    MODEL,
    SIGNED,
    STOP,
    called,
    counts,
    error,
    event,
    feed,
    reply,
    result,
    said,
    says,
    thought,
)
from tests.reading import Told, cut

OBJECT: Final[Json] = {"type": "object"}
EMPTY: Final[Json] = {}
NOTHING: Final = (EMPTY, {"candidates": [EMPTY]}, {"candidates": None})


def whole(value: Json) -> bytes:
    """A response in one piece."""
    return json.dumps(value, indent=2).encode()


def answer(
    *parts: Text | Thinking | Image | ToolCall, **more: Json
) -> AssistantMessage:
    return AssistantMessage(parts, model=MODEL, **more)


def picture(data: str = "Y2F0", mime: str = "image/png", **more: Json) -> Json:
    return {"inlineData": {"mimeType": mime, "data": data}, **more}


class TestText:
    def test_pieces_add_up(self) -> None:
        assert reply(says("a"), says("b"), STOP) == answer(Text("ab"))

    def test_a_response_in_one_piece_is_the_same(self) -> None:
        body = whole(said("a", "b", reason="STOP"))
        assert reply(body) == reply(says("a"), says("b"), STOP)

    def test_a_stream_without_events_is_an_array(self) -> None:
        """What a server sends that does not know `alt=sse`."""
        body = whole([said("a"), said("b", reason="STOP")])
        assert reply(body) == answer(Text("ab"))

    def test_a_body_may_begin_with_a_mark_and_blank_lines(self) -> None:
        body = b"\xef\xbb\xbf\n\n" + whole(said("a", reason="STOP"))
        assert reply(body) == answer(Text("a"))

    @pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
    def test_lines_end_in_any_way(self, end: bytes) -> None:
        """Report 47."""
        body = says("a") + says("b", reason="STOP")
        assert reply(body.replace(b"\r\n", end)) == answer(Text("ab"))

    def test_heartbeats_mean_nothing(self) -> None:
        """Reports 50 and 51."""
        pings = b":\r\n\r\n: WAIT\r\n\r\nevent: ping\r\ndata:\r\n\r\n"
        assert reply(pings, says("a"), pings, STOP, pings) == answer(Text("a"))

    def test_a_stream_may_begin_with_a_mark(self) -> None:
        """Report 48."""
        assert reply(b"\xef\xbb\xbf", says("a", reason="STOP")) == answer(Text("a"))

    def test_the_space_after_the_colon_is_optional(self) -> None:
        """Report 49."""
        body = says("a", reason="STOP").replace(b"data: ", b"data:")
        assert reply(body) == answer(Text("a"))

    def test_a_line_separator_is_a_character_like_others(self) -> None:
        """A raw U+2028 ends no line; nor is a character ever cut (report 44)."""
        raw = json.dumps(said("a\u2028中😀", reason="STOP"), ensure_ascii=False)
        assert reply(f"data: {raw}\n\n".encode()) == answer(Text("a\u2028中😀"))

    def test_a_character_cut_in_two_by_the_server_is_one(self) -> None:
        assert reply(says("a\ud83d"), says("\ude00b"), STOP).text == "a\U0001f600b"

    @pytest.mark.parametrize("half", [0xD83D, 0xDE00])
    def test_half_a_character_is_replaced(self, half: int) -> None:
        assert reply(says(f"a{chr(half)}"), STOP).text == "a\ufffd"

    def test_only_the_first_candidate_is_read(self) -> None:
        chunk = said("a", reason="STOP")
        other = said("b", reason="MAX_TOKENS")["candidates"][0] | {"index": 1}
        chunk["candidates"].insert(0, other)
        assert reply(event(chunk)) == answer(Text("a"))

    def test_a_candidate_may_lack_index_and_role(self) -> None:
        """Protocol buffers leave out what is zero."""
        candidate = {"content": {"parts": [{"text": "a"}]}, "finishReason": "STOP"}
        assert reply(event({"candidates": [candidate]})) == answer(Text("a"))

    def test_the_model_is_the_one_that_was_asked_for(self) -> None:
        body = says("a", reason="STOP", modelVersion="gemini-3-flash-001")
        assert reply(body).model == MODEL

    def test_the_last_event_needs_no_blank_line(self) -> None:
        """Report 52: a terminal chunk without its blank line counts."""
        assert reply(says("z", reason="STOP").rstrip()) == answer(Text("z"))

    def test_the_last_event_counts_only_if_it_is_whole(self) -> None:
        """Report 52: a lost terminal chunk is no success with missing text."""
        found = error(says("a"), says("z", reason="STOP").rstrip()[:-1])
        assert (found.kind, found.partial) == (
            "cut_stream",
            answer(Text("a"), finish="error"),
        )

    def test_a_reason_in_each_event_ends_nothing(self) -> None:
        """As older models had it: the stream is read to its end."""
        body = says("a", reason="STOP") + says("b", reason="STOP")
        assert reply(body) == answer(Text("ab"))

    def test_a_sentinel_ends_the_stream_at_once(self) -> None:
        """Report 54: of servers between that have one."""
        decoder = Decoder(CALL, Told())
        assert decoder.feed(says("a", reason="STOP") + b"data: [DONE]\n\n")

    @pytest.mark.parametrize("nothing", NOTHING)
    def test_a_chunk_may_be_empty(self, nothing: Json) -> None:
        """Report 26."""
        body = event(nothing) + says("a", reason="STOP")
        assert reply(body) == answer(Text("a"))

    def test_what_is_told_comes_at_once(self) -> None:
        told = Told()
        decoder = Decoder(CALL, told)
        decoder.feed(says("a"))
        assert told.sums() == {0: ("a", "", "", "")}


class TestThinking:
    def test_is_what_is_marked_as_thought(self) -> None:
        """G6: only the mark says so; a signature does not."""
        body = says(thought("h")) + says(thought("m")) + says("a", reason="STOP")
        assert reply(body) == answer(Thinking("hm"), Text("a"))

    def test_may_come_again_after_text(self) -> None:
        parts = [thought("h"), "a", thought("m"), "b"]
        assert reply(says(*parts, reason="STOP")) == answer(
            Thinking("h"), Text("a"), Thinking("m"), Text("b")
        )

    def test_has_the_signature_that_it_came_with(self) -> None:
        body = says(thought("hm", thoughtSignature=SIGNED), "a", reason="STOP")
        assert reply(body) == answer(Thinking("hm", SIGNED), Text("a"))

    def test_that_is_a_picture_is_left_out(self) -> None:
        """A sketch is no part of the answer."""
        body = says(picture(thought=True), picture("ZG9n"), reason="STOP")
        assert reply(body) == answer(Image("ZG9n", "image/png"))


class TestSignatures:
    def test_of_text_stay_on_their_part(self) -> None:
        """Signed text is not joined with what stands beside it: the guide forbids it."""
        signed = {"text": "b", "thoughtSignature": SIGNED}
        body = says("a") + says(signed) + says("c", reason="STOP")
        assert reply(body) == answer(Text("a"), Text("b", signature=SIGNED), Text("c"))

    def test_may_come_on_an_empty_text_at_the_end(self) -> None:
        """Row 114, G3: the part is kept, for thoughts hang on it."""
        last = {"text": "", "thoughtSignature": SIGNED}
        assert reply(says("a"), says(last, reason="STOP")) == answer(
            Text("a"), Text("", signature=SIGNED)
        )

    def test_may_come_on_nothing_at_all(self) -> None:
        body = says("a") + says({"thoughtSignature": SIGNED}, reason="STOP")
        assert reply(body) == answer(Text("a"), Text("", signature=SIGNED))

    def test_of_calls_stay_on_their_call(self) -> None:
        """Of several at once only the first has one."""
        body = says(
            called("a", {}, id="1", thoughtSignature=SIGNED),
            called("b", {}, id="2"),
            reason="STOP",
        )
        assert [call.signature for call in reply(body).calls] == [SIGNED, None]

    def test_of_pictures_are_kept_beside_them(self) -> None:
        body = says(picture(thoughtSignature=SIGNED), reason="STOP")
        assert reply(body) == answer(
            Image("Y2F0", "image/png"), keep({"thoughtSignature": SIGNED})
        )


class TestCalls:
    def test_are_whole(self) -> None:
        body = says(called("look", {"q": "a", "n": [1, None]}, id="k1"), reason="STOP")
        call = ToolCall.parse("look", '{"q":"a","n":[1,null]}', "k1")
        assert reply(body) == answer(call, finish="tools")

    def test_may_come_together_or_one_by_one(self) -> None:
        both = [called("a", {"x": 1}, id="1"), called("b", {"y": 2}, id="2")]
        together = reply(says(*both, reason="STOP"))
        assert together == reply(says(both[0]), says(both[1]), STOP)
        assert [call.arguments for call in together.calls] == [{"x": 1}, {"y": 2}]

    def test_that_name_one_function_are_several(self) -> None:
        """Report 31."""
        body = says(*(called("put", {"n": n}) for n in range(3)), reason="STOP")
        assert [call.name for call in reply(body).calls] == ["put"] * 3

    def test_without_an_id_get_one_that_is_stable(self) -> None:
        """Reports 30 and 36: made up, distinct, and the same when it is read again."""
        body = says(called("a", {}), called("a", {}), reason="STOP")
        first, second = (call.id for call in reply(body).calls)
        assert first.startswith("call_")
        assert first != second
        assert [first, second] == [call.id for call in reply(body).calls]

    @pytest.mark.parametrize("call_id", [None, "", 7])
    def test_with_no_sensible_id_get_one(self, call_id: Json) -> None:
        """Report 37: an empty id is none."""
        body = says(called("a", {}, id=call_id), reason="STOP")
        assert reply(body).calls[0].id.startswith("call_")

    def test_that_share_an_id_are_two(self) -> None:
        """Report 95: both are there; the run tells them apart."""
        body = says(called("a", {}, id="1"), called("b", {}, id="1"), reason="STOP")
        assert [call.name for call in reply(body).calls] == ["a", "b"]

    @pytest.mark.parametrize("args", [None, {}, "", "  ", "{}"])
    def test_without_arguments_have_an_empty_object(self, args: Json) -> None:
        """Reports 42 and 43."""
        (call,) = reply(says(called("ping", args), reason="STOP")).calls
        assert (call.arguments, call.malformed) == ({}, "")

    def test_may_have_their_arguments_as_text(self) -> None:
        """Report 41: both forms are taken on every wire."""
        body = says(called("a", '{"q": "s"}'), reason="STOP")
        assert reply(body).calls[0].arguments == {"q": "s"}

    @pytest.mark.parametrize("args", [[1], 7, True, "[1]", "{", '{"a": NaN}'])
    def test_with_arguments_that_are_no_object_are_malformed(self, args: Json) -> None:
        (call,) = reply(says(called("a", args), reason="STOP")).calls
        assert (call.arguments, bool(call.malformed)) == ({}, True)

    def test_with_numbers_that_json_has_not_are_malformed(self) -> None:
        body = says(called("a", {"x": 0}), reason="STOP").replace(b"0}", b"NaN}")
        assert reply(body).calls[0].malformed

    @pytest.mark.parametrize("function", [{}, {"name": ""}, {"name": None}])
    def test_without_a_name_are_still_calls(self, function: Json) -> None:
        """Report 83: to be answered as a tool that is unknown."""
        (call,) = reply(says({"functionCall": function}, reason="STOP")).calls
        assert call.name == ""

    def test_after_text_leave_it_in_its_place(self) -> None:
        body = says("I look.", called("look", {}, id="1"), reason="STOP")
        assert reply(body) == answer(
            Text("I look."), ToolCall.parse("look", "{}", "1"), finish="tools"
        )

    def test_in_pieces_are_refused_with_the_option_to_leave_out(self) -> None:
        """Only another service of Google's does so, and only if it is asked to."""
        part = {"functionCall": {"name": "a", "willContinue": True}}
        found = error(says("a"), says(part))
        assert found.kind == "bad_response"
        assert "streamFunctionCallArguments" in found.message

    def test_of_a_reply_that_was_cut_are_told_to_be_so(self) -> None:
        """Reports 65 and 66: a run does not look at them."""
        body = says(called("a", {}, id="1"), reason="MAX_TOKENS")
        assert reply(body).finish == "length"


class TestPictures:
    def test_are_parts(self) -> None:
        body = says("Here: ", picture(), "there.", reason="STOP")
        assert reply(body) == answer(
            Text("Here: "), Image("Y2F0", "image/png"), Text("there.")
        )

    def test_alone_are_a_reply(self) -> None:
        assert reply(says(picture(), reason="IMAGE_SAFETY")).finish == "refusal"
        assert reply(says(picture(), reason="STOP")).finish == "end"


class TestProvidersParts:
    PARTS: Final = (
        {"executableCode": {"language": "PYTHON", "code": "print(1)"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
        {
            "toolCall": {"id": "s1", "toolType": "GOOGLE_SEARCH"},
            "thoughtSignature": "cw==",
        },
        {"inlineData": {"mimeType": "audio/wav", "data": "Y2F0"}},
        {"fromTheFuture": {"x": 1}},
    )

    @pytest.mark.parametrize("part", PARTS, ids=lambda part: next(iter(part)))
    def test_are_kept_as_they_came(self, part: Json) -> None:
        """Report 8: what the provider runs itself is no call, and is not lost."""
        found = reply(says("a", part, "b", reason="STOP"))
        assert found == answer(Text("a"), keep(part), Text("b"))


class TestEnds:
    @pytest.mark.parametrize(("reason", "finish"), FINISHES.items())
    def test_a_reason_is_a_finish(self, reason: str, finish: str) -> None:
        assert reply(says("a", reason=reason)).finish == finish
        assert reply(says("a", reason=reason.lower())).finish == finish

    @pytest.mark.parametrize(
        "reason", [reason for reason, finish in FINISHES.items() if finish == "refusal"]
    )
    def test_a_reply_that_is_withheld_is_filtered(self, reason: str) -> None:
        """Report 72: it is not asked for again as if it were a hiccup."""
        body = says(reason=reason, usageMetadata=counts(3, 0))
        body = body.replace(
            b'"finishReason"', b'"finishMessage": "So it is.", "finishReason"'
        )
        found = error(body)
        assert (found.kind, found.retryable) == ("content_filter", False)
        assert found.message == f"The reply was withheld: {reason}. So it is."
        assert found.partial
        assert found.partial.usage == Usage(3, 0)

    def test_a_refusal_with_thoughts_alone_is_filtered(self) -> None:
        assert (
            error(says(thought("hm")), says(reason="SAFETY")).kind == "content_filter"
        )

    @pytest.mark.parametrize(("reason", "kind"), FAULTS.items())
    def test_a_reason_may_be_a_fault(self, reason: str, kind: str) -> None:
        """G7: also where something was said before."""
        found = error(says("a"), says(reason=reason))
        assert (found.kind, found.message) == (kind, f"The reply ended as {reason}.")
        assert found.partial == answer(Text("a"), finish="error")

    def test_a_call_that_could_not_be_read_may_be_tried_again(self) -> None:
        """G7: the next try is likely to be sound."""
        assert error(says(reason="MALFORMED_FUNCTION_CALL")).retryable

    def test_an_unknown_reason_with_text_is_an_end(self) -> None:
        """Report 81: with a call it is run; only known reasons hold it back."""
        assert reply(says("a", reason="FROM_THE_FUTURE")).finish == "end"
        body = says(called("a", {}), reason="FROM_THE_FUTURE")
        assert reply(body).finish == "tools"

    @pytest.mark.parametrize("reason", ["NO_IMAGE", "FROM_THE_FUTURE"])
    def test_an_unknown_reason_without_text_is_a_fault(self, reason: str) -> None:
        found = error(says(reason=reason))
        assert (found.kind, found.message) == (
            "bad_response",
            f"An empty reply ended as {reason}.",
        )

    def test_calls_of_a_refused_reply_are_not_run(self) -> None:
        """Report 81."""
        assert reply(says(called("a", {}), reason="SAFETY")).finish == "refusal"

    def test_an_empty_reply_is_one(self) -> None:
        """D68: stored; what to do about it is a policy's choice."""
        assert reply(STOP) == answer()

    @pytest.mark.parametrize(
        ("feedback", "message"),
        [
            ({"blockReason": "SAFETY"}, "The prompt was blocked: SAFETY."),
            (
                {"blockReason": "OTHER", "blockReasonMessage": "Because."},
                "The prompt was blocked: OTHER. Because.",
            ),
        ],
    )
    def test_a_blocked_prompt_is_filtered(self, feedback: Json, message: str) -> None:
        chunk = {"promptFeedback": feedback, "usageMetadata": counts(9, 0)}
        for body in (event(chunk), whole(chunk)):
            found = error(body)
            assert (found.kind, found.message) == ("content_filter", message)

    def test_feedback_that_blocks_nothing_means_nothing(self) -> None:
        body = says("a", reason="STOP", promptFeedback={"safetyRatings": []})
        assert reply(body) == answer(Text("a"))

    def test_a_stream_without_a_reason_was_cut(self) -> None:
        """Report 55: no call of it is run."""
        found = error(says("a"), says(called("del", {"path": "/a"}, id="1")))
        assert (found.kind, found.retryable) == ("cut_stream", True)
        assert found.partial
        assert [call.name for call in found.partial.calls] == ["del"]

    def test_a_reason_is_enough(self) -> None:
        """Report 56: the connection may break after it."""
        fault = ModelError("reset", "cut_stream")
        assert result(says("a", reason="STOP"), fault=fault) == answer(Text("a"))

    def test_a_broken_connection_is_what_it_is(self) -> None:
        fault = ModelError("reset", "network")
        found = error(says("a"), fault=fault)
        assert (found.message, found.kind) == ("reset", "network")
        assert found.partial == answer(Text("a"), finish="error")

    def test_a_response_in_one_piece_needs_no_reason(self) -> None:
        """Report 168."""
        assert reply(whole(said("a"))) == answer(Text("a"))

    def test_a_response_in_one_piece_needs_something(self) -> None:
        assert error(whole(said())).kind == "bad_response"

    def test_a_response_in_one_piece_may_be_cut(self) -> None:
        body = whole(said("a", reason="STOP"))[:-3]
        assert error(body).kind == "bad_response"
        fault = ModelError("reset", "network")
        assert error(body, fault=fault).kind == "network"


class TestFaults:
    OVERLOADED: Final = {"code": 503, "message": "Busy.", "status": "UNAVAILABLE"}

    @pytest.mark.parametrize("before", [b"", says("a")])
    def test_an_error_in_the_stream_is_one(self, before: bytes) -> None:
        """Reports 57 to 61: its class is its own, what had come is attached."""
        found = error(before, event({"error": self.OVERLOADED}))
        assert (found.kind, found.status, found.message) == ("overloaded", 503, "Busy.")
        assert (found.partial is not None) == bool(before)

    def test_an_error_in_an_array_is_one(self) -> None:
        assert error(whole([said("a"), {"error": self.OVERLOADED}])).status == 503

    def test_an_error_ends_the_reading(self) -> None:
        decoder = Decoder(CALL, Told())
        assert decoder.feed(event({"error": self.OVERLOADED}) + says("a"))

    def test_a_fault_names_the_response(self) -> None:
        """The provider's name for it, for its support."""
        assert error(says("a", responseId="r7")).request_id == "r7"

    @pytest.mark.parametrize(
        ("body", "kind"),
        [
            (b"", "cut_stream"),
            (b" \n", "cut_stream"),
            (b": ping\n\n", "cut_stream"),
            (b"<html>gone</html>", "bad_response"),
            (b"data: {\n\n", "bad_response"),
            (b"data: 7\n\n", "bad_response"),
            (b"{}", "bad_response"),
            (b"[]", "bad_response"),
            (b"[7]", "bad_response"),
            (b'{"choices": []}', "bad_response"),
            (b"data: [DONE]\n\n", "bad_response"),
            (b"\xff\xfe", "bad_response"),
        ],
    )
    def test_what_is_no_response_is_a_fault(self, body: bytes, kind: str) -> None:
        """Never an empty success."""
        assert error(body).kind == kind

    def test_what_is_not_understood_is_shown(self) -> None:
        assert "<html>gone" in error(b"<html>gone</html>").message

    def test_a_response_may_not_be_without_end(self) -> None:
        for start in (b"[", b"data: "):
            decoder = Decoder(CALL, Told(), limit=100)
            assert any(decoder.feed(start * 30) for _ in range(9))
            found = decoder.finish()
            assert isinstance(found, ModelError)
            assert found.kind == "bad_response"


class TestUsage:
    def test_tells_fresh_input_from_the_cache(self) -> None:
        usage = counts(100, 20, cachedContent=60)
        assert reply(says("a", reason="STOP", usageMetadata=usage)).usage == Usage(
            40, 20, 60
        )

    def test_counts_thoughts_as_output(self) -> None:
        usage = counts(10, 20, thoughts=30, total=60)
        assert reply(says("a", reason="STOP", usageMetadata=usage)).usage == Usage(
            10, 50, reasoning=30
        )

    def test_does_not_count_thoughts_twice(self) -> None:
        """Where a server counts them among the candidates, as its total shows."""
        usage = counts(10, 50, thoughts=30, toolUsePrompt=5, total=65)
        assert reply(says("a", reason="STOP", usageMetadata=usage)).usage == Usage(
            15, 50, reasoning=30
        )

    def test_counts_what_the_providers_tools_gave_as_input(self) -> None:
        usage = counts(10, 20, toolUsePrompt=5, total=35)
        assert reply(says("a", reason="STOP", usageMetadata=usage)).usage == Usage(
            15, 20
        )

    def test_is_that_of_the_last_chunk(self) -> None:
        """Reports 75 to 77: counts are totals; what is absent keeps what it was."""
        chunks = [
            says("a", usageMetadata={"promptTokenCount": 10, "totalTokenCount": 10}),
            says("b", usageMetadata={"candidatesTokenCount": 4}),
            says(usageMetadata={"candidatesTokenCount": 9, "promptTokenCount": None}),
            STOP,
        ]
        assert reply(*chunks).usage == Usage(10, 9)

    def test_may_come_after_the_end(self) -> None:
        """Report 27."""
        last = event({"usageMetadata": counts(7, 3)})
        assert reply(says("a", reason="STOP"), last).usage == Usage(7, 3)

    @pytest.mark.parametrize("odd", [None, 7, [], {"promptTokenCount": "x"}])
    def test_may_be_missing(self, odd: Json) -> None:
        assert reply(says("a", reason="STOP", usageMetadata=odd)).usage == Usage()


class TestOutputByATool:
    """Where the wire takes no schema beside tools, an answer is a call (of the older)."""

    CALL: Final = CallModel(
        "r1.1.1.model.1",
        "gemini:gemini-2.5-flash",
        [UserMessage("hi")],
        tools=(ToolSpec("look"),),
        output=OBJECT,
    )

    def test_the_call_is_the_text(self) -> None:
        body = says(
            called("final_output", {"n": 1}, thoughtSignature=SIGNED), reason="STOP"
        )
        found = reply(body, asked=self.CALL)
        assert (found.parts, found.finish) == ((Text('{"n":1}'),), "end")

    def test_the_call_without_arguments_is_an_empty_object(self) -> None:
        body = says(called("final_output"), reason="STOP")
        assert reply(body, asked=self.CALL).text == "{}"

    def test_other_calls_stay_calls(self) -> None:
        body = says(
            "So: ", called("look", {}), called("final_output", {}), reason="STOP"
        )
        found = reply(body, asked=self.CALL)
        assert ([call.name for call in found.calls], found.finish) == (
            ["look"],
            "tools",
        )
        assert found.text == "So: {}"

    def test_a_tool_of_that_name_keeps_it(self) -> None:
        tools = (ToolSpec("final_output"),)
        call = CallModel("i", self.CALL.model, [], tools=tools, output=OBJECT)
        body = says(
            called("final_output", {}), called("final_output_", {}), reason="STOP"
        )
        found = reply(body, asked=call)
        assert ([made.name for made in found.calls], found.text) == (
            ["final_output"],
            "{}",
        )

    def test_a_newer_model_has_no_such_tool(self) -> None:
        call = CallModel("i", MODEL, [], tools=(ToolSpec("look"),), output=OBJECT)
        body = says(called("final_output", {}), reason="STOP")
        assert [made.name for made in reply(body, asked=call).calls] == ["final_output"]


def documented() -> Iterator[bytes]:
    """Streams as Google's documentation shows them: of thoughts, of calls, of pictures."""
    more = {"modelVersion": "gemini-3-flash", "responseId": "r1"}
    usage = counts(8, 2, thoughts=5, total=15)
    yield b"".join(
        (
            says(thought("**Planning**\n\nI "), **more, usageMetadata=counts(8, 0)),
            says(thought("think."), **more),
            says("Once upon ", **more),
            says("a time, 中😀.", **more),
            says(
                {"text": "", "thoughtSignature": SIGNED},
                reason="STOP",
                usageMetadata=usage,
            ),
        )
    )
    yield b"".join(
        (
            says(thought("Both."), **more),
            says(
                called("a", {"city": "Zürich"}, id="1", thoughtSignature=SIGNED), **more
            ),
            says(called("b", {"n": 1.5}, id="2"), **more),
            says("", reason="STOP", usageMetadata=usage, **more),
        )
    )
    yield b"".join(
        (
            b": ping\r\n\r\n",
            says("Here: ", picture(thoughtSignature=SIGNED), **more),
            says({"executableCode": {"code": "1"}}, reason="MAX_TOKENS", **more),
        )
    )


@pytest.mark.parametrize(
    "body", list(documented()), ids=["thoughts", "calls", "pictures"]
)
def test_a_reply_is_read_however_it_is_cut(body: bytes) -> None:
    """Whole, byte by byte, and at two hundred random sets of places."""
    random = Random(len(body))  # noqa: S311  # a test's dice, the same each time
    once = reply(body)
    for _ in range(200):
        places = random.sample(range(1, len(body)), random.randrange(1, 40))
        assert feed(cut(body, places)) == once


def test_reading_takes_time_in_proportion() -> None:
    """Report 183: a text that comes word by word is not read again with each."""

    def seconds(words: int) -> float:
        body = [says(f"word {n} ") for n in range(words)]
        decoder = Decoder(CALL, Told())
        start = time.process_time()
        for data in body:
            decoder.feed(data)
        decoder.finish()
        return time.process_time() - start

    seconds(100)
    times = [min(seconds(words) for _ in range(3)) for words in (1000, 2000, 4000)]
    assert all(more < 5 * less + 0.05 for less, more in pairwise(times))
