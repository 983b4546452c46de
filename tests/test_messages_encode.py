"""Requests over Messages: history adapted on its way out, never in place."""

import json
from collections.abc import Iterable
from itertools import pairwise
from typing import Final

import pytest

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
)
from loopcore_adapters.beginnings import Beginnings
from loopcore_adapters.loose import Json
from loopcore_adapters.messages import Encoder, dialect_of, encode
from loopcore_adapters.messages.conversation import Conversation, Spoken
from loopcore_adapters.pieces import Pieces
from tests.messages_rules import problems

MODEL: Final = "anthropic:claude-sonnet-4-5"
THOUGHT_1: Final = Thinking("1", "s1")
NEWEST: Final = "anthropic:claude-opus-5-5"
OTHER: Final = "openai:gpt-5.2"
SERVED: Final = "llamacpp:qwen"
CAT: Final = Image("Y2F0", "image/png")
DOG: Final = Image("ZG9n", "image/jpeg")
ODD: Final = Image("Qk0=", "image/bmp")
USER: Final = UserMessage("hi")
MARK: Final = {"cache_control": {"type": "ephemeral"}}
LOOK: Final = ToolSpec("look", "Looks.")


def body(
    messages: Iterable[Message], model: str = MODEL, **fields: Json
) -> dict[str, Json]:
    """The body of the request that shows these; the service would take it."""
    call = CallModel("r1.1.1.model.1", model, list(messages), **fields)
    sent = encode(call).body
    assert problems(sent) == []
    return dict(json.loads(sent))


def shown(*messages: Message, model: str = MODEL) -> list[Json]:
    """What is sent of these messages, without marks."""
    sent = body(messages, model, options={"cache_control": None})
    return list(sent["messages"])


def roles(*messages: Message) -> list[str]:
    return [wire["role"] for wire in shown(*messages)]


def text(said: str, **more: Json) -> dict[str, Json]:
    return {"type": "text", "text": said, **more}


def picture(image: Image) -> dict[str, Json]:
    source = {"type": "base64", "media_type": image.mime, "data": image.data}
    return {"type": "image", "source": source}


def call(call_id: str, name: str = "look") -> ToolCall:
    return ToolCall(name, {}, call_id)


def used(*parts: Json, model: str = MODEL) -> AssistantMessage:
    return AssistantMessage(parts, model=model, finish="tools")


def result(call_id: str, content: Json = "ok", outcome: Json = "ok") -> Message:
    return ToolResultMessage(call_id, "look", content, outcome)


class TestRequest:
    def test_has_its_place_its_version_and_no_key(self) -> None:
        request = encode(CallModel("i", MODEL, [USER]))
        assert (request.method, request.path) == ("POST", "/v1/messages")
        assert dict(request.headers) == {
            "content-type": "application/json",
            "accept": "text/event-stream, application/json",
            "anthropic-version": "2023-06-01",
        }

    def test_is_no_more_than_needed(self) -> None:
        assert body([USER]) == {
            "model": "claude-sonnet-4-5",
            "max_tokens": 32_000,
            "messages": [{"role": "user", "content": [text("hi", **MARK)]}],
            "stream": True,
        }

    def test_names_the_model_by_all_behind_the_first_colon(self) -> None:
        request = encode(CallModel("i", "acme:claude/x:free", [USER]))
        assert json.loads(request.body)["model"] == "claude/x:free"

    def test_offers_tools_with_their_schema(self) -> None:
        schema = {"type": "object", "properties": {"q": {"type": "string"}}}
        tools = body([USER], tools=(ToolSpec("look", "Looks.", schema),))["tools"]
        assert tools == [
            {"name": "look", "description": "Looks.", "input_schema": schema, **MARK}
        ]

    @pytest.mark.parametrize(
        "schema", [{}, {"anyOf": [{"type": "object"}]}, {"properties": {}, "allOf": []}]
    )
    def test_offers_tools_as_taking_an_object(self, schema: Json) -> None:
        (tool,) = body([USER], tools=(ToolSpec("look", "", schema),))["tools"]
        assert tool["input_schema"]["type"] == "object"
        assert "description" not in tool

    def test_has_the_options_as_they_are(self) -> None:
        options = {
            "temperature": 0,
            "max_tokens": 5,
            "tool_choice": {"type": "tool", "name": "look"},
            "stop_sequences": ["a"],
            "metadata": {"user_id": None},
        }
        sent = body([USER], tools=(LOOK,), options=options)
        assert {name: sent[name] for name in options} == options

    def test_has_the_options_of_the_effect_over_those_of_the_model(self) -> None:
        effect = CallModel("i", MODEL, [USER], options={"top_k": 2})
        request = encode(effect, options={"top_k": 1, "temperature": 0})
        sent = json.loads(request.body)
        assert (sent["top_k"], sent["temperature"]) == (2, 0)

    def test_need_not_be_streamed(self) -> None:
        assert body([USER], options={"stream": False})["stream"] is False

    def test_chooses_a_tool_only_where_there_is_one(self) -> None:
        """A hook may have taken the tools away that an option speaks of."""
        options = {"tool_choice": {"type": "any"}}
        assert "tool_choice" not in body([USER], options=options)
        assert "tool_choice" in body([USER], tools=(LOOK,), options=options)

    def test_can_always_be_encoded(self) -> None:
        """R19: half a character is replaced, wherever it stands."""
        tool = ToolSpec("look", "Half: \ud800.")
        user = UserMessage([Text("\ud800")])
        sent = encode(CallModel("i", MODEL, [user], "\udc00", (tool,))).body
        assert len(json.loads(sent.decode())["messages"]) == 1

    def test_holds_text_as_it_is(self) -> None:
        sent = encode(CallModel("i", MODEL, [UserMessage('中\n"😀"')])).body
        assert '"text":"中\\n\\"😀\\""'.encode() in sent


