"""Requests: a `CallModel` as the body of a Chat Completions request.

History is adapted on its way out and never in place. The messages of a conversation that
went on begin with the same bytes, so that the server's prompt cache holds.
"""

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Final, TypeAlias

from attrs import field, frozen

from loopcore import (
    AssistantMessage,
    CallModel,
    Image,
    Message,
    SystemMessage,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    ToolSpec,
    project,
)
from loopcore_adapters.call_ids import CallIds, tool_name
from loopcore_adapters.chat.dialect import PLAIN, Dialect
from loopcore_adapters.loose import Json, dump, items, members, parse
from loopcore_adapters.stand_ins import OUTPUT, SEE_BELOW, Part, plain, shown, silent
from loopcore_adapters.wire import HttpRequest, Options

Wire: TypeAlias = dict[str, Json]

BRIDGE: Final = "I have the results."
HEADERS: Final = {
    "content-type": "application/json",
    "accept": "text/event-stream, application/json",
}


@frozen
class Encoder:
    """Requests in this dialect, with these options beside those of the effect."""

    dialect: Dialect = PLAIN
    options: Options = field(factory=dict[str, Json])

    def __call__(self, call: CallModel) -> HttpRequest:
        """The request for this effect."""
        return encode(call, self.dialect, self.options)


def encode(
    call: CallModel,
    dialect: Dialect = PLAIN,
    options: Options | None = None,
) -> HttpRequest:
    """The request for this effect.

    `options` go into the body as they are, those of the effect over those given here.
    """
    fields: Wire = {
        "model": call.model.partition(":")[2],
        "messages": list(_conversation(call, dialect)),
        "tools": [_tool(spec) for spec in call.tools],
        **dialect.efforts.get(call.thinking or "", {}),
        **_output(call, dialect),
        "stream": True,
        **(options or {}),
        **call.options,
    }
    if not fields["tools"]:
        del fields["tools"]
    if fields["stream"] and dialect.stream_options:
        fields.setdefault("stream_options", {"include_usage": True})
    # Whatever text came in uncleaned (a system prompt, a description) is sendable now.
    body = dump(fields).encode(errors="replace")
    return HttpRequest("POST", "/chat/completions", HEADERS, body)


def _output(call: CallModel, dialect: Dialect) -> Wire:
    """How the server is held to the schema of the output, where it can be."""
    mode = _output_mode(call, dialect)
    if mode == "json_object":
        return {"response_format": {"type": "json_object"}}
    if mode != "json_schema":
        return {}
    schema = {"name": "output", "schema": call.output}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


def _output_mode(call: CallModel, dialect: Dialect) -> str:
    if call.output is None:
        return ""
    free = dialect.output_with_tools or not call.tools
    return dialect.output if free else "prompt"


def _instructions(call: CallModel, dialect: Dialect) -> str:
    """The system prompt, and the schema where only a prompt can say it."""
    if _output_mode(call, dialect) in ("", "json_schema"):
        return call.system
    wish = OUTPUT.format(dump(call.output))
    return f"{call.system}\n\n{wish}" if call.system else wish


def _tool(spec: ToolSpec) -> Wire:
    function = {
        "name": spec.name,
        "description": spec.description,
        "parameters": spec.parameters,
    }
    return {"type": "function", "function": function}


def _conversation(call: CallModel, dialect: Dialect) -> Iterable[Wire]:
    said = _instructions(call, dialect)
    system = (SystemMessage(said),) if said else ()
    spoken = chain(map(_system, system), _turns(call, dialect))
    return _bridged(spoken) if dialect.bridge else spoken


def _turns(call: CallModel, dialect: Dialect) -> Iterator[Wire]:
    ids = CallIds(dialect.call_id, dialect.call_id_length)
    rest = iter(project(call.messages))
    for message in rest:
        if isinstance(message, AssistantMessage):
            names = [ids.name(made.id) for made in message.calls]
            # `project` put the results of these calls here, one for each, in order.
            results = list(islice(rest, len(names)))
            yield from _reply(call, dialect, message, names)
            yield from _results(dialect, names, results)
        elif isinstance(message, SystemMessage):
            yield _system(message)
        else:  # a user's: `project` left no others
            yield {"role": "user", "content": _content(message.parts, dialect)}


