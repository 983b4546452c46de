"""What a request of generateContent must be, by Google's public documentation.

Sources: the protocol's definition (googleapis, google/ai/generativelanguage/v1beta), the
guides to function calling, thought signatures, image understanding and structured output,
and the sentences with which the service refuses what breaks its rules. They are quoted in
the messages here where there is one.
"""

import json
import re
from base64 import b64decode
from binascii import Error
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from attrs import frozen

from loopcore_adapters.loose import Json, items, members
from loopcore_adapters.wire import HttpRequest

PATH: Final = re.compile(
    r"/v1beta/(models|tunedModels)/[^/?:#\s]+:"
    r"(generateContent|streamGenerateContent\?alt=sse)"
)
NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}")
FIELDS: Final = {
    *("contents", "tools", "toolConfig", "safetySettings", "systemInstruction"),
    *("generationConfig", "cachedContent", "serviceTier", "store", "labels"),
}
DATA: Final = {
    *("text", "inlineData", "functionCall", "functionResponse", "fileData"),
    *("executableCode", "codeExecutionResult", "toolCall", "toolResponse"),
}
IMAGES: Final = {"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"}
MEDIA: Final = {*IMAGES, "application/pdf", "audio/wav"}
RESULT_MEDIA: Final = {"image/png", "image/jpeg", "image/webp", "application/pdf"}
VALUES: Final = {"const", "default", "enum", "examples"}
"""Keywords whose values are no schemas."""


NAMED: Final = {"properties", "patternProperties", "$defs", "definitions"}
"""Keywords whose values are schemas by name."""


@frozen
class Rules:
    """What the generation of models knows that is asked."""

    ids: bool
    signed: bool
    nested: bool
    json_with_tools: bool


OLDER: Final = Rules(ids=False, signed=False, nested=False, json_with_tools=False)
NEWER: Final = Rules(ids=True, signed=True, nested=True, json_with_tools=True)


class Refused(AssertionError):
    """The service would not take it."""


def need(holds: object, sentence: str) -> None:
    if not holds:
        raise Refused(sentence)


def accept(request: HttpRequest, rules: Rules) -> dict[str, Json]:
    """The body, if the service would take it."""
    need(request.method == "POST", "the method is POST")
    need(PATH.fullmatch(request.path), f"no such path: {request.path}")
    body: dict[str, Json] = json.loads(request.body.decode())
    need(body.keys() <= FIELDS, f"Unknown name in {sorted(body)}")
    contents: Sequence[Json] = items(body.get("contents"))
    need(contents, "contents is not specified")
    for content in contents:
        _content(content, rules)
    _order(contents)
    _pairs(contents, rules)
    _ids(contents)
    _system(body)
    _tools(body, rules)
    return body


def _content(content: Json, rules: Rules) -> None:
    need(content.keys() == {"role", "parts"}, "a content has a role and parts")
    need(content["role"] in {"user", "model"}, "Please use a valid role: user, model.")
    need(content["parts"], "contents.parts must not be empty")
    for part in content["parts"]:
        _part(part, content["role"], rules)


def _part(part: Json, role: str, rules: Rules) -> None:
    data = DATA & part.keys()
    need(len(data) == 1, "required oneof field 'data' must have one initialized field")
    marks = part.keys() - data
    need(marks <= {"thought", "thoughtSignature"}, f"Unknown name in {sorted(part)}")
    need(role == "model" or not marks, "a user neither thinks nor signs")
    if "thoughtSignature" in part:
        need(_base64(part["thoughtSignature"]), "Corrupted thought signature.")
    (kind,) = data
    checks = {
        "text": _text,
        "inlineData": _inline,
        "functionCall": _call,
        "functionResponse": _response,
    }
    if kind in checks:
        checks[kind](part, role, rules)


def _text(part: Json, role: str, rules: Rules) -> None:
    del role, rules
    need(isinstance(part["text"], str), "text is a string")
    need(part["text"] or "thoughtSignature" in part, "an empty text says nothing")


def _inline(part: Json, role: str, rules: Rules) -> None:
    del role, rules
    _blob(part["inlineData"], MEDIA)


def _blob(blob: Json, types: set[str]) -> None:
    need(blob.keys() == {"mimeType", "data"}, "a blob has a type and data")
    need(blob["mimeType"] in types, f"Unsupported MIME type: {blob['mimeType']}")
    need(blob["data"] and _base64(blob["data"]), "Base64 decoding failed")


def _base64(data: str) -> bool:
    plain = data.replace("-", "+").replace("_", "/").rstrip("=")
    try:
        b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (Error, ValueError):
        return False
    return True


def _call(part: Json, role: str, rules: Rules) -> None:
    call = part["functionCall"]
    need(role == "model", "only a model calls functions")
    need(call.keys() <= {"id", "name", "args"}, f"Unknown name in {sorted(call)}")
    need("id" not in call or rules.ids, "Unknown name \"id\" at 'function_call'")
    need(NAME.fullmatch(call["name"]), f"Invalid function name: {call['name']!r}")
    need(isinstance(call["args"], dict), "args is an object")


