"""The rules of a Messages request, as its service enforces them: a strict validator.

Written from the public documentation of the service and its error messages:
https://platform.claude.com/docs/en/api/messages (fields, types, first role),
.../agents-and-tools/tool-use/handle-tool-calls (results first, one for each call),
.../build-with-claude/prompt-caching (at most four marks, none on thinking or blank text),
.../build-with-claude/thinking and /thinking-troubleshooting (who takes which thinking),
.../build-with-claude/structured-outputs (which schemas there are).
It knows no loopcore.
"""

import json
import re
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeAlias

Json: TypeAlias = Any

FIELDS: Final = frozenset(
    (
        *(
            "model",
            "max_tokens",
            "messages",
            "system",
            "tools",
            "tool_choice",
            "stream",
        ),
        *("thinking", "output_config", "temperature", "stop_sequences", "metadata"),
        *("cache_control", "service_tier", "top_p", "top_k"),
    )
)
BLOCKS: Final = {
    "user": {"text", "image", "tool_result"},
    "assistant": {"text", "thinking", "redacted_thinking", "tool_use"},
}
KEYS: Final = {
    "text": {"type", "text"},
    "image": {"type", "source"},
    "tool_result": {"type", "tool_use_id", "content", "is_error"},
    "thinking": {"type", "thinking", "signature"},
    "redacted_thinking": {"type", "data"},
    "tool_use": {"type", "id", "name", "input"},
}
THOUGHTS: Final = ("thinking", "redacted_thinking")
MEDIA: Final = ("image/jpeg", "image/png", "image/gif", "image/webp")
NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,128}")
ID: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
EFFORTS: Final = ("low", "medium", "high", "xhigh", "max")
MARK: Final = {"type": "ephemeral"}

BUDGETED: Final = re.compile(
    r"claude-(\w+-)?([123]\b|4(-[015]\b|-\d{8}|$))|^(?!claude)"
)
GRADED: Final = re.compile(r"deepseek|kimi-k3")
BETWEEN: Final = re.compile(r"claude-sonnet-5-5")
ALWAYS: Final = re.compile(r"claude-(opus-5-5|fable|mythos|opus-9)")
HELD: Final = re.compile(r"claude-\w+-(4-[5678]|5)|claude-(fable|mythos|opus-9)")


def problems(body: bytes) -> list[str]:
    """What the service would refuse this request for; nothing if it takes it."""
    try:
        request = json.loads(body.decode())
        json.dumps(request, ensure_ascii=False, allow_nan=False).encode()
    except ValueError as problem:
        return [f"no JSON: {problem}"]
    found = [
        *_fields(request),
        *_texts("system", request.get("system", [])),
        *_tools(request),
        *_messages(request),
        *_marks(request),
        *_thinking(request),
        *_output(request),
    ]
    return [problem for problem in found if problem]


def _fields(request: Json) -> Iterator[str]:
    yield from (f"{name}: extra input" for name in request.keys() - FIELDS)
    if not isinstance(request.get("model"), str) or not request["model"]:
        yield "model: required"
    most = request.get("max_tokens")
    if not isinstance(most, int) or isinstance(most, bool) or most < 1:
        yield "max_tokens: a number from 1 up"
    if not request.get("messages"):
        yield "messages: at least one message is required"


def _texts(where: str, content: Json) -> Iterator[str]:
    for place, block in enumerate(content):
        if block.get("type") != "text":
            yield f"{where}.{place}: only text"
        yield from _block(f"{where}.{place}", block)


def _block(where: str, block: Json) -> Iterator[str]:
    kind = block.get("type")
    keys = block.keys() - {"cache_control"}
    if keys - KEYS[kind] or (KEYS[kind] - keys) - {"is_error"}:
        yield f"{where}: keys {sorted(keys)}"
    if kind == "text" and not block["text"].strip():
        yield f"{where}: text content blocks must contain non-whitespace text"
    if kind == "image":
        yield from _image(where, block["source"])
    if kind == "tool_use":
        yield from _call(where, block)
    if kind == "tool_result":
        yield from _result(where, block)
    if kind in THOUGHTS and "cache_control" in block:
        yield f"{where}: thinking cannot be marked"


def _image(where: str, source: Json) -> Iterator[str]:
    if source.keys() != {"type", "media_type", "data"} or source["type"] != "base64":
        yield f"{where}: source"
    if source["media_type"] not in MEDIA:
        yield f"{where}: media type {source['media_type']}"
    if not b64decode(source["data"], validate=True):
        yield f"{where}: image cannot be empty"


