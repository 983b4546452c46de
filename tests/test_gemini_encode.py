"""Requests of generateContent: history adapted on its way out, never in place.

Every request here is one that the service would take, by `gemini_rules`.
"""

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
from loopcore_adapters.gemini import Encoder, encode
from loopcore_adapters.gemini.kept import keep
from loopcore_adapters.gemini.parts import UNSIGNED
from loopcore_adapters.loose import Json
from tests.gemini_reading import SIGNED
from tests.gemini_rules import NEWER, OLDER, accept

MODEL: Final = "gemini:gemini-3-flash"
OLD: Final = "gemini:gemini-2.5-flash"
CAT: Final = Image("Y2F0", "image/png")
DOG: Final = Image("ZG9n", "image/jpeg")
GIF: Final = Image("Z2lm", "image/gif")
USER: Final = UserMessage("hi")
NO_PICTURE: Final = {"text": "[Left out: an image, which this model cannot see.]"}
GO_ON: Final = {"role": "user", "parts": [{"text": "[Go on.]"}]}
NOTHING: Final = {"role": "user", "parts": [{"text": "[Nothing was said yet.]"}]}


def sent(
    messages: Iterable[Message], model: str = MODEL, **fields: Json
) -> dict[str, Json]:
    """The body of the request that shows these."""
    request = encode(CallModel("r1.1.1.model.1", model, list(messages), **fields))
    return accept(request, OLDER if model == OLD else NEWER)


def shown(*messages: Message, model: str = MODEL, **fields: Json) -> list[Json]:
    """The turns that are sent of these messages."""
    return list(sent(messages, model, **fields)["contents"])


def turns(*messages: Message, model: str = MODEL) -> list[tuple[str, int]]:
    """Whose turns they are, and how many parts each has."""
    return [
        (turn["role"], len(turn["parts"])) for turn in shown(*messages, model=model)
    ]


def used(*calls: ToolCall, model: str = MODEL) -> AssistantMessage:
    return AssistantMessage(calls, model=model, finish="tools")


def result(call_id: str, content: Json = "ok", **more: Json) -> ToolResultMessage:
    return ToolResultMessage(call_id, "look", content, **more)


def call(call_id: str, name: str = "look", **more: Json) -> ToolCall:
    return ToolCall(name, {}, call_id, **more)


def said(*parts: Json, role: str = "user") -> dict[str, Json]:
    return {"role": role, "parts": list(parts)}


def inline(image: Image) -> dict[str, Json]:
    return {"inlineData": {"mimeType": image.mime, "data": image.data}}


def reply_parts(*parts: Json, made_by: str = MODEL, model: str = MODEL) -> list[Json]:
    """What is sent of a reply of these parts."""
    reply = AssistantMessage(parts, model=made_by)
    return list(shown(USER, reply, USER, model=model)[1]["parts"])


def answer(content: Json, outcome: Json = "ok", model: str = MODEL) -> dict[str, Json]:
    """The response that is sent of this result."""
    history = USER, used(call("c")), result("c", content, outcome=outcome)
    (part,) = shown(*history, model=model)[2]["parts"]
    return dict(part["functionResponse"])


