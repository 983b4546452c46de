"""Messages responses become one reply or one fault, whatever the server's ways."""

import json
import time

import pytest
from attrs import evolve

from loopcore import (
    AssistantMessage,
    CallModel,
    ModelError,
    Text,
    Thinking,
    ToolCall,
    ToolSpec,
    Usage,
    UserMessage,
)
from loopcore.frozen import freeze_object
from loopcore_adapters.loose import Json
from loopcore_adapters.messages import Decoder
from loopcore_adapters.sse import BOM
from tests.chat_reading import MODEL
from tests.messages_reading import (
    CALL,
    PING,
    STOP,
    call,
    closed,
    ended,
    error,
    event,
    fails,
    grown,
    opened,
    reply,
    result,
    start,
    text,
    thought,
    whole,
)
from tests.reading import Told

END = ended() + STOP
CALLED = ended("tool_use") + STOP


def call_of(*body: bytes) -> ToolCall:
    """The one call of the reply that this body is."""
    (found,) = reply(*body).calls
    return found


class TestText:
    def test_pieces_add_up(self) -> None:
        assert reply(start(), text(0, "a", "b"), END) == AssistantMessage(
            "ab", model=MODEL
        )

    def test_what_a_block_begins_with_counts(self) -> None:
        """Report 70: text, as the start of thinking and of a call."""
        first = opened(0, text="Pre")
        assert reply(start(), first, grown(0, "text", text="fix"), END).text == "Prefix"

    def test_blocks_stay_apart(self) -> None:
        found = reply(start(), text(0, "a"), text(1, "b"), END)
        assert found.parts == (Text("a"), Text("b"))

    def test_blocks_may_come_by_turns(self) -> None:
        pieces = [grown(place % 2, "text", text=str(place)) for place in range(4)]
        found = reply(start(), opened(0), opened(1), *pieces, END)
        assert found.parts == (Text("02"), Text("13"))

    def test_an_empty_block_is_none(self) -> None:
        found = reply(start(), text(0), text(1, "b"), END)
        assert found.parts == (Text("b"),)

    def test_a_piece_without_a_start_is_text(self) -> None:
        assert reply(start(), grown(0, "text", text="hi"), END).text == "hi"

    def test_a_piece_that_says_no_block_is_of_the_newest(self) -> None:
        delta = {"type": "text_delta", "text": "b"}
        more = event("content_block_delta", delta=delta)
        assert reply(start(), opened(3, text="a"), more, END).parts == (Text("ab"),)

    def test_citations_and_news_are_passed_over(self) -> None:
        cited = grown(0, "citations", citation={"type": "page_location"})
        news = event("content_block_news", index=0, delta={"text": "x"})
        assert reply(start(), opened(0, text="a"), cited, news, END).text == "a"

    def test_heartbeats_mean_nothing(self) -> None:
        """Report 50."""
        pings = b":\n\n: ping\n\nevent: ping\ndata:\n\n" + PING
        assert reply(pings, start(), pings, text(0, "a"), pings, END).text == "a"

    def test_the_name_of_an_event_will_do(self) -> None:
        named = b"event: message_stop\ndata: {}\n\n"
        assert reply(start(), text(0, "a"), ended(), named).text == "a"

    def test_an_event_may_have_no_name(self) -> None:
        body = b"".join([start(), text(0, "a"), END])
        lines = [line for line in body.splitlines() if not line.startswith(b"event")]
        assert reply(b"\n".join(lines), b"\n\n").text == "a"

    @pytest.mark.parametrize("end", [b"\r\n", b"\r"])
    def test_lines_may_end_otherwise(self, end: bytes) -> None:
        """Reports 46, 47: however they are cut."""
        body = b"".join([start(), text(0, "a"), END])
        assert reply(body.replace(b"\n", end)).text == "a"

    def test_a_mark_may_come_first(self) -> None:
        """Report 48."""
        assert reply(BOM, start(), text(0, "a"), END).text == "a"

    def test_a_separator_of_lines_is_a_character(self) -> None:
        data = '{"type":"text_delta","text":"a\u2028b\u0085c"}'
        raw = f'data: {{"type":"content_block_delta","index":0,"delta":{data}}}\n\n'
        assert reply(start(), raw.encode(), END).text == "a\u2028b\u0085c"

    def test_a_character_cut_in_two_by_the_server_is_one(self) -> None:
        found = reply(start(), text(0, "a\ud83d", "\ude00b"), END)
        assert found.text == "a\N{GRINNING FACE}b"

    def test_the_model_is_the_one_that_was_asked_for(self) -> None:
        first = event("message_start", message={"model": "other-2026-01-01"})
        assert reply(first, text(0, "a"), END).model == MODEL

    def test_a_response_in_one_piece_is_the_same(self) -> None:
        body = whole({"type": "text", "text": "ab"}, usage={"output_tokens": 2})
        assert reply(body) == AssistantMessage("ab", model=MODEL, usage=Usage(0, 2))

    def test_content_in_one_piece_may_be_text(self) -> None:
        body = {"type": "message", "content": "ab", "stop_reason": None}
        assert reply(json.dumps(body).encode()).text == "ab"