def _call(where: str, block: Json) -> Iterator[str]:
    if not ID.fullmatch(block["id"]):
        yield f"{where}: id {block['id']!r}"
    if not NAME.fullmatch(block["name"]):
        yield f"{where}: name {block['name']!r}"
    if not isinstance(block["input"], dict):
        yield f"{where}: input should be an object"


def _result(where: str, block: Json) -> Iterator[str]:
    content = block["content"]
    if not content:
        yield f"{where}: this result says nothing"
    for place, inner in enumerate(content):
        if inner.get("type") not in ("text", "image"):
            yield f"{where}.{place}: type {inner.get('type')}"
        elif inner["type"] == "image" and block.get("is_error"):
            yield f"{where}: all content must be type text if is_error is true"
        yield from _block(f"{where}.{place}", inner)


def _messages(request: Json) -> Iterator[str]:
    before, asked, ids = "assistant", list[str](), list[str]()
    for place, message in enumerate(request.get("messages", ())):
        where = f"messages.{place}"
        role, content = message["role"], message["content"]
        if message.keys() != {"role", "content"} or role not in BLOCKS:
            yield f"{where}: role {role}, keys {sorted(message)}"
        if role == before:
            yield f"{where}: roles must alternate, and begin with user"
        if not _is_array(content) or not content:
            yield f"{where}: all messages must have non-empty content"
        yield from _content(where, role, content)
        yield from _pairs(where, asked, content)
        asked = [block["id"] for block in content if block["type"] == "tool_use"]
        ids += asked
        before = role
    if before == "assistant":
        yield "messages: the conversation must end with a user message"
    if len(set(ids)) != len(ids):
        yield "messages: tool_use ids must be unique"


def _content(where: str, role: str, content: Json) -> Iterator[str]:
    for number, block in enumerate(content):
        if block.get("type") not in BLOCKS[role]:
            yield f"{where}.{number}: {block.get('type')} is not said by {role}"
        else:
            yield from _block(f"{where}.{number}", block)
    if content[-1]["type"] in THOUGHTS:
        yield f"{where}: the final block in an assistant message cannot be thinking"


def _pairs(where: str, asked: list[str], content: Json) -> Iterator[str]:
    """A message begins with the results of the calls before it, one for each."""
    kinds = [block["type"] for block in content]
    answered = [b["tool_use_id"] for b in content if b["type"] == "tool_result"]
    if answered != asked:
        yield f"{where}: calls {asked} are answered by {answered}"
    if kinds[: len(answered)] != ["tool_result"] * len(answered):
        yield f"{where}: tool_result blocks must come first"


def _tools(request: Json) -> Iterator[str]:
    tools = request.get("tools", [])
    names = [tool["name"] for tool in tools]
    if "tools" in request and not tools:
        yield "tools: empty"
    if len(set(names)) != len(names):
        yield "tools: tool names must be unique"
    for tool in tools:
        where = f"tools.{tool['name']}"
        if tool.keys() - {"name", "description", "input_schema", "cache_control"}:
            yield f"{where}: keys {sorted(tool)}"
        if not NAME.fullmatch(tool["name"]) or tool.get("description") == "":
            yield f"{where}: name or description"
        schema = tool["input_schema"]
        if schema.get("type") != "object":
            yield f"{where}: input_schema must be of an object"
        if schema.keys() & {"oneOf", "allOf", "anyOf"}:
            yield f"{where}: input_schema does not support oneOf, allOf, or anyOf"
    yield from _choice(request, names)


def _choice(request: Json, names: list[str]) -> Iterator[str]:
    choice = request.get("tool_choice")
    if choice is None:
        return
    if not names:
        yield "tool_choice: may only be specified while providing tools"
    if choice["type"] not in ("auto", "any", "none", "tool"):
        yield f"tool_choice: {choice}"
    if choice["type"] == "tool" and choice["name"] not in names:
        yield f"tool_choice: no tool {choice['name']}"
    forced = choice["type"] in ("any", "tool")
    if forced and request.get("thinking", {}).get("type") in ("enabled", "adaptive"):
        yield "thinking: may not be enabled when tool_choice forces tool use"
    if forced and ALWAYS.search(request["model"]):
        yield "tool_choice: this model cannot be forced to use a tool"