class TestRequest:
    def test_has_its_place_and_no_key(self) -> None:
        request = encode(CallModel("i", MODEL, [USER]))
        path = "/v1beta/models/gemini-3-flash:streamGenerateContent?alt=sse"
        assert (request.method, request.path) == ("POST", path)
        assert dict(request.headers) == {
            "content-type": "application/json",
            "accept": "text/event-stream, application/json",
        }

    def test_is_no_more_than_needed(self) -> None:
        assert sent([USER]) == {"contents": [said({"text": "hi"})]}

    @pytest.mark.parametrize(
        ("name", "place"),
        [
            ("gemini-3-flash", "models/gemini-3-flash"),
            ("models/gemini-3-flash", "models/gemini-3-flash"),
            ("tunedModels/my-own", "tunedModels/my-own"),
            ("odd:name?x#y", "models/odd%3Aname%3Fx%23y"),
        ],
    )
    def test_names_the_model_in_its_path(self, name: str, place: str) -> None:
        request = encode(CallModel("i", f"gemini:{name}", [USER]))
        assert request.path == f"/v1beta/{place}:streamGenerateContent?alt=sse"

    def test_need_not_be_streamed(self) -> None:
        request = encode(CallModel("i", MODEL, [USER], options={"stream": False}))
        assert request.path == "/v1beta/models/gemini-3-flash:generateContent"
        assert json.loads(request.body).keys() == {"contents"}

    def test_can_always_be_encoded(self) -> None:
        """R19: half a character is replaced, wherever it stands."""
        tool = ToolSpec("look", "Half: \ud800.")
        user = UserMessage([Image("\ud800", "image/png"), Text("\ud800")])
        body = sent([user], system="\udc00", tools=(tool,))
        assert body["contents"] == [said(NO_PICTURE, {"text": "\ufffd"})]

    def test_holds_text_as_it_is(self) -> None:
        request = encode(CallModel("i", MODEL, [UserMessage('中\n"😀"')]))
        assert '"text":"中\\n\\"😀\\""'.encode() in request.body

    def test_is_made_of_kept_pieces(self) -> None:
        """The bytes of a message and a tool are made once for a connected model."""
        tools = (ToolSpec("look", "Looks."),)
        history: list[Message] = [USER, used(call("c")), result("c"), USER]
        encoder = Encoder()
        bodies = [
            encoder(CallModel("i", MODEL, history[:length], tools=tools)).body
            for length in (1, 3, 4, 4)
        ]
        fresh = [
            encode(CallModel("i", MODEL, history[:length], tools=tools)).body
            for length in (1, 3, 4, 4)
        ]
        assert bodies == fresh

    def test_of_one_model_do_not_mix(self) -> None:
        """Reports 170 and 171: each request sees its own conversation and its own fields."""
        one: list[Message] = [USER, used(call("c")), result("c"), UserMessage("one")]
        other: list[Message] = [USER, used(call("d")), result("d"), UserMessage("two")]
        encoder = Encoder()
        for length in (1, 3, 4):
            for history, system in ((one, "A"), (other, "B")):
                asked = CallModel("i", MODEL, history[:length], system)
                assert encoder(asked).body == encode(asked).body


class TestOptions:
    def test_go_where_the_protocol_has_them(self) -> None:
        options = {
            "temperature": 0,
            "topP": 0.5,
            "max_output_tokens": 9,
            "stop_sequences": ["a"],
            "safetySettings": [{"category": "X", "threshold": "Y"}],
            "tool_config": {"functionCallingConfig": {"mode": "ANY"}},
        }
        body = sent([USER], options=options, tools=(ToolSpec("look"),))
        assert body["generationConfig"] == {
            "temperature": 0,
            "topP": 0.5,
            "maxOutputTokens": 9,
            "stopSequences": ["a"],
        }
        assert body["safetySettings"] == options["safetySettings"]
        assert body["toolConfig"] == options["tool_config"]

    def test_that_are_unknown_are_sent_as_they_are(self) -> None:
        """The service says what it does not know."""
        request = encode(CallModel("i", MODEL, [USER], options={"odd_one": [None]}))
        assert json.loads(request.body)["odd_one"] == [None]

    def test_may_be_the_whole_configuration(self) -> None:
        options = {"generationConfig": {"seed": 1, "topK": 2}, "seed": 3}
        body = sent([USER], options=options)
        assert body["generationConfig"] == {"seed": 3, "topK": 2}

    def test_of_the_effect_come_before_those_of_the_model(self) -> None:
        effect = CallModel("i", MODEL, [USER], options={"seed": 2})
        body = json.loads(encode(effect, {"seed": 1, "temperature": 0}).body)
        assert body["generationConfig"] == {"seed": 2, "temperature": 0}

    def test_come_before_what_thinking_asks_for(self) -> None:
        body = sent([USER], thinking="low", options={"thinkingConfig": {"x": 1}})
        assert body["generationConfig"] == {"thinkingConfig": {"x": 1}}

    def test_may_name_tools_of_the_provider_beside_functions(self) -> None:
        tools = (ToolSpec("look"),)
        body = sent([USER], tools=tools, options={"tools": [{"googleSearch": {}}]})
        assert [list(tool) for tool in body["tools"]] == [
            ["functionDeclarations"],
            ["googleSearch"],
        ]


