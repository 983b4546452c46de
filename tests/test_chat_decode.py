"""Chat Completions responses become one reply or one fault, whatever the server's ways."""

import json
import time
from collections.abc import Callable
from typing import Final

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
from loopcore_adapters.chat import Decoder
from loopcore_adapters.loose import Json
from tests.chat_reading import CALL, MODEL, calls, error, ids, reply, result
from tests.chat_server import DONE, call, delta, event, finish, usage
from tests.reading import Told


def choice(**more: Json) -> bytes:
    return event({"choices": [more]})


def body(message: object = None, **more: object) -> bytes:
    """A response that is not streamed."""
    choice = {"index": 0, "message": message, "finish_reason": "stop", **more}
    return json.dumps({"choices": [choice]}).encode()


CALLED = finish("tool_calls") + DONE


class TestText:
    def test_pieces_add_up(self) -> None:
        assert reply(delta(content="a"), delta(content="b"), finish("stop"), DONE) == (
            AssistantMessage("ab", model=MODEL)
        )

    def test_a_response_in_one_piece_is_the_same(self) -> None:
        assert reply(body({"content": "ab"})) == AssistantMessage("ab", model=MODEL)

    def test_a_body_may_begin_with_a_mark_and_blank_lines(self) -> None:
        found = reply(b"\xef\xbb\xbf\n\n" + body({"content": "ab"}))
        assert found == AssistantMessage("ab", model=MODEL)

    def test_the_model_is_the_one_that_was_asked_for(self) -> None:
        chunk = {"model": "other-2026-01-01", "choices": [{"delta": {"content": "a"}}]}
        assert reply(event(chunk), finish("stop")).model == MODEL

    def test_content_may_be_an_array(self) -> None:
        parts = [
            {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
            {"type": "text", "text": "a"},
            "b",
            {"type": "refusal", "refusal": "no"},
        ]
        assert reply(body({"content": parts})).parts == (
            Thinking("hm"),
            Text("ab"),
            Text("no"),
        )

    def test_a_chunk_without_choices_is_passed_over(self) -> None:
        """Report 26: some send their filter's results first."""
        first = event({"choices": [], "prompt_filter_results": [{}]})
        assert reply(first, delta(content="hi"), finish("stop"), DONE).text == "hi"

    def test_a_choice_may_lack_its_finish_reason(self) -> None:
        """Report 28: no key is the same as null."""
        first = choice(delta={"content": "hi"})
        assert reply(first, finish("stop"), DONE).text == "hi"

    @pytest.mark.parametrize("nothing", [{"delta": None}, {"delta": {}}, {}])
    def test_a_choice_may_be_empty(self, nothing: dict[str, object]) -> None:
        assert (
            reply(choice(**nothing), delta(content="hi"), finish("stop")).text == "hi"
        )

    def test_only_the_first_choice_is_read(self) -> None:
        other = {"index": 1, "delta": {"content": "b"}, "finish_reason": "length"}
        one = {"index": 0, "delta": {"content": "a"}, "finish_reason": "stop"}
        assert reply(event({"choices": [one, other]})) == (
            AssistantMessage("a", model=MODEL)
        )

    def test_heartbeats_mean_nothing(self) -> None:
        """Report 50."""
        pings = b":\n\n: ping\n\nevent: ping\ndata:\n\n"
        assert reply(pings, delta(content="a"), pings, finish("stop"), DONE).text == "a"

    def test_a_character_cut_in_two_by_the_server_is_one(self) -> None:
        found = reply(
            delta(content="a\ud83d"), delta(content="\ude00b"), finish("stop")
        )
        assert found.text == "a\U0001f600b"

    @pytest.mark.parametrize("half", [0xD83D, 0xDE00])
    def test_half_a_character_is_replaced(self, half: int) -> None:
        assert reply(delta(content=f"a{chr(half)}"), finish("stop")).text == "a\ufffd"

    def test_a_whole_message_may_come_as_an_event(self) -> None:
        message = {"role": "assistant", "content": "hi"}
        found = reply(choice(message=message, finish_reason="stop"), DONE)
        assert found.text == "hi"

    def test_the_last_event_needs_no_blank_line(self) -> None:
        """Report 52: a terminal chunk without its blank line counts."""
        last = {"choices": [{"delta": {"content": "z"}, "finish_reason": "stop"}]}
        assert reply(event(last).rstrip()).text == "z"

    def test_the_last_event_counts_only_if_it_is_whole(self) -> None:
        """Report 52: a lost terminal chunk is no success with missing text."""
        last = choice(delta={"content": "z"}, finish_reason="stop").rstrip()
        found = error(delta(content="a"), last[:-1])
        assert (found.kind, found.partial and found.partial.text) == ("cut_stream", "a")


class TestPictures:
    URL: Final = "data:image/png;base64,Y2F0"

    def picture(self, url: str) -> Json:
        return {"type": "image_url", "image_url": {"url": url}}

    def test_are_parts_in_their_place(self) -> None:
        found = reply(
            delta(content="a cat"),
            delta(images=[self.picture(self.URL)]),
            finish("stop"),
        )
        assert found.parts == (Text("a cat"), Image("Y2F0", "image/png"))

    def test_alone_are_a_reply(self) -> None:
        found = reply(delta(images=[self.picture(self.URL)]), finish("stop"))
        assert found.parts == (Image("Y2F0", "image/png"),)

    def test_that_are_elsewhere_are_said(self) -> None:
        found = reply(delta(images=[self.picture("https://h/cat.png")]), finish("stop"))
        assert found.text == "https://h/cat.png"


class TestThinking:
    @pytest.mark.parametrize(
        "name", ["reasoning_content", "reasoning", "reasoning_text"]
    )
    def test_has_several_names(self, name: str) -> None:
        found = reply(
            delta(**{name: "h"}), delta(**{name: "m"}), delta(content="a"), DONE
        )
        assert found.parts == (Thinking("hm"), Text("a"))

    def test_under_two_names_is_read_once(self) -> None:
        both = delta(reasoning="hm", reasoning_content="hm")
        assert reply(both, finish("stop")).parts == (Thinking("hm"),)

    def test_is_told_apart_from_text_in_one_piece_too(self) -> None:
        message = {"content": "a", "reasoning_content": "hm"}
        assert reply(body(message)).parts == (Thinking("hm"), Text("a"))

    def test_details_are_kept_as_they_came(self) -> None:
        """Report 69: what arrives in pieces is joined, a signature too."""
        found = reply(
            delta(reasoning="h", reasoning_details=[{"type": "t", "text": "h"}]),
            delta(reasoning="m", reasoning_details=[{"type": "t", "text": "m"}]),
            delta(reasoning_details=[{"type": "t", "signature": "si", "id": None}]),
            delta(reasoning_details=[{"type": "t", "signature": "g", "id": "1"}]),
            delta(reasoning_details=[{"type": "e", "data": "x"}]),
            finish("stop"),
        )
        kept = (
            '[{"type":"t","text":"hm","signature":"sig","id":"1"},'
            '{"type":"e","data":"x"}]'
        )
        assert found.parts == (Thinking("hm", kept),)

    def test_details_that_have_ids_of_their_own_are_not_joined(self) -> None:
        """As of several calls of one reply, which share an index."""
        details = [
            {"type": "e", "data": name, "id": name, "index": 0} for name in ("a", "b")
        ]
        pieces = [delta(reasoning_details=[one]) for one in details]
        (kept,) = reply(*pieces, finish("stop")).parts
        assert isinstance(kept, Thinking)
        assert json.loads(kept.signature or "") == details

    def test_details_in_one_piece_are_whole(self) -> None:
        details = [
            {"type": "t", "text": name, "signature": name} for name in ("a", "b")
        ]
        said = {"content": "c", "reasoning": "ab", "reasoning_details": details}
        kept = reply(body(said)).parts[0]
        assert isinstance(kept, Thinking)
        assert json.loads(kept.signature or "") == details

    def test_of_which_only_the_details_came_is_redacted(self) -> None:
        found = reply(delta(reasoning_details=[{"data": "x"}]), finish("stop"))
        assert found.parts == (Thinking("", '[{"data":"x"}]', redacted=True),)


class TestCalls:
    def test_pieces_add_up(self) -> None:
        assert reply(
            delta(content="I look."),
            call(index=0, id="k1", name="look", arguments=""),
            call(index=0, arguments='{"q":'),
            call(index=0, arguments=' "a"}'),
            CALLED,
        ) == AssistantMessage(
            [Text("I look."), ToolCall("look", {"q": "a"}, "k1", raw='{"q": "a"}')],
            model=MODEL,
            finish="tools",
        )

    def test_at_one_index_with_different_ids(self) -> None:
        """Report 29: two calls, in the order in which they came."""
        found = (
            call(index=0, id="k1", name="look", arguments='{"q":"a"}'),
            call(index=0, id="k2", name="look", arguments='{"q":"b"}'),
            CALLED,
        )
        assert calls(*found) == [("look", {"q": "a"}), ("look", {"q": "b"})]
        assert ids(*found) == ["k1", "k2"]

    def test_at_one_index_without_ids(self) -> None:
        """Report 30: a name after whole arguments begins another call."""
        found = (
            call(index=0, name="look", arguments='{"q":"a"}'),
            call(index=0, name="look", arguments='{"q":"b"}'),
            CALLED,
        )
        assert calls(*found) == [("look", {"q": "a"}), ("look", {"q": "b"})]
        assert len(set(ids(*found))) == 2
        assert ids(*found) == ids(*found)

    def test_at_one_index_with_one_name(self) -> None:
        """Report 31: three calls named "put", none "putputput"."""
        found = [
            call(index=0, id=f"k{n}", name="put", arguments=f'{{"n":{n}}}')
            for n in (1, 2, 3)
        ]
        assert calls(*found, CALLED) == [("put", {"n": n}) for n in (1, 2, 3)]

    @pytest.mark.parametrize("first", [{}, {"index": 0}])
    def test_without_an_index(self, first: dict[str, int]) -> None:
        """Report 32: an id begins a call, what has none goes on with the last."""
        assert calls(
            call(**first, id="k1", name="one", arguments='{"a":'),
            call(arguments="1}"),
            call(id="k2", name="two", arguments='{"b":2}'),
            CALLED,
        ) == [("one", {"a": 1}), ("two", {"b": 2})]

    def test_that_come_by_turns(self) -> None:
        """Report 33: the index says to which call a piece belongs."""
        assert calls(
            call(index=0, id="k1", name="one", arguments='{"a"'),
            call(index=1, id="k2", name="two", arguments='{"b"'),
            call(index=0, arguments=":1}"),
            call(index=1, arguments=":2}"),
            CALLED,
        ) == [("one", {"a": 1}), ("two", {"b": 2})]

    def test_by_turns_without_an_index(self) -> None:
        assert calls(
            call(id="k1", name="one", arguments='{"a"'),
            call(id="k2", name="two", arguments='{"b"'),
            call(id="k1", arguments=":1}"),
            call(id="k2", arguments=":2}"),
            CALLED,
        ) == [("one", {"a": 1}), ("two", {"b": 2})]

    def test_whose_index_counts_pieces(self) -> None:
        assert calls(
            call(index=0, id="k1", name="one", arguments='{"a"'),
            call(index=1, id="k1", arguments=":1}"),
            CALLED,
        ) == [("one", {"a": 1})]

    def test_that_share_an_id_are_two(self) -> None:
        """Report 95, D67: told apart by their place; the wire gets distinct ids."""
        found = (
            call(index=0, id="k:1", name="one", arguments='{"a":1}'),
            call(index=1, id="k:1", name="two", arguments='{"b":2}'),
            CALLED,
        )
        assert calls(*found) == [("one", {"a": 1}), ("two", {"b": 2})]
        assert ids(*found) == ["k:1", "k:1"]

    def test_whose_name_comes_late(self) -> None:
        """Report 35: arguments wait for the name."""
        assert calls(
            call(index=0, id="k1", arguments='{"a":'),
            call(index=0, name="one", arguments="1}"),
            CALLED,
        ) == [("one", {"a": 1})]

    def test_that_never_get_a_name_are_reported(self) -> None:
        """Report 35: such a call names no tool, so it is answered and not run."""
        found = reply(call(index=0, id="k1", arguments='{"a":1}'), CALLED)
        assert found.calls == (ToolCall("", {"a": 1}, "k1", raw='{"a":1}'),)

    def test_whose_id_comes_late(self) -> None:
        """Report 36."""
        found = (
            call(index=0, name="one", arguments="{"),
            call(index=0, id="k9", arguments="}"),
            CALLED,
        )
        assert calls(*found) == [("one", {})]
        assert ids(*found) == ["k9"]

    @pytest.mark.parametrize("lacking", [{}, {"id": None}, {"id": ""}])
    def test_without_an_id_get_one(self, lacking: dict[str, None]) -> None:
        """Report 36: one that is made up, the same each time, for each call its own."""
        found = (
            call(index=0, **lacking, name="one", arguments="{}"),
            call(index=1, **lacking, name="one", arguments="{}"),
            CALLED,
        )
        assert ids(*found) == ["call_cd883688662bccb8", "call_05c9466206b920bb"]

    def test_empty_text_is_no_text(self) -> None:
        """Report 37: an empty id or name does not replace what is known."""
        found = (
            call(index=0, id="k1", name="one", arguments="{"),
            call(index=0, id="", name="", arguments='"a":1}'),
            CALLED,
        )
        assert calls(*found) == [("one", {"a": 1})]
        assert ids(*found) == ["k1"]

    def test_whose_name_is_repeated(self) -> None:
        """Report 38: the whole name again is no continuation."""
        assert calls(
            call(index=0, id="k1", name="fin", arguments="{"),
            call(index=0, name="fin", arguments='"v":1'),
            call(index=0, name="fin", arguments="}"),
            call(index=0, name="fin", arguments=""),
            CALLED,
        ) == [("fin", {"v": 1})]

    def test_are_whole_only_outside_of_text(self) -> None:
        """Report 38: a bracket in a string closes nothing, an escaped quote no string."""
        assert calls(
            call(index=0, id="k1", name="fin", arguments='{"v":"}\\"'),
            call(index=0, name="fin", arguments='}"'),
            call(index=0, name="fin", arguments="}"),
            CALLED,
        ) == [("fin", {"v": '}"}'})]

    def test_without_an_id_end_where_one_with_an_id_begins(self) -> None:
        found = (
            call(name="one", arguments='{"a":1'),
            call(id="k2", name="two", arguments='{"b":2}'),
            CALLED,
        )
        assert [made.name for made in reply(*found).calls] == ["one", "two"]

    def test_whose_name_and_id_are_repeated(self) -> None:
        assert calls(
            call(index=0, id="k1", name="fin", arguments='{"v":'),
            call(index=0, id="k1", name="fin", arguments="1}"),
            CALLED,
        ) == [("fin", {"v": 1})]

    def test_whose_name_comes_in_pieces(self) -> None:
        assert calls(
            call(index=0, id="k1", name="get_", arguments=""),
            call(index=0, name="weather", arguments="{}"),
            CALLED,
        ) == [("get_weather", {})]

    def test_with_a_placeholder_for_arguments(self) -> None:
        """Report 39: an empty object before the real one is dropped."""
        assert calls(
            call(index=0, id="k1", name="one", arguments="{}"),
            call(index=0, arguments='{"a":1}'),
            CALLED,
        ) == [("one", {"a": 1})]

    def test_with_blank_text_after_an_empty_object(self) -> None:
        found = reply(
            call(index=0, id="k1", name="one", arguments="{}"),
            call(index=0, arguments=" \n"),
            CALLED,
        )
        assert found.calls == (ToolCall("one", {}, "k1", raw="{} \n"),)

    def test_with_an_object_for_arguments(self) -> None:
        """Report 40: no id, no type, and arguments that are no text."""
        message = {
            "tool_calls": [{"function": {"name": "t", "arguments": {"city": "x"}}}]
        }
        assert calls(body(message)) == [("t", {"city": "x"})]
        assert ids(body(message)) == ["call_cd883688662bccb8"]

    def test_with_an_object_for_arguments_streamed(self) -> None:
        """Report 41: both forms are taken on every wire."""
        assert calls(call(index=0, name="t", arguments={"city": "x"}), CALLED) == [
            ("t", {"city": "x"})
        ]

    @pytest.mark.parametrize("more", [{}, {"arguments": None}, {"arguments": " \n"}])
    def test_without_arguments(self, more: dict[str, None]) -> None:
        """Report 43: the same streamed and in one piece."""
        entry = {"id": "k1", "function": {"name": "ping", **more}}
        assert calls(call(index=0, id="k1", name="ping", **more), CALLED) == [
            ("ping", {})
        ]
        assert calls(body({"tool_calls": [entry]})) == [("ping", {})]

    def test_in_one_piece_are_never_joined(self) -> None:
        entry = {"function": {"name": "ping", "arguments": ""}}
        found = calls(body({"tool_calls": [entry, entry]}))
        assert found == [("ping", {}), ("ping", {})]

    def test_in_the_old_form(self) -> None:
        old = {"function_call": {"name": "one", "arguments": '{"a":1}'}}
        assert calls(delta(**old), finish("function_call")) == [("one", {"a": 1})]
        assert calls(body(old, finish_reason="function_call")) == [("one", {"a": 1})]

    def test_with_broken_arguments_are_kept_as_they_are(self) -> None:
        """Nothing is mended, nothing is run: history stays honest."""
        (found,) = reply(
            call(index=0, id="k1", name="one", arguments='{"a"'), DONE
        ).calls
        assert found == ToolCall.parse("one", '{"a"', "k1")
        assert found.malformed

    def test_beside_an_entry_that_says_nothing(self) -> None:
        assert calls(
            delta(tool_calls=[{"index": 0}, {}, None, 7]),
            call(index=0, id="k1", name="one", arguments="{}"),
            CALLED,
        ) == [("one", {})]

    def test_keep_what_the_provider_attached(self) -> None:
        extra = {"google": {"thought_signature": "s"}}
        found = reply(call(index=0, id="k1", name="one", extra_content=extra), CALLED)
        assert found.calls[0].signature == '{"google":{"thought_signature":"s"}}'

    def test_an_empty_list_of_calls_is_none(self) -> None:
        """Report 79: no tool turn, and nothing in history."""
        found = AssistantMessage("ok", model=MODEL)
        assert reply(delta(content="ok", tool_calls=[]), finish("stop"), DONE) == found
        assert reply(body({"content": "ok", "tool_calls": []})) == found


class TestUsage:
    def test_comes_after_the_reply(self) -> None:
        """Report 27: in a chunk without choices."""
        found = reply(delta(content="hi"), finish("stop"), usage(7, 3), DONE)
        assert found == AssistantMessage("hi", model=MODEL, usage=Usage(7, 3))

    def test_counts_up(self) -> None:
        """Report 77: each count is a total, so the last one holds."""
        chunks = [delta(content="a") + usage(9, n) for n in (1, 4, 5, 99)]
        assert reply(*chunks, finish("stop")).usage == Usage(9, 99)

    def test_keeps_what_a_later_count_leaves_out(self) -> None:
        """Report 76: absent or null keeps the old value, 0 is a value."""
        later = event({"choices": [], "usage": {"prompt_tokens": None}})
        zero = event({"choices": [], "usage": {"prompt_tokens": 0}})
        said = delta(content="a") + usage(25, 5)
        assert reply(said, later, finish("stop")).usage == Usage(25, 5)
        assert reply(said, zero, finish("stop")).usage == Usage(0, 5)

    def test_tells_fresh_input_from_the_cache(self) -> None:
        """Vector 104."""
        counted = usage(10, 5, prompt_tokens_details={"cached_tokens": 3})
        assert reply(delta(content="a"), finish("stop"), counted).usage == Usage(
            7, 5, 3
        )

    @pytest.mark.parametrize("name", ["prompt_cache_hit_tokens", "cached_tokens"])
    def test_of_the_cache_has_other_names(self, name: str) -> None:
        counted = usage(10, 5, **{name: 3})
        assert reply(delta(content="a"), finish("stop"), counted).usage == Usage(
            7, 5, 3
        )

    def test_never_is_below_nothing(self) -> None:
        counted = usage(2, 5, prompt_tokens_details={"cached_tokens": 3})
        assert reply(delta(content="a"), finish("stop"), counted).usage == Usage(
            0, 5, 3
        )

    def test_has_reasoning_within_output(self) -> None:
        inside = usage(
            9, 5, total_tokens=14, completion_tokens_details={"reasoning_tokens": 2}
        )
        beside = usage(
            9, 5, total_tokens=16, completion_tokens_details={"reasoning_tokens": 2}
        )
        said = delta(content="a") + finish("stop")
        assert reply(said, inside).usage == Usage(9, 5, reasoning=2)
        assert reply(said, beside).usage == Usage(9, 7, reasoning=2)

    def test_has_reasoning_that_only_the_total_has(self) -> None:
        """Google's server counts so."""
        said = delta(content="a") + finish("stop")
        thought = usage(9, 5, total_tokens=103)
        assert reply(said, thought).usage == Usage(9, 94, reasoning=89)

    def test_has_no_reasoning_where_the_total_has_the_cache_beside(self) -> None:
        cached = usage(9, 5, total_tokens=20, cached_tokens=6)
        said = delta(content="a") + finish("stop")
        assert reply(said, cached).usage == Usage(3, 5, 6)

    def test_may_have_a_cost(self) -> None:
        counted = usage(9, 5, cost=0.25)
        found = reply(delta(content="a"), finish("stop"), counted)
        assert found.usage == Usage(9, 5, cost=0.25)

    def test_may_stand_in_other_places(self) -> None:
        counts = {"prompt_tokens": 9, "completion_tokens": 5}
        inside = choice(delta={"content": "a"}, finish_reason="stop", usage=counts)
        beside = event({"choices": [], "x_groq": {"usage": counts}})
        assert reply(inside).usage == Usage(9, 5)
        assert reply(delta(content="a"), finish("stop"), beside).usage == Usage(9, 5)

    @pytest.mark.parametrize("odd", ["7", -1, True, [], 10**400, float("inf")])
    def test_that_is_no_number_is_none(self, odd: object) -> None:
        counted = event({"choices": [], "usage": {"prompt_tokens": odd}})
        found = reply(delta(content="a"), counted, finish("stop"))
        assert found == AssistantMessage("a", model=MODEL)


class TestFinish:
    @pytest.mark.parametrize(
        ("reason", "means"),
        [
            ("stop", "end"),
            ("end", "end"),
            ("length", "length"),
            ("content_filter", "refusal"),
            ("something_new", "end"),
            ("STOP", "end"),
        ],
    )
    def test_of_text(self, reason: str, means: str) -> None:
        """Vector 105. An unknown reason ends a reply that has something to say."""
        found = reply(delta(content="a"), finish(reason), DONE)
        assert (found.finish, found.text) == (means, "a")

    @pytest.mark.parametrize(
        ("reason", "means"),
        [
            ("tool_calls", "tools"),
            ("function_call", "tools"),
            ("stop", "tools"),
            ("something_new", "tools"),
            ("length", "length"),
            ("content_filter", "refusal"),
            ("refusal", "refusal"),
        ],
    )
    def test_of_calls(self, reason: str, means: str) -> None:
        """Report 81: calls are run only for some reasons; a cut or refused one is not."""
        found = reply(call(index=0, name="one", arguments="{}"), finish(reason), DONE)
        assert (found.finish, len(found.calls)) == (means, 1)

    def test_of_a_custom_tool_is_of_its_call(self) -> None:
        """Its input is free text, which is not lost."""
        custom = {"name": "sql", "input": "select 1"}
        entry = {"index": 0, "id": "c1", "type": "custom", "custom": custom}
        made = reply(delta(tool_calls=[entry]), finish("tool_calls")).calls[0]
        assert (made.id, made.name, made.raw) == ("c1", "sql", "select 1")
        assert made.malformed

    def test_of_tools_without_calls(self) -> None:
        """Report 80, D68: stored as it is, so that it shows; the run ends."""
        assert reply(finish("tool_calls"), DONE) == (
            AssistantMessage((), model=MODEL, finish="tools")
        )

    def test_of_nothing(self) -> None:
        """D68: an empty reply is a reply, if the server says that it is one."""
        assert reply(finish("stop"), DONE) == AssistantMessage((), model=MODEL)

    def test_without_a_sentinel(self) -> None:
        """Report 56: a finish reason is terminal."""
        assert reply(delta(content="x"), finish("stop")).text == "x"

    def test_with_a_connection_that_breaks_after_it(self) -> None:
        broken = ModelError("reset", "network")
        found = result(delta(content="x"), finish("stop"), fault=broken)
        assert found == AssistantMessage("x", model=MODEL)

    def test_with_a_sentinel_only(self) -> None:
        """Report 168: a reason may be lacking."""
        assert reply(delta(content="x"), DONE).finish == "end"
        assert reply(call(index=0, name="one"), DONE).finish == "tools"

    def test_in_one_piece_without_a_reason(self) -> None:
        assert reply(body({"content": "x"}, finish_reason=None)).finish == "end"

    def test_the_sentinel_ends_reading(self) -> None:
        """Report 54: what comes behind it is not waited for, and not read."""
        found = result(delta(content="x"), finish("stop"), DONE, delta(content="y"))
        assert found == AssistantMessage("x", model=MODEL)


class TestRefusals:
    def test_come_in_pieces(self) -> None:
        """Report 73."""
        assert reply(
            delta(refusal="No"), delta(refusal=" can do"), finish("stop"), DONE
        ) == AssistantMessage("No can do", model=MODEL, finish="refusal")

    @pytest.mark.parametrize(
        ("content", "parts"), [("", (Text("No"),)), ("hi", (Text("hi"), Text("No")))]
    )
    def test_stand_beside_text(self, content: str, parts: tuple[Text, ...]) -> None:
        """Report 74: both are kept, streamed and in one piece."""
        said = {"content": content, "refusal": "No"}
        found = AssistantMessage(parts, model=MODEL, finish="refusal")
        assert reply(body(said)) == found
        assert reply(delta(**said), finish("stop"), DONE) == found

    def test_without_a_word_are_faults(self) -> None:
        """Report 72: an explicit outcome that is not tried again."""
        found = error(finish("content_filter"), DONE)
        assert found == ModelError(
            "The reply was withheld: content_filter.", "content_filter"
        )
        assert not found.retryable

    def test_after_a_text_alter_nothing(self) -> None:
        """Report 72."""
        found = reply(delta(content="a"), finish("content_filter"), DONE)
        assert found == AssistantMessage("a", model=MODEL, finish="refusal")


class TestCuts:
    def test_in_the_middle_of_a_call(self) -> None:
        """Report 55: a fault that may pass, and no call is run."""
        found = error(call(index=0, id="k1", name="del", arguments='{"path":"/a'))
        assert (found.kind, found.retryable) == ("cut_stream", True)
        assert found.partial == AssistantMessage(
            [ToolCall.parse("del", '{"path":"/a', "k1")], model=MODEL, finish="error"
        )

    def test_in_the_middle_of_a_text(self) -> None:
        """Vector 99."""
        found = error(delta(content="a"))
        assert found == ModelError(
            "The stream ended before the reply did.",
            "cut_stream",
            partial=AssistantMessage("a", model=MODEL, finish="error"),
        )

    def test_count_what_they_cost(self) -> None:
        found = error(delta(content="a"), usage(7, 3))
        assert found.partial
        assert found.partial.usage == Usage(7, 3)

    def test_by_the_network_say_so(self) -> None:
        found = error(delta(content="a"), fault=ModelError("too late", "timeout"))
        assert (found.kind, found.message) == ("timeout", "too late")
        assert found.partial
        assert found.partial.text == "a"

    def test_in_one_piece_say_so(self) -> None:
        broken = ModelError("reset", "network")
        assert error(body({"content": "a"})[:-3], fault=broken) == broken

    @pytest.mark.parametrize("nothing", [b"", b"\n\n", b" \r\n"])
    def test_before_anything_came(self, nothing: bytes) -> None:
        assert error(nothing) == ModelError("The response was empty.", "cut_stream")

    def test_after_chunks_that_say_nothing(self) -> None:
        assert error(delta(role="assistant")).kind == "cut_stream"
        assert error(event({"choices": []})).kind == "cut_stream"


class TestErrorsInsideASuccess:
    def test_of_a_stream(self) -> None:
        """Report 59: no reply is made up; the code is the status."""
        assert error(
            event({"error": {"message": "queue full", "code": 429}}), DONE
        ) == (ModelError("queue full", "rate_limit", status=429))

    @pytest.mark.parametrize("before", [b"", delta(content="a")])
    def test_are_named_by_their_type(self, before: bytes) -> None:
        """Reports 57 and 58: the status of 200 says nothing; what had come is kept."""
        said: Json = {
            "type": "error",
            "error": {"type": "overloaded_error", "message": "full"},
        }
        found = error(before, b"event: error\n" + event(said))
        assert (found.kind, found.message, found.status) == ("overloaded", "full", None)
        assert found.retryable
        assert (found.partial and found.partial.text) == ("a" if before else None)

    def test_beside_a_finish_reason(self) -> None:
        """Report 60: "error" is no way to end a reply."""
        said: Json = {
            "error": {"code": 502, "message": "up"},
            "choices": [{"finish_reason": "error"}],
        }
        found = error(call(index=0, id="k1", name="one", arguments='{"a'), event(said))
        assert (found.kind, found.status, found.message) == ("server", 502, "up")
        assert found.partial
        assert found.partial.calls[0].malformed

    def test_inside_a_choice(self) -> None:
        said = choice(error={"code": 502, "message": "up"}, finish_reason="error")
        assert error(said) == ModelError("up", "server", status=502)

    def test_that_are_only_a_finish_reason(self) -> None:
        found = error(delta(content="a"), finish("error"), DONE)
        assert (found.kind, found.message) == ("server", "The reply ended as 'error'.")

    def test_of_a_response_in_one_piece(self) -> None:
        """Report 61: choices may be null."""
        said = {
            "id": None,
            "choices": None,
            "error": {"message": "no credit", "code": 402},
        }
        assert error(json.dumps(said).encode()) == (
            ModelError("no credit", "auth", status=402)
        )

    def test_are_told_before_a_retry(self) -> None:
        """Report 62: the body is looked into here, where a retry can still follow."""
        said = {"error": {"message": "flagged", "code": 502}}
        found = error(json.dumps(said).encode())
        assert (found.kind, found.retryable) == ("server", True)

    @pytest.mark.parametrize(
        ("said", "kind", "message"),
        [
            ({"error": "model 'x' not found"}, "no_such_model", "model 'x' not found"),
            ({"error": {"type": "server_error"}}, "server", '{"type":"server_error"}'),
            ({"object": "error", "message": "m", "code": 400}, "bad_request", "m"),
            ({"detail": "no such path"}, "server", "no such path"),
            ({"code": "InvalidParameter", "message": "m"}, "server", "m"),
            ([{"error": {"code": 503, "message": "m"}}], "overloaded", "m"),
        ],
    )
    def test_have_many_shapes(self, said: object, kind: str, message: str) -> None:
        found = error(json.dumps(said).encode())
        assert (found.kind, found.message) == (kind, message)

    def test_win_over_a_finish_reason_before_them(self) -> None:
        found = error(delta(content="a"), finish("stop"), event({"error": "broken"}))
        assert (found.kind, found.message) == ("server", "broken")

    @pytest.mark.parametrize("nothing", [None, "", {}])
    def test_that_say_nothing_are_none(self, nothing: object) -> None:
        chunk = {"error": nothing, "choices": [{"delta": {"content": "a"}}]}
        assert reply(event(chunk), finish("stop")).text == "a"


class TestNonsense:
    @pytest.mark.parametrize(
        "body",
        [
            b"<html>gateway</html>",
            b"{}",
            b"[]",
            b"[1,2]",
            b'{"choices":[]}',
            b'{"choices":null}',
            b'{"choices":[{}]}',
            b'{"choices":7,"model":"x"}',
            b'{"content":"hi"}',
            b'{"choices":[{"message":"hi"}]}',
            b'{"broken',
            b'data: {"type":"message_start"}\n\n',
            b"data: <html>\n\n",
            b"data: [1]\n\n",
            b"just text",
            b"[" * 100_000,
            b"[" * 100_000 + b"]" * 100_000,
        ],
    )
    def test_is_no_success(self, body: bytes) -> None:
        """A reply is never made of what was not understood, and its beginning is shown."""
        found = error(body)
        assert found.kind == "bad_response"
        shown = body.removeprefix(b"data: ").strip()[:20].decode()
        assert shown in found.message

    def test_in_mid_stream_keeps_what_had_come(self) -> None:
        found = error(delta(content="a"), b"data: upstream died\n\n")
        assert found.message == "An event of the stream is not JSON: upstream died"
        assert found.partial
        assert found.partial.text == "a"

    @pytest.mark.parametrize(
        ("body", "message"),
        [
            (b"{" + b" " * 99, "The response has more than 50 bytes: {"),
            (
                b"data: " + b"x" * 99,
                f"An event of the stream has more than 50 bytes: data: {'x' * 45}",
            ),
        ],
    )
    def test_without_end_is_not_read_on(self, body: bytes, message: str) -> None:
        decoder = Decoder(CALL, Told(), limit=50)
        assert not decoder.feed(body[:50])
        assert decoder.feed(body[50:51])
        assert decoder.finish() == ModelError(message, "bad_response")

    def test_that_is_long_is_shown_in_part(self) -> None:
        found = error(b"<" * 5000)
        assert found.message == f"This is no chat completion: {'<' * 300}…"

    def test_a_sentinel_alone_is_no_reply(self) -> None:
        assert error(DONE).kind == "bad_response"
        assert error(event({"choices": []}), DONE).kind == "bad_response"

    def test_an_empty_reply_for_an_unknown_reason_is_none(self) -> None:
        assert error(finish("something_new"), DONE) == ModelError(
            "An empty reply ended as 'something_new'.", "bad_response"
        )

    @pytest.mark.parametrize("odd", [7, True, {"a": 1}, [[1]], None])
    def test_in_the_place_of_text_is_no_text(self, odd: object) -> None:
        found = reply(
            delta(content=odd, reasoning=odd, refusal=odd, tool_calls=odd),
            choice(delta={"content": "a"}, finish_reason=odd),
            finish("stop"),
        )
        assert found == AssistantMessage("a", model=MODEL)

    def test_arguments_nested_too_deeply_are_malformed(self) -> None:
        nested = '{"a":' * 900 + "1" + "}" * 900
        message = (
            f'{{"tool_calls":[{{"function":{{"name":"t","arguments":{nested}}}}}]}}'
        )
        found = result(f'{{"choices":[{{"message":{message}}}]}}'.encode())
        assert isinstance(found, ModelError) or found.calls[0].malformed


def grows(made: Callable[[int], bytes], small: int) -> float:
    """How many times as long ten times as much takes: about 10 if each piece is cheap."""

    def seconds(number: int) -> float:
        data = made(number)
        decoder, began = Decoder(CALL, Told()), time.process_time()
        decoder.feed(data)
        decoder.finish()
        return time.process_time() - began

    return min(seconds(small * 10) for _ in range(2)) / max(
        min(seconds(small) for _ in range(3)), 0.001
    )


def _calls_then_words(number: int) -> bytes:
    called = (call(index=n, id=f"c{n}", name="f") for n in range(number))
    return b"".join(called) + delta(content="x") * number + finish("stop")


def test_each_piece_is_looked_at_once() -> None:
    """What has come before costs the next piece nothing."""
    assert grows(_calls_then_words, 500) < 30


def _one_character_an_event(number: int) -> bytes:
    first = call(index=0, id="c", name="f", arguments='{"a":"')
    more = call(index=0, arguments="x") * number
    return first + more + call(index=0, arguments='"}') + CALLED


def test_long_arguments_take_time_in_proportion() -> None:
    """Report 183: one character an event, and the whole is parsed once, at the end."""
    assert grows(_one_character_an_event, 1_600) < 30


def test_a_detail_grows_and_what_was_said_of_it_stays() -> None:
    entries = [
        {"type": "a", "index": 0, "text": "1", "format": "x", "signature": ""},
        {"type": "a", "index": 0, "text": "2", "format": None, "signature": "s"},
        {"type": "a", "index": 0, "text": None, "id": None},
        {"type": "a", "index": 1, "data": "d"},
        {"type": "a", "index": 1, "data": "e"},
    ]
    pieces = [delta(reasoning_details=[entry]) for entry in entries]

    (part,) = reply(*pieces, finish("stop"), DONE).parts

    assert isinstance(part, Thinking)
    assert json.loads(part.signature or "") == [
        {
            "type": "a",
            "index": 0,
            "text": "12",
            "format": "x",
            "signature": "s",
            "id": None,
        },
        {"type": "a", "index": 1, "data": "de"},
    ]
