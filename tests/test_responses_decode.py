"""Responses of the wire "responses" become one reply or one fault, in any server's manner."""

import json
import time
from typing import Any, Final

import pytest

from loopcore import (
    AssistantMessage,
    Image,
    ModelError,
    Text,
    Thinking,
    ToolCall,
    Usage,
)
from loopcore_adapters.responses import Decoder
from tests.reading import Told
from tests.responses_reading import (
    CALL,
    MODEL,
    begins,
    body,
    call,
    ended,
    error,
    event,
    message,
    reply,
    response,
    result,
    said,
    stream,
    thought,
    whole,
)

Json = Any
COUNTED: Final = Usage(6, 5, 4, reasoning=2)


def plain(*parts: Json, finish: Json = "end") -> AssistantMessage:
    """The reply with these parts, and the usual usage."""
    return AssistantMessage(parts, model=MODEL, finish=finish, usage=COUNTED)


def both(*output: Json, **fields: Json) -> AssistantMessage:
    """The reply that this output is: streamed and in one piece it is the same."""
    found = reply(body(*output, **fields))
    assert found == reply(*stream(*output, **fields))
    return found


class TestText:
    def test_is_the_same_streamed_and_in_one_piece(self) -> None:
        assert plain(Text("Hello!")) == both(message("Hello!"))

    def test_of_several_places_is_several_parts(self) -> None:
        found = both(message("a", "b"), message("c", id="msg_2"))
        assert (Text("a"), Text("b"), Text("c")) == found.parts

    def test_has_the_phase_of_its_message(self) -> None:
        """Models want it back on every message."""
        found = both(message("I look.", phase="commentary"))
        assert (Text("I look.", signature='{"phase":"commentary"}'),) == found.parts

    def test_has_the_id_of_its_message_only_beside_a_thought(self) -> None:
        sealed = thought(encrypted_content="xx")
        found = both(sealed, message("a"))
        assert Text("a", signature='{"id":"msg_1"}') == found.parts[1]
        assert (Text("a"),) == both(thought(), message("a")).parts

    def test_may_come_only_at_the_end(self) -> None:
        """Vector 121: what no piece said is told all the same."""
        assert plain(Text("hi")) == reply(ended(**response(message("hi"))))

    def test_may_come_only_as_a_whole(self) -> None:
        done = event("response.output_text.done", text="hi", content_index=0)
        assert "hi" == reply(done, ended()).text
        part = {"type": "output_text", "text": "hi"}
        assert (
            "hi" == reply(event("response.content_part.done", part=part), ended()).text
        )
        assert "hi" == reply(whole(**message("hi"), kind="message"), ended()).text

    def test_may_begin_where_it_is_announced(self) -> None:
        """Report 70: what a part has at its start is not lost."""
        part = {"type": "output_text", "text": "Pre"}
        announced = event("response.content_part.added", part=part)
        assert "Prefix" == reply(announced, said("fix"), ended()).text

    def test_of_the_end_adds_only_what_is_new(self) -> None:
        assert (
            "abc" == reply(said("a"), said("b"), ended(**response(message("abc")))).text
        )

    def test_of_the_end_that_is_another_changes_nothing_told(self) -> None:
        found = reply(said("abc"), ended(**response(message("xyzabc"))))
        assert "abc" == found.text

    @pytest.mark.parametrize(
        "place",
        [
            {},
            {"item_id": "m1"},
            {"output_index": 0},
            {"item_id": "m1", "output_index": 0, "content_index": 0},
        ],
    )
    def test_is_found_by_whatever_names_it(self, place: dict[str, Json]) -> None:
        announced = begins("message", id="m1")
        last = ended(**response(message("ab", id="m1")))
        assert (
            "ab" == reply(announced, said("a", **place), said("b", **place), last).text
        )

    def test_is_found_though_its_id_is_new_each_time(self) -> None:
        """Some proxies make an id up for each event; the place stays."""
        found = reply(
            begins("message", id="x1"),
            said("a", item_id="x2", output_index=0),
            said("b", item_id="x3", output_index=0),
            whole(kind="message", **message("ab", id="x4")),
            ended(**response(message("ab", id="x5"))),
        )
        assert (Text("ab"),) == found.parts

    def test_of_two_items_by_turns(self) -> None:
        found = reply(
            begins("message", 0, id="m1"),
            begins("message", 1, id="m2"),
            said("a", item_id="m1"),
            said("x", item_id="m2"),
            said("b", item_id="m1"),
            said("y", item_id="m2"),
            ended(),
        )
        assert (Text("ab"), Text("xy")) == found.parts

    @pytest.mark.parametrize("announced", [True, False])
    def test_of_two_items_may_end_in_another_order(self, *, announced: bool) -> None:
        begun = [begins("message", place, id=f"m{place}") for place in (1, 2)]
        last = ended(output=[message("xyz", id="m2"), message("abc", id="m1")])
        pieces = said("ab", item_id="m1") + said("xy", item_id="m2")
        found = reply(*(begun if announced else ()), pieces, last)
        assert (Text("abc"), Text("xyz")) == found.parts

    def test_is_none_of_an_item_of_another_kind(self) -> None:
        """A server that counts all items as the first."""
        sealed = whole("reasoning", 0, id="rs_1", summary=[], encrypted_content="x")
        asks = begins("function_call", 0, id="fc_1", name="look")
        found = reply(sealed, said("a", output_index=0), asks, ended())
        assert [Thinking, Text, ToolCall] == [type(part) for part in found.parts]
        assert Text("a") == found.parts[1]

    def test_cut_inside_a_character_is_whole(self) -> None:
        found = reply(said("a\ud83d"), said("\ude00b"), ended())
        assert "a\N{GRINNING FACE}b" == found.text

    def test_cut_inside_a_character_is_mended_by_the_whole(self) -> None:
        last = ended(**response(message("a\N{GRINNING FACE}b")))
        assert "a\N{GRINNING FACE}b" == reply(said("a\ud83d"), last).text

    def test_with_half_a_character_is_mended(self) -> None:
        assert "a\ufffd" == reply(said("a\ud83d"), ended()).text

    def test_may_be_a_plain_string(self) -> None:
        loose = {"type": "message", "content": "hi"}
        assert "hi" == reply(body(loose)).text
        assert "hi" == reply(body({"type": "message", "content": ["hi"]})).text

    def test_may_hold_any_line_separator(self) -> None:
        raw = '{"type":"response.output_text.delta","delta":"a\u2028b\u0085c"}'
        assert "a\u2028b\u0085c" == reply(f"data: {raw}\n\n".encode(), ended()).text


