"""Requests over Chat Completions: history adapted on its way out, never in place."""

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
from loopcore_adapters.chat import Dialect, encode
from loopcore_adapters.chat.dialect import PLAIN
from loopcore_adapters.chat.dialects import (
    ANTHROPIC,
    CEREBRAS,
    DEEPSEEK,
    EFFORT,
    FIREWORKS,
    GEMINI,
    GROQ,
    MISTRAL,
    MOONSHOT,
    OLLAMA,
    OPENAI,
    OPENROUTER,
    TEMPLATE,
    VLLM,
    XAI,
    ZAI,
)
from loopcore_adapters.loose import Json
from loopcore_adapters.providers import PROVIDERS

MODEL: Final = "openai:gpt-5.2"
CAT: Final = Image("Y2F0", "image/png")
DOG: Final = Image("ZG9n", "image/jpeg")
USER: Final = UserMessage("hi")


TAKERS: Final = [
    *((OPENAI, name, False) for name in ("gpt-4o", "gpt-4.1-mini", "gpt-5-chat")),
    *((OPENAI, name, True) for name in ("gpt-5.2", "o3", "gpt-5-mini")),
    *((XAI, name, False) for name in ("grok-3", "grok-4-0709", "grok-4-1-fast")),
    *((GROQ, name, False) for name in ("llama-3.3-70b-versatile", "groq/compound")),
    *((GROQ, name, True) for name in ("openai/gpt-oss-20b", "qwen/qwen3.6-27b")),
    (CEREBRAS, "llama3.1-8b", False),
    (CEREBRAS, "qwen-3-235b-a22b-instruct-2507", False),
    *((CEREBRAS, name, True) for name in ("gpt-oss-120b", "zai-glm-4.7")),
    (CEREBRAS, "qwen-3.8-27b", True),
    *((MISTRAL, name, False) for name in ("mistral-large-2512", "codestral-latest")),
    *((MISTRAL, name, False) for name in ("devstral-2512", "ministral-8b-latest")),
    *((MISTRAL, name, True) for name in ("mistral-small-latest", "mistral-large-4")),
    *((MISTRAL, name, True) for name in ("mistral-medium-3-5", "magistral-small")),
    *((XAI, name, False) for name in ("grok-code-fast-1", "grok-4.20-0309-reasoning")),
    *((XAI, name, True) for name in ("grok-3-mini", "grok-4", "grok-4.3", "grok-5")),
]
"""Models by their names, and whether they can be asked how much to think."""


def sent(
    messages: Iterable[Message], dialect: Dialect = OPENAI, **fields: Json
) -> dict[str, Json]:
    """The body of the request that shows these."""
    call = CallModel("r1.1.1.model.1", MODEL, list(messages), **fields)
    return dict(json.loads(encode(call, dialect).body))


def shown(*messages: Message, dialect: Dialect = OPENAI) -> list[Json]:
    """What is sent of these messages."""
    return list(sent(messages, dialect)["messages"])


def plainly(messages: list[Json]) -> list[dict[str, Json]]:
    """These, each with its content as plain text, marked for a cache or not."""
    texts = [one["content"] for one in messages]
    plain = [one if isinstance(one, str) else one[-1]["text"] for one in texts]
    return [{**one, "content": text} for one, text in zip(messages, plain, strict=True)]


def used(*calls: ToolCall, model: str = MODEL) -> AssistantMessage:
    return AssistantMessage(calls, model=model, finish="tools")


def result(call_id: str, content: Json = "ok") -> ToolResultMessage:
    return ToolResultMessage(call_id, "look", content)


def call(call_id: str, name: str = "look") -> ToolCall:
    return ToolCall(name, {}, call_id)


def picture(image: Image) -> dict[str, Json]:
    url = f"data:{image.mime};base64,{image.data}"
    return {"type": "image_url", "image_url": {"url": url}}


def call_ids(*messages: Message, dialect: Dialect = OPENAI) -> list[str]:
    """The ids of all calls sent, which are those of the results, in order."""
    wires = shown(*messages, dialect=dialect)
    asked = [c["id"] for wire in wires for c in wire.get("tool_calls", ())]
    assert asked == [w["tool_call_id"] for w in wires if w["role"] == "tool"]
    assert len(set(asked)) == len(asked)
    return asked


