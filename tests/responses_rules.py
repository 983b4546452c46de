"""The rules of Responses requests, as OpenAI's reference and its errors have them.

A judge of its own: it knows no loopcore, and says of a body what a strict server would that
keeps nothing between requests.
"""

import base64
import json
import re
from collections.abc import Iterator
from typing import Any, Final

from attrs import define, field, frozen

Json = Any

NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
ITEM_IDS: Final = {
    "message": re.compile(r"msg_[A-Za-z0-9_-]{1,60}"),
    "function_call": re.compile(r"fc_[A-Za-z0-9_-]{1,61}"),
    "reasoning": re.compile(r".{1,64}", re.DOTALL),
}
PICTURE: Final = re.compile(r"data:image/[a-z.+-]+;base64,(.*)", re.DOTALL)
EFFORTS: Final = ("none", "minimal", "low", "medium", "high", "xhigh", "max", None)
SUMMARIES: Final = ("auto", "concise", "detailed", None)
PHASES: Final = ("commentary", "final_answer")
INCLUDABLE: Final = ("reasoning.encrypted_content", "message.output_text.logprobs")

BODY: Final = frozenset(
    [
        "model",
        "input",
        "instructions",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "include",
        "store",
        "stream",
        "reasoning",
        "text",
        "temperature",
        "top_p",
        "max_output_tokens",
        "prompt_cache_key",
        "metadata",
        "truncation",
        "service_tier",
    ]
)
FIELDS: Final = {
    "said": frozenset(("type", "role", "content")),
    "reply": frozenset(("type", "role", "content", "phase")),
    "message": frozenset(("type", "id", "role", "status", "content", "phase")),
    "reasoning": frozenset(("type", "id", "summary", "encrypted_content", "content")),
    "function_call": frozenset(
        ("type", "id", "call_id", "name", "arguments", "status")
    ),
    "function_call_output": frozenset(("type", "call_id", "output")),
}
ROLES: Final = ("user", "system", "developer")


@frozen
class Server:
    """What a compatible server takes, or not.

    Pictures, pictures in results, open thoughts, instructions in mid-conversation.
    """

    images: bool = True
    result_images: bool = True
    open_thoughts: bool = False
    instructions: bool = True


STRICT: Final = Server()


def broken(body: bytes, server: Server = STRICT) -> list[str]:
    """Every rule that this request breaks."""
    try:
        request = json.loads(body.decode())
    except ValueError as problem:
        return [f"not JSON in UTF-8: {problem}"]
    return [*_request(request), *_Input(server).judge(request.get("input") or [])]


def _unknown(what: str, given: Json, known: frozenset[str]) -> Iterator[str]:
    for name in given.keys() - known:
        yield f"{what} has an unknown field {name!r}"


def _request(request: dict[str, Json]) -> Iterator[str]:
    yield from _unknown("the request", request, BODY)
    if not (isinstance(request.get("model"), str) and request["model"]):
        yield "no model"
    if not request.get("input"):
        yield "no input"
    if not isinstance(request.get("instructions", ""), str):
        yield "instructions are no text"
    for name in ("store", "stream"):
        if not isinstance(request.get(name), bool):
            yield f"{name} is {request.get(name)!r}"
    if not set(request.get("include") or ()) <= set(INCLUDABLE):
        yield f"include is {request['include']!r}"
    if not 0 < len(request.get("prompt_cache_key", "k")) <= 64:
        yield "prompt_cache_key is empty, or longer than 64"
    yield from _tools(request)
    yield from _wishes(request)


def _tools(request: dict[str, Json]) -> Iterator[str]:
    if request.get("tools") == []:
        yield "tools is empty"
    of_tools = {"tool_choice", "parallel_tool_calls"} & request.keys()
    if of_tools and not request.get("tools"):
        yield f"{of_tools} without tools"
    names = [tool.get("name") for tool in request.get("tools", ())]
    if len(set(names)) != len(names):
        yield f"two tools of one name: {names}"
    for tool in request.get("tools", ()):
        yield from _tool(tool)