class TestLines:
    @pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
    def test_end_in_any_way(self, end: str) -> None:
        """Report 47."""
        sent = b"".join(stream(message("hi"), call("look", "{}")))
        found = reply(sent.replace(b"\n", end.encode()))
        assert ("hi", ["look"]) == (found.text, [made.name for made in found.calls])

    def test_between_events_are_passed_over(self) -> None:
        """Report 50: comments, pings, a mark at the start."""
        beat = b":\n\n: ping\n\nevent: ping\ndata: {}\n\n" + event("keepalive")
        found = reply(b"\xef\xbb\xbf", beat.join(stream(message("hi"))))
        assert plain(Text("hi")) == found

    def test_of_something_else_end_nothing(self) -> None:
        odd = b'data: {"status":"processing","output":"soon"}\n\n'
        assert plain(Text("hi")) == reply(odd, *stream(message("hi")))
        whole_one = b"data: " + body(message("hi")) + b"\n\n"
        assert plain(Text("hi")) == reply(odd, whole_one)

    def test_need_no_name_of_the_event(self) -> None:
        sent = b"".join(stream(message("hi")))
        bare = b"\n".join(ln for ln in sent.split(b"\n") if not ln.startswith(b"event"))
        assert plain(Text("hi")) == reply(bare)

    def test_may_name_the_event_alone(self) -> None:
        found = reply(
            b'event: response.output_text.delta\ndata: {"delta":"hi"}\n\n',
            b'event: response.completed\ndata: {"response":{}}\n\n',
        )
        assert "hi" == found.text

    def test_after_the_end_are_not_read(self) -> None:
        """Report 54: the last event ends the response, whatever the server does then."""
        decoder = Decoder(CALL, Told())
        assert decoder.feed(b"".join(stream(message("hi"))) + said("more"))
        assert plain(Text("hi")) == decoder.finish()

    def test_may_end_as_a_stream_of_chunks_does(self) -> None:
        found = reply(*stream(message("hi")), b"data: [DONE]\n\n")
        assert plain(Text("hi")) == found

    def test_may_lack_the_last_blank_one(self) -> None:
        """Report 52: the last event counts if it is whole."""
        assert plain(Text("hi")) == reply(b"".join(stream(message("hi")))[:-2])

    def test_that_name_unknown_events_are_passed_over(self) -> None:
        odd = event("response.something_new", delta="x") + event("other", delta="y")
        assert "hi" == reply(odd, said("hi"), odd, ended()).text


