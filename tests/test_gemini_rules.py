"""The validator of Gemini's rules refuses what the service refuses.

A validator that takes everything would prove nothing of the requests that it takes.
"""

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Final, TypeAlias

import pytest

from loopcore_adapters.loose import Json
from loopcore_adapters.wire import HttpRequest
from tests.gemini_reading import SIGNED
from tests.gemini_rules import NEWER, OLDER, Refused, Rules, accept

PATH: Final = "/v1beta/models/gemini-3-flash:streamGenerateContent?alt=sse"
NONE: Final = dict[str, Json]()
BLOB: Final = {"mimeType": "image/png", "data": "Y2F0"}
CALL: Final = {"id": "1", "name": "look", "args": NONE}
GIVEN: Final = {"id": "1", "name": "look", "response": {"output": "ok"}}
BODY: Final[Json] = {
    "systemInstruction": {"parts": [{"text": "Be kind."}]},
    "tools": [
        {
            "functionDeclarations": [
                {
                    "name": "look",
                    "description": "Looks.",
                    "parametersJsonSchema": {"type": "object", "properties": NONE},
                }
            ]
        }
    ],
    "generationConfig": {"thinkingConfig": {"thinkingLevel": "LOW"}},
    "contents": [
        {"role": "user", "parts": [{"text": "hi"}, {"inlineData": BLOB}]},
        {
            "role": "model",
            "parts": [
                {"text": "hm", "thought": True},
                {"functionCall": CALL, "thoughtSignature": SIGNED},
            ],
        },
        {
            "role": "user",
            "parts": [{"functionResponse": {**GIVEN, "parts": [{"inlineData": BLOB}]}}],
        },
        {"role": "user", "parts": [{"text": "more"}]},
    ],
}

Break: TypeAlias = Callable[[Json], object]


def judge(body: Json, rules: Rules = NEWER, path: str = PATH) -> None:
    accept(HttpRequest("POST", path, {}, json.dumps(body).encode()), rules)


def part(turn: int, place: int) -> Callable[[Json], Json]:
    """A part of a body."""
    return lambda body: body["contents"][turn]["parts"][place]


def with_(turn: int, place: int, **fields: Json) -> Break:
    """Fields of a part, or of the first object in it, that break it."""

    def broken(body: Json) -> None:
        found = part(turn, place)(body)
        inner = found.get("functionCall") or found.get("functionResponse") or found
        inner.update(fields)

    return broken


def schema(**fields: Json) -> Break:
    """The first function's schema."""

    def broken(body: Json) -> None:
        (function,) = body["tools"][0]["functionDeclarations"]
        function["parametersJsonSchema"]["properties"]["x"] = fields

    return broken


def config(**fields: Json) -> Break:
    return lambda body: body["generationConfig"].update(fields)


def turn(place: int, **fields: Json) -> Break:
    return lambda body: body["contents"][place].update(fields)


