"""Requests over Responses: history adapted on its way out, never in place."""

import json
from collections.abc import Iterable
from typing import Any, Final

import pytest
from attrs import evolve

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
from loopcore_adapters.responses import Dialect, Encoder, encode
from loopcore_adapters.responses.dialect import (
    LLAMACPP,
    LOCAL,
    OPENAI,
    OPENROUTER,
    PLAIN,
    XAI,
)
from tests.responses_rules import Server, broken

Json = Any
MODEL: Final = "openai:gpt-5.2"
SISTER: Final = "openai:gpt-5.2-mini"
CAT: Final = Image("Y2F0", "image/png")
DOG: Final = Image("ZG9n", "image/jpeg")
USER: Final = UserMessage("hi")
SHOWN: Final = {"role": "user", "content": [{"type": "input_text", "text": "hi"}]}
BLIND: Final = Dialect(images=False)


def taken(dialect: Dialect) -> Server:
    """A server that takes what this dialect says, and nothing else."""
    pictures, told = (dialect.images, dialect.result_images), dialect.role != "user"
    return Server(*pictures, open_thoughts=True, instructions=told)


def sent(
    messages: Iterable[Message], dialect: Dialect = OPENAI, **fields: Json
) -> dict[str, Json]:
    """The body of the request that shows these; it breaks no rule."""
    call = CallModel(
        "r1.1.1.model.1", fields.pop("model", MODEL), [*messages], **fields
    )
    body = encode(call, dialect).body
    assert [] == broken(body, taken(dialect))
    return dict(json.loads(body))


def shown(*messages: Message, dialect: Dialect = OPENAI, **fields: Json) -> list[Json]:
    """What is sent of these messages."""
    return list(sent(messages, dialect, **fields)["input"])


def kinds(*messages: Message, **fields: Json) -> list[str]:
    """What the items are that are sent."""
    return [item.get("type", item.get("role")) for item in shown(*messages, **fields)]


def said(text: str, **fields: Json) -> Json:
    return {"type": "message", "role": "assistant", "content": text, **fields}


def made(*parts: Json, model: str = MODEL, finish: Json = "tools") -> AssistantMessage:
    return AssistantMessage(parts, model=model, finish=finish)


def call(
    call_id: str = "c1", name: str = "look", signature: str | None = None
) -> ToolCall:
    return ToolCall(name, {}, call_id, signature=signature)


def result(
    call_id: str = "c1", content: Json = "ok", **more: Json
) -> ToolResultMessage:
    return ToolResultMessage(call_id, "look", content, **more)


def sealed(item_id: str = "rs_1", **more: Json) -> Thinking:
    """A thought that only its maker can read."""
    item: Json = {"type": "reasoning", "id": item_id, "summary": [], **more}
    item.setdefault("encrypted_content", "gAAA")
    return Thinking("", json.dumps(item, separators=(",", ":")), redacted=True)


def voice(**fields: Json) -> str:
    return json.dumps(fields)


def text_part(text: str) -> Json:
    return {"type": "input_text", "text": text}


def picture(image: Image) -> Json:
    url = f"data:{image.mime};base64,{image.data}"
    return {"type": "input_image", "detail": "auto", "image_url": url}