class TestTools:
    SCHEMA: Final = {
        "type": "object",
        "properties": {"q": {"type": "string"}},
        "additionalProperties": False,
    }

    def test_are_offered_with_their_json_schema(self) -> None:
        """`parameters` is a part of OpenAPI, and would lose most of it."""
        body = sent([USER], tools=(ToolSpec("look", "Looks.", self.SCHEMA),))
        assert body["tools"] == [
            {
                "functionDeclarations": [
                    {
                        "name": "look",
                        "description": "Looks.",
                        "parametersJsonSchema": self.SCHEMA,
                    }
                ]
            }
        ]

    def test_without_parameters_have_none(self) -> None:
        body = sent([USER], tools=(ToolSpec("look"),))
        (function,) = body["tools"][0]["functionDeclarations"]
        assert function == {"name": "look", "description": "look"}

    def test_may_take_any_object(self) -> None:
        body = sent([USER], tools=(ToolSpec("look", "", {"type": "object"}),))
        (function,) = body["tools"][0]["functionDeclarations"]
        assert function["parametersJsonSchema"] == {"type": "object"}

    def test_have_nothing_beside_a_reference(self) -> None:
        """The protocol's own rule; what stands there is kept around it."""
        dog = {
            "$ref": "#/$defs/Dog",
            "$comment": "c",
            "description": "A dog.",
            "default": {"$ref": 1},
        }
        schema = {
            "type": "object",
            "properties": {
                "dog": dog,
                "$ref": {"type": "string"},
                "a": [{"$ref": "b"}],
            },
            "$defs": {"Dog": {"$ref": "#/$defs/Dog", "$comment": "of itself"}},
        }
        body = sent([USER], tools=(ToolSpec("look", "", schema),))
        (function,) = body["tools"][0]["functionDeclarations"]
        assert function["parametersJsonSchema"] == schema | {
            "properties": {
                "dog": {
                    "$comment": "c",
                    "anyOf": [{"$ref": "#/$defs/Dog"}],
                    "description": "A dog.",
                    "default": {"$ref": 1},
                },
                "$ref": {"type": "string"},
                "a": [{"$ref": "b"}],
            }
        }


LEVELS: Final = {
    level: {"thinkingLevel": level.upper(), "includeThoughts": True}
    for level in ("low", "medium", "high")
}


class TestThinking:
    @pytest.mark.parametrize(
        ("name", "level", "config"),
        [
            *(("gemini-3-flash", level, LEVELS[level]) for level in LEVELS),
            ("gemini-flash-latest", "low", LEVELS["low"]),
            ("gemini-3.8-flash", "off", {"thinkingLevel": "LOW"}),
            ("gemini-3.5-flash-lite", "off", {"thinkingLevel": "MINIMAL"}),
            ("gemini-2.5-flash", "off", {"thinkingBudget": 0}),
            ("gemini-2.5-pro", "off", {"thinkingBudget": 128}),
            (
                "gemini-2.5-flash-lite",
                "high",
                {"thinkingBudget": 24576, "includeThoughts": True},
            ),
            ("gemini-2.0-flash", "high", None),
        ],
    )
    def test_is_asked_for_as_the_generation_has_it(
        self, name: str, level: Json, config: Json
    ) -> None:
        """A level or a budget, never both; one that cannot think is not asked to."""
        request = encode(CallModel("i", f"gemini:{name}", [USER], thinking=level))
        body = json.loads(request.body)
        assert body.get("generationConfig", {}).get("thinkingConfig") == config

    def test_is_not_spoken_of_unless_asked(self) -> None:
        assert "generationConfig" not in sent([USER], thinking=None)