TEXT: Final = {"text": "a"}
BREAKS: Final[dict[str, Break]] = {
    "a field that nobody knows": lambda body: body.update(messages=[]),
    "no contents": lambda body: body.update(contents=[]),
    "a role that nobody has": turn(0, role="assistant"),
    "a turn without parts": turn(3, parts=[]),
    "a part that is nothing": turn(3, parts=[{}]),
    "a part that is two things": turn(3, parts=[{"text": "a", "inlineData": BLOB}]),
    "a mark that nobody knows": with_(3, 0, signature="x"),
    "a text that is empty": with_(3, 0, text=""),
    "a user that thinks": with_(3, 0, thought=True),
    "a signature that is no base64": with_(1, 0, thoughtSignature="{}"),
    "a picture of another type": turn(
        0, parts=[{"inlineData": {**BLOB, "mimeType": "image/gif"}}]
    ),
    "a picture that is no base64": turn(
        0, parts=[{"inlineData": {**BLOB, "data": "!"}}]
    ),
    "a picture that is empty": turn(0, parts=[{"inlineData": {**BLOB, "data": ""}}]),
    "a call of no name": with_(1, 1, name=""),
    "a call of an odd name": with_(1, 1, name="7 up"),
    "a call whose arguments are none": with_(1, 1, args=[]),
    "a call without a signature": lambda body: part(1, 1)(body).pop("thoughtSignature"),
    "a call without an id": lambda body: part(1, 1)(body)["functionCall"].pop("id"),
    "a result of another id": with_(2, 0, id="2"),
    "a result of another name": with_(2, 0, name="other"),
    "a result that says nothing": with_(2, 0, response={"output": " "}),
    "a result of another shape": with_(2, 0, response={"result": "ok"}),
    "a result with a picture of another type": with_(
        2, 0, parts=[{"inlineData": {**BLOB, "mimeType": "image/heic"}}]
    ),
    "a call without a result": lambda body: body["contents"].pop(2),
    "two results of one call": lambda body: body["contents"][2]["parts"].append(
        {"functionResponse": GIVEN}
    ),
    "a result without a call": lambda body: body["contents"].pop(1),
    "a word beside a result": lambda body: body["contents"][2]["parts"].append(TEXT),
    "two turns of a user": lambda body: body["contents"].insert(0, body["contents"][0]),
    "a first turn of the model": lambda body: body["contents"].pop(0),
    "a last turn of the model": lambda body: body["contents"].append(
        {"role": "model", "parts": [TEXT]}
    ),
    "an id for two calls": lambda body: body["contents"].extend(
        deepcopy(body["contents"][1:])
    ),
    "an instruction that is empty": lambda body: body["systemInstruction"].update(
        parts=[]
    ),
    "no tools": lambda body: body.update(tools=[]),
    "a function without a description": lambda body: body["tools"][0][
        "functionDeclarations"
    ][0].update(description=""),
    "a function twice": lambda body: body["tools"].append(body["tools"][0]),
    "something beside a reference": schema(**{"$ref": "#/$defs/A", "description": "x"}),
    "a level and a budget": config(
        thinkingConfig={"thinkingLevel": 1, "thinkingBudget": 1}
    ),
    "a schema without a type": config(responseJsonSchema={"type": "object"}),
}


def test_a_sound_request_is_taken() -> None:
    judge(BODY)


@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_one_is_not(name: str) -> None:
    body = deepcopy(BODY)
    BREAKS[name](body)

    with pytest.raises(Refused):
        judge(body)


@pytest.mark.parametrize(
    "path",
    [
        "/v1beta/models/m:streamGenerateContent",
        "/v1beta/m:generateContent",
        "/v1beta/models/a:b:generateContent",
        "/v1beta/models/:generateContent",
    ],
)
def test_a_path_is_one_of_two(path: str) -> None:
    with pytest.raises(Refused):
        judge(BODY, path=path)


OLD_BODY: Final[Json] = {
    "contents": [
        {"role": "user", "parts": [TEXT]},
        {"role": "model", "parts": [{"functionCall": {"name": "look", "args": NONE}}]},
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "look", "response": {"output": "a"}}}
            ],
        },
    ],
    "tools": [{"functionDeclarations": [{"name": "look", "description": "Looks."}]}],
    "generationConfig": dict[str, Json](),
}
OLD_BREAKS: Final[dict[str, Break]] = {
    "ids": lambda body: [with_(turn, 0, id="1")(body) for turn in (1, 2)],
    "pictures in results": with_(2, 0, parts=[{"inlineData": BLOB}]),
    "json beside tools": config(responseMimeType="application/json"),
}


def test_a_sound_request_is_taken_by_an_older_model() -> None:
    judge(OLD_BODY, OLDER)


@pytest.mark.parametrize("name", OLD_BREAKS)
def test_an_older_model_knows_less(name: str) -> None:
    body = deepcopy(OLD_BODY)
    OLD_BREAKS[name](body)

    with pytest.raises(Refused):
        judge(body, OLDER)