class TestRequest:
    def test_has_its_place_and_no_key(self) -> None:
        request = encode(CallModel("i", MODEL, [USER]))
        assert ("POST", "/responses") == (request.method, request.path)
        assert {
            "content-type": "application/json",
            "accept": "text/event-stream, application/json",
        } == dict(request.headers)

    def test_is_no_more_than_needed(self) -> None:
        """The server keeps nothing, and gives the thoughts that it does not keep."""
        assert {
            "model": "gpt-5.2",
            "input": [SHOWN],
            "include": ["reasoning.encrypted_content"],
            "store": False,
            "stream": True,
        } == sent([USER], PLAIN)

    def test_names_the_model_by_all_behind_the_first_colon(self) -> None:
        assert (
            "x-ai/grok:free" == sent([USER], model="openrouter:x-ai/grok:free")["model"]
        )

    @pytest.mark.parametrize(
        ("name", "thinks"),
        [
            ("gpt-5.2", True),
            ("gpt-6-astra", True),
            ("o3", True),
            ("gpt-oss-120b", True),
            ("gpt-4o-mini", False),
            ("gpt-4.1", False),
            ("ft:gpt-4o:me::1", False),
            ("gpt-3.5-turbo", False),
            ("chatgpt-4o-latest", False),
            ("gpt-5-chat-latest", False),
            ("gpt-5.2-chat-latest", False),
        ],
    )
    def test_asks_no_model_for_thoughts_that_has_none(
        self, name: str, *, thinks: bool
    ) -> None:
        """OpenAI's refuse to be asked for encrypted ones; others are asked."""
        asked = "include" in sent([USER], OPENAI, model=f"openai:{name}")
        assert thinks is asked
        assert "include" in sent([USER], PLAIN, model=f"mine:{name}")

    def test_has_the_system_prompt_apart(self) -> None:
        """Report 122: on each request, whatever history holds."""
        body = sent([USER], system="Be kind.")
        assert ("Be kind.", [SHOWN]) == (body["instructions"], body["input"])

    def test_offers_tools_with_their_schema(self) -> None:
        schema = {"type": "object", "properties": {"q": {"type": "string"}}}
        tools = (ToolSpec("look", "Looks.", schema),)
        assert [
            {
                "type": "function",
                "name": "look",
                "description": "Looks.",
                "parameters": schema,
                "strict": False,
            }
        ] == sent([USER], tools=tools)["tools"]

    def test_has_the_options_as_they_are(self) -> None:
        options: Json = {
            "temperature": 0,
            "max_output_tokens": 5,
            "metadata": {"a": "b"},
            "include": [],
            "store": True,
        }
        body = sent([USER], options=options)
        assert options == {name: body[name] for name in options}

    @pytest.mark.parametrize(
        "choice", ["required", "none", {"type": "function", "name": "look"}]
    )
    def test_has_the_choice_of_a_tool_as_an_option(self, choice: Json) -> None:
        body = sent([USER], tools=(ToolSpec("look"),), options={"tool_choice": choice})
        assert choice == body["tool_choice"]

    def test_has_the_options_of_the_effect_over_those_of_the_model(self) -> None:
        effect = CallModel("i", MODEL, [USER], options={"top_p": 1})
        request = encode(effect, options={"top_p": 0.5, "temperature": 0})
        body = json.loads(request.body)
        assert (1, 0) == (body["top_p"], body["temperature"])

    def test_need_not_be_streamed(self) -> None:
        assert False is sent([USER], options={"stream": False})["stream"]

    def test_can_always_be_encoded(self) -> None:
        """R19: half a character is replaced, wherever it stands."""
        tool = ToolSpec("look", "Half: \ud800.")
        user = UserMessage([Text("\ud800"), Image("\ud800", "image/png")])
        body = encode(CallModel("i", MODEL, [user], "\udc00", (tool,))).body
        assert 1 == len(json.loads(body.decode())["input"])

    def test_holds_text_as_it_is(self) -> None:
        body = encode(CallModel("i", MODEL, [UserMessage('中\n"😀"')])).body
        assert '"text":"中\\n\\"😀\\""'.encode() in body

    def test_has_a_key_for_the_prompts_of_its_conversation(self) -> None:
        """One for all its turns, that says nothing of it, where the server wants one."""

        def key(effect: str, dialect: Dialect = OPENAI) -> Json:
            body = json.loads(encode(CallModel(effect, MODEL, [USER]), dialect).body)
            return body.get("prompt_cache_key")

        assert key("bill.17.1.1.model.1") == key("bill.17.2.9.model.3")
        assert key("bill.17.1.1.model.1") != key("bill.18.1.1.model.1")
        assert 32 == len(key("bill.17.1.1.model.1"))
        assert "bill" not in key("bill.17.1.1.model.1")
        assert None is key("r1.1.1.transform_context.1.compact.summary")
        assert None is key("r1.1.1.model.1", PLAIN)