class TestSystem:
    def test_is_the_prompt(self) -> None:
        """Report 122: on each request, whatever history holds."""
        sent = body([AssistantMessage("hi"), USER], system="Be kind.")
        assert sent["system"] == [text("Be kind.", **MARK)]

    @pytest.mark.parametrize("blank", ["", "  \n"])
    def test_is_left_out_where_it_is_blank(self, blank: str) -> None:
        assert "system" not in body([SystemMessage(blank), USER], system=blank)

    def test_has_what_was_said_before_anyone_spoke(self) -> None:
        first = SystemMessage("Be brief."), SystemMessage([Text("a"), Text("b")])
        sent = body([*first, USER], system="Be kind.")
        assert sent["system"] == [
            text("Be kind."),
            text("Be brief."),
            text("a\nb", **MARK),
        ]
        assert len(sent["messages"]) == 1

    def test_speaks_later_through_the_user_in_its_place(self) -> None:
        """R20: most models know one system prompt."""
        said = text("<system>\nNow in French.\n</system>")
        assert shown(USER, SystemMessage("Now in French."), USER) == [
            {"role": "user", "content": [text("hi"), said, text("hi")]}
        ]


class TestMessages:
    def test_of_one_role_in_a_row_are_one(self) -> None:
        reply = AssistantMessage("a")
        assert shown(USER, USER, reply, reply, USER) == [
            {"role": "user", "content": [text("hi"), text("hi")]},
            {"role": "assistant", "content": [text("a"), text("a")]},
            {"role": "user", "content": [text("hi")]},
        ]

    def test_with_thinking_stand_alone(self) -> None:
        """The service refuses thinking beside that of another reply as changed."""
        plain = AssistantMessage("a", model=MODEL)
        thought = AssistantMessage([Thinking("hm", "s"), Text("b")], model=MODEL)
        hm = {"type": "thinking", "thinking": "hm", "signature": "s"}
        own = {"role": "assistant", "content": [hm, text("b")]}
        go_on = {"role": "user", "content": [text("[Go on.]")]}
        first = {"role": "assistant", "content": [text("a")]}
        assert shown(USER, plain, thought, thought, USER)[1:-1] == (
            [first, go_on, own, go_on, own]
        )
        assert shown(USER, thought, plain, USER)[1]["content"][1:] == (
            [text("b"), text("a")]
        )

    def test_have_no_thoughts_beside_others_that_they_were_parted_from(self) -> None:
        """What parted them, a blank text, cannot be sent."""
        blank, more = Text(" "), [Thinking("2", "s2"), Thinking("3", "s3")]
        thought = AssistantMessage([THOUGHT_1, blank, *more, Text("a")], model=MODEL)
        said = shown(USER, thought, USER)[1]
        assert [block["type"] for block in said["content"]] == ["thinking", "text"]
        assert said["content"][0]["signature"] == "s1"

    def test_have_all_thoughts_that_came_in_a_row(self) -> None:
        """The service refuses a part of them; newer models also think aloud so.

        https://platform.claude.com/docs/en/build-with-claude/thinking
        """
        more = Thinking("", "s2"), Thinking("", "x", redacted=True), Thinking("3", "s3")
        used = AssistantMessage([THOUGHT_1, *more, call("c")], model=MODEL)
        said = shown(USER, used, result("c"))[1]["content"]
        assert [block["type"] for block in said] == (
            ["thinking", "thinking", "redacted_thinking", "thinking", "tool_use"]
        )

    def test_may_have_a_redacted_thought_beside_another(self) -> None:
        hidden = Thinking("", "x", redacted=True)
        thought = AssistantMessage([THOUGHT_1, hidden, Text("a")], model=MODEL)
        said = shown(USER, thought, USER)[1]
        assert [block["type"] for block in said["content"]] == (
            ["thinking", "redacted_thinking", "text"]
        )

    def test_of_the_user_have_texts_and_pictures_in_their_order(self) -> None:
        assert shown(UserMessage([Text("a"), CAT, Text("b")])) == [
            {"role": "user", "content": [text("a"), picture(CAT), text("b")]}
        ]

    def test_of_the_user_have_a_stand_in_for_pictures_that_are_not_taken(self) -> None:
        """R4: one for a run of them."""
        found = shown(UserMessage([CAT, ODD, Image("", "image/png"), Text("b")]))
        stand_in = text("[Left out: an image, which this model cannot see.]")
        assert found[0]["content"] == [picture(CAT), stand_in, text("b")]

    def test_name_the_type_of_a_picture_in_small_letters(self) -> None:
        (block,) = shown(UserMessage([Image("Y2F0", "image/PNG")]))[0]["content"]
        assert block["source"]["media_type"] == "image/png"

    def test_that_are_blank_are_left_out(self) -> None:
        """A2: no blank text, and no message without content."""
        blank = UserMessage(" \n"), AssistantMessage(" "), UserMessage("")
        assert shown(USER, *blank, UserMessage([Text(" "), Text("b")])) == [
            {"role": "user", "content": [text("hi"), text("b")]}
        ]

    def test_that_failed_or_are_custom_are_left_out(self) -> None:
        failed = AssistantMessage("a", finish="error", error=ModelError("x"))
        assert shown(USER, failed, CustomMessage("note", 1), USER) == shown(USER, USER)

    def test_begin_with_the_user(self) -> None:
        """A window may have cut the prompt off."""
        assert shown(AssistantMessage("a"), USER)[0] == (
            {"role": "user", "content": [text("[Nothing was said yet.]")]}
        )

    @pytest.mark.parametrize("history", [[], [UserMessage("")], [SystemMessage("a")]])
    def test_are_never_none(self, history: list[Message]) -> None:
        assert roles(*history) == ["user"]

    def test_end_with_the_user(self) -> None:
        """A8: no words of its own to go on with, with a blank at their end or without."""
        assert shown(USER, AssistantMessage("a  "))[1:] == [
            {"role": "assistant", "content": [text("a  ")]},
            {"role": "user", "content": [text("[Go on.]")]},
        ]

    def test_are_not_changed(self) -> None:
        """Reports 119, 120, 121: only the copy that goes out is adapted."""
        history: list[Message] = [USER, used(call("k|1", "odd name")), result("k|1")]
        before = repr(history)
        assert shown(*history) == shown(*history)
        assert repr(history) == before

    def test_of_a_longer_conversation_begin_with_the_same_blocks(self) -> None:
        history: list[Message] = [
            USER,
            used(Thinking("t", "s"), call("c"), call("c"), call("")),
            result("c"),
            result("c", [CAT], "error"),
            result("", ""),
            UserMessage([DOG]),
            used(call("c")),
            result("c"),
        ]
        encoder = Encoder(options={"cache_control": None})
        bodies = list[bytes]()
        for length in (1, 5, 6, 8):
            effect = CallModel("i", MODEL, history[:length])
            bodies.append(encoder(effect).body)
            assert encode(effect, options={"cache_control": None}).body == bodies[-1]
        for shorter, longer in pairwise(bodies):
            messages, end, _ = shorter.partition(b']}],"stream"')
            assert end
            assert longer.startswith(messages)

    def test_are_kept_for_each_model_and_its_tools(self) -> None:
        """One encoder serves conversations that begin alike."""
        thought = AssistantMessage(
            [Thinking("t", "s"), call("c", "fs.read")], model=MODEL
        )
        history: list[Message] = [USER, thought, result("c")]
        tools = (LOOK,), (ToolSpec("fs.read"),)
        encoder = Encoder()
        for model, offered in (
            (MODEL, tools[0]),
            (NEWEST, tools[0]),
            (MODEL, tools[1]),
        ):
            effect = CallModel("i", model, history, tools=offered)
            assert encoder(effect).body == encode(effect).body

    def test_stand_where_they_stood_when_another_goes_on(self) -> None:
        """Two event loops may share one model."""
        shared = Pieces(), Beginnings[Spoken]()
        history: list[Message] = [
            USER,
            used(call("c"), model=OTHER),
            result("c"),
            AssistantMessage("a"),
        ]
        first, second = (
            Conversation(CallModel("i", MODEL, shown), dialect_of(MODEL), *shared)
            for shown in (history[:3], history)
        )
        first.messages(cache=False)
        second.messages(cache=False)
        assert (first.may_think, second.may_think) == (False, True)