class TestRequest:
    def test_has_its_place_and_no_key(self) -> None:
        request = encode(CallModel("r1.1.1.model.1", MODEL, [USER]))
        assert (request.method, request.path) == ("POST", "/chat/completions")
        assert dict(request.headers) == {
            "content-type": "application/json",
            "accept": "text/event-stream, application/json",
        }

    def test_is_no_more_than_needed(self) -> None:
        assert sent([USER]) == {
            "model": "gpt-5.2",
            "messages": [{"role": "user", "content": "hi"}],
            "stream": True,
            "stream_options": {"include_usage": True},
        }

    def test_names_the_model_by_all_behind_the_first_colon(self) -> None:
        request = encode(CallModel("i", "openrouter:x-ai/grok:free", [USER]))
        assert json.loads(request.body)["model"] == "x-ai/grok:free"

    def test_offers_tools_with_their_schema(self) -> None:
        schema = {"type": "object", "properties": {"q": {"type": "string"}}}
        tool = ToolSpec("look", "Looks.", schema)
        assert sent([USER], tools=(tool,))["tools"] == [
            {
                "type": "function",
                "function": {
                    "name": "look",
                    "description": "Looks.",
                    "parameters": schema,
                },
            }
        ]

    def test_has_the_options_as_they_are(self) -> None:
        options = {
            "temperature": 0,
            "max_tokens": 5,
            "tool_choice": {"type": "function", "function": {"name": "look"}},
            "odd": [None, {"a": 1.5}],
        }
        body = sent([USER], options=options, tools=(ToolSpec("look"),))
        assert {name: body[name] for name in options} == options

    def test_has_the_options_of_the_effect_over_those_of_the_model(self) -> None:
        effect = CallModel("i", MODEL, [USER], options={"seed": 2})
        request = encode(effect, options={"seed": 1, "temperature": 0})
        body = json.loads(request.body)
        assert (body["seed"], body["temperature"]) == (2, 0)

    def test_need_not_be_streamed(self) -> None:
        body = sent([USER], options={"stream": False})
        assert body["stream"] is False
        assert "stream_options" not in body

    def test_can_always_be_encoded(self) -> None:
        """R19: half a character is replaced, wherever it stands."""
        tool = ToolSpec("look", "Half: \ud800.")
        user = UserMessage([Image("\ud800", "image/png"), Text("\ud800")])
        body = encode(CallModel("i", MODEL, [user], "\udc00", (tool,))).body
        assert len(json.loads(body.decode())["messages"]) == 2

    def test_holds_text_as_it_is(self) -> None:
        assert (
            '"content":"中\\n\\"😀\\""'.encode()
            in encode(CallModel("i", MODEL, [UserMessage('中\n"😀"')])).body
        )

    @pytest.mark.parametrize(
        ("provider", "level", "fields"),
        [
            ("openai", "low", {"reasoning_effort": "low"}),
            ("openai", "off", {"reasoning_effort": "none"}),
            ("anthropic", "low", {}),
            (
                "deepseek",
                "high",
                {"thinking": {"type": "enabled"}, "reasoning_effort": "high"},
            ),
            ("deepseek", "off", {"thinking": {"type": "disabled"}}),
            ("openrouter", "medium", {"reasoning": {"effort": "medium"}}),
            ("llamacpp", "off", {"chat_template_kwargs": {"enable_thinking": False}}),
            ("llamacpp", "low", {"chat_template_kwargs": {"enable_thinking": True}}),
            ("together", "low", {}),
        ],
    )
    def test_asks_for_thinking_in_the_dialect(
        self, provider: str, level: Json, fields: dict[str, Json]
    ) -> None:
        encoder = PROVIDERS[provider].wires["chat"].encoder({})
        plain = json.loads(encoder(CallModel("i", MODEL, [USER])).body)
        asked = encoder(CallModel("i", MODEL, [USER], thinking=level)).body
        assert json.loads(asked) == plain | fields

    def test_says_nothing_of_thinking_unless_asked(self) -> None:
        assert "reasoning_effort" not in sent([USER], OPENAI, thinking=None)

    def test_has_the_option_where_it_says_the_same(self) -> None:
        body = sent([USER], thinking="low", options={"reasoning_effort": "minimal"})
        assert body["reasoning_effort"] == "minimal"

    def test_asks_for_usage_where_that_is_understood(self) -> None:
        assert "stream_options" not in sent([USER], MISTRAL)