class TestThoughts:
    def test_are_their_summary(self) -> None:
        """The item is kept as it came, for the model that can read it."""
        sealed = thought("First.", "Then.", encrypted_content="gAAA")
        kept = json.dumps(sealed, separators=(",", ":"))
        found = both(sealed, message("a"))
        assert Thinking("First.\n\nThen.", kept) == found.parts[0]

    def test_without_a_summary_are_redacted(self) -> None:
        sealed = thought(encrypted_content="gAAA")
        kept = json.dumps(sealed, separators=(",", ":"))
        assert Thinking("", kept, redacted=True) == both(sealed, message("a")).parts[0]

    def test_that_cannot_be_sent_again_have_no_signature(self) -> None:
        """Report 127."""
        found = both(thought("Hm."), call("look", "{}"))
        assert Thinking("Hm.") == found.parts[0]
        assert None is found.calls[0].signature

    def test_of_which_nothing_is_known_are_none(self) -> None:
        """Report 127: an id alone is no part of a reply."""
        assert (Text("a"),) == both(thought(), message("a")).parts

    def test_are_sealed_by_the_whole_item(self) -> None:
        """What an announced item has may be incomplete."""
        found = reply(
            begins("reasoning", id="rs_1", encrypted_content="not-yet"),
            whole("reasoning", id="rs_1", encrypted_content="all", summary=[]),
            ended(),
        )
        (part,) = found.parts
        assert isinstance(part, Thinking)
        assert "all" == json.loads(part.signature or "")["encrypted_content"]

    def test_may_be_open(self) -> None:
        """Servers of open weights show the thinking itself."""
        opened = thought(content=[{"type": "reasoning_text", "text": "hmm"}])
        pieces = [
            event("response.reasoning_text.delta", delta=piece, item_id="rs_1")
            for piece in ("h", "mm")
        ]
        found = reply(begins("reasoning", id="rs_1"), *pieces, ended(output=[opened]))
        assert reply(body(opened)).parts == found.parts
        (part,) = found.parts
        assert isinstance(part, Thinking)
        assert "hmm" == json.loads(part.signature or "")["content"][0]["text"]

    def test_of_a_server_that_leaves_fields_empty(self) -> None:
        opened = thought(
            content=[{"type": "reasoning_text", "text": "hmm"}],
            encrypted_content="",
            status=None,
        )
        (part,) = reply(body(opened)).parts
        assert isinstance(part, Thinking)
        assert (
            '{"type":"reasoning","id":"rs_1","summary":[],"content":'
            == ((part.signature or "")[:55])
        )

    def test_stand_apart_by_a_blank_line(self) -> None:
        kind = "response.reasoning_summary_text.delta"
        pieces = [event(kind, delta=d, summary_index=n) for n, d in enumerate("ab")]
        again = event(kind, delta="c", summary_index=1)
        assert (Thinking("a\n\nbc"),) == reply(*pieces, again, ended()).parts