class TestThinking:
    @pytest.mark.parametrize(
        ("level", "asked"),
        [
            ("off", {"effort": "none"}),
            ("low", {"effort": "low", "summary": "auto"}),
            ("medium", {"effort": "medium", "summary": "auto"}),
            ("high", {"effort": "high", "summary": "auto"}),
        ],
    )
    def test_is_asked_for_by_its_level(self, level: str, asked: Json) -> None:
        assert asked == sent([USER], thinking=level)["reasoning"]

    def test_is_not_spoken_of_unless_asked(self) -> None:
        assert "reasoning" not in sent([USER], thinking=None)

    def test_is_no_less_than_a_model_takes(self) -> None:
        pro = sent([USER], model="openai:gpt-5-pro", thinking="low")["reasoning"]
        assert {"effort": "high", "summary": "auto"} == pro

    @pytest.mark.parametrize(
        ("dialect", "name", "off"),
        [
            (LOCAL, "openai/gpt-oss-20b", "low"),
            (LLAMACPP, "gpt-oss-20b", "low"),
            (OPENROUTER, "google/gemini-3.7-flash", "low"),
            (LOCAL, "Qwen/Qwen3-8B", "none"),
            (OPENROUTER, "openai/gpt-5.2", "none"),
        ],
    )
    def test_is_never_turned_off_where_it_cannot_be(
        self, dialect: Dialect, name: str, off: str
    ) -> None:
        """vLLM refuses gpt-oss, and OpenRouter whatever always thinks."""
        asked = sent([USER], dialect, model=f"acme:{name}", thinking="off")
        assert {"effort": off} == asked["reasoning"]

    @pytest.mark.parametrize("level", ["off", "low", "high"])
    @pytest.mark.parametrize(
        ("dialect", "name", "takes"),
        [
            (OPENAI, "gpt-4o", False),
            (OPENAI, "gpt-5.2", True),
            (XAI, "grok-4-1-fast-reasoning", False),
            (XAI, "grok-4.3", True),
        ],
    )
    def test_is_asked_of_no_model_that_takes_none(
        self, dialect: Dialect, name: str, level: Json, *, takes: bool
    ) -> None:
        """A run that thinks may be handed over to a model that cannot be asked to."""
        body = sent([USER], dialect, model=f"acme:{name}", thinking=level)
        assert ("reasoning" in body) is takes

    def test_of_the_options_comes_first(self) -> None:
        """What they do not say is filled in."""
        given = {"reasoning": {"effort": "minimal"}}
        assert {"effort": "minimal", "summary": "auto"} == (
            sent([USER], thinking="low", options=given)["reasoning"]
        )
        assert {"effort": "minimal"} == sent([USER], options=given)["reasoning"]

    def test_of_the_options_may_be_none(self) -> None:
        call = CallModel(
            "i", MODEL, [USER], thinking="low", options={"reasoning": None}
        )
        assert None is json.loads(encode(call).body)["reasoning"]


class TestOutput:
    SCHEMA: Final = {"type": "object", "properties": {"a": {"type": "integer"}}}

    def test_is_held_to_its_schema_by_the_protocol(self) -> None:
        body = sent([USER], tools=(ToolSpec("look"),), output=self.SCHEMA)
        form = {"type": "json_schema", "name": "output", "schema": self.SCHEMA}
        assert ({"format": form}, "instructions" in body) == (body["text"], False)

    def test_keeps_what_options_say_of_the_text(self) -> None:
        options = {"text": {"verbosity": "low"}}
        text = sent([USER], output=self.SCHEMA, options=options)["text"]
        assert ("low", "json_schema") == (text["verbosity"], text["format"]["type"])

    @pytest.mark.parametrize("system", ["", "Be kind."])
    def test_is_asked_for_where_the_server_passes_over_the_schema(
        self, system: str
    ) -> None:
        body = sent([USER], LLAMACPP, system=system, output=self.SCHEMA)
        wish = body["instructions"].removeprefix(f"{system}\n\n" if system else "")
        assert wish.startswith("Your final answer is one JSON value")
        assert wish.endswith(json.dumps(self.SCHEMA, separators=(",", ":")))
        assert "text" not in body