OBJECT: Final = {"type": "object", "properties": {"n": {"type": "integer"}}}
LIST: Final = {"type": "array", "items": {"type": "integer"}}


class TestOutput:
    def test_is_the_protocols_own_mode(self) -> None:
        body = sent([USER], output=OBJECT)
        assert body["generationConfig"] == {
            "responseMimeType": "application/json",
            "responseJsonSchema": OBJECT,
        }
        assert "systemInstruction" not in body

    def test_may_stand_beside_tools(self) -> None:
        body = sent([USER], tools=(ToolSpec("look"),), output=LIST)
        assert body["generationConfig"]["responseJsonSchema"] == LIST

    def test_is_a_tool_where_it_may_not(self) -> None:
        body = sent([USER], OLD, tools=(ToolSpec("look"),), output=OBJECT)
        _, tool = body["tools"][0]["functionDeclarations"]
        assert tool["name"] == "final_output"
        assert tool["parametersJsonSchema"] == OBJECT
        assert "generationConfig" not in body

    def test_is_a_tool_of_another_name_if_that_is_taken(self) -> None:
        body = sent([USER], OLD, tools=(ToolSpec("final_output"),), output=OBJECT)
        names = [one["name"] for one in body["tools"][0]["functionDeclarations"]]
        assert names == ["final_output", "final_output_"]

    def test_is_a_prompt_where_no_tool_can_take_it(self) -> None:
        """Arguments are an object."""
        body = sent(
            [USER], OLD, system="Be kind.", tools=(ToolSpec("look"),), output=LIST
        )
        (part,) = body["systemInstruction"]["parts"]
        assert part["text"].startswith(
            "Be kind.\n\nYour final answer is one JSON value"
        )
        assert part["text"].endswith('{"type":"array","items":{"type":"integer"}}')

    def test_needs_no_tool_where_there_are_none(self) -> None:
        body = sent([USER], OLD, output=LIST)
        assert body["generationConfig"]["responseMimeType"] == "application/json"

    def test_gives_way_to_an_option(self) -> None:
        body = sent([USER], output=OBJECT, options={"responseJsonSchema": LIST})
        assert body["generationConfig"]["responseJsonSchema"] == LIST