class TestThinking:
    def test_pieces_and_a_signature_add_up(self) -> None:
        found = reply(start(), thought(0, "sig", "h", "m"), text(1, "a"), END)
        assert found.parts == (Thinking("hm", "sig"), Text("a"))

    def test_a_signature_in_two_pieces_is_one(self) -> None:
        """Report 69."""
        more = grown(0, "signature", signature="g")
        found = reply(start(), thought(0, "si", "h"), more, text(1, "a"), END)
        assert found.parts[0] == Thinking("h", "sig")

    def test_what_it_begins_with_counts(self) -> None:
        """Report 70: else the signature would not fit the text."""
        first = opened(0, "thinking", thinking="Pre", signature="s")
        more = grown(0, "thinking", thinking="fix") + grown(
            0, "signature", signature="ig"
        )
        assert reply(start(), first, more, text(1, "a"), END).parts[0] == (
            Thinking("Prefix", "sig")
        )

    def test_a_signature_is_kept_without_text(self) -> None:
        found = reply(start(), thought(0, "sig"), text(1, "a"), END)
        assert found.parts == (Thinking("", "sig"), Text("a"))

    def test_a_redacted_block_keeps_its_data(self) -> None:
        body = opened(0, "redacted_thinking", data="Em0=") + closed(0)
        found = reply(start(), body, text(1, "a"), END)
        assert found.parts[0] == Thinking("", "Em0=", redacted=True)

    def test_is_the_same_in_one_piece(self) -> None:
        blocks: list[Json] = [
            {"type": "thinking", "thinking": "hm", "signature": "sig"},
            {"type": "redacted_thinking", "data": "Em0="},
            {"type": "text", "text": "a"},
        ]
        assert reply(whole(*blocks)).parts == (
            Thinking("hm", "sig"),
            Thinking("", "Em0=", redacted=True),
            Text("a"),
        )


