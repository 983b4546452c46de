"""Requests: a `CallModel` as a request of generateContent, streamed or in one piece."""

from collections.abc import Iterable, Sequence
from typing import Final, cast
from urllib.parse import quote

from attrs import define, field

from loopcore import CallModel, ToolSpec
from loopcore_adapters.beginnings import Beginnings
from loopcore_adapters.gemini.contents import Conversation, Spoken
from loopcore_adapters.gemini.dialect import dialect_of
from loopcore_adapters.gemini.options import placed
from loopcore_adapters.gemini.output import (
    ANSWER_SAYS,
    adapted,
    answer_tool,
    output_mode,
)
from loopcore_adapters.loose import Json, dump
from loopcore_adapters.pieces import Pieces, Ready, array, joined, written
from loopcore_adapters.roots import rooted
from loopcore_adapters.stand_ins import OUTPUT
from loopcore_adapters.wire import HEADERS, HttpRequest, Options

METHODS: Final = {True: "streamGenerateContent?alt=sse", False: "generateContent"}
COLLECTIONS: Final = ("models/", "tunedModels/")
"""What a model's name may begin with; else it is one of the first."""

NOTHING: Final[dict[str, Json]] = {"type": "object", "properties": {}}
"""The schema of no arguments: then none is declared, as the protocol has it."""


def encode(call: CallModel, options: Options | None = None) -> HttpRequest:
    """The request for this effect.

    `options` go into the body as they are, those of the effect over those given here.
    """
    return Encoder(options or {})(call)


@define(eq=False)
class Encoder:
    """Requests with these options beside those of the effect."""

    options: Options = field(factory=dict[str, Json])
    _pieces: Pieces = field(factory=Pieces, init=False, repr=False)
    _begun: Beginnings[Spoken] = field(
        factory=Beginnings[Spoken], init=False, repr=False
    )

    def __call__(self, call: CallModel) -> HttpRequest:
        """The request for this effect."""
        always, now = placed(self.options), placed(call.options)
        top = {**always.top, **now.top}
        streamed = bool(top.pop("stream", True))
        spoken = Conversation(call, self._pieces, self._begun)
        contents = spoken.contents()
        fields: dict[str, Json] = {
            "systemInstruction": _system(call, spoken.instructions),
            "tools": self._tools(call, top.pop("tools", ())),
            "generationConfig": {
                **_generation(call),
                **always.generation,
                **now.generation,
            },
        }
        fields = {name: value for name, value in fields.items() if value}
        if "tools" not in fields:
            top.pop("toolConfig", None)
        path = _path(call.model.partition(":")[2], streamed=streamed)
        return HttpRequest(
            "POST", path, HEADERS, joined({**fields, "contents": contents, **top})
        )

    def _tools(self, call: CallModel, more: Json) -> Ready | None:
        """The functions, and beside them the provider's own tools, given as an option."""
        functions = [self._pieces.get(spec, None, _function) for spec in call.tools]
        if name := answer_tool(call):
            functions.append(_declared(name, ANSWER_SAYS, rooted(call.output or {})))
        declared = joined({"functionDeclarations": array(functions)})
        tools = [declared] if functions else []
        listed: Iterable[Json] = [more] if more else ()
        if isinstance(more, list | tuple):
            listed = cast("Sequence[Json]", more)
        tools += map(written, listed)
        return array(tools) if tools else None


def _path(model: str, *, streamed: bool) -> str:
    name = model if model.startswith(COLLECTIONS) else f"models/{model}"
    return f"/v1beta/{quote(name, errors='replace')}:{METHODS[streamed]}"


def _function(spec: ToolSpec, _: None) -> bytes:
    schema = None if spec.parameters == NOTHING else spec.parameters
    return _declared(spec.name, spec.description or spec.name, schema)


def _declared(name: str, says: str, schema: Json) -> bytes:
    """A declaration; the schema as JSON Schema, which `parameters` knows in part only."""
    fields = {"name": name, "description": says}
    if schema is not None:
        fields["parametersJsonSchema"] = adapted(schema)
    return written(fields)


def _system(call: CallModel, instructions: Iterable[str]) -> dict[str, Json]:
    asks = output_mode(call) == "prompt"
    wish = OUTPUT.format(dump(call.output)) if asks else ""
    said = [text for text in (call.system, *instructions, wish) if text.strip()]
    return {"parts": [{"text": "\n\n".join(said)}]} if said else {}


def _generation(call: CallModel) -> dict[str, Json]:
    """What is asked for by thinking and output."""
    asked: dict[str, Json] = {}
    effort = dialect_of(call.model).efforts.get(call.thinking or "")
    if effort:
        asked["thinkingConfig"] = effort
    if output_mode(call) == "schema":
        asked["responseMimeType"] = "application/json"
        asked["responseJsonSchema"] = adapted(rooted(call.output or {}))
    return asked