class TestTurns:
    def test_begin_after_the_system_prompt(self) -> None:
        """Report 122: on each request, whatever history holds."""
        body = sent([USER, AssistantMessage("hi"), USER], system="Be kind.")
        assert body["systemInstruction"] == {"parts": [{"text": "Be kind."}]}

    def test_begin_after_instructions_too(self) -> None:
        history = (
            SystemMessage("Be kind."),
            SystemMessage(""),
            SystemMessage("Be brief."),
        )
        body = sent([*history, USER], system="You are Ann.")
        assert body == {
            "systemInstruction": {
                "parts": [{"text": "You are Ann.\n\nBe kind.\n\nBe brief."}]
            },
            "contents": [said({"text": "hi"})],
        }

    def test_of_the_system_are_marked_as_such(self) -> None:
        """R20: the protocol knows one system prompt, before all turns."""
        history = USER, AssistantMessage("a"), SystemMessage("Now in French.")
        assert shown(*history)[2] == said(
            {"text": "<system>\nNow in French.\n</system>"}
        )

    def test_of_one_speaker_are_one(self) -> None:
        history = (
            USER,
            UserMessage("b"),
            AssistantMessage("c"),
            AssistantMessage("d"),
            USER,
        )
        assert turns(*history) == [("user", 2), ("model", 2), ("user", 1)]

    def test_of_a_user_may_follow_results_and_are_apart(self) -> None:
        """Beside results the model does not see it, or goes on with it."""
        history = USER, used(call("c")), result("c"), UserMessage("b")
        assert turns(*history) == [("user", 1), ("model", 1), ("user", 1), ("user", 1)]

    def test_begin_with_the_user(self) -> None:
        """Calls come after a user or after results."""
        assert shown(used(call("c")), result("c"))[0] == NOTHING

    def test_end_with_the_user(self) -> None:
        """Since Gemini 3.6 a model does not go on with words of its own."""
        assert shown(USER, AssistantMessage("a"))[-1] == GO_ON

    @pytest.mark.parametrize("nothing", [(), (UserMessage(""),), (SystemMessage("a"),)])
    def test_are_one_at_least(self, nothing: tuple[Message, ...]) -> None:
        assert shown(*nothing) == [NOTHING]

    @pytest.mark.parametrize(
        "content", ["", [Thinking("hm", redacted=True)], [Text("")]]
    )
    def test_that_are_empty_are_skipped(self, content: Json) -> None:
        """Vector 110, report 107: and what stands around them is one turn."""
        assert turns(USER, AssistantMessage(content, model=MODEL), USER) == [
            ("user", 2)
        ]

    @pytest.mark.parametrize(
        "blank", [UserMessage(" \n"), SystemMessage(" "), AssistantMessage(" ")]
    )
    def test_of_blank_text_are_left_out(self, blank: Message) -> None:
        assert shown(USER, blank, USER) == shown(USER, USER)

    def test_that_failed_or_are_custom_are_left_out(self) -> None:
        failed = AssistantMessage("a", finish="error", error=ModelError("x"))
        assert shown(USER, failed, CustomMessage("note", 1), USER) == shown(USER, USER)

    def test_are_not_changed(self) -> None:
        """Reports 119, 120, 121: only the copy that goes out is adapted."""
        made = used(call("k|1", "odd name"))
        history: list[Message] = [USER, made, result("k|1", [CAT])]
        before = repr(history)
        assert shown(*history) == shown(*history)
        assert repr(history) == before

    @pytest.mark.parametrize("model", [MODEL, OLD])
    def test_of_a_longer_conversation_begin_with_the_same_bytes(
        self, model: str
    ) -> None:
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
            encode(CallModel("i", model, history[:length])).body
            for length in (1, 5, 6, 8)
        ]
        for shorter, longer in pairwise(bodies):
            assert longer.startswith(shorter.removesuffix(b"]}]}"))


class TestPictures:
    def test_are_shown(self) -> None:
        assert shown(UserMessage([Text("a"), CAT, DOG])) == [
            said({"text": "a"}, inline(CAT), inline(DOG))
        ]

    def test_of_other_types_are_one_stand_in_a_run(self) -> None:
        """R3, R4: the whole conversation would be refused for them."""
        odd = Image("not base64!", "image/png")
        assert shown(UserMessage([GIF, odd, Text("a"), CAT, GIF])) == [
            said(NO_PICTURE, {"text": "a"}, inline(CAT), NO_PICTURE)
        ]

    def test_have_the_right_name_of_their_type(self) -> None:
        assert shown(UserMessage([Image("Y2F0", "image/jpg")])) == [
            said(inline(Image("Y2F0", "image/jpeg")))
        ]

    def test_of_the_model_go_back_with_their_signature(self) -> None:
        """On the very part: without it the model would not know its own picture."""
        signed = keep({"thoughtSignature": SIGNED})
        assert reply_parts(CAT, signed, DOG) == [
            inline(CAT) | {"thoughtSignature": SIGNED},
            inline(DOG),
        ]

    def test_of_another_model_have_none(self) -> None:
        signed = keep({"thoughtSignature": SIGNED})
        assert reply_parts(CAT, signed, made_by="a:b") == [inline(CAT)]

    def test_that_a_rule_took_away_leave_no_signature(self) -> None:
        signed = keep({"thoughtSignature": SIGNED})
        assert reply_parts(Text("a"), signed) == [{"text": "a"}]