class TestCalls:
    def test_arguments_add_up(self) -> None:
        found = reply(start(), call(0, "k1", "look", '{"a"', ":1}"), CALLED)
        expected = ToolCall.parse("look", '{"a":1}', "k1")
        assert (found.parts, found.finish) == ((expected,), "tools")

    @pytest.mark.parametrize("pieces", [(), ("",), (" ",), ("{}",)])
    def test_may_have_no_arguments(self, pieces: tuple[str, ...]) -> None:
        """Report 42."""
        found = call_of(start(), call(0, "k1", "snooze", *pieces), CALLED)
        assert (found.arguments, found.malformed, found.text) == ({}, "", "{}")

    def test_may_have_all_arguments_at_once(self) -> None:
        """Vector 103."""
        first = opened(0, "tool_use", id="k1", name="look", input={"a": 1})
        assert call_of(start(), first, closed(0), CALLED).arguments == {"a": 1}

    def test_arguments_that_come_later_count(self) -> None:
        first = opened(0, "tool_use", id="k1", name="look", input={"a": 0})
        more = grown(0, "input_json", partial_json='{"a":1}')
        assert call_of(start(), first, more, CALLED).arguments == {"a": 1}

    def test_arguments_may_be_text(self) -> None:
        """Report 41: the inverse of an object where text is expected."""
        block = {"type": "tool_use", "id": "k1", "name": "look", "input": '{"q":"s"}'}
        assert call_of(whole(block, reason="tool_use")).arguments == {"q": "s"}

    def test_broken_arguments_are_kept(self) -> None:
        """Report 84."""
        found = call_of(start(), call(0, "c1", "look", '{"a": 1 "b"}'), CALLED)
        assert (found.raw, found.arguments) == ('{"a": 1 "b"}', {})
        assert found.malformed

    def test_may_be_many_and_by_turns(self) -> None:
        """Report 33: each piece goes to its own call."""
        opens = [
            opened(place, "tool_use", id=f"k{place}", name=name, input={})
            for place, name in enumerate(("one", "two"))
        ]
        pieces = [(0, '{"a"'), (1, '{"b"'), (0, ":1}"), (1, ":2}")]
        more = [grown(n, "input_json", partial_json=piece) for n, piece in pieces]
        found = reply(start(), *opens, *more, CALLED)
        assert [(c.name, c.arguments) for c in found.calls] == [
            ("one", {"a": 1}),
            ("two", {"b": 2}),
        ]

    def test_may_lack_an_id(self) -> None:
        """Report 36: one is made up, the same every time."""
        body = b"".join([start(), call(0, "", "one"), call(1, "", "two"), CALLED])
        first, second = (found.id for found in reply(body).calls)
        assert first.startswith("toolu_")
        assert first != second
        assert [found.id for found in reply(body).calls] == [first, second]

    def test_without_a_start_have_no_name(self) -> None:
        """Report 35: such a call is answered as one of an unknown tool."""
        found = call_of(start(), grown(0, "input_json", partial_json="{}"), CALLED)
        assert found.name == ""

    def test_make_a_reply_one_that_uses_tools(self) -> None:
        found = reply(start(), call(0, "k1", "look"), END)
        assert found.finish == "tools"

    def test_come_after_text(self) -> None:
        found = reply(start(), text(0, "a"), call(1, "k1", "look"), CALLED)
        assert found.parts == (Text("a"), ToolCall("look", id="k1", raw=""))

    def test_of_the_server_are_passed_over(self) -> None:
        """Nor is what is streamed of them taken for a call of ours."""
        searched = opened(0, "server_tool_use", id="s1", name="web_search", input={})
        asked = grown(0, "input_json", partial_json='{"query":"x"}')
        found = opened(1, "web_search_tool_result", tool_use_id="s1", content=[])
        assert reply(start(), searched, asked, found, text(2, "a"), END).parts == (
            Text("a"),
        )

    def test_reading_many_arguments_takes_linear_time(self) -> None:
        """Report 183: 16 times the pieces take about 16 times as long."""

        def seconds(size: int) -> float:
            piece = grown(0, "input_json", partial_json="x")
            decoder = Decoder(CALL, Told())
            decoder.feed(start() + opened(0, "tool_use", id="k", name="look", input={}))
            began = time.process_time()
            for _ in range(size):
                decoder.feed(piece)
            decoder.finish()
            return time.process_time() - began

        short = min(seconds(1_000) for _ in range(3))
        assert seconds(16_000) < short * 16 * 6