def _tool(tool: dict[str, Json]) -> Iterator[str]:
    known = frozenset(("type", "name", "description", "parameters", "strict"))
    yield from _unknown("a tool", tool, known)
    if tool.get("type") != "function":
        yield f"a tool of type {tool.get('type')!r}"
    if not NAME.fullmatch(tool.get("name", "")):
        yield f"a tool's name is {tool.get('name')!r}"
    if not isinstance(tool.get("parameters"), dict):
        yield "a tool without parameters"
    elif not is_object(tool["parameters"]):
        yield "Invalid schema for function: schema must have type 'object'"
    if tool.get("strict") is not False:
        yield "a schema that is not strict, said to be so"


def is_object(schema: dict[str, Json]) -> bool:
    """Whether its root is of an object, and of nothing that is put together."""
    refused = {"oneOf", "anyOf", "allOf", "enum", "const", "not"} & schema.keys()
    return schema.get("type") == "object" and not refused


def _wishes(request: dict[str, Json]) -> Iterator[str]:
    reasoning = request.get("reasoning", {})
    yield from _unknown("reasoning", reasoning, frozenset(("effort", "summary")))
    if reasoning.get("effort") not in EFFORTS:
        yield f"effort is {reasoning['effort']!r}"
    if reasoning.get("summary") not in SUMMARIES:
        yield f"summary is {reasoning['summary']!r}"
    form = request.get("text", {}).get("format", {"type": "text"})
    if form["type"] == "json_schema":
        yield from _unknown(
            "format", form, frozenset(("type", "name", "schema", "strict"))
        )
        if not NAME.fullmatch(form.get("name", "")):
            yield f"a format's name is {form.get('name')!r}"
        if not isinstance(form.get("schema"), dict):
            yield "a format without a schema"
        elif not is_object(form["schema"]):
            yield "Invalid schema for response_format: schema must have type 'object'"
    elif form["type"] not in {"text", "json_object"}:
        yield f"a format of type {form['type']!r}"


@define
class _Input:
    """Goes over the items in their order."""

    server: Server
    seen: set[str] = field(factory=set[str])
    calls: set[str] = field(factory=set[str])
    unanswered: list[str] = field(factory=list[str])
    thought: str = ""
    """What a thought is to the items behind it: not there, waiting for one, or given."""

    def judge(self, items: list[Json]) -> Iterator[str]:
        """Every rule that these items break."""
        for item in items:
            kind = item.get("type", "message")
            if kind == "message" and item.get("role") != "assistant":
                yield from self._said(item)
            elif kind == "message":
                yield from self._reply(item)
            elif kind == "reasoning":
                yield from self._thought(item)
            elif kind == "function_call":
                yield from self._call(item)
            elif kind == "function_call_output":
                yield from self._output(item)
            else:
                yield f"an item of type {kind!r}"
        yield from self._turn_ends()

    def _turn_ends(self) -> Iterator[str]:
        if self.unanswered:
            yield f"no tool output found for function calls {self.unanswered}"
        if self.thought == "waiting":
            yield "a reasoning item without its required following item"
        self.unanswered, self.thought = [], ""

    def _said(self, item: Json) -> Iterator[str]:
        yield from self._turn_ends()
        yield from _unknown("a message", item, FIELDS["said"])
        role = item.get("role")
        if role not in ROLES:
            yield f"unknown role {role!r}"
        if role != "user" and not self.server.instructions:
            yield f"{role} speaks in mid-conversation"
        images = self.server.images and role == "user"
        yield from _content(f"a message of {role}", item.get("content"), images=images)

    def _reply(self, item: Json) -> Iterator[str]:
        if item.get("phase", PHASES[0]) not in PHASES:
            yield f"phase is {item['phase']!r}"
        content = item.get("content")
        if "id" in item:
            yield from self._with_id(item)
            yield from _reply_content(content)
            return
        yield from _unknown("a reply", item, FIELDS["reply"])
        if not (isinstance(content, str) and content):
            yield f"content of a reply is {content!r}"
        self._follows()

    def _with_id(self, item: Json) -> Iterator[str]:
        """What the server sent, as it sent it: it looks for what belongs to it."""
        kind = item["type"]
        yield from _unknown(f"a {kind}", item, FIELDS[kind])
        yield from self._id(item)
        if item.get("status") != "completed":
            yield f"status of a {kind} is {item.get('status')!r}"
        if not self.thought:
            yield f"a {kind} without its required reasoning item"
        self._follows()

    def _follows(self) -> None:
        self.thought = self.thought and "given"

    def _id(self, item: Json) -> Iterator[str]:
        if not ITEM_IDS[item["type"]].fullmatch(item["id"]):
            yield f"an id is {item['id']!r}"
        if item["id"] in self.seen:
            yield f"duplicate item {item['id']!r}"
        self.seen.add(item["id"])

    def _thought(self, item: Json) -> Iterator[str]:
        if self.thought == "waiting":
            yield "a reasoning item without its required following item"
        self.thought = "waiting"
        yield from _unknown("a reasoning item", item, FIELDS["reasoning"])
        if "id" in item:
            yield from self._id(item)
        if not isinstance(item.get("summary"), list):
            yield "a reasoning item without a summary"
        for part in item.get("summary") or ():
            if part.get("type") != "summary_text":
                yield f"a summary has a part of type {part.get('type')!r}"
        opened = self.server.open_thoughts and item.get("content")
        if not (item.get("encrypted_content") or opened):
            yield "a reasoning item that was not stored, and cannot be read"

    def _call(self, item: Json) -> Iterator[str]:
        if "id" in item:
            yield from self._with_id(item)
        else:
            known = FIELDS["function_call"] - {"id", "status"}
            yield from _unknown("a function_call", item, known)
            self._follows()
        call_id = item.get("call_id", "")
        if not NAME.fullmatch(call_id):
            yield f"call_id is {call_id!r}"
        if call_id in self.calls:
            yield f"duplicate call_id {call_id!r}"
        self.calls.add(call_id)
        self.unanswered.append(call_id)
        if not NAME.fullmatch(item.get("name", "")):
            yield f"the name of a function is {item.get('name')!r}"
        yield from _arguments(item.get("arguments"))

    def _output(self, item: Json) -> Iterator[str]:
        yield from _unknown("an output", item, FIELDS["function_call_output"])
        if item.get("call_id") in self.unanswered:
            self.unanswered.remove(item["call_id"])
        else:
            yield f"no tool call found for {item.get('call_id')!r}"
        self.thought = "" if self.thought != "waiting" else self.thought
        output = item.get("output")
        if not isinstance(output, str):
            images = self.server.images and self.server.result_images
            yield from _content("an output", output, images=images)
        elif not output.strip():
            yield "a blank output"