class TestCalls:
    def test_are_the_same_streamed_and_in_one_piece(self) -> None:
        made = call("look", '{"q": "a"}', "c1")
        other = call("put", '{"n":1}', "c2", id="fc_2")
        found = both(made, other)
        assert (
            ToolCall("look", {"q": "a"}, "c1", raw='{"q": "a"}'),
            ToolCall("put", {"n": 1}, "c2", raw='{"n":1}'),
        ) == found.parts
        assert "tools" == found.finish

    def test_have_the_id_of_their_item_only_beside_a_thought(self) -> None:
        """Report 126: the ids of what belongs together go together."""
        sealed = thought(encrypted_content="xx")
        assert ["fc_1"] == [c.signature for c in both(sealed, call("a", "{}")).calls]
        assert [None] == [c.signature for c in both(call("a", "{}")).calls]

    def test_by_turns(self) -> None:
        """Report 33."""
        piece = "response.function_call_arguments.delta"
        found = reply(
            begins("function_call", 0, id="fc_1", call_id="c1", name="one"),
            begins("function_call", 1, id="fc_2", call_id="c2", name="two"),
            event(piece, item_id="fc_1", output_index=0, delta='{"a"'),
            event(piece, item_id="fc_2", output_index=1, delta='{"b"'),
            event(piece, item_id="fc_1", output_index=0, delta=":1}"),
            event(piece, item_id="fc_2", output_index=1, delta=":2}"),
            ended(),
        )
        assert [("one", {"a": 1}), ("two", {"b": 2})] == [
            (made.name, dict(made.arguments)) for made in found.calls
        ]

    @pytest.mark.parametrize("arguments", ["", " \n", "{}", None])
    def test_without_arguments_have_none(self, arguments: str | None) -> None:
        """Reports 42, 43: streamed and in one piece."""
        made = call("ping", arguments)
        found = reply(body(made))
        assert ({}, "") == (dict(found.calls[0].arguments), found.calls[0].malformed)
        announced = begins("function_call", name="ping", call_id="c1", arguments="")
        last = ended(**response(made))
        assert found.calls == reply(announced, last).calls

    def test_with_broken_arguments_keep_their_text(self) -> None:
        (made,) = both(call("put", '{"a": 1 "b"}')).calls
        assert ('{"a": 1 "b"}', {}) == (made.raw, dict(made.arguments))
        assert made.malformed

    def test_with_an_object_for_arguments(self) -> None:
        """Report 41: both forms are taken on every wire."""
        assert {"a": 1} == dict(reply(body(call("put", {"a": 1}))).calls[0].arguments)

    @pytest.mark.parametrize("first", ["", "{}", " "])
    def test_with_a_placeholder_for_arguments(self, first: str) -> None:
        """Report 39: an empty object before the real one is dropped."""
        found = reply(
            begins("function_call", name="put", call_id="c1", arguments=first),
            event("response.function_call_arguments.delta", delta='{"a":1}'),
            ended(),
        )
        assert ['{"a":1}'] == [made.raw for made in found.calls]

    def test_whose_arguments_come_with_the_announcement(self) -> None:
        announced = begins("function_call", name="put", arguments='{"a":')
        piece = event("response.function_call_arguments.delta", delta="1}")
        assert '{"a":1}' == reply(announced, piece, ended()).calls[0].raw
        alone = begins("function_call", name="put", arguments='{"a":1}')
        assert '{"a":1}' == reply(alone, ended()).calls[0].raw

    def test_whose_arguments_come_only_as_a_whole(self) -> None:
        announced = begins("function_call", id="fc_1", name="put", call_id="c1")
        done = event(
            "response.function_call_arguments.done", item_id="fc_1", arguments='{"a":1}'
        )
        assert '{"a":1}' == reply(announced, done, ended()).calls[0].raw

    def test_whose_name_comes_late(self) -> None:
        """Report 35."""
        piece = event("response.function_call_arguments.delta", delta='{"a":1}')
        found = reply(piece, ended(output=[call("put", '{"a":1}')]))
        assert [("put", "c1")] == [(made.name, made.id) for made in found.calls]

    def test_that_never_get_a_name_are_kept(self) -> None:
        """Report 35: it is answered as an unknown tool, not run."""
        piece = event("response.function_call_arguments.delta", delta="{}")
        assert [""] == [made.name for made in reply(piece, ended()).calls]

    def test_without_an_id_get_one(self) -> None:
        """Report 36: the same each time, for each call its own."""
        loose = {"type": "function_call", "name": "put", "arguments": "{}"}
        made = [made.id for made in reply(body(loose, loose)).calls]
        assert ["call_cd883688662bccb8", "call_05c9466206b920bb"] == made

    def test_that_share_an_id_are_two(self) -> None:
        """Report 95, D67: told apart by their place."""
        found = both(call("put", "{}", "c1"), call("put", "[]", "c1"))
        assert [("c1", "{}"), ("c1", "[]")] == [(c.id, c.raw) for c in found.calls]

    def test_of_other_tools_are_not_for_us(self) -> None:
        """Report 8: what the provider runs itself is no call of ours."""
        search = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
        odd = {"type": "custom_tool_call", "id": "ct_1", "name": "x", "input": "y"}
        found = both(search, odd, message("found"))
        assert plain(Text("found")) == found

    def test_of_a_long_text_take_time_in_proportion(self) -> None:
        """Report 183: a piece is not looked at again when the next one comes."""

        def seconds(count: int) -> float:
            kind = "response.function_call_arguments.delta"
            pieces = [event(kind, item_id="fc_1", delta="ab")] * count
            sent = b"".join([begins("function_call", id="fc_1", name="x"), *pieces])
            decoder = Decoder(CALL, Told())
            start = time.process_time()
            decoder.feed(sent)
            return time.process_time() - start

        short = min(seconds(1_000) for _ in range(3))
        assert seconds(16_000) < 16 * 4 * short