class TestThoughts:
    def test_go_back_to_the_model_that_had_them(self) -> None:
        assert reply_parts(Thinking("hm", SIGNED), Thinking("so"), Text("a")) == [
            {"text": "hm", "thought": True, "thoughtSignature": SIGNED},
            {"text": "so", "thought": True},
            {"text": "a"},
        ]

    @pytest.mark.parametrize("other", ["gemini:gemini-3-pro", "openai:gpt-5.2", ""])
    def test_of_another_model_are_left_out(self, other: str) -> None:
        """Row 97 otherwise decided, as over all wires: shown as text they would be answers."""
        parts = Thinking("hm", SIGNED), Text("a", signature=SIGNED)
        assert reply_parts(*parts, made_by=other) == [{"text": "a"}]

    def test_that_are_empty_go_back_if_they_are_signed(self) -> None:
        """R6: the signature is what counts."""
        assert reply_parts(Thinking("", SIGNED), Thinking(" "), Text("a")) == [
            {"text": "", "thought": True, "thoughtSignature": SIGNED},
            {"text": "a"},
        ]

    @pytest.mark.parametrize("foreign", ['{"google": 1}', "c2lnbmVkc", "ä", "a b=", ""])
    def test_have_no_signature_of_another_wire(self, foreign: str) -> None:
        """G2: what is no base64 is refused."""
        assert reply_parts(Thinking("hm", foreign), Text("a", signature=foreign)) == [
            {"text": "hm", "thought": True},
            {"text": "a"},
        ]

    @pytest.mark.parametrize("form", ["c2lnbmVk", "c2ln_-", "c2lnbg==", "c2lnbg"])
    def test_have_a_signature_in_any_form_of_base64(self, form: str) -> None:
        assert reply_parts(Text("a", signature=form)) == [
            {"text": "a", "thoughtSignature": form}
        ]

    def test_that_only_the_provider_understands_go_back_as_they_came(self) -> None:
        code = {"executableCode": {"language": "PYTHON", "code": "1"}}
        assert reply_parts(Text("a"), keep(code), Text("b")) == [
            {"text": "a"},
            code,
            {"text": "b"},
        ]
        assert reply_parts(keep(code), Text("b"), made_by="a:b") == [{"text": "b"}]

    def test_in_words_are_never_what_only_the_provider_understands(self) -> None:
        """Whatever a model thinks, it cannot write a part of a request."""
        payload = keep({"executableCode": {"code": "1"}}).signature
        assert reply_parts(Thinking("hm", payload)) == [{"text": "hm", "thought": True}]

    @pytest.mark.parametrize(
        "payload", ["x", "{", "[]", '{"gemini": 7}', '{"gemini": {"functionCall": {}}}']
    )
    def test_that_are_not_understood_are_left_out(self, payload: str) -> None:
        assert reply_parts(Thinking("", payload, redacted=True), Text("a")) == [
            {"text": "a"}
        ]


class TestTexts:
    def test_that_are_empty_stay_if_they_are_signed(self) -> None:
        """Row 114, G3: thoughts hang on it."""
        assert reply_parts(Text("a"), Text("", signature=SIGNED), Text("")) == [
            {"text": "a"},
            {"text": "", "thoughtSignature": SIGNED},
        ]