class TestFinish:
    @pytest.mark.parametrize(
        ("reason", "finish"),
        [
            ("end_turn", "end"),
            ("stop_sequence", "end"),
            ("max_tokens", "length"),
            ("model_context_window_exceeded", "length"),
            ("pause_turn", "length"),
            ("refusal", "refusal"),
            ("tool_use", "tools"),
            ("something_new", "end"),
        ],
    )
    def test_is_what_the_reason_says(self, reason: str, finish: Json) -> None:
        """Report 80: a reply that says it used tools, and did not, is what it is (D68)."""
        found = reply(start(), text(0, "a"), ended(reason), STOP)
        assert found == AssistantMessage("a", model=MODEL, finish=finish)
        assert reply(whole({"type": "text", "text": "a"}, reason=reason)) == found

    def test_a_limit_wins_over_calls(self) -> None:
        """Reports 65, 66: so no call of this reply is run."""
        cut = call(0, "k1", "put", '{"pa')
        assert reply(start(), cut, ended("max_tokens"), STOP).finish == "length"

    def test_a_refusal_wins_over_calls(self) -> None:
        """Report 81: they are recorded, and not run."""
        body = start(), call(0, "k1", "look"), ended("refusal"), STOP
        assert reply(*body).finish == "refusal"

    def test_a_silent_refusal_says_why(self) -> None:
        """Report 72: no hiccup, and nothing to try again."""
        details = {"type": "refusal", "category": "bio", "explanation": "Not this."}
        found = error(start(), ended("refusal", details), STOP)
        assert (found.kind, found.retryable) == ("content_filter", False)
        assert found.message == "The reply was withheld: refusal (Not this.)."
        assert error(whole(reason="refusal", stop_details=details)) == found

    def test_what_stands_in_the_first_event_counts(self) -> None:
        """As the official SDK has it, too."""
        message: Json = {"content": [{"type": "text", "text": "a"}], "usage": {}}
        first = event("message_start", message=message)
        assert reply(first, text(1, "b"), END).text == "ab"

    def test_an_empty_reply_is_one(self) -> None:
        """D68."""
        assert reply(start(), END) == AssistantMessage((), model=MODEL)

    def test_an_empty_reply_for_an_unknown_reason_is_a_fault(self) -> None:
        found = error(start(), ended("something_new"), STOP)
        assert found.kind == "bad_response"

    def test_a_reply_of_other_content_only_is_a_fault(self) -> None:
        found = error(start(), opened(0, "container_upload", file_id="f"), END)
        assert found.kind == "bad_response"
        assert "container_upload" in found.message

    def test_a_reply_is_over_at_its_last_event(self) -> None:
        """Report 54: nothing more is waited for."""
        decoder = Decoder(CALL, Told())
        assert decoder.feed(start() + text(0, "a") + ended()) is False
        assert decoder.feed(STOP) is True

    def test_a_reason_is_an_end(self) -> None:
        """Report 56: the stream need not say that it ends."""
        assert reply(start(), text(0, "a"), ended()).text == "a"

    def test_an_end_without_a_reason_is_one(self) -> None:
        assert reply(start(), text(0, "a"), ended(None), STOP).finish == "end"

    def test_an_end_without_anything_is_a_fault(self) -> None:
        assert error(start(), STOP).kind == "bad_response"

    def test_the_last_event_needs_no_blank_line(self) -> None:
        """Report 52."""
        assert reply(start(), text(0, "a"), ended().rstrip()).text == "a"


class TestUsage:
    def test_the_last_count_holds(self) -> None:
        """Report 75."""
        body = start(input_tokens=25, output_tokens=1), text(0, "a")
        found = reply(*body, ended(output_tokens=15), STOP)
        assert found.usage == Usage(25, 15)

    def test_null_is_no_count_and_nought_is_one(self) -> None:
        """Reports 76, 77."""
        null = ended(input_tokens=None, output_tokens=5)
        assert reply(start(input_tokens=25), text(0, "a"), null).usage == Usage(25, 5)
        later = [
            ended(None, input_tokens=None, output_tokens=5),
            ended(None, input_tokens=900, output_tokens=9),
            ended(output_tokens=9),
        ]
        found = reply(start(input_tokens=25), text(0, "a"), *later, STOP)
        assert found.usage == Usage(900, 9)
        nought = reply(
            start(input_tokens=25), text(0, "a"), ended(input_tokens=0), STOP
        )
        assert nought.usage == Usage(0, 0)

    def test_what_the_cache_held_is_counted_beside(self) -> None:
        counts = {
            "input_tokens": 3,
            "cache_read_input_tokens": 20,
            "cache_creation_input_tokens": 5,
            "output_tokens": 9,
            "output_tokens_details": {"thinking_tokens": 4},
        }
        found = reply(whole({"type": "text", "text": "a"}, usage=counts))
        assert found.usage == Usage(3, 9, 20, 5, 4)

    def test_of_a_broken_stream_is_known(self) -> None:
        found = error(start(input_tokens=25), fails("overloaded_error"))
        assert found.partial
        assert found.partial.usage == Usage(25)