class TestCalls:
    def test_go_out_with_their_results(self) -> None:
        made = ToolCall.parse("look", '{"q": "a"}', "call_1")
        block = {
            "type": "tool_use",
            "id": "call_1",
            "name": "look",
            "input": {"q": "a"},
        }
        answer = {
            "type": "tool_result",
            "tool_use_id": "call_1",
            "content": [text("ok")],
        }
        assert shown(USER, used(made), result("call_1"))[1:] == [
            {"role": "assistant", "content": [block]},
            {"role": "user", "content": [answer]},
        ]

    def test_have_no_empty_text_beside_them(self) -> None:
        """Report 117: neither the call nor its result is lost for want of text."""
        turns = shown(USER, used(Text(""), call("c1")), result("c1"))
        assert [block["type"] for block in turns[1]["content"]] == ["tool_use"]
        assert [block["type"] for block in turns[2]["content"]] == ["tool_result"]

    @pytest.mark.parametrize("written", ["", " ", '{"a": 1 "b"}', "[1]", "7", "NaN"])
    def test_always_have_an_object(self, written: str) -> None:
        """Reports 42, 84: empty or broken, it is an empty one; the result says why."""
        turns = shown(USER, used(ToolCall.parse("look", written, "c")), result("c"))
        assert turns[1]["content"][0]["input"] == {}

    def test_without_a_result_are_answered(self) -> None:
        answers = shown(used(call("a"), call("b")), result("b"), USER)[2]["content"]
        assert [block.get("tool_use_id") for block in answers] == ["a", "b", None]
        assert answers[0]["is_error"] is True

    def test_have_a_name_that_is_taken(self) -> None:
        """Report 83: a model may have invented anything."""
        made = used(call("a", 'look" />'), call("b", ""), call("c", "x" * 99))
        names = [block["name"] for block in shown(USER, made)[1]["content"]]
        assert names == ["look____", "unknown", "x" * 64]

    def test_of_one_id_are_made_distinct(self) -> None:
        """D67, report 95: each with its own result."""
        history = USER, used(call("k"), call("k")), result("k", "1"), result("k", "2")
        _, asked, answered = shown(*history)
        ids = [block["id"] for block in asked["content"]]
        assert len(set(ids)) == 2
        assert [(b["tool_use_id"], b["content"]) for b in answered["content"]] == [
            (ids[0], [text("1")]),
            (ids[1], [text("2")]),
        ]