class TestImages:
    def test_of_the_providers_own_tool_are_parts(self) -> None:
        made = {"type": "image_generation_call", "id": "ig_1", "result": "Y2F0"}
        found = both(message("Here:"), {**made, "output_format": "webp"})
        assert (Text("Here:"), Image("Y2F0", "image/webp")) == found.parts
        assert (Image("Y2F0", "image/png"),) == both(made).parts

    def test_that_were_not_made_are_none(self) -> None:
        failed = {"type": "image_generation_call", "id": "ig_1", "result": None}
        assert () == both(failed).parts


class TestRefusals:
    def test_are_texts(self) -> None:
        """Report 73: terminal, and not empty."""
        refusal = [{"type": "refusal", "refusal": "No can do"}]
        found = both({**message(), "content": refusal})
        assert ("No can do", "refusal") == (found.text, found.finish)

    def test_in_pieces_are_told(self) -> None:
        """Report 73."""
        pieces = [
            event("response.refusal.delta", delta=piece) for piece in ("No", " can do")
        ]
        found = reply(*pieces, ended())
        assert ("No can do", "refusal") == (found.text, found.finish)

    def test_beside_a_text_keep_it(self) -> None:
        """Report 74."""
        content: Json = [
            {"type": "output_text", "text": "hi", "annotations": []},
            {"type": "refusal", "refusal": "No"},
        ]
        found = both({**message(), "content": content})
        assert ["hi", "No"] == [p.text for p in found.parts if isinstance(p, Text)]
        assert "refusal" == found.finish

    def test_beside_a_call_run_nothing(self) -> None:
        """Report 81."""
        refusal = {**message(), "content": [{"type": "refusal", "refusal": "No"}]}
        assert "refusal" == both(refusal, call("put", "{}")).finish