class TestMessages:
    def test_begin_with_the_system_prompt(self) -> None:
        """Report 122: on each request, whatever history holds."""
        body = sent([AssistantMessage("hi"), USER], system="Be kind.")
        assert body["messages"][0] == {"role": "system", "content": "Be kind."}

    def test_of_the_system_stay_in_their_place(self) -> None:
        """R20: in its own role where the server knows it there."""
        assert shown(USER, SystemMessage("Now in French."))[1] == (
            {"role": "system", "content": "Now in French."}
        )

    @pytest.mark.parametrize("dialect", [PLAIN, TEMPLATE, MISTRAL, OPENROUTER])
    def test_of_the_system_are_one_where_it_speaks_only_first(
        self, dialect: Dialect
    ) -> None:
        """Chat templates refuse it anywhere else ("must be at the beginning")."""
        first, later = SystemMessage("In French."), SystemMessage("No, in Dutch.")
        body = sent([first, first, USER, later], dialect, system="Be kind.")
        assert [
            ("system", "Be kind.\n\nIn French.\n\nIn French."),
            ("user", "hi"),
            ("user", "<system>\nNo, in Dutch.\n</system>"),
        ] == [(one["role"], one["content"]) for one in plainly(body["messages"])]

    @pytest.mark.parametrize(
        "blank",
        [
            UserMessage(""),
            UserMessage(" \n"),
            UserMessage(Thinking("hm")),
            SystemMessage(" "),
            AssistantMessage(" "),
        ],
    )
    @pytest.mark.parametrize("dialect", [OPENAI, PLAIN, MISTRAL])
    def test_that_say_nothing_are_left_out(
        self, blank: Message, dialect: Dialect
    ) -> None:
        """Some servers refuse the whole conversation for one of them."""
        for said in ([USER, blank], [blank, USER]):
            assert shown(*said, dialect=dialect) == shown(USER, dialect=dialect)

    def test_have_no_blank_text_beside_a_picture(self) -> None:
        (said,) = shown(UserMessage([Text(""), CAT, Text(" ")]))
        assert said["content"] == [picture(CAT)]

    @pytest.mark.parametrize("history", [[], [UserMessage("")], [SystemMessage("a")]])
    def test_have_one_of_a_user_where_nobody_spoke(
        self, history: list[Message]
    ) -> None:
        assert sent(history, PLAIN)["messages"][-1] == (
            {"role": "user", "content": "[Nothing was said yet.]"}
        )

    @pytest.mark.parametrize("last", [(), (UserMessage(" "),)])
    @pytest.mark.parametrize("dialect", [MISTRAL, ANTHROPIC, GEMINI, TEMPLATE, OPENAI])
    def test_never_end_with_the_assistant(
        self, dialect: Dialect, last: tuple[Message, ...]
    ) -> None:
        """Mistral: "Expected last role User or Tool".

        And the newer models of Claude and Gemini, and llama.cpp's server where a model
        thinks, refuse to go on with words of the assistant.
        """
        said = shown(USER, AssistantMessage("a"), *last, dialect=dialect)
        assert said[1:] == [
            {"role": "assistant", "content": "a"},
            {"role": "user", "content": "[Go on.]"},
        ]

    def test_of_the_system_wait_for_the_assistant_where_a_user_has_to(self) -> None:
        """Mistral: "Unexpected role 'system' after role 'tool'"."""
        history = USER, used(call("c")), result("c"), SystemMessage("Be brief.")
        roles = [one["role"] for one in shown(*history, dialect=MISTRAL)]
        assert roles == ["user", "assistant", "tool", "assistant", "user"]

    def test_of_the_user_are_plain_text(self) -> None:
        assert shown(UserMessage([Text("a"), Text("b")])) == [
            {"role": "user", "content": "a\nb"}
        ]

    def test_of_the_user_may_have_pictures(self) -> None:
        assert shown(UserMessage([Text("a"), CAT])) == [
            {"role": "user", "content": [{"type": "text", "text": "a"}, picture(CAT)]}
        ]

    def test_of_the_assistant_are_plain_text(self) -> None:
        """C1: several servers would echo parts."""
        assert shown(USER, AssistantMessage([Text("a"), Text("b")]))[1] == (
            {"role": "assistant", "content": "ab"}
        )

    @pytest.mark.parametrize("content", ["", [Thinking("hm")]])
    def test_of_the_assistant_that_are_empty_are_skipped(self, content: Json) -> None:
        """Vector 110, report 107."""
        assert shown(USER, AssistantMessage(content), USER) == shown(USER, USER)

    def test_that_failed_or_are_custom_are_left_out(self) -> None:
        """Vector 93."""
        failed = AssistantMessage("a", finish="error", error=ModelError("x"))
        assert shown(USER, failed, CustomMessage("note", 1), USER) == shown(USER, USER)

    def test_are_not_changed(self) -> None:
        """Reports 119, 120, 121: only the copy that goes out is adapted."""
        history: list[Message] = [
            USER,
            used(call("k|1", "odd name")),
            result("k|1", [CAT]),
        ]
        before = repr(history)
        assert shown(*history) == shown(*history)
        assert repr(history) == before

    def test_of_a_longer_conversation_begin_with_the_same_bytes(self) -> None:
        history: list[Message] = [
            USER,
            used(call("c"), call("c"), call("")),
            result("c"),
            result("c", [CAT]),
            result("", ""),
            UserMessage([DOG]),
            used(call("c")),
            result("c"),
        ]
        bodies = [
            encode(CallModel("i", MODEL, history[:length])).body
            for length in (1, 5, 6, 8)
        ]
        for shorter, longer in pairwise(bodies):
            messages, end, _ = shorter.partition(b'],"stream"')
            assert end
            assert longer.startswith(messages)


