"""The rules of Chat Completions requests, as OpenAI's reference and its servers have them.

A judge of its own: it knows no loopcore, and says of a body what a strict server would.
"""

import base64
import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

from attrs import frozen

Json = Any

NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
PICTURE: Final = re.compile(r"data:image/[a-z.+-]+;base64,(.*)", re.DOTALL)
BODY: Final = frozenset(
    [
        "model",
        "messages",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "stream",
        "stream_options",
        "response_format",
        "temperature",
        "top_p",
        "max_tokens",
        "max_completion_tokens",
        "stop",
        "seed",
        "reasoning_effort",
        "n",
        "user",
    ]
)
FIELDS: Final = {
    "system": frozenset(("role", "content", "name")),
    "developer": frozenset(("role", "content", "name")),
    "user": frozenset(("role", "content", "name")),
    "assistant": frozenset(("role", "content", "name", "refusal", "tool_calls")),
    "tool": frozenset(("role", "content", "tool_call_id")),
}
PARTS: Final = {
    "system": frozenset(("text",)),
    "developer": frozenset(("text",)),
    "user": frozenset(("text", "image_url")),
    "assistant": frozenset(("text", "refusal")),
    "tool": frozenset(("text",)),
}


@frozen
class Server:
    """What a compatible server takes beside, or not: names of fields, ids, its order."""

    body: frozenset[str] = frozenset()
    assistant: frozenset[str] = frozenset()
    call: frozenset[str] = frozenset()
    parts: frozenset[str] = frozenset()
    call_id: re.Pattern[str] = re.compile(r".{1,40}", re.DOTALL)
    images: bool = True
    system_once: bool = True
    ordered: bool = False


STRICT: Final = Server()


def broken(body: bytes, server: Server = STRICT) -> list[str]:
    """Every rule that this request breaks."""
    try:
        request = json.loads(body.decode())
    except ValueError as problem:
        return [f"not JSON in UTF-8: {problem}"]
    return list(_request(request, server))


def _request(request: dict[str, Json], server: Server) -> Iterator[str]:
    yield from _unknown("the request", request, BODY | server.body)
    if not (isinstance(request.get("model"), str) and request["model"]):
        yield "no model"
    if not request.get("messages"):
        yield "no messages"
    yield from _conversation(request["messages"], server)
    yield from _tools(request)
    yield from _format(request)
    if "stream_options" in request and request.get("stream") is not True:
        yield "stream_options without a stream"


def _unknown(what: str, given: dict[str, Json], known: frozenset[str]) -> Iterator[str]:
    for name in given.keys() - known:
        yield f"{what} has an unknown field {name!r}"


def _conversation(messages: list[Json], server: Server) -> Iterator[str]:
    yield from _order([message.get("role") for message in messages], server)
    unanswered, seen = list[str](), set[str]()
    for message in messages:
        role = message.get("role")
        yield from _message(role, message, server)
        if role == "tool":
            if message.get("tool_call_id") not in unanswered:
                yield f"a result of no open call: {message.get('tool_call_id')!r}"
            else:
                unanswered.remove(message["tool_call_id"])
        elif unanswered:
            yield f"{role} speaks before the results of {unanswered}"
            unanswered = []
        for call in message.get("tool_calls", ()):
            yield from _call(call, seen, server)
            unanswered.append(call["id"])
    if unanswered:
        yield f"no results of {unanswered}"


def _order(roles: list[Json], server: Server) -> Iterator[str]:
    if "system" in roles[1:] and server.system_once:
        yield "the system speaks in mid-conversation"
    for before, role in pairwise(roles) if server.ordered else ():
        if (before, role) in OUT_OF_ORDER:
            yield f"{role} speaks right after {before}"
    if roles[-1:] == ["assistant"]:
        yield "the assistant speaks last"


OUT_OF_ORDER: Final = (("tool", "user"), ("tool", "system"), ("assistant", "system"))
"""What Mistral's own validator of requests refuses."""


def _message(role: Json, message: dict[str, Json], server: Server) -> Iterator[str]:
    if role not in FIELDS:
        yield f"unknown role {role!r}"
        return
    more = server.assistant if role == "assistant" else frozenset[str]()
    yield from _unknown(f"a message of {role}", message, FIELDS[role] | more)
    if "tool_calls" in message and not message["tool_calls"]:
        yield "tool_calls is empty"
    content: Json = message.get("content")
    if content is None and not (role == "assistant" and message.get("tool_calls")):
        yield f"a message of {role} without content"
    elif isinstance(content, list):
        yield from _parts(role, message["content"], server)
    elif not isinstance(content, str | None):
        yield f"content of {role} is {content!r}"
    if isinstance(content, str) and not content.strip():
        yield f"a blank message of {role}"