class TestResults:
    def test_of_a_turn_are_in_one_message_before_any_text(self) -> None:
        """Report 94, A4."""
        history = USER, used(call("a"), call("b")), result("a"), result("b"), USER
        assert [block["type"] for block in shown(*history)[2]["content"]] == [
            "tool_result",
            "tool_result",
            "text",
        ]

    @pytest.mark.parametrize("content", ["", "  \n", []])
    def test_without_text_get_a_stand_in(self, content: Json) -> None:
        """D78: no picture is promised where there is none."""
        (answer,) = shown(used(call("c")), result("c", content))[2]["content"]
        assert answer["content"] == [text("[The tool gave no output.]")]

    def test_that_failed_say_so(self) -> None:
        (answer,) = shown(used(call("c")), result("c", "", "timeout"))[2]["content"]
        said = "[The tool gave no output. It ended as: timeout.]"
        assert (answer["is_error"], answer["content"]) == (True, [text(said)])

    def test_may_have_pictures(self) -> None:
        given = result("c", [Text("a"), CAT, Text("b")])
        (answer,) = shown(used(call("c")), given)[2]["content"]
        assert answer["content"] == [text("a"), picture(CAT), text("b")]

    def test_that_are_only_a_picture_point_at_it(self) -> None:
        """A5."""
        (answer,) = shown(used(call("c")), result("c", [CAT]))[2]["content"]
        said = text("[The tool gave an image; it follows.]")
        assert answer["content"] == [said, picture(CAT)]

    def test_that_failed_show_their_pictures_after_all_results(self) -> None:
        """A failed result may have nothing but text."""
        history = used(call("c"), call("d")), result("c", [CAT], "error"), result("d")
        first, second, *rest = shown(*history)[2]["content"]
        said = text("[The tool gave an image; it follows.]")
        assert (first["content"], second["content"]) == ([said], [text("ok")])
        assert rest == [text("From the result of look:"), picture(CAT)]

    def test_come_before_the_pictures_of_the_reply(self) -> None:
        """No message of an assistant can hold one."""
        history = used(Text("a cat"), CAT, call("c")), result("c")
        _, reply, answered = shown(*history)
        assert [block["type"] for block in reply["content"]] == ["text", "tool_use"]
        assert answered["content"][1:] == [text("From your reply:"), picture(CAT)]