class TestCalls:
    def test_go_out_with_their_results(self) -> None:
        made = ToolCall.parse("look", '{"q": "a"}', "call_1")
        assert shown(USER, used(made), result("call_1"))[1:] == [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "look", "arguments": '{"q": "a"}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "ok"},
        ]

    def test_have_null_beside_them_and_not_empty_text(self) -> None:
        """Report 106."""
        assert shown(used(call("c")), result("c"))[0]["content"] is None
        spoken = AssistantMessage([Text("I look."), call("c")])
        assert shown(spoken, result("c"))[0]["content"] == "I look."

    @pytest.mark.parametrize(
        "broken", ['{"a": 1 "b"}', "[1]", '{"a":', "NaN", '{"a": NaN}']
    )
    def test_with_broken_arguments_are_valid_json(self, broken: str) -> None:
        """Report 85: the raw text would poison every later request."""
        made = ToolCall.parse("look", broken, "c")
        sent_call = shown(used(made), result("c"))[0]["tool_calls"][0]
        assert sent_call["function"]["arguments"] == "{}"

    @pytest.mark.parametrize("blank", ["", "  "])
    def test_without_arguments_have_an_object(self, blank: str) -> None:
        made = ToolCall.parse("look", blank, "c")
        sent_call = shown(used(made), result("c"))[0]["tool_calls"][0]
        assert sent_call["function"]["arguments"] == "{}"

    def test_without_a_result_are_answered(self) -> None:
        """Vectors 91 and 92."""
        wires = shown(used(call("a"), call("b")), result("b"), USER)
        assert [wire["role"] for wire in wires] == ["assistant", "tool", "tool", "user"]
        assert [wire.get("tool_call_id") for wire in wires[1:3]] == ["a", "b"]

    def test_have_a_name_that_is_taken(self) -> None:
        """Report 83: a model may have invented anything."""
        history = used(call("a", 'look" />'), call("b", ""), call("c", "x" * 99))
        made = shown(history)[0]["tool_calls"]
        names = [one["function"]["name"] for one in made]
        assert names == ["look____", "unknown", "x" * 64]

    def test_have_the_name_of_a_tool_as_it_is(self) -> None:
        tools = (ToolSpec("fs.read"),)
        body = sent([used(call("a", "fs.read"), call("b", "fs.write"))], tools=tools)
        made = body["messages"][0]["tool_calls"]
        assert [one["function"]["name"] for one in made] == ["fs.read", "fs_write"]

    def test_carry_what_the_provider_attached_back_to_the_same_model(self) -> None:
        """Vectors 89 and 107."""
        extra = {"google": {"thought_signature": "s"}}
        signed = ToolCall("look", {}, "c", signature=json.dumps(extra))
        assert shown(used(signed))[0]["tool_calls"][0]["extra_content"] == extra
        other = shown(used(signed, model="a:b"))[0]["tool_calls"][0]
        assert "extra_content" not in other

    @pytest.mark.parametrize("own", [True, False])
    @pytest.mark.parametrize(
        ("name", "needed"),
        [
            *(("gemini-3.8-flash", True), ("gemini-flash-latest", True)),
            *(("models/gemini-2.5-pro", False), ("gemma-4", False)),
        ],
    )
    def test_carry_a_stand_in_where_they_may_not_go_without(
        self, name: str, *, needed: bool, own: bool
    ) -> None:
        """Gemini 3: "Function call is missing a thought_signature", also over this wire.

        https://ai.google.dev/gemini-api/docs/thought-signatures
        """
        model, signature = f"gemini:{name}", '{"google": {"thought_signature": "s"}}'
        maker = model if own else "a:b"
        first = ToolCall("look", {}, "c1", signature=signature)
        said = used(first, call("c2"), model=maker)
        history: list[Message] = [USER, said, result("c1"), result("c2"), USER]
        sent = json.loads(encode(CallModel("i", model, history), GEMINI).body)
        signed = [
            one.get("extra_content", {}).get("google", {}).get("thought_signature")
            for one in sent["messages"][1]["tool_calls"]
        ]
        other = "skip_thought_signature_validator" if needed else None
        assert signed == ["s" if own else other, None]

    @pytest.mark.parametrize("signature", ["opaque", "[1]", "7"])
    def test_do_not_carry_what_another_wire_attached(self, signature: str) -> None:
        signed = ToolCall("look", {}, "c", signature=signature)
        assert shown(used(signed)) == shown(used(call("c")))