def _parts(role: str, content: list[Json], server: Server) -> Iterator[str]:
    if not content:
        yield f"content of {role} is an empty array"
    for part in content:
        kind = part.get("type")
        if kind not in PARTS[role] | server.parts:
            yield f"{role} has a part of type {kind!r}"
        elif kind == "text" and not str(part.get("text") or "").strip():
            yield "a text part without text"
        elif kind == "image_url":
            yield from _image(part, server)


def _image(part: dict[str, Json], server: Server) -> Iterator[str]:
    url = part.get("image_url", {}).get("url", "")
    found = PICTURE.fullmatch(url)
    if not server.images:
        yield "an image for a server that takes none"
    try:
        base64.b64decode(found[1] if found else "", validate=True)
    except ValueError:
        found = None
    if not found:
        yield f"no picture: {url[:40]!r}"


def _call(call: dict[str, Json], seen: set[str], server: Server) -> Iterator[str]:
    known = frozenset(("id", "type", "function")) | server.call
    yield from _unknown("a call", call, known)
    if call.get("type") != "function":
        yield f"a call of type {call.get('type')!r}"
    if not (isinstance(call.get("id"), str) and server.call_id.fullmatch(call["id"])):
        yield f"id {call.get('id')!r}"
    if call["id"] in seen:
        yield f"two calls have the id {call['id']!r}"
    seen.add(call["id"])
    function = call.get("function", {})
    yield from _unknown("a function", function, frozenset(("name", "arguments")))
    if not NAME.fullmatch(function.get("name", "")):
        yield f"name {function.get('name')!r}"
    yield from _arguments(function.get("arguments"))


def _arguments(written: Json) -> Iterator[str]:
    def constant(name: str) -> None:
        raise ValueError(name)

    try:
        value = json.loads(written, parse_constant=constant)
    except (TypeError, ValueError) as problem:
        yield f"arguments {written!r}: {problem}"
    else:
        if not isinstance(value, dict):
            yield f"arguments are no object: {written!r}"


def _tools(request: dict[str, Json]) -> Iterator[str]:
    tools = request.get("tools")
    if tools is None:
        if "tool_choice" in request or "parallel_tool_calls" in request:
            yield "a choice of tools without tools"
        return
    names = [tool.get("function", {}).get("name") for tool in tools]
    if not tools or len(set(names)) != len(names):
        yield f"tools {names}"
    for tool in tools:
        yield from _unknown("a tool", tool, frozenset(("type", "function")))
        function = tool["function"]
        known = frozenset(("name", "description", "parameters", "strict"))
        yield from _unknown("a tool's function", function, known)
        if tool.get("type") != "function" or not NAME.fullmatch(function["name"]):
            yield f"no tool: {tool!r}"
        if not _is_object(function.get("parameters", {})):
            yield f"parameters of {function['name']!r} are no object"
    chosen = request.get("tool_choice", "auto")
    wanted = chosen if isinstance(chosen, str) else chosen["function"]["name"]
    if wanted not in {"none", "auto", "required", *names}:
        yield f"tool_choice {chosen!r}"


COMBINED: Final = {"oneOf", "anyOf", "allOf", "enum", "const", "not"}
"""What OpenAI's servers refuse at the root of a schema."""


def _is_object(schema: dict[str, Json]) -> bool:
    return schema.get("type") == "object" and not COMBINED & schema.keys()


def _format(request: dict[str, Json]) -> Iterator[str]:
    wanted = request.get("response_format", {"type": "text"})
    kind = wanted.get("type")
    if kind == "json_schema":
        inner = wanted.get("json_schema", {})
        known = frozenset(("name", "schema", "strict", "description"))
        yield from _unknown("json_schema", inner, known)
        if not NAME.fullmatch(inner.get("name", "")):
            yield "json_schema has no name"
        if not isinstance(inner.get("schema"), dict):
            yield "json_schema has no schema"
        elif not _is_object(inner["schema"]):
            yield "json_schema is not of an object at its root"
    elif kind == "json_object":
        if "json" not in json.dumps(request["messages"]).lower():
            yield "json_object, and no message says JSON"
    elif kind != "text":
        yield f"response_format {kind!r}"
