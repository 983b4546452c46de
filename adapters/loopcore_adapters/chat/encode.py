"""Requests: a `CallModel` as the body of a Chat Completions request."""

from collections.abc import Iterable
from typing import Final

from attrs import define, field

from loopcore import CallModel, ToolSpec
from loopcore_adapters.beginnings import Beginnings
from loopcore_adapters.chat.conversation import Conversation, Spoken, marked
from loopcore_adapters.chat.dialect import PLAIN, Dialect
from loopcore_adapters.efforts import asked
from loopcore_adapters.loose import Json, dump
from loopcore_adapters.pieces import Pieces, array, joined, written
from loopcore_adapters.roots import is_object, of_object, rooted
from loopcore_adapters.stand_ins import OUTPUT
from loopcore_adapters.wire import HEADERS, HttpRequest, Options

OF_TOOLS: Final = ("tool_choice", "parallel_tool_calls")


def encode(
    call: CallModel, dialect: Dialect = PLAIN, options: Options | None = None
) -> HttpRequest:
    """The request for this effect.

    `options` go into the body as they are, those of the effect over those given here.
    """
    return Encoder(dialect, options or {})(call)


@define(eq=False)
class Encoder:
    """Requests in this dialect, with these options beside those of the effect.

    The bytes of messages and tools are made once: they are kept for further requests.
    """

    dialect: Dialect = PLAIN
    options: Options = field(factory=dict[str, Json])
    _pieces: Pieces = field(factory=Pieces, init=False, repr=False)
    _begun: Beginnings[Spoken] = field(
        factory=Beginnings[Spoken], init=False, repr=False
    )

    def __call__(self, call: CallModel) -> HttpRequest:
        """The request for this effect."""
        options = {**self.options, **call.options}
        tools = array(self._pieces.get(spec, None, _tool) for spec in call.tools)
        fields = {
            "model": call.model.partition(":")[2],
            "messages": array(self._messages(call, options)),
            **({"tools": tools} if call.tools else {}),
            **_asked(call, self.dialect),
            **options,
        }
        if fields.get("cache_control", ...) is None:
            del fields["cache_control"]
        if "tools" not in fields:  # what is said of tools is refused without them
            fields = {n: each for n, each in fields.items() if n not in OF_TOOLS}
        if fields["stream"] and self.dialect.stream_options:
            fields.setdefault("stream_options", {"include_usage": True})
        return HttpRequest("POST", "/chat/completions", HEADERS, joined(fields))

    def _messages(self, call: CallModel, options: Options) -> Iterable[bytes]:
        spoken = Conversation(call, self.dialect, self._pieces, self._begun)
        messages = spoken.messages(_instructions(call, self.dialect))
        if not self.dialect.cache_marks or "cache_control" in options:
            return messages
        return marked(messages)


def _asked(call: CallModel, dialect: Dialect) -> dict[str, Json]:
    """What the call and the dialect ask for, beside what is said."""
    output = _output(call, dialect)
    return {
        **_effort(call, dialect),
        **output,
        "stream": dialect.output_streams or not output,
    }


def _effort(call: CallModel, dialect: Dialect) -> dict[str, Json]:
    name = call.model.partition(":")[2]
    special = (each for names, each in dialect.by_name if names.fullmatch(name))
    efforts = next(special, dialect.efforts)
    return asked(call, dialect.least, efforts, "reasoning_effort")


def _output(call: CallModel, dialect: Dialect) -> dict[str, Json]:
    """How the server is held to the schema of the output, where it can be."""
    mode = _output_mode(call, dialect)
    if mode == "json_object":
        return {"response_format": {"type": "json_object"}}
    if mode != "json_schema":
        return {}
    schema = {"name": "output", "schema": rooted(call.output or {})}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


def _output_mode(call: CallModel, dialect: Dialect) -> str:
    if call.output is None:
        return ""
    free = dialect.output_with_tools or not call.tools
    sayable = dialect.output_roots or is_object(rooted(call.output))
    return dialect.output if free and sayable else "prompt"


def _instructions(call: CallModel, dialect: Dialect) -> str:
    """The system prompt, and the schema where only a prompt can say it."""
    if _output_mode(call, dialect) in ("", "json_schema"):
        return call.system
    wish = OUTPUT.format(dump(call.output))
    return f"{call.system}\n\n{wish}" if call.system else wish


def _tool(spec: ToolSpec, _: None) -> bytes:
    function = {
        "name": spec.name,
        "description": spec.description,
        "parameters": of_object(spec.parameters),
    }
    return written({"type": "function", "function": function})