class TestMessages:
    def test_of_the_system_stay_in_their_place(self) -> None:
        """R20: in the role that the server has for them."""
        told = SystemMessage("Now in French.")
        assert [SHOWN, {"role": "developer", "content": [text_part(told.text)]}] == (
            shown(USER, told)
        )
        assert "system" == shown(told, dialect=XAI)[0]["role"]

    @pytest.mark.parametrize("dialect", [PLAIN, LOCAL, LLAMACPP])
    def test_of_the_system_are_a_users_where_it_speaks_only_first(
        self, dialect: Dialect
    ) -> None:
        """Chat templates refuse it anywhere else ("must be at the beginning")."""
        first, later = SystemMessage("In French."), SystemMessage("No, in Dutch.")
        body = sent([first, USER, later], dialect, system="Be kind.")
        tagged = [text_part("<system>\nNo, in Dutch.\n</system>")]
        assert "Be kind.\n\nIn French." == body["instructions"]
        assert [SHOWN, {"role": "user", "content": tagged}] == body["input"]

    @pytest.mark.parametrize("history", [[], [UserMessage("")], [SystemMessage("a")]])
    def test_have_one_of_a_user_where_nobody_spoke(
        self, history: list[Message]
    ) -> None:
        nothing = [text_part("[Nothing was said yet.]")]
        assert [{"role": "user", "content": nothing}] == shown(*history, dialect=PLAIN)

    def test_of_the_user_have_texts_and_images_in_order(self) -> None:
        seen = UserMessage([Text("a"), CAT, Text("b"), DOG])
        content = [text_part("a"), picture(CAT), text_part("b"), picture(DOG)]
        assert [{"role": "user", "content": content}] == shown(seen)

    def test_have_one_stand_in_for_images_that_none_can_see(self) -> None:
        """R3, R4."""
        seen = UserMessage([Text("a"), CAT, DOG, Text("b")])
        unseen = "[Left out: an image, which this model cannot see.]"
        content = [text_part("a"), text_part(unseen), text_part("b")]
        assert [{"role": "user", "content": content}] == shown(seen, dialect=BLIND)

    @pytest.mark.parametrize(
        "empty",
        [
            UserMessage(""),
            UserMessage([Text("")]),
            UserMessage([Thinking("hm")]),
            SystemMessage(""),
            *(UserMessage(" \n"), SystemMessage(" ")),
            *(AssistantMessage(" ", model=name) for name in (MODEL, "other:m")),
            AssistantMessage((), model=MODEL),
            AssistantMessage(Thinking("hm"), model=MODEL),
            AssistantMessage(Text(""), model="other:m"),
            AssistantMessage("cut", finish="error", error=ModelError("no")),
            AssistantMessage("cut", finish="aborted"),
            CustomMessage("note", {"a": 1}),
            result("stray"),
        ],
    )
    def test_with_nothing_to_send_are_left_out(self, empty: Message) -> None:
        """R7, R12, R16: also what failed, and strays."""
        assert [SHOWN] == shown(USER, empty)

    def test_of_another_model_are_its_texts(self) -> None:
        """R8, R9: its thinking would be said, and imitated; its ids mean nothing here."""
        reply = made(
            Thinking("hm", "sig"),
            Text("a", signature=voice(id="msg_1", phase="commentary")),
            Text("b"),
            model="anthropic:claude",
        )
        assert [said("ab"), SHOWN] == shown(reply, USER)

    def test_of_its_own_have_their_phase(self) -> None:
        """Models want it back on every message; the ids serve nothing here."""
        reply = made(
            Text("I look. ", signature=voice(id="msg_1", phase="commentary")),
            Text("There.", signature=voice(phase="commentary")),
            Text("It is red.", signature=voice(phase="final_answer")),
        )
        assert [
            said("I look. There.", phase="commentary"),
            said("It is red.", phase="final_answer"),
            SHOWN,
        ] == shown(reply, USER)

    def test_never_have_a_phase_that_there_is_not(self) -> None:
        reply = made(Text("a", signature=voice(phase="odd")))
        assert [said("a"), SHOWN] == shown(reply, USER)

    @pytest.mark.parametrize("last", [(), (UserMessage(""),)])
    @pytest.mark.parametrize("dialect", [OPENAI, LLAMACPP, OPENROUTER])
    def test_never_end_with_the_assistant(
        self, dialect: Dialect, last: tuple[Message, ...]
    ) -> None:
        """Many models refuse to go on with words of their own."""
        go_on = {"role": "user", "content": [text_part("[Go on.]")]}
        reply = made(sealed(), Text("a"))
        items = shown(USER, reply, *last, dialect=dialect)
        assert ["reasoning", "message"] == [item["type"] for item in items[1:-1]]
        assert go_on == items[-1]

    def test_of_the_assistant_have_their_images_shown_behind_them(self) -> None:
        """Images come in both directions, but a reply has no place for them."""
        reply = made(Text("Here:"), CAT, model="gemini:image")
        content = [text_part("From your reply:"), picture(CAT)]
        assert [said("Here:"), {"role": "user", "content": content}] == shown(reply)

    def test_of_the_assistant_show_images_after_all_results(self) -> None:
        items = kinds(made(CAT, call()), result(), USER)
        assert ["function_call", "function_call_output", "user", "user"] == items

    def test_of_the_assistant_have_a_stand_in_where_none_can_be_seen(self) -> None:
        (item,) = shown(made(CAT, DOG), dialect=BLIND)
        assert [
            text_part("From your reply:"),
            text_part("[Left out: an image, which this model cannot see.]"),
        ] == item["content"]