class TestFaults:
    @pytest.mark.parametrize(
        ("kind", "means"),
        [
            ("overloaded_error", ("overloaded", True)),
            ("rate_limit_error", ("rate_limit", True)),
            ("api_error", ("server", True)),
            ("timeout_error", ("timeout", True)),
            ("authentication_error", ("auth", False)),
            ("permission_error", ("auth", False)),
            ("billing_error", ("auth", False)),
            ("invalid_request_error", ("bad_request", False)),
        ],
    )
    def test_an_error_in_a_stream_is_of_a_kind(
        self, kind: str, means: tuple[str, bool]
    ) -> None:
        """Report 57: by its body; the status was 200 long ago."""
        found = error(start(), text(0, "par"), fails(kind, "It went wrong."))
        assert (found.kind, found.retryable) == means
        assert found.message == "It went wrong."
        assert found.partial
        assert found.partial.text == "par"

    def test_an_error_may_be_all_there_is(self) -> None:
        """Report 58: no empty success."""
        found = error(fails("overloaded_error"))
        assert (found.kind, found.partial) == ("overloaded", None)

    def test_an_error_names_the_request(self) -> None:
        assert error(fails("api_error", request_id="req_1")).request_id == "req_1"

    def test_an_error_may_come_without_a_type(self) -> None:
        body = {"error": {"code": 400, "message": "no", "type": "server_error"}}
        in_one = json.dumps(body).encode()
        for sent in (in_one, b"data: " + in_one + b"\n\n"):
            found = error(sent)
            assert (found.status, found.message) == (400, "no")

    def test_a_cut_call_is_no_reply(self) -> None:
        """Report 55: nothing is run, and it may be tried again."""
        first = opened(0, "tool_use", id="k1", name="del", input={})
        found = error(
            start(), first, grown(0, "input_json", partial_json='{"path":"/a')
        )
        assert (found.kind, found.retryable) == ("cut_stream", True)
        assert found.partial
        assert found.partial.finish == "error"

    def test_a_broken_connection_is_told(self) -> None:
        fault = ModelError("gone", "network")
        found = error(start(), text(0, "a"), fault=fault)
        assert evolve(found, partial=None) == fault

    def test_a_broken_connection_after_the_end_is_none(self) -> None:
        fault = ModelError("gone", "network")
        found = result(start(), text(0, "a"), ended(), fault=fault)
        assert isinstance(found, AssistantMessage)

    @pytest.mark.parametrize(
        ("body", "kind"),
        [
            (b"", "cut_stream"),
            (b"\n\n", "cut_stream"),
            (b"<html>busy</html>", "bad_response"),
            (b"data: {\n\n", "bad_response"),
            (b'{"choices": []}', "bad_response"),
            (b'{"type": "message", "content": []', "bad_response"),
            (b'{"type": "message", "content": []}', "bad_response"),
            (b"[]", "bad_response"),
            (b"data: [DONE]\n\n", "bad_response"),
            (b'data: {"choices": []}\n\n', "bad_response"),
            (b"event: message_st", "cut_stream"),
            (b": ping\n\n", "cut_stream"),
        ],
    )
    def test_what_is_no_message_is_a_fault(self, body: bytes, kind: str) -> None:
        assert error(body).kind == kind

    def test_a_fault_shows_the_beginning(self) -> None:
        assert "<html>busy" in error(b"<html>busy</html>").message

    def test_too_much_is_a_fault(self) -> None:
        decoder = Decoder(CALL, Told(), limit=100)
        assert decoder.feed(b"data: " + b"x" * 200) is True
        found = decoder.finish()
        assert isinstance(found, ModelError)
        assert found.kind == "bad_response"