class TestStatuses:
    def test_of_a_text_that_was_too_long(self) -> None:
        """Report 63: the text so far, and its usage."""
        cut = {"incomplete_details": {"reason": "max_output_tokens"}}
        found = both(message("some"), status="incomplete", **cut)
        assert plain(Text("some"), finish="length") == found

    def test_of_a_call_that_was_too_long(self) -> None:
        """Reports 65, 66: the length counts, whether calls are whole or cut."""
        cut = {"incomplete_details": {"reason": "max_output_tokens"}}
        found = both(
            call("put", "{}"), call("put", '{"pa', "c2"), status="incomplete", **cut
        )
        assert ("length", 2) == (found.finish, len(found.calls))

    def test_of_a_thought_that_was_too_long(self) -> None:
        cut = {"incomplete_details": {"reason": "max_output_tokens"}}
        found = both(thought("Hm"), status="incomplete", **cut)
        assert ("length", (Thinking("Hm"),)) == (found.finish, found.parts)

    def test_may_say_less_than_their_details(self) -> None:
        """A server that says "completed", and why it is not."""
        cut = {"incomplete_details": {"reason": "max_output_tokens"}}
        assert "length" == both(message("some"), **cut).finish

    def test_of_what_was_filtered(self) -> None:
        """Report 72: an outcome, and no hiccup; what was said is kept."""
        cut: Json = {"status": "incomplete"}
        cut["incomplete_details"] = {"reason": "content_filter"}
        assert "refusal" == both(message("some"), **cut).finish
        assert "refusal" == both(call("put", "{}"), **cut).finish
        found = error(body(**cut))
        assert ("content_filter", False) == (found.kind, found.retryable)

    @pytest.mark.parametrize("details", [None, {}, {"reason": "something_new"}])
    def test_of_what_is_incomplete_otherwise(self, details: Json) -> None:
        """O7: no success is made up."""
        sent = stream(message("a"), status="incomplete", incomplete_details=details)
        found = error(*sent)
        assert "bad_response" == found.kind
        assert found.partial
        assert "a" == found.partial.text

    def test_of_what_failed(self) -> None:
        """Report 64: with its code, and what had come."""
        failed = {"code": "server_error", "message": "The model failed."}
        found = error(*stream(message("some"), status="failed", error=failed))
        assert ("server", "The model failed.", True) == (
            found.kind,
            found.message,
            found.retryable,
        )
        assert found.partial
        assert ("some", COUNTED) == (found.partial.text, found.partial.usage)

    def test_of_what_failed_without_a_word(self) -> None:
        found = error(body(status="failed"))
        assert ("server", "The response failed, and does not say why.") == (
            found.kind,
            found.message,
        )

    def test_of_what_the_provider_cancelled(self) -> None:
        """T5: nobody here aborted."""
        assert "cut_stream" == error(body(status="cancelled")).kind
        assert "cut_stream" == error(said("a"), ended("cancelled")).kind

    @pytest.mark.parametrize("status", ["queued", "in_progress"])
    def test_of_what_is_not_ready(self, status: str) -> None:
        found = error(body(message("a"), status=status))
        assert "bad_response" == found.kind
        assert f"The response is {status}: " in found.message

    def test_that_are_lacking_are_those_of_the_event(self) -> None:
        assert "a" == reply(said("a"), event("response.completed", response={})).text
        assert "cut_stream" == error(event("response.cancelled", response={})).kind

    def test_of_a_response_in_one_piece_may_be_lacking(self) -> None:
        loose = {"object": "response", "output": [message("a")]}
        assert "a" == reply(json.dumps(loose).encode()).text

    def test_of_a_reply_without_content(self) -> None:
        """D68: a server that says so has nothing to say."""
        assert plain() == both()


class TestCuts:
    def test_of_a_stream_are_faults(self) -> None:
        """Reports 55, O7: a stream without its last event is no success."""
        sent = stream(message("some"), call("put", '{"path":"/a"}'))[:-1]
        found = error(*sent)
        assert ("cut_stream", True) == (found.kind, found.retryable)
        assert found.partial
        assert ("error", 1) == (found.partial.finish, len(found.partial.calls))

    def test_that_the_network_explains_say_so(self) -> None:
        late = ModelError("too late", "timeout")
        assert "timeout" == error(said("a"), fault=late).kind

    def test_after_the_end_change_nothing(self) -> None:
        late = ModelError("too late", "timeout")
        assert plain(Text("a")) == result(*stream(message("a")), fault=late)

    def test_of_a_response_in_one_piece(self) -> None:
        assert "bad_response" == error(body(message("a"))[:-1]).kind
        broken = ModelError("reset", "cut_stream")
        assert "cut_stream" == error(body(message("a"))[:-1], fault=broken).kind

    def test_before_anything(self) -> None:
        assert ("cut_stream", "The response was empty.") == (
            error(b"").kind,
            error(b"\r\n").message,
        )

    def test_after_a_first_event(self) -> None:
        begun = event("response.created", response={"status": "in_progress"})
        assert "cut_stream" == error(begun).kind
        assert "cut_stream" == error(event("keepalive")).kind

    def test_after_a_sentinel_only(self) -> None:
        assert "cut_stream" == error(said("a"), b"data: [DONE]\n\n").kind