class TestCalls:
    def test_stand_beside_their_results(self) -> None:
        """Parallel calls, their results in the order of the calls."""
        asked = made(
            Text("I look."), call("c1"), ToolCall("put", {"n": 1}, "c2", raw='{"n": 1}')
        )
        answers = result("c2", "b"), result("c1", "a")
        assert [
            said("I look."),
            {
                "type": "function_call",
                "call_id": "c1",
                "name": "look",
                "arguments": "{}",
            },
            {
                "type": "function_call",
                "call_id": "c2",
                "name": "put",
                "arguments": '{"n": 1}',
            },
            {"type": "function_call_output", "call_id": "c1", "output": "a"},
            {"type": "function_call_output", "call_id": "c2", "output": "b"},
        ] == shown(asked, *answers)

    @pytest.mark.parametrize("raw", ["", " ", "[1", '{"a": 1 "b"}', "7", '{"a":NaN}'])
    def test_always_have_an_object_for_arguments(self, raw: str) -> None:
        """Reports 84, 85: blank, cut, broken or of another kind."""
        asked = made(ToolCall.parse("look", raw, "c1"))
        assert "{}" == shown(asked, result())[0]["arguments"]

    def test_without_a_result_get_one(self) -> None:
        """R14."""
        output = shown(made(call()), USER)[1]
        assert "No result of this call was recorded." == output["output"]

    def test_have_ids_of_their_own(self) -> None:
        """D67, R11: whatever history says, in pairs, and never longer than 64."""
        odd = ["", "", "c1", "c1", "x" * 65, f"{'x' * 65}y", "call_1|fc_1", "a:b"]
        asked = made(*map(call, odd))
        items = shown(asked, *map(result, odd))
        ids = [item["call_id"] for item in items]
        assert ids[:8] == ids[8:]
        assert 8 == len(set(ids))
        assert "c1" == ids[2]

    def test_have_a_name_that_is_taken(self) -> None:
        """A model may have invented anything; a tool's own name is as it is."""
        asked = made(call("c1", "not a name"), call("c2", ""), call("c3", "fs.read"))
        answers = [result(call_id) for call_id in ("c1", "c2", "c3")]
        body = encode(
            CallModel("i", MODEL, [asked, *answers], tools=(ToolSpec("fs.read"),))
        ).body
        names = [item.get("name") for item in json.loads(body)["input"]]
        assert ["not_a_name", "unknown", "fs.read"] == names[:3]


class TestResults:
    def test_hold_their_images(self) -> None:
        """O6."""
        output = shown(made(call()), result(content=[Text("a"), CAT, Text("b")]))[1]
        assert [text_part("a"), picture(CAT), text_part("b")] == output["output"]

    def test_may_be_images_alone(self) -> None:
        output = shown(made(call()), result(content=CAT))[1]
        assert [picture(CAT)] == output["output"]

    @pytest.mark.parametrize("dialect", [LOCAL, LLAMACPP])
    def test_are_followed_by_their_images_where_they_cannot_hold_them(
        self, dialect: Dialect
    ) -> None:
        """C6: after all results, of which none may stand apart from its call."""
        items = shown(
            made(call("c1"), call("c2"), call("c3")),
            result("c1", CAT),
            result("c2"),
            result("c3", [Text("a"), DOG]),
            dialect=dialect,
        )
        pointer = "[The tool gave an image; it follows.]"
        assert [pointer, "ok", "a"] == [item["output"] for item in items[3:6]]
        lead = text_part("From the result of look:")
        assert [lead, picture(CAT), lead, picture(DOG)] == items[6]["content"]

    def test_have_a_stand_in_where_none_can_see(self) -> None:
        output = shown(made(call()), result(content=[CAT, DOG]), dialect=BLIND)[1]
        unseen = "[Left out: an image, which this model cannot see.]"
        assert unseen == output["output"]

    def test_have_a_line_for_each_text(self) -> None:
        output = shown(made(call()), result(content=[Text("a"), Text("b")]))[1]
        assert "a\nb" == output["output"]

    @pytest.mark.parametrize("content", ["", " \n", [], [Text("")]])
    def test_without_text_get_a_stand_in(self, content: Json) -> None:
        """Report 107, D78: and never point to an image that is not there."""
        output = shown(made(call()), result(content=content))[1]
        assert "[The tool gave no output.]" == output["output"]

    def test_that_failed_without_a_word_say_so(self) -> None:
        output = shown(made(call()), result(content="", outcome="timeout"))[1]
        assert "[The tool gave no output. It ended as: timeout.]" == output["output"]