def wants(schema: Json, *tools: ToolSpec, model: str = MODEL) -> CallModel:
    """An effect that wants an output, of a model that no mode holds to it."""
    output = freeze_object(schema)
    return CallModel("i", model, [UserMessage("hi")], tools=tools, output=output)


POINT = {"type": "object", "properties": {"x": {"type": "integer"}}}
PIECES = ('{"x"', ":1}")


class TestOutput:
    """Where a tool takes the output, a call of it is the text that it stands for."""

    def test_a_call_of_the_tool_is_text(self) -> None:
        body = start(), call(0, "k1", "final_output", *PIECES), CALLED
        assert reply(*body, asked=wants(POINT)) == (
            AssistantMessage('{"x":1}', model=MODEL)
        )

    def test_it_is_told_as_it_comes(self) -> None:
        told = Told()
        decoder = Decoder(wants(POINT), told)
        decoder.feed(start() + call(0, "k1", "final_output", PIECES[0]))
        assert told.sums() == {0: ('{"x"', "", "", "")}

    def test_what_is_no_object_is_unwrapped(self) -> None:
        asked = wants({"type": "array", "items": {"type": "integer"}})
        body = start(), call(0, "k1", "final_output", '{"output":', "[1]}"), CALLED
        assert reply(*body, asked=asked).text == "[1]"

    @pytest.mark.parametrize("arguments", ['{"out', '{"x":1}', "[1]"])
    def test_what_was_not_wrapped_is_shown_as_it_is(self, arguments: str) -> None:
        body = start(), call(0, "k1", "final_output", arguments), CALLED
        assert reply(*body, asked=wants({"type": "array"})).text == arguments

    def test_no_arguments_are_an_empty_object(self) -> None:
        body = start(), call(0, "k1", "final_output"), CALLED
        assert reply(*body, asked=wants(POINT)).text == "{}"

    def test_other_calls_stay_calls(self) -> None:
        body = (
            start(),
            call(0, "k1", "look"),
            call(1, "k2", "final_output", "{}"),
            CALLED,
        )
        found = reply(*body, asked=wants(POINT))
        assert ([c.name for c in found.calls], found.text, found.finish) == (
            ["look"],
            "{}",
            "tools",
        )

    def test_a_tool_of_that_name_stays_a_tool(self) -> None:
        asked = wants(POINT, ToolSpec("final_output"))
        body = call(0, "k1", "final_output"), call(1, "k2", "final_output_", *PIECES)
        found = reply(start(), *body, CALLED, asked=asked)
        assert ([c.name for c in found.calls], found.text) == (
            ["final_output"],
            '{"x":1}',
        )

    def test_is_the_same_in_one_piece(self) -> None:
        block = {
            "type": "tool_use",
            "id": "k",
            "name": "final_output",
            "input": {"x": 1},
        }
        found = reply(whole(block, reason="tool_use"), asked=wants(POINT))
        assert (found.text, found.finish) == ('{"x":1}', "end")

    def test_a_model_that_is_held_to_it_has_no_such_tool(self) -> None:
        asked = wants(POINT, model="anthropic:claude-sonnet-4-5")
        found = reply(start(), call(0, "k1", "final_output"), CALLED, asked=asked)
        assert [c.name for c in found.calls] == ["final_output"]


@pytest.mark.parametrize("less", [1, 40])
def test_the_last_event_counts_only_if_it_is_whole(less: int) -> None:
    """Report 52: a lost terminal event is no success with missing text."""
    found = error(start(), text(0, "a"), ended().rstrip()[:-less])
    assert (found.kind, found.partial and found.partial.text) == ("cut_stream", "a")