def thoughts(*parts: Json, model: str = MODEL, to: str = MODEL) -> list[Json]:
    """What is sent of these parts of a reply and a text after them."""
    reply = AssistantMessage([*parts, Text("a")], model=model)
    return list(shown(USER, reply, USER, model=to)[1]["content"][:-1])


class TestThinking:
    def test_goes_back_to_its_model_as_it_came(self) -> None:
        assert thoughts(Thinking("hm", "sig")) == [
            {"type": "thinking", "thinking": "hm", "signature": "sig"}
        ]

    def test_that_is_redacted_goes_back_as_its_data(self) -> None:
        redacted = Thinking("", "Em0=", redacted=True)
        assert thoughts(redacted) == [{"type": "redacted_thinking", "data": "Em0="}]

    def test_keeps_its_place_among_the_rest(self) -> None:
        """Vector 107."""
        parts = Thinking("a", "1"), Text("b"), Thinking("c", "2"), call("k")
        blocks = shown(USER, used(*parts), result("k"))[1]["content"]
        assert [b["type"] for b in blocks] == [
            "thinking",
            "text",
            "thinking",
            "tool_use",
        ]

    @pytest.mark.parametrize(
        "part",
        [Thinking("hm", "sig"), Thinking("hm"), Thinking("", "x", redacted=True)],
    )
    def test_of_another_model_is_left_out(self, part: Thinking) -> None:
        assert thoughts(part, model=OTHER) == []
        assert thoughts(part, model="anthropic:claude-haiku-4-5") == []

    @pytest.mark.parametrize(
        "part", [Thinking("hm"), Thinking(" "), Thinking("", None, redacted=True)]
    )
    def test_without_a_signature_is_left_out(self, part: Thinking) -> None:
        """Shown as text it would be taken for an answer."""
        assert thoughts(part) == []

    def test_without_a_signature_goes_back_where_none_is_made(self) -> None:
        """Servers of other models stream thinking, and sign nothing."""
        assert thoughts(Thinking("hm"), model=SERVED, to=SERVED) == [
            {"type": "thinking", "thinking": "hm", "signature": ""}
        ]
        for nothing in (Thinking(" "), Thinking("hm", None, redacted=True)):
            assert thoughts(nothing, model=SERVED, to=SERVED) == []

    def test_is_never_the_end_of_a_reply(self) -> None:
        """A reply that is only thinking is skipped, its neighbours are one message."""
        only = AssistantMessage([Thinking("hm", "sig")], model=MODEL)
        assert shown(USER, only, USER) == shown(USER, USER)
        last = AssistantMessage([Text("a"), Thinking("hm", "sig")], model=MODEL)
        assert shown(USER, last, USER) == shown(USER, AssistantMessage("a"), USER)


ADAPTIVE: Final = {"type": "adaptive", "display": "summarized"}
"""Newer models say nothing of what they think unless they are asked to."""