class TestCalls:
    def test_go_out_with_their_results(self) -> None:
        made = ToolCall.parse("look", '{"q": "a"}', "k1")
        assert shown(USER, used(made), result("k1"))[1:] == [
            said(
                {
                    "functionCall": {"id": "k1", "name": "look", "args": {"q": "a"}},
                    "thoughtSignature": UNSIGNED,
                },
                role="model",
            ),
            said(
                {
                    "functionResponse": {
                        "id": "k1",
                        "name": "look",
                        "response": {"output": "ok"},
                    }
                }
            ),
        ]

    def test_have_no_ids_of_which_a_model_knows_nothing(self) -> None:
        """G1: the generation before Gemini 3 pairs by order."""
        history = (
            USER,
            used(call("k1"), call("k2")),
            result("k2", "b"),
            result("k1", "a"),
        )
        _, asked, given = shown(*history, model=OLD)
        assert asked["parts"] == [{"functionCall": {"name": "look", "args": {}}}] * 2
        texts = [one["functionResponse"]["response"] for one in given["parts"]]
        assert texts == [{"output": "a"}, {"output": "b"}]

    def test_keep_the_signature_of_the_model_that_made_them(self) -> None:
        """On the very part: of several at once only the first has one."""
        first = call("a", signature=SIGNED)
        made = shown(USER, used(first, call("b")))[1]["parts"]
        assert [part.get("thoughtSignature") for part in made] == [SIGNED, None]

    @pytest.mark.parametrize("made_by", ["openai:gpt-5.2", "gemini:gemini-3-pro"])
    def test_of_another_model_have_a_stand_in_for_it(self, made_by: str) -> None:
        """R10: its own would be refused, and so would none."""
        first, second = call("a", signature=SIGNED), call("b", signature=SIGNED)
        made = shown(USER, used(first, second, model=made_by))[1]["parts"]
        assert [part.get("thoughtSignature") for part in made] == [UNSIGNED, None]

    def test_of_an_older_model_need_none(self) -> None:
        signed = call("a", signature=SIGNED)
        own = shown(USER, used(signed, model=OLD), model=OLD)[1]["parts"]
        other = shown(USER, used(signed), model=OLD)[1]["parts"]
        assert [part.get("thoughtSignature") for part in own + other] == [SIGNED, None]

    @pytest.mark.parametrize("broken", ['{"a": 1 "b"}', "[1]", '{"a":', "NaN", "", " "])
    def test_with_broken_arguments_have_an_object(self, broken: str) -> None:
        """Reports 42, 84, 85: the conversation goes on."""
        made = ToolCall.parse("look", broken, "c")
        (part,) = shown(USER, used(made), result("c"))[1]["parts"]
        assert part["functionCall"]["args"] == {}

    def test_without_a_result_are_answered(self) -> None:
        history = USER, used(call("a"), call("b")), result("b"), USER
        assert turns(*history) == [("user", 1), ("model", 2), ("user", 2), ("user", 1)]
        (first, _) = shown(*history)[2]["parts"]
        assert first["functionResponse"]["response"].keys() == {"error"}

    def test_without_text_stay(self) -> None:
        """Report 117: the text is empty, the turn is not."""
        spoken = AssistantMessage([Text(""), call("c")], model=MODEL)
        assert turns(USER, spoken, result("c")) == [
            ("user", 1),
            ("model", 1),
            ("user", 1),
        ]

    @pytest.mark.parametrize(
        ("name", "sent_as"),
        [
            ('look" />', "look____"),
            ("", "unknown"),
            ("x" * 99, "x" * 64),
            ("7up", "_7up"),
            ("-x", "_-x"),
        ],
    )
    def test_have_a_name_that_is_taken(self, name: str, sent_as: str) -> None:
        """Report 83: a model may have invented anything; the result says the same."""
        _, asked, given = shown(USER, used(call("a", name)), result("a"))
        assert asked["parts"][0]["functionCall"]["name"] == sent_as
        assert given["parts"][0]["functionResponse"]["name"] == sent_as

    def test_have_the_name_of_a_tool_as_it_is(self) -> None:
        turn = shown(USER, used(call("a", "fs.read")), tools=(ToolSpec("fs.read"),))[1]
        assert turn["parts"][0]["functionCall"]["name"] == "fs.read"


class TestCallIds:
    def ids(self, *messages: Message) -> list[str]:
        """The ids of all calls; that results have the same is a rule."""
        parts = [part for turn in shown(USER, *messages) for part in turn["parts"]]
        return [part["functionCall"]["id"] for part in parts if "functionCall" in part]

    def test_are_kept(self) -> None:
        history = (
            used(call("q8x2k1"), call("fc-1|x")),
            result("q8x2k1"),
            result("fc-1|x"),
        )
        assert self.ids(*history) == ["q8x2k1", "fc-1|x"]

    def test_of_several_calls_are_distinct(self) -> None:
        """Report 95, D67."""
        history = used(call("k"), call("k"), call("")), used(call("k"))
        found = self.ids(*history)
        assert found[0] == "k"
        assert len(set(found)) == 4

    def test_that_are_too_long_or_odd_are_made_anew(self) -> None:
        long = [f"{'x' * 200}{n}" for n in range(2)]
        found = self.ids(used(*map(call, [*long, "a b"])))
        assert len(set(found)) == 3
        assert all(len(one) <= 64 and " " not in one for one in found)