def _response(part: Json, role: str, rules: Rules) -> None:
    answer = part["functionResponse"]
    need(role == "user", "only a user gives results")
    known = {"id", "name", "response", "parts"}
    need(answer.keys() <= known, f"Unknown name in {sorted(answer)}")
    response = answer["response"]
    need(response.keys() in ({"output"}, {"error"}), "a response has one of two keys")
    (text,) = response.values()
    need(isinstance(text, str) and text.strip(), "a response says something")
    need("parts" not in answer or rules.nested, "multimodal responses: Gemini 3 on")
    for inner in answer.get("parts", ()):
        need(inner.keys() == {"inlineData"}, "a response's part is a blob")
        _blob(inner["inlineData"], RESULT_MEDIA)


def functions(content: Json, kind: str) -> list[Json]:
    """The calls, or the responses, of a turn."""
    return [part[kind] for part in content["parts"] if kind in part]


def _order(contents: Sequence[Json]) -> None:
    need(contents[0]["role"] == "user", "the first turn is a user's")
    need(
        contents[-1]["role"] == "user",
        "Requests ending with a model turn are not supported.",
    )
    for one, next_one in pairwise(contents):
        after_results = functions(one, "functionResponse") and not functions(
            next_one, "functionResponse"
        )
        need(
            one["role"] != next_one["role"] or after_results,
            "Please ensure that multiturn requests alternate between user and model.",
        )


def _pairs(contents: Sequence[Json], rules: Rules) -> None:
    before: Json = {"role": "user", "parts": []}
    for one, next_one in pairwise([before, *contents]):
        calls = functions(one, "functionCall")
        answers = functions(next_one, "functionResponse")
        need(
            len(calls) == len(answers),
            "Please ensure that the number of function response parts is equal to the "
            "number of function call parts of the function call turn.",
        )
        need(
            not answers or len(answers) == len(next_one["parts"]),
            "results are alone in their turn: what stands beside them is not seen",
        )
        for call, answer in zip(calls, answers, strict=True):
            need(call["name"] == answer["name"], "a response names its function")
            need(call.get("id") == answer.get("id"), "a response has its call's id")
            need("id" in call or not rules.ids, "a call has an id")
        if calls and rules.signed:
            first = next(part for part in one["parts"] if "functionCall" in part)
            need(
                "thoughtSignature" in first,
                "Function call is missing a thought_signature in functionCall parts.",
            )
    need(not functions(contents[-1], "functionCall"), "calls are answered")


def _ids(contents: Sequence[Json]) -> None:
    calls = [one for content in contents for one in functions(content, "functionCall")]
    ids = [call["id"] for call in calls if "id" in call]
    need(len(ids) == len(set(ids)), "an id names one call")


def _system(body: Json) -> None:
    if "systemInstruction" not in body:
        return
    parts = body["systemInstruction"]["parts"]
    need(parts, "contents.parts must not be empty")
    for part in parts:
        need(part.keys() == {"text"}, "a system instruction is text")
        need(part["text"], "a system instruction says something")


def _tools(body: Json, rules: Rules) -> None:
    declared = [
        one
        for tool in body.get("tools", ())
        for one in tool.get("functionDeclarations", ())
    ]
    need("tools" not in body or body["tools"], "tools are some")
    names = [one["name"] for one in declared]
    need(len(names) == len(set(names)), "Duplicate function declaration found")
    for one in declared:
        _declaration(one)
    config = body.get("generationConfig", {})
    thinking = config.get("thinkingConfig", {})
    need(
        not {"thinkingLevel", "thinkingBudget"} <= thinking.keys(),
        "You can only set only one of thinking budget and thinking level.",
    )
    need("toolConfig" not in body or declared, "function calling needs functions")
    mime = config.get("responseMimeType", "text/plain")
    need(
        mime == "text/plain" or not declared or rules.json_with_tools,
        "Function calling with a response mime type: 'application/json' is unsupported",
    )
    if "responseJsonSchema" in config:
        need(mime == "application/json", "a schema needs the type application/json")
        _schema(config["responseJsonSchema"])


def _declaration(one: Json) -> None:
    known = {"name", "description", "parametersJsonSchema"}
    need(one.keys() <= known, f"Unknown name in {sorted(one)}")
    need(NAME.fullmatch(one["name"]), f"Invalid function name: {one['name']!r}")
    need(one.get("description"), "a function has a description")
    if "parametersJsonSchema" in one:
        _schema(one["parametersJsonSchema"])


def _schema(schema: Json) -> None:
    for inner in _schemas(schema):
        if "$ref" in inner and isinstance(inner["$ref"], str):
            beside = {name for name in inner if not name.startswith("$")}
            need(not beside, "beside $ref stand only properties that begin with $")


def _schemas(schema: Json) -> Iterator[dict[str, Json]]:
    if members(schema):
        yield members(schema)
    for name, value in members(schema).items():
        if name in NAMED:
            for each in members(value).values():
                yield from _schemas(each)
        elif name not in VALUES:
            yield from _schemas(value)
    for each in items(schema):
        yield from _schemas(each)