class TestCallIds:
    def test_are_kept_where_they_are_taken(self) -> None:
        history = used(call("call_1"), call("a-B_2")), result("call_1"), result("a-B_2")
        assert call_ids(*history) == ["call_1", "a-B_2"]

    def test_of_one_reply_are_made_distinct(self) -> None:
        """Report 95, D67."""
        history = used(call("k"), call("k"), call(""), call(""))
        made = call_ids(history, result("k"), result("k"), result(""), result(""))
        assert made[0] == "k"
        assert all(len(one) <= 40 for one in made)

    def test_of_several_replies_are_made_distinct(self) -> None:
        history = used(call("k")), result("k"), used(call("k")), result("k")
        assert call_ids(*history)[0] == "k"

    def test_keep_pairs_paired(self) -> None:
        """Which result belongs to which call is decided by order, not by id."""
        first, second = result("k", "first"), result("k", "second")
        wires = shown(used(call("k"), call("k")), first, second)
        ids = [one["id"] for one in wires[0]["tool_calls"]]
        results = [(one["tool_call_id"], one["content"]) for one in wires[1:]]
        assert results == [(ids[0], "first"), (ids[1], "second")]

    def test_that_are_too_long_stay_apart(self) -> None:
        """Vectors 95 and 96: a shared beginning makes no collision."""
        long = [f"call_{'x' * 60}{n}" for n in range(3)]
        made = call_ids(used(*map(call, long)), *map(result, long))
        assert {len(one) for one in made} == {40}
        assert all(one.startswith("call_xxx") for one in made)

    def test_of_another_wire_lose_what_is_behind_the_bar(self) -> None:
        """Vector 96."""
        (made,) = call_ids(used(call("call/123|fc_9")), result("call/123|fc_9"))
        assert made.startswith("call_123_")

    def test_that_look_like_made_ones_stay_apart(self) -> None:
        (made,) = call_ids(used(call("a|b")), result("a|b"))
        history = used(call(made), call("a|b")), result(made), result("a|b")
        assert call_ids(*history)[0] == made

    def test_follow_the_dialect(self) -> None:
        ids = ["call_1", "abcdefghi", "functions.look:0"]
        history: list[Message] = [used(*map(call, ids)), *map(result, ids)]
        mistral = call_ids(*history, dialect=MISTRAL)
        assert {len(one) for one in mistral} == {9}
        assert all(one.isalnum() for one in mistral)
        assert mistral[1] == "abcdefghi"
        assert call_ids(*history, dialect=TEMPLATE) == ids


class TestResults:
    @pytest.mark.parametrize("content", ["", "  \n", []])
    def test_without_text_get_a_stand_in(self, content: Json) -> None:
        """C7, D78, report 107: never dropped, never blank, and no picture is promised."""
        wire = shown(used(call("c")), result("c", content))[1]
        assert wire["content"] == "[The tool gave no output.]"

    def test_that_failed_without_a_word_say_so(self) -> None:
        failed = ToolResultMessage("c", "look", "", "timeout")
        wire = shown(used(call("c")), failed)[1]
        assert wire["content"] == "[The tool gave no output. It ended as: timeout.]"

    def test_have_their_texts_line_by_line(self) -> None:
        several = result("c", [Text("a"), Text("b")])
        assert shown(used(call("c")), several)[1]["content"] == "a\nb"

    def test_show_pictures_after_all_results(self) -> None:
        """C6, vector 109: the tool's message has text only, and nothing parts results."""
        history = used(call("c"), call("d")), result("c", [CAT, Text("a")]), result("d")
        wires = shown(*history, USER)
        assert [wire["role"] for wire in wires] == [
            "assistant",
            "tool",
            "tool",
            "user",
            "user",
        ]
        assert wires[1]["content"] == "a"
        assert wires[3]["content"] == [
            {"type": "text", "text": "From the result of look:"},
            picture(CAT),
        ]

    def test_that_are_only_a_picture_point_at_it(self) -> None:
        wires = shown(used(call("c")), result("c", [CAT]))
        assert wires[1]["content"] == "[The tool gave an image; it follows.]"


class TestPicturesOfReplies:
    def test_are_shown_after_the_reply(self) -> None:
        """No field of an assistant's message holds them."""
        wires = shown(USER, AssistantMessage([Text("a cat"), CAT], model=MODEL), USER)
        assert [wire["role"] for wire in wires] == ["user", "assistant", "user", "user"]
        assert wires[2]["content"] == [
            {"type": "text", "text": "From your reply:"},
            picture(CAT),
        ]

    def test_are_shown_with_those_of_the_results(self) -> None:
        """Nothing may come between a call and its results."""
        reply = AssistantMessage([CAT, call("c")], model=MODEL, finish="tools")
        wires = shown(reply, result("c", [DOG]))
        assert [wire["role"] for wire in wires] == ["assistant", "tool", "user"]
        assert [p for p in wires[2]["content"] if p["type"] != "text"] == (
            [picture(CAT), picture(DOG)]
        )

    def test_have_a_stand_in_where_none_can_be_seen(self) -> None:
        wires = shown(AssistantMessage([CAT], model=MODEL), dialect=DEEPSEEK)
        stand_in = "[Left out: an image, which this model cannot see.]"
        assert wires == [{"role": "user", "content": f"From your reply:\n{stand_in}"}]