class TestResults:
    @pytest.mark.parametrize("content", ["", "  \n", []])
    def test_without_text_get_a_stand_in(self, content: Json) -> None:
        """D78, report 107: never dropped, never blank, and no picture is promised."""
        assert answer(content)["response"] == {"output": "[The tool gave no output.]"}

    def test_that_failed_are_told_apart(self) -> None:
        """G7."""
        assert answer("no", "error")["response"] == {"error": "no"}
        assert answer("", "timeout")["response"] == {
            "error": "[The tool gave no output. It ended as: timeout.]"
        }

    def test_have_their_texts_line_by_line(self) -> None:
        assert answer([Text("a"), Text("b")])["response"] == {"output": "a\nb"}

    def test_have_their_pictures_within(self) -> None:
        """G5."""
        found = answer([Text("a"), CAT, DOG])
        assert found["response"] == {"output": "a"}
        assert found["parts"] == [inline(CAT), inline(DOG)]

    def test_that_are_only_a_picture_say_so(self) -> None:
        assert answer([CAT])["response"] == {
            "output": "[The tool gave an image; it follows.]"
        }

    def test_have_a_stand_in_for_other_pictures(self) -> None:
        heic = Image("aGVpYw==", "image/heic")
        found = answer([Text("a"), GIF, heic, CAT])
        assert found["response"] == {"output": f"a\n{NO_PICTURE['text']}"}
        assert found["parts"] == [inline(CAT)]

    def test_of_an_older_model_have_their_pictures_after_them(self) -> None:
        """G5, report 94: in a turn of the user's; nothing parts the results."""
        heic = Image("aGVpYw==", "image/heic")
        history = (
            USER,
            used(call("c"), call("d")),
            result("c", [CAT]),
            result("d", [heic]),
        )
        assert shown(*history, UserMessage("b"), model=OLD)[3] == said(
            {"text": "From the result of look:"},
            inline(CAT),
            {"text": "From the result of look:"},
            inline(heic),
            {"text": "b"},
        )

    def test_are_in_the_order_of_their_calls(self) -> None:
        """Reports 91 to 93: whatever the order in which they were stored."""
        calls = used(call("a"), call("b"))
        first, second = result("a", "1"), result("b", "2")
        stored = shown(USER, calls, second, first)
        assert stored == shown(USER, calls, first, second)

    def test_that_nobody_asked_for_are_left_out(self) -> None:
        assert shown(USER, result("x"), result("x")) == shown(USER)


class TestFunctionNames:
    def test_are_told_in_the_result_as_in_the_call(self) -> None:
        """A result that was stored under another name is of its call all the same."""
        renamed = ToolResultMessage("c", "other", "ok")
        _, _, given = shown(USER, used(call("c")), renamed)
        assert given["parts"][0]["functionResponse"]["name"] == "look"


@pytest.mark.parametrize("model", [MODEL, OLD])
def test_a_run_may_have_been_another_models(model: str) -> None:
    """A conversation that began over other wires is one that the service takes."""
    foreign = AssistantMessage(
        [
            Thinking("hm", "opaque"),
            Thinking("", "[1]", redacted=True),
            Text("I look."),
            call("call_1|fc_2", "fs.read", signature='{"google": 1}'),
            call("call_1|fc_2", "fs.read"),
        ],
        model="openai:gpt-5.2",
        finish="tools",
    )
    history = (
        foreign,
        result("call_1|fc_2", [CAT]),
        result("call_1|fc_2", "", outcome="error"),
    )
    body = sent([*history, AssistantMessage("Done.", model="a:b"), USER], model)
    assert [turn["role"] for turn in body["contents"]] == (
        ["user", "model", "user", "model", "user"]
        if model == MODEL
        else ["user", "model", "user", "user", "model", "user"]
    )