class TestEffort:
    @pytest.mark.parametrize(
        ("level", "tokens"), [("low", 2_048), ("medium", 8_192), ("high", 16_384)]
    )
    def test_is_a_budget_for_older_models(self, level: Json, tokens: int) -> None:
        asked = {"type": "enabled", "budget_tokens": tokens}
        sent = body([USER], thinking=level)
        assert (sent["thinking"], sent["max_tokens"]) == (asked, 32_000)
        assert body([USER], SERVED, thinking=level)["thinking"] == asked

    @pytest.mark.parametrize("level", ["low", "medium", "high"])
    @pytest.mark.parametrize(
        "name", ["claude-opus-4-6", "claude-fable-5", "claude-next"]
    )
    def test_is_an_effort_for_newer_models(self, name: str, level: Json) -> None:
        sent = body([USER], f"anthropic:{name}", thinking=level)
        assert (sent["thinking"], sent["output_config"]) == (
            ADAPTIVE,
            {"effort": level},
        )

    @pytest.mark.parametrize(
        ("name", "fields"),
        [
            ("claude-sonnet-4-5-20250929", {"thinking": {"type": "disabled"}}),
            ("claude-opus-4-20250514", {"thinking": {"type": "disabled"}}),
            ("claude-3-7-sonnet-20250219", {"thinking": {"type": "disabled"}}),
            ("claude-opus-4-8", {"thinking": {"type": "disabled"}}),
            ("claude-opus-5", {"thinking": {"type": "disabled"}}),
            ("claude-haiku-5-5", {"thinking": {"type": "disabled"}}),
            ("claude-sonnet-5-5", {"thinking": {"type": "between_tools"}}),
            ("claude-opus-5-5", {"output_config": {"effort": "low"}}),
            ("claude-fable-5-1", {"output_config": {"effort": "low"}}),
            ("deepseek-flash", {"thinking": {"type": "disabled"}}),
            ("kimi-k2.6", {"thinking": {"type": "disabled"}}),
            ("kimi-k2.7-code", {}),
            ("glm-5.3", {}),
            ("kimi-k3", {"output_config": {"effort": "low"}}),
        ],
    )
    def test_may_be_none_each_model_in_its_way(
        self, name: str, fields: dict[str, Json]
    ) -> None:
        plain = body([USER], f"anthropic:{name}")
        assert body([USER], f"anthropic:{name}", thinking="off") == plain | fields

    @pytest.mark.parametrize("name", ["deepseek-flash", "kimi-k3.1-pro"])
    def test_may_have_an_effort_beside_its_budget(self, name: str) -> None:
        """They pass over the budget: https://api-docs.deepseek.com/guides/thinking_mode"""
        levels: list[Json] = ["low", "medium", "high"]
        sent = [body([USER], f"anthropic:{name}", thinking=level) for level in levels]
        assert {one["thinking"]["type"] for one in sent} == {"enabled"}
        assert [one["output_config"]["effort"] for one in sent] == (
            ["low", "high", "high"]
        )

    def test_is_not_spoken_of_unless_asked(self) -> None:
        for model in (MODEL, NEWEST, SERVED):
            assert not body([USER], model).keys() & {"thinking", "output_config"}

    def test_leaves_room_for_an_answer(self) -> None:
        """A budget is below the length, which grows with it unless one is given."""
        sent = body([USER], SERVED, thinking="high")
        assert sent["max_tokens"] == 16_384 + 4_096

    @pytest.mark.parametrize(("limit", "budget"), [(20_000, 16_384), (5_000, 3_976)])
    def test_stays_below_a_given_length(self, limit: int, budget: int) -> None:
        sent = body([USER], thinking="high", options={"max_tokens": limit})
        assert (sent["max_tokens"], sent["thinking"]["budget_tokens"]) == (
            limit,
            budget,
        )

    def test_is_left_out_where_no_length_is_left(self) -> None:
        sent = body([USER], thinking="high", options={"max_tokens": 1_500})
        assert "thinking" not in sent

    def under_way(self, *parts: Json, model: str = MODEL) -> list[Message]:
        """A conversation amid tool calls: those of the reply with these parts."""
        return [USER, used(*parts, model=model), result("c")]

    def test_waits_while_calls_are_under_way_that_began_without(self) -> None:
        """A model that takes a budget refuses to begin to think amid tool calls."""
        foreign = self.under_way(call("c"), model=OTHER)
        for history in (foreign, [*foreign, USER]):
            assert "thinking" not in body(history, thinking="low")
        assert "thinking" in body([*foreign, AssistantMessage("a")], thinking="low")
        assert "thinking" in body(
            [*foreign, AssistantMessage("a"), USER], thinking="low"
        )
        own = self.under_way(Thinking("t", "s"), call("c"))
        assert "thinking" in body(own, thinking="low")
        more = [*own, used(call("d")), result("d"), UserMessage("And?")]
        assert "thinking" in body(more, thinking="low")

    def test_does_not_wait_with_newer_models(self) -> None:
        foreign = self.under_way(call("c"), model=OTHER)
        assert body(foreign, NEWEST, thinking="low")["thinking"] == ADAPTIVE

    def test_has_the_option_where_it_says_the_same(self) -> None:
        hides = {"type": "adaptive", "display": "omitted"}
        options = {"thinking": hides, "output_config": {"effort": "max"}}
        sent = body([USER], NEWEST, thinking="low", options=options)
        assert (sent["thinking"], sent["output_config"]) == (hides, {"effort": "max"})


class TestUnbrokenThinking:
    """DeepSeek's: "must be passed back", whoever the reply with calls was of."""

    NAME = "deepseek:deepseek-v4-pro"

    def asked(self, *parts: Json, model: str, **fields: Json) -> Json:
        history: list[Message] = [USER, used(*parts, model=model), result("c"), USER]
        return body(history, self.NAME, **fields).get("thinking")

    @pytest.mark.parametrize("level", [None, "off", "low"])
    def test_is_off_where_it_would_be_broken(self, level: Json) -> None:
        off = {"type": "disabled"}
        assert self.asked(call("c"), model=OTHER, thinking=level) == off
        assert self.asked(call("c"), model=self.NAME, thinking=level) == off

    def test_goes_on_where_it_is_whole(self) -> None:
        own = Thinking("t"), call("c")
        assert self.asked(*own, model=self.NAME) is None
        asked = self.asked(*own, model=self.NAME, thinking="low")
        assert asked == {"type": "enabled", "budget_tokens": 2_048}

    def test_is_none_of_texts(self) -> None:
        said = AssistantMessage("a", model=OTHER)
        assert "thinking" not in body([USER, said, USER], self.NAME)