class TestFaults:
    @pytest.mark.parametrize(
        ("code", "kind"),
        [
            ("server_error", "server"),
            ("rate_limit_exceeded", "rate_limit"),
            ("context_length_exceeded", "context_overflow"),
            ("insufficient_quota", "auth"),
            ("invalid_prompt", "bad_request"),
            ("invalid_image", "bad_request"),
            ("invalid_base64_image", "bad_request"),
            ("image_too_large", "bad_request"),
            ("image_parse_error", "bad_request"),
            ("unsupported_image_media_type", "bad_request"),
            ("empty_image_file", "bad_request"),
            ("failed_to_download_image", "bad_request"),
            ("data_residency_mismatch", "bad_request"),
            ("image_content_policy_violation", "content_filter"),
            ("misalignment_policy_violation", "content_filter"),
            ("bio_policy", "content_filter"),
            ("vector_store_timeout", "timeout"),
            ("something_new", "server"),
        ],
    )
    def test_in_a_stream_are_known_by_their_code(self, code: str, kind: str) -> None:
        """As an event of their own, nested or not, and as the end of a response."""
        said_so = {"code": code, "message": "It is so."}
        for sent in (
            event("error", param=None, **said_so),
            event("error", error={"type": "some_error", **said_so}),
            event("response.failed", response={"status": "failed", "error": said_so}),
        ):
            found = error(said("a"), sent)
            assert (kind, "It is so.") == (found.kind, found.message)
            assert found.partial
            assert "a" == found.partial.text

    def test_in_a_stream_end_it(self) -> None:
        decoder = Decoder(CALL, Told())
        assert decoder.feed(event("error", code="server_error", message="no"))

    def test_in_a_success_are_faults(self) -> None:
        """Report 61: an error in a response that is no error by its status."""
        found = error(b'{"error":{"message":"no credit","code":402}}')
        assert ("auth", 402) == (found.kind, found.status)

    @pytest.mark.parametrize(
        "sent",
        [
            b"<html>busy</html>",
            b"[]",
            b'{"id":"x"}',
            b'{"choices":[{"message":{"content":"hi"}}]}',
            b'data: {"choices":[{"delta":{"content":"hi"}}]}\n\ndata: [DONE]\n\n',
            b"data: 7\n\n",
            b"data: {]\n\n",
            b'event: message_start\ndata: {"type":"message_start"}\n\n',
        ],
    )
    def test_of_another_protocol_show_their_beginning(self, sent: bytes) -> None:
        found = error(sent)
        assert "bad_response" == found.kind
        assert sent[8:20].decode().strip() in found.message

    def test_too_large_are_faults(self) -> None:
        for sent in (body(message("a" * 400)), said("a" * 400)):
            decoder = Decoder(CALL, Told(), 300)
            assert decoder.feed(sent)
            found = decoder.finish()
            assert isinstance(found, ModelError)
            assert "300 bytes" in found.message


class TestUsage:
    def test_tells_fresh_input_from_the_cache(self) -> None:
        counts = {
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30},
            "output_tokens": 9,
            "output_tokens_details": {"reasoning_tokens": 7},
        }
        found = both(message("a"), usage=counts)
        assert Usage(10, 9, 60, 30, 7) == found.usage

    @pytest.mark.parametrize("counts", [None, [], {}, {"input_tokens": "many"}])
    def test_may_be_lacking(self, counts: Json) -> None:
        assert Usage() == reply(body(message("a"), usage=counts)).usage

    def test_may_have_a_cost(self) -> None:
        assert 0.5 == reply(body(message("a"), usage={"cost": 0.5})).usage.cost