def _marks(request: Json) -> Iterator[str]:
    marks = list(_found(request, "cache_control"))
    if len(marks) > 4:
        yield f"cache_control: {len(marks)} marks, a maximum of 4 is allowed"
    yield from (f"cache_control: {mark}" for mark in marks if mark != MARK)


def _found(value: Json, name: str) -> Iterator[Json]:
    """All values of this name, outside of what tools and calls are about."""
    if _is_object(value):
        yield from (value[key] for key in value if key == name)
        opaque = {"input", "input_schema", "schema", "source"}
        for key in value.keys() - opaque:
            yield from _found(value[key], name)
    elif _is_array(value):
        for one in value:
            yield from _found(one, name)


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _is_array(value: object) -> bool:
    return isinstance(value, list)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


TAKES: Final[dict[str, Callable[[str], bool]]] = {
    "enabled": lambda model: bool(BUDGETED.search(model)),
    "adaptive": lambda model: not BUDGETED.search(model),
    "between_tools": lambda model: bool(BETWEEN.search(model)),
    "disabled": lambda model: not (BETWEEN.search(model) or ALWAYS.search(model)),
}


def _thinking(request: Json) -> Iterator[str]:
    asked, model = request.get("thinking"), request["model"]
    if asked is None:
        return
    kind = asked.get("type")
    if kind not in TAKES or not TAKES[kind](model):
        yield f"thinking: {kind} is not supported for this model"
    if kind == "enabled":
        if not 1024 <= asked["budget_tokens"] < request["max_tokens"]:
            yield f"thinking: budget {asked['budget_tokens']}"
        if model.startswith("claude"):
            yield from _begun(request["messages"])


def _begun(messages: Json) -> Iterator[str]:
    """The reply whose tool calls are under way begins with thinking."""
    first = None
    for message in reversed(messages):
        kinds = [block["type"] for block in message["content"]]
        if message["role"] == "user" and "tool_result" not in kinds:
            break
        first = kinds[0] if message["role"] == "assistant" else first
    if first is not None and first not in THOUGHTS:
        yield f"messages: expected thinking, but found {first}"


def _output(request: Json) -> Iterator[str]:
    config = request.get("output_config", {})
    if config.keys() - {"effort", "format"} or (
        "output_config" in request and not config
    ):
        yield f"output_config: {config}"
    if "effort" in config and config["effort"] not in EFFORTS:
        yield f"output_config: effort {config['effort']}"
    model = request["model"]
    if "effort" in config and BUDGETED.search(model) and not GRADED.match(model):
        yield "output_config: effort is not supported for this model"
    wanted = config.get("format")
    if wanted is None:
        return
    if wanted.keys() != {"type", "schema"} or wanted["type"] != "json_schema":
        yield f"output_config: format {wanted}"
    if not HELD.search(request["model"]):
        yield "output_config: format is not supported for this model"
    yield from _schema(wanted["schema"], wanted["schema"].get("$defs", {}), ())


WORDS: Final = frozenset(
    (
        *("type", "properties", "required", "additionalProperties", "items", "enum"),
        *("const", "anyOf", "description", "$ref", "$defs", "format", "minItems"),
    )
)


def _schema(schema: Json, known: Json, above: tuple[str, ...]) -> Iterator[str]:
    if not _is_object(schema) or schema.keys() - WORDS:
        yield f"schema: {schema}"
        return
    yield from _reference(schema, known, above)
    said = schema.get("type", [])
    types = {said} if _is_text(said) else set[str](said)
    if not schema.keys() & {"type", "enum", "const", "anyOf", "$ref"}:
        yield f"schema: {schema} has no type"
    if "object" in types and schema.get("additionalProperties") is not False:
        yield "schema: for object type, additionalProperties must be false"
    if "array" in types and "items" not in schema:
        yield "schema: an array must have items"
    if schema.get("minItems", 0) not in (0, 1):
        yield f"schema: minItems {schema['minItems']}"
    for inner in _inner(schema):
        yield from _schema(inner, known, above)


def _reference(schema: Json, known: Json, above: tuple[str, ...]) -> Iterator[str]:
    if "$ref" not in schema:
        return
    name = schema["$ref"].removeprefix("#/$defs/")
    if name not in known or name in above:
        yield f"schema: {schema['$ref']} is unknown or recursive"
    else:
        yield from _schema(known[name], known, (*above, name))


def _inner(schema: Json) -> Iterable[Json]:
    items = [schema["items"]] if "items" in schema else []
    return [*schema.get("properties", {}).values(), *items, *schema.get("anyOf", [])]