class TestCacheMarks:
    MARK: Final = {"cache_control": {"type": "ephemeral"}}

    def marked(self, *messages: Message, **fields: Json) -> list[Json]:
        """The roles of the messages that have a mark."""
        said = sent(messages, OPENROUTER, **fields)["messages"]
        return [one["role"] for one in said if "cache_control" in str(one["content"])]

    def test_stand_at_the_system_prompt_and_at_the_end(self) -> None:
        history = USER, AssistantMessage("a"), USER
        assert self.marked(*history, system="s") == ["system", "user"]
        body = sent(history, OPENROUTER, system="s")["messages"]
        assert body[0]["content"] == [{"type": "text", "text": "s", **self.MARK}]
        assert body[1] == {"role": "user", "content": "hi"}

    def test_stand_at_the_last_part(self) -> None:
        last = sent([UserMessage([Text("a"), CAT])], OPENROUTER)["messages"][-1]
        assert last["content"][-1] == picture(CAT) | self.MARK
        assert "cache_control" not in last["content"][0]

    def test_stand_at_a_result(self) -> None:
        assert self.marked(used(call("c")), result("c")) == ["tool"]

    def test_stand_at_no_reply(self) -> None:
        assert self.marked(USER, AssistantMessage("a")) == ["user"]

    def test_are_left_out_by_an_option(self) -> None:
        body = sent([USER], OPENROUTER, options={"cache_control": None})
        assert body["messages"] == [{"role": "user", "content": "hi"}]
        assert "cache_control" not in body

    def test_give_way_to_those_of_an_option(self) -> None:
        given = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
        body = sent([USER], OPENROUTER, options=given)
        assert body["cache_control"] == given["cache_control"]
        assert body["messages"] == [{"role": "user", "content": "hi"}]

    def test_are_for_those_who_want_them(self) -> None:
        assert "cache_control" not in str(sent([USER], OPENAI, system="s"))