DROPS: Final = {"block_binding": {"prefix_mismatch_behavior": "drop_block"}}
BETA: Final = "thinking-binding-controls-2026-08-01"


def thinks(name: str, *, own: bool = True, **fields: Json) -> tuple[Json, Json, bool]:
    """How a conversation is asked for in which there is thinking.

    What is said of thinking, the beta that is asked for, and whether the thinking goes back.
    """
    model = f"anthropic:{name}"
    maker = model if own else OTHER
    thought = AssistantMessage([THOUGHT_1, Text("a")], model=maker)
    request = encode(CallModel("i", model, [USER, thought, USER], **fields))
    said = json.loads(request.body)
    beta = request.headers.get("anthropic-beta")
    return said.get("thinking"), beta, b'"thinking":"1"' in request.body


class TestBoundThinking:
    """Newer models refuse thinking once a hook changed anything that was before it.

    https://platform.claude.com/docs/en/build-with-claude/preserved-thinking
    """

    @pytest.mark.parametrize(
        "name",
        [
            *("claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5"),
            *("claude-fable-5-1", "claude-next", "claude-opus-5.5"),
        ],
    )
    def test_is_left_out_by_the_service_where_it_no_longer_fits(
        self, name: str
    ) -> None:
        assert thinks(name) == ({"type": "adaptive"} | DROPS, BETA, True)
        assert thinks(name, thinking="low") == (ADAPTIVE | DROPS, BETA, True)

    @pytest.mark.parametrize(
        "name",
        [
            *(
                "claude-opus-5",
                "claude-fable-5",
                "claude-sonnet-4-5",
                "claude-opus-4-8",
            ),
            "claude-mythos-5",
        ],
    )
    def test_is_not_spoken_of_to_models_that_do_not_bind_it(self, name: str) -> None:
        assert thinks(name) == (None, None, True)

    def test_is_not_spoken_of_where_none_is_sent(self) -> None:
        assert thinks("claude-opus-5-5", own=False) == (None, None, False)

    @pytest.mark.parametrize(
        ("name", "asked", "kept"),
        [
            ("claude-haiku-5-5", {"type": "disabled"}, False),
            ("claude-sonnet-5-5", {"type": "between_tools"}, False),
            ("claude-opus-5-5", {"type": "adaptive"} | DROPS, True),
            ("claude-sonnet-4-5", {"type": "disabled"}, True),
        ],
    )
    def test_is_not_sent_where_it_is_off_and_cannot_be_left_out(
        self, name: str, asked: Json, *, kept: bool
    ) -> None:
        found = thinks(name, thinking="off")
        assert (found[0], found[2]) == (asked, kept)

    def test_has_the_option_where_it_says_the_same(self) -> None:
        hides = {"type": "adaptive", "display": "omitted"}
        found = thinks("claude-opus-5-5", options={"thinking": hides})
        assert found == (hides | DROPS, BETA, True)

    @pytest.mark.parametrize(
        ("said", "sent", "beta"),
        [
            (
                {"prefix_mismatch_behavior": "error"},
                {"block_binding": {"prefix_mismatch_behavior": "error"}},
                BETA,
            ),
            (None, {}, None),
        ],
    )
    def test_has_the_option_of_what_becomes_of_it(
        self, said: Json, sent: Json, beta: str | None
    ) -> None:
        asked = {"type": "adaptive", "block_binding": said}
        found = thinks("claude-opus-5-5", options={"thinking": asked})
        assert found == ({"type": "adaptive"} | sent, beta, True)


def marks(*messages: Message, model: str = MODEL, **fields: Json) -> list[str]:
    """Where marks stand: "tools", "system", or the place of a message and its block."""
    sent = body(messages, model, **fields)
    places = [
        (f"{number}.{place}", block)
        for number, message in enumerate(sent["messages"])
        for place, block in enumerate(message["content"])
    ]
    named = [
        (name, block) for name in ("tools", "system") for block in sent.get(name, [])
    ]
    return [name for name, block in [*named, *places] if "cache_control" in block]