class TestThoughts:
    """O4: a thought goes back to its maker, whole, right before what it led to."""

    def test_go_back_as_they_came_with_what_they_led_to(self) -> None:
        """Agent core 96: also with an empty text; and the ids go together."""
        thought = sealed("rs_1", summary=[{"type": "summary_text", "text": "Hm."}])
        reply = made(
            thought,
            Text("I look.", signature=voice(id="msg_1", phase="commentary")),
            call("c1", signature="fc_1"),
            call("c2", signature="fc_2"),
        )
        items = shown(reply, result("c1"), result("c2"))
        assert [
            json.loads(thought.signature or ""),
            {
                "type": "message",
                "id": "msg_1",
                "role": "assistant",
                "status": "completed",
                "content": [
                    {"type": "output_text", "text": "I look.", "annotations": []}
                ],
                "phase": "commentary",
            },
            *(
                {
                    "type": "function_call",
                    "id": f"fc_{n}",
                    "call_id": f"c{n}",
                    "name": "look",
                    "arguments": "{}",
                    "status": "completed",
                }
                for n in (1, 2)
            ),
        ] == items[:4]

    @pytest.mark.parametrize("model", [SISTER, "azure:gpt-5.2", ""])
    def test_go_to_no_other_model(self, model: str) -> None:
        """Agent core 113, R2: neither do the ids; the call's id, which pairs, stays."""
        reply = made(sealed(), call("c1", signature="fc_1"))
        items = shown(reply, result("c1"), model=model or "x:y")
        assert ["function_call", "function_call_output"] == [i["type"] for i in items]
        assert ("c1", None) == (items[0]["call_id"], items[0].get("id"))

    def test_that_cannot_be_read_are_left_out_with_the_ids(self) -> None:
        """Reports 126, 127: nothing was stored at the server."""
        bare = Thinking("Hm.", '{"type":"reasoning","id":"rs_1","summary":[]}')
        for thought in (bare, Thinking("Hm."), sealed(encrypted_content="")):
            items = shown(made(thought, call("c1", signature="fc_1")), result("c1"))
            assert "function_call" == items[0]["type"]
            assert "id" not in items[0]

    def test_that_a_hook_took_out_take_the_ids_along(self) -> None:
        """Report 126: of a pair, both or none."""
        items = shown(made(call("c1", signature="fc_1")), result("c1"))
        assert "id" not in items[0]

    def test_that_led_to_nothing_are_left_out(self) -> None:
        """Agent core 112, O4: "without its required following item"."""
        assert [SHOWN] == shown(made(sealed(), finish="length"), USER)
        assert [said("a"), SHOWN] == shown(made(Text("a"), sealed()), USER)
        assert [SHOWN] == shown(made(sealed(), Text("")), USER)

    def test_of_a_turn_that_was_aborted_are_left_out(self) -> None:
        """Agent core 112."""
        aborted = made(sealed(), finish="aborted")
        assert [SHOWN] == shown(aborted, USER)

    def test_that_stand_side_by_side_are_sent_once(self) -> None:
        """The server would look for what the first one led to."""
        items = shown(made(sealed("rs_1"), sealed("rs_2"), Text("a")), USER)
        assert ["rs_2"] == [i["id"] for i in items if i.get("type") == "reasoning"]

    def test_stand_each_before_its_own(self) -> None:
        reply = made(
            sealed("rs_1"),
            call("c1", signature="fc_1"),
            sealed("rs_2"),
            call("c2", signature="fc_2"),
        )
        items = shown(reply, result("c1"), result("c2"))
        assert ["rs_1", "fc_1", "rs_2", "fc_2"] == [item["id"] for item in items[:4]]

    def test_of_which_one_cannot_be_read_leave_the_ids_to_the_others(self) -> None:
        reply = made(
            Thinking("Hm."),
            call("c1", signature="fc_1"),
            sealed("rs_2"),
            call("c2", signature="fc_2"),
        )
        items = shown(reply, result("c1"), result("c2"))
        assert [None, "rs_2", "fc_2"] == [item.get("id") for item in items[:3]]

    def test_leave_what_came_before_them_without_an_id(self) -> None:
        first = Text("a", signature=voice(id="msg_1", phase="commentary"))
        reply = made(first, sealed(), Text("b", signature=voice(id="msg_2")))
        items = shown(reply, USER)
        assert said("a", phase="commentary") == items[0]
        assert ["rs_1", "msg_2"] == [item["id"] for item in items[1:3]]

    def test_go_back_with_what_has_no_id_that_is_taken(self) -> None:
        """The id of a call from elsewhere is none here; a thought may have none at all."""
        unnamed = Thinking(
            "", '{"type":"reasoning","summary":[],"encrypted_content":"x"}'
        )
        for thought in (sealed(), unnamed):
            text = Text("a", signature=voice(id="odd"))
            reply = made(thought, text, call("c1", signature="odd"))
            items = shown(reply, result("c1"))
            assert ["reasoning", "message", "function_call"] == [
                item["type"] for item in items[:3]
            ]
            assert [False, False] == ["id" in item for item in items[1:3]]

    def test_are_not_sent_twice(self) -> None:
        """R53: a reply that stands twice in a history has its ids but once."""
        reply = made(sealed(), Text("a", signature=voice(id="msg_1")))
        copy = evolve(reply, usage=reply.usage)
        items = shown(reply, USER, copy, USER)
        assert ["reasoning", "message", "user", "message", "user"] == [
            item.get("type", item.get("role")) for item in items
        ]
        assert said("a") == items[3]

    def test_with_a_refusal_are_followed_by_it(self) -> None:
        refusal = Text("No.", signature=voice(id="msg_1", refusal=True))
        content = [{"type": "refusal", "refusal": "No."}]
        assert content == shown(made(sealed(), refusal))[1]["content"]

    def test_with_texts_of_one_message_are_followed_by_it(self) -> None:
        texts = [Text(text, signature=voice(id="msg_1")) for text in "ab"]
        items = shown(made(sealed(), *texts))
        assert ["a", "b"] == [part["text"] for part in items[1]["content"]]

    def test_that_are_open_go_back_too(self) -> None:
        """Servers of open weights show the thinking itself."""
        content = [{"type": "reasoning_text", "text": "hm"}]
        opened = sealed("rs_1", encrypted_content="", content=content)
        items = shown(made(opened, Text("a")), dialect=LOCAL)
        assert content == items[0]["content"]

    def test_signed_over_another_wire_are_left_out(self) -> None:
        """The same model may have been asked over Chat Completions before."""
        other = '{"type":"thinking","summary":[],"encrypted_content":"x"}'
        for signature in ('[{"type":"reasoning.text"}]', "c2ln", other):
            reply = made(Thinking("hm", signature), call("c1", signature='{"a":1}'))
            assert ["function_call", "function_call_output"] == kinds(reply, result())


class TestKeptBytes:
    def test_are_those_that_are_made_anew(self) -> None:
        """A conversation that goes on, with other tools, and with another model between."""
        history: list[Message] = [USER]
        encoder = Encoder(OPENAI)
        for turn in range(6):
            tools = (ToolSpec("l.k"),) if turn % 2 else ()
            for model in (MODEL, SISTER):
                asked = CallModel("i", model, [*history], tools=tools)
                assert encode(asked, OPENAI).body == encoder(asked).body
            thought = sealed(f"rs_{turn}")
            asks = made(thought, call(f"c{turn}", "l.k", f"fc_{turn}"))
            history += [asks, result(f"c{turn}"), UserMessage(f"{turn}")]

    def test_leave_history_as_it_is(self) -> None:
        asked = made(sealed(), call("a b", "c d", "fc_1"))
        history: list[Message] = [asked, result("a b")]
        before = repr(history)
        shown(*history)
        assert before == repr(history)