def _bridged(spoken: Iterable[Wire]) -> Iterator[Wire]:
    before = ""
    for wire in spoken:
        if (before, wire["role"]) == ("tool", "user"):
            yield {"role": "assistant", "content": BRIDGE}
        yield wire
        before = wire["role"]


def _system(message: SystemMessage) -> Wire:
    return {"role": "system", "content": plain(message.parts)}


def _content(parts: Iterable[Part], dialect: Dialect) -> str | list[Wire]:
    """Plain text where there is nothing but text: many servers take nothing else."""
    seen = shown(parts)
    if not dialect.images or not any(isinstance(part, Image) for part in seen):
        return plain(seen)
    return [_picture(p) if isinstance(p, Image) else _text(p.text) for p in seen]


def _text(text: str) -> Wire:
    return {"type": "text", "text": text}


def _picture(image: Image) -> Wire:
    url = f"data:{image.mime};base64,{image.data}"
    return {"type": "image_url", "image_url": {"url": url}}


def _reply(
    call: CallModel, dialect: Dialect, message: AssistantMessage, names: list[str]
) -> Iterator[Wire]:
    """The assistant's message; none for a reply with neither text nor calls."""
    if not message.text and not names:
        return
    own = message.model == call.model
    wire: Wire = {"role": "assistant", "content": message.text or None}
    wire |= _thinking(message, dialect, own=own)
    if names:
        offered = {spec.name for spec in call.tools}
        wire["tool_calls"] = [
            _call(made, name, offered) | (_extra(made) if own else {})
            for made, name in zip(message.calls, names, strict=True)
        ]
    yield wire


def _call(call: ToolCall, name: str, offered: set[str]) -> Wire:
    function = {"name": tool_name(call.name, offered), "arguments": call.text}
    return {"id": name, "type": "function", "function": function}


def _extra(call: ToolCall) -> Wire:
    """What the provider attached to the call, to go back as it came."""
    return {"extra_content": extra} if (extra := members(_signed(call))) else {}


def _signed(part: ToolCall | Thinking) -> Json:
    try:
        return parse(part.signature or "null")
    except ValueError:
        return None


def _thinking(message: AssistantMessage, dialect: Dialect, *, own: bool) -> Wire:
    thought = [part for part in message.parts if isinstance(part, Thinking)]
    match dialect.thinking:
        case "reasoning_content" if message.calls:
            text = "".join(part.text for part in thought) if own else ""
            return {"reasoning_content": text}
        case "reasoning_details" if own:
            details = [one for part in thought for one in items(_signed(part))]
            return {"reasoning_details": details} if details else {}
        case _:
            return {}


def _results(
    dialect: Dialect, names: list[str], results: Iterable[Message]
) -> Iterator[Wire]:
    """The results, then their images: a tool's message has text only."""
    answers = [one for one in results if isinstance(one, ToolResultMessage)]
    for name, answer in zip(names, answers, strict=True):
        text = _result_text(answer, dialect)
        yield {"role": "tool", "tool_call_id": name, "content": text}
    pictures = [wire for answer in answers for wire in _pictures(answer)]
    if pictures and dialect.images:
        yield {"role": "user", "content": pictures}


def _result_text(result: ToolResultMessage, dialect: Dialect) -> str:
    parts = [p for p in result.parts if isinstance(p, Text) or not dialect.images]
    text = plain(parts)
    if text.strip():
        return text
    if any(isinstance(part, Image) for part in result.parts):
        return SEE_BELOW
    return silent(result)


def _pictures(result: ToolResultMessage) -> Iterator[Wire]:
    images = [part for part in result.parts if isinstance(part, Image)]
    if images:
        yield _text(f"From the result of {result.name}:")
    yield from map(_picture, images)