class TestCacheMarks:
    def test_stand_at_tools_and_system_and_the_newest_two_of_the_user(self) -> None:
        """Vector 106, and one more: a batch of calls is longer than the service looks back."""
        history = USER, AssistantMessage("a"), USER, USER, AssistantMessage("a"), USER
        found = marks(*history, system="s", tools=(ToolSpec("a"), LOOK))
        assert found == ["tools", "system", "2.1", "4.0"]

    def test_stand_at_the_last_of_the_results(self) -> None:
        history = USER, used(call("a"), call("b")), result("a"), result("b")
        assert marks(*history) == ["0.0", "2.1"]

    def test_move_with_the_conversation_and_leave_nothing(self) -> None:
        encoder = Encoder()
        history: list[Message] = []
        for _ in range(5):
            history += [USER, used(call("c")), result("c")]
            sent = encoder(CallModel("i", MODEL, history)).body
            assert sent.count(b"cache_control") == min(2, sent.count(b'"user"'))

    def test_stand_at_nothing_that_was_made_up(self) -> None:
        assert marks(AssistantMessage("a")) == []

    def test_are_left_out_by_an_option(self) -> None:
        sent = body([USER], system="s", options={"cache_control": None})
        assert "cache_control" not in str(sent)

    def test_give_way_to_that_of_an_option(self) -> None:
        given = {"cache_control": {"type": "ephemeral"}}
        sent = body([USER], system="s", options=given)
        assert sent["cache_control"] == given["cache_control"]
        assert str(sent).count("cache_control") == 1

    def test_are_for_the_models_that_know_them(self) -> None:
        """Vector 106."""
        assert marks(USER, model=SERVED, system="s", tools=(LOOK,)) == []


POINT: Final = {
    "type": "object",
    "properties": {"x": {"type": "integer", "minimum": 0}, "note": {"type": "string"}},
    "required": ["x"],
}


class TestOutput:
    def test_is_the_mode_of_models_that_have_it(self) -> None:
        sent = body([USER], output=POINT, tools=(LOOK,))
        assert sent["output_config"] == {
            "format": {
                "type": "json_schema",
                "schema": {
                    "type": "object",
                    "properties": {
                        "x": {"type": "integer", "description": '{"minimum":0}'},
                        "note": {"type": "string"},
                    },
                    "required": ["x"],
                    "additionalProperties": False,
                },
            }
        }
        assert [tool["name"] for tool in sent["tools"]] == ["look"]

    def test_stands_beside_the_effort(self) -> None:
        sent = body([USER], NEWEST, output=POINT, thinking="low")
        assert sent["output_config"].keys() == {"effort", "format"}

    def test_is_a_tool_for_the_others(self) -> None:
        sent = body([USER], SERVED, output=POINT, tools=(LOOK,))
        assert [tool["name"] for tool in sent["tools"]] == ["look", "final_output"]
        assert sent["tools"][1]["input_schema"] == POINT
        assert sent["tool_choice"] == {"type": "any"}
        assert "final_output" in sent["system"][-1]["text"]
        assert "output_config" not in sent

    def test_is_a_tool_where_the_mode_cannot_say_it(self) -> None:
        anything = {"type": "object", "additionalProperties": {"type": "integer"}}
        sent = body([USER], output=anything)
        assert sent["tools"][0]["input_schema"] == anything

    def test_is_a_tool_that_is_not_forced_while_it_thinks(self) -> None:
        anything = {"type": "object"}
        assert "tool_choice" not in body([USER], NEWEST, output=anything)
        assert "tool_choice" not in body([USER], output=anything, thinking="low")
        assert "tool_choice" in body([USER], output=anything, thinking="off")

    def test_is_wrapped_where_it_is_no_object(self) -> None:
        schema = {
            "type": "array",
            "items": {"$ref": "#/$defs/P"},
            "$defs": {"P": POINT},
        }
        (tool,) = body([USER], SERVED, output=schema)["tools"]
        assert tool["input_schema"] == {
            "type": "object",
            "properties": {
                "output": {"type": "array", "items": {"$ref": "#/$defs/P"}},
            },
            "required": ["output"],
            "additionalProperties": False,
            "$defs": {"P": POINT},
        }

    def test_of_a_class_is_one_although_its_schema_is_a_reference(self) -> None:
        schema = {"$ref": "#/$defs/P", "$defs": {"P": POINT}}
        (tool,) = body([USER], SERVED, output=schema)["tools"]
        assert tool["input_schema"] == {**POINT, "$defs": {"P": POINT}}

    def test_is_a_tool_of_a_name_that_is_free(self) -> None:
        sent = body([USER], SERVED, output=POINT, tools=(ToolSpec("final_output"),))
        assert [t["name"] for t in sent["tools"]] == ["final_output", "final_output_"]