class TestDialects:
    def test_may_not_stream_while_held_to_a_schema(self) -> None:
        assert sent([USER], GROQ)["stream"] is True
        held = sent([USER], GROQ, output=SCHEMA)
        assert (held["stream"], "stream_options" in held) == (False, False)

    def test_may_want_thinking_within_the_content(self) -> None:
        parts = (Thinking("hm"), Text("a"))
        own = shown(AssistantMessage(parts, model=MODEL), USER, dialect=MISTRAL)
        thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
        said = {"type": "text", "text": "a"}
        assert own[0] == {"role": "assistant", "content": [thinking, said]}
        other = shown(AssistantMessage(parts, model="a:b"), USER, dialect=MISTRAL)
        assert other[0] == {"role": "assistant", "content": "a"}

    def test_may_want_thinking_only_where_there_is_some(self) -> None:
        silent = shown(used(call("c")), result("c"), dialect=TEMPLATE)[0]
        assert "reasoning_content" not in silent
        thought = AssistantMessage([Thinking("hm"), call("c")], model=MODEL)
        wire = shown(thought, result("c"), dialect=TEMPLATE)[0]
        assert wire["reasoning_content"] == "hm"

    @pytest.mark.parametrize(
        ("dialect", "name"),
        [(TEMPLATE, "reasoning_content"), (VLLM, "reasoning"), (OLLAMA, "reasoning")],
    )
    def test_name_thinking_each_in_its_way(self, dialect: Dialect, name: str) -> None:
        """vLLM passes over the name that the others read."""
        thought = AssistantMessage([Thinking("hm"), call("c")], model=MODEL)
        wire = shown(thought, result("c"), dialect=dialect)[0]
        assert wire.keys() - {"role", "content", "tool_calls"} == {name}

    @pytest.mark.parametrize("level", ["off", "low", "medium", "high"])
    def test_may_know_two_efforts_alone(self, level: str) -> None:
        """Mistral: "Must be one of none, high"."""
        asked = sent([USER], MISTRAL, thinking=level)["reasoning_effort"]
        assert asked == ("none" if level == "off" else "high")

    @pytest.mark.parametrize("dialect", [GROQ, EFFORT, FIREWORKS])
    @pytest.mark.parametrize("name", ["gpt-oss-120b", "openai/gpt-oss-20b"])
    def test_never_turn_thinking_off_where_it_cannot_be(
        self, dialect: Dialect, name: str
    ) -> None:
        asked = CallModel("i", f"acme:{name}", [USER], thinking="off")
        assert json.loads(encode(asked, dialect).body)["reasoning_effort"] == "low"
        assert sent([USER], EFFORT, thinking="off")["reasoning_effort"] == "none"

    @pytest.mark.parametrize(
        ("dialect", "name", "off", "low"),
        [
            (MOONSHOT, "kimi-k2.6", {"type": "disabled"}, {"type": "enabled"}),
            (MOONSHOT, "kimi-k2.7-code", None, {"type": "enabled"}),
            (MOONSHOT, "kimi-k3", "low", "low"),
            (GROQ, "qwen/qwen3-32b", "none", "default"),
            (ZAI, "glm-5.2", {"type": "disabled"}, {"type": "enabled"}),
            (ZAI, "glm-5.3-flash", "low", "low"),
        ],
    )
    def test_ask_some_models_otherwise(
        self, dialect: Dialect, name: str, off: Json, low: Json
    ) -> None:
        wanted: dict[Json, Json] = {"off": off, "low": low}
        for level, asked in wanted.items():
            call = CallModel("i", f"acme:{name}", [USER], thinking=level)
            body = json.loads(encode(call, dialect).body)
            found = [body.get(field) for field in ("thinking", "reasoning_effort")]
            assert [one for one in found if one] == [one for one in [asked] if one]

    @pytest.mark.parametrize(
        ("name", "off"),
        [
            ("google/gemini-3.7-flash", "low"),
            ("openai/gpt-oss-120b", "low"),
            ("z-ai/glm-5.3", "low"),
            ("google/gemini-2.5-flash", "none"),
            ("openai/gpt-5.2", "none"),
        ],
    )
    def test_ask_openrouter_not_to_think_only_where_it_can(
        self, name: str, off: str
    ) -> None:
        """OpenRouter: "Reasoning is mandatory for this endpoint and cannot be disabled."."""
        wanted: dict[Json, str] = {"off": off, "medium": "medium"}
        for level, asked in wanted.items():
            call = CallModel("i", f"openrouter:{name}", [USER], thinking=level)
            body = json.loads(encode(call, OPENROUTER).body)
            assert (body["reasoning"], "reasoning_effort" in body) == (
                {"effort": asked},
                False,
            )

    @pytest.mark.parametrize(
        ("name", "off"),
        [
            ("gemini-2.5-flash", "none"),
            ("models/gemini-2.5-flash-lite", "none"),
            *(("gemini-2.5-pro", "low"), ("gemini-3.8-flash", "low")),
            ("gemini-flash-latest", "low"),
        ],
    )
    def test_ask_gemini_not_to_think_only_where_it_can(
        self, name: str, off: str
    ) -> None:
        """Its guide: "Reasoning cannot be turned off for Gemini 2.5 Pro or 3 models."

        https://ai.google.dev/gemini-api/docs/openai
        """
        wanted: dict[Json, str] = {"off": off, "low": "low", "medium": "medium"}
        for level, asked in wanted.items():
            call = CallModel("i", f"gemini:{name}", [USER], thinking=level)
            assert json.loads(encode(call, GEMINI).body)["reasoning_effort"] == asked

    @pytest.mark.parametrize(
        ("name", "efforts"),
        [
            ("gpt-5-mini", ["minimal", "low", "medium", "high"]),
            ("gpt-5.1-codex", ["low", "low", "medium", "high"]),
            ("gpt-5.3-codex", ["low", "low", "medium", "high"]),
            ("gpt-5.4-pro", ["medium", "medium", "medium", "high"]),
            ("gpt-5-pro", ["high", "high", "high", "high"]),
            ("gpt-5.4", ["none", "low", "medium", "high"]),
        ],
    )
    def test_ask_no_less_than_a_model_takes(
        self, name: str, efforts: list[str]
    ) -> None:
        levels: list[Json] = ["off", "low", "medium", "high"]
        calls = [CallModel("i", f"a:{name}", [USER], thinking=one) for one in levels]
        bodies = [json.loads(encode(call, OPENAI).body) for call in calls]
        assert [body["reasoning_effort"] for body in bodies] == efforts

    @pytest.mark.parametrize("level", ["off", "low", "high"])
    @pytest.mark.parametrize(("dialect", "name", "takes"), TAKERS)
    def test_ask_no_effort_of_what_takes_none(
        self, dialect: Dialect, name: str, level: Json, *, takes: bool
    ) -> None:
        """A run that thinks may be handed over to a model that cannot be asked to."""
        call = CallModel("i", f"acme:{name}", [USER], thinking=level)
        body = json.loads(encode(call, dialect).body)
        assert ("reasoning_effort" in body) is takes

    def test_without_images_have_stand_ins(self) -> None:
        """R3, R4, vector 88: one for a run of images, in its place."""
        user = UserMessage([Text("a"), CAT, DOG, Text("b")])
        stand_in = "[Left out: an image, which this model cannot see.]"
        history = user, used(call("c")), result("c", [CAT])
        wires = shown(*history, dialect=DEEPSEEK)
        assert wires[0]["content"] == f"a\n{stand_in}\nb"
        assert wires[2]["content"] == stand_in
        assert len(wires) == 3

    def test_drop_thinking_by_default(self) -> None:
        thought = AssistantMessage([Thinking("hm", "sig"), Text("a")], model=MODEL)
        assert shown(thought, USER)[0] == {"role": "assistant", "content": "a"}

    @pytest.mark.parametrize("dialect", [DEEPSEEK, MOONSHOT])
    @pytest.mark.parametrize(("model", "text"), [(MODEL, "hm"), ("a:b", "")])
    def test_may_want_thinking_beside_calls(
        self, model: str, text: str, dialect: Dialect
    ) -> None:
        """C5, vector 108: the model's own, and the field even when there is none."""
        reply = AssistantMessage([Thinking("hm"), call("c")], model=model)
        wire = shown(reply, result("c"), dialect=dialect)[0]
        assert wire["reasoning_content"] == text

    def test_may_want_no_thinking_beside_text(self) -> None:
        thought = AssistantMessage([Thinking("hm"), Text("a")], model=MODEL)
        wire = shown(thought, USER, dialect=MOONSHOT)[0]
        assert wire == {"role": "assistant", "content": "a"}

    @pytest.mark.parametrize(("model", "text"), [(MODEL, "hm"), ("a:b", "")])
    def test_may_want_thinking_beside_every_text(self, model: str, text: str) -> None:
        """C5. DeepSeek: "must be passed back", and the field even when there is none."""
        thought = AssistantMessage([Thinking("hm"), Text("a")], model=model)
        wire = shown(thought, USER, dialect=DEEPSEEK)[0]
        assert (wire["content"], wire["reasoning_content"]) == ("a", text)

    def test_may_want_the_details_of_thinking(self) -> None:
        """Vectors 89, 90 and 107: as they came, and only to the model that gave them."""
        details = [{"type": "reasoning.encrypted", "data": "x"}]
        parts = (Thinking("", json.dumps(details), redacted=True), Text("a"))
        own = shown(AssistantMessage(parts, model=MODEL), USER, dialect=OPENROUTER)
        other = shown(AssistantMessage(parts, model="a:b"), USER, dialect=OPENROUTER)
        assert own[0]["reasoning_details"] == details
        assert other[0] == {"role": "assistant", "content": "a"}

    def test_pass_over_thinking_that_another_wire_signed(self) -> None:
        thought = AssistantMessage([Thinking("hm", "opaque"), Text("a")], model=MODEL)
        wire = shown(thought, USER, dialect=OPENROUTER)[0]
        assert wire == {"role": "assistant", "content": "a"}

    def test_may_want_a_bridge_after_tools(self) -> None:
        """C4."""
        wires = shown(used(call("c")), result("c"), USER, dialect=MISTRAL)
        assert [wire["role"] for wire in wires] == [
            "assistant",
            "tool",
            "assistant",
            "user",
        ]