def _arguments(arguments: Json) -> Iterator[str]:
    try:
        found = json.loads(arguments, parse_constant=_no_number)
    except (TypeError, ValueError):
        found = None
    if not isinstance(found, dict):
        yield f"arguments are {arguments!r}"


def _list(value: Json) -> list[Json]:
    return [*value] if isinstance(value, list) else []


def _no_number(name: str) -> None:
    message = f"{name} is no JSON"
    raise ValueError(message)


def _content(what: str, content: Json, *, images: bool) -> Iterator[str]:
    if not (isinstance(content, list) and content):
        yield f"{what} without content"
    for part in _list(content):
        kind = part.get("type")
        if kind == "input_text":
            yield from _unknown("a text", part, frozenset(("type", "text")))
            if not (isinstance(part.get("text"), str) and part["text"]):
                yield "a text without text"
        elif kind == "input_image" and images:
            yield from _image(part)
        else:
            yield f"{what} has a part of type {kind!r}"


def _reply_content(content: Json) -> Iterator[str]:
    if not (isinstance(content, list) and content):
        yield "a reply without content"
    for part in _list(content):
        match part:
            case {"type": "output_text", "text": str(text), "annotations": []} if text:
                pass
            case {"type": "refusal", "refusal": str(text)} if text:
                pass
            case _:
                yield f"content of a reply has {part!r}"


def _image(part: Json) -> Iterator[str]:
    yield from _unknown("an image", part, frozenset(("type", "detail", "image_url")))
    if part.get("detail") not in {"auto", "low", "high", "original"}:
        yield f"detail is {part.get('detail')!r}"
    found = PICTURE.fullmatch(part.get("image_url", ""))
    try:
        base64.b64decode(found[1] if found else "?", validate=True)
    except ValueError:
        yield "an image is no picture in base64"