SCHEMA: Final = {"type": "object", "properties": {"n": {"type": "integer"}}}


def test_an_output_schema_is_the_protocols_own_mode() -> None:
    body = sent([USER], output=SCHEMA)

    named = {"name": "output", "schema": SCHEMA}
    assert {"type": "json_schema", "json_schema": named} == body["response_format"]
    assert ["user"] == [message["role"] for message in body["messages"]]


def test_a_server_that_promises_only_json_reads_the_schema_in_its_prompt() -> None:
    body = sent([USER], DEEPSEEK, system="Be brief.", output=SCHEMA)

    assert {"type": "json_object"} == body["response_format"]
    said = body["messages"][0]["content"]
    assert said.startswith("Be brief.\n\n")
    assert '{"type":"object","properties":{"n":{"type":"integer"}}}' in said


def test_a_grammar_that_leaves_no_room_for_calls_gives_way_to_a_prompt() -> None:
    tools = (ToolSpec("look"),)
    held = sent([USER], TEMPLATE, output=SCHEMA)
    free = sent([USER], TEMPLATE, output=SCHEMA, tools=tools)

    assert "json_schema" == held["response_format"]["type"]
    assert "response_format" not in free
    assert "JSON Schema" in free["messages"][0]["content"]


def test_an_option_overrides_how_an_output_is_asked_for() -> None:
    body = sent([USER], output=SCHEMA, options={"response_format": {"type": "text"}})

    assert {"type": "text"} == body["response_format"]


def test_without_an_output_nothing_is_said_of_one() -> None:
    assert "response_format" not in sent([USER])
    assert ["user"] == [message["role"] for message in sent([USER])["messages"]]
