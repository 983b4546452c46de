"""Requests: a `CallModel` as the body of a Messages request.

Rules: https://platform.claude.com/docs/en/api/messages
"""

from collections.abc import Iterable, Mapping
from typing import Final

from attrs import define, field

from loopcore import CallModel, ToolSpec
from loopcore_adapters.beginnings import Beginnings
from loopcore_adapters.loose import Json, members
from loopcore_adapters.messages import blocks
from loopcore_adapters.messages.conversation import Conversation, Spoken, marked
from loopcore_adapters.messages.dialect import Dialect, dialect_of
from loopcore_adapters.messages.output import (
    WISH,
    OutputTool,
    output_format,
    output_tool,
)
from loopcore_adapters.messages.thinking import BETA, bound, thinking
from loopcore_adapters.pieces import Pieces, Ready, array, joined, written
from loopcore_adapters.roots import of_object
from loopcore_adapters.wire import HEADERS, HttpRequest, Options

PATH: Final = "/v1/messages"
VERSION: Final = {"anthropic-version": "2023-06-01"}
"""The newest takes fewer options, and other makers' servers know this one."""
OPTIONAL: Final = ("system", "tools", "tool_choice", "output_config", "cache_control")


def encode(
    call: CallModel, dialect: Dialect | None = None, options: Options | None = None
) -> HttpRequest:
    """The request for this effect.

    `options` go into the body as they are, those of the effect over those given here.
    """
    return Encoder(dialect, options or {})(call)


@define(eq=False)
class Encoder:
    """Requests with these options beside those of the effect.

    The dialect is that of the model, unless one is given. Prompts are marked for the
    server's cache, unless the options have a `cache_control`: None marks nothing. The bytes
    of messages and tools are made once: they are kept for further requests.
    """

    dialect: Dialect | None = None
    options: Options = field(factory=dict[str, Json])
    _pieces: Pieces = field(factory=Pieces, init=False, repr=False)
    _begun: Beginnings[Spoken] = field(
        factory=Beginnings[Spoken], init=False, repr=False
    )

    def __call__(self, call: CallModel) -> HttpRequest:
        """The request for this effect."""
        dialect = self.dialect or dialect_of(call.model)
        given = {**self.options, **call.options}
        cache = dialect.cache and "cache_control" not in given
        spoken = Conversation(call, dialect, self._pieces, self._begun)
        messages = spoken.messages(cache=cache)
        asked = thinking(
            call, dialect, given.get("max_tokens"), allowed=spoken.may_think
        )
        tool = output_tool(call, dialect)
        fields: dict[str, Json] = {
            "model": call.model.partition(":")[2],
            **asked,
            "system": _system(call, spoken.instructions, tool, cache=cache),
            "tools": self._tools(call, tool, cache=cache),
            "tool_choice": tool and _choice(dialect, {**asked, **given}),
            "messages": messages,
            "stream": True,
            **given,
            "output_config": {
                **members(asked.get("output_config")),
                **output_format(call, dialect),
                **members(given.get("output_config")),
            },
        }
        if dialect.bound and spoken.thinks:
            fields["thinking"] = bound(fields.get("thinking"))
        binds = "block_binding" in members(fields.get("thinking"))
        headers = {**HEADERS, **VERSION, **(BETA if binds else {})}
        return HttpRequest("POST", PATH, headers, joined(_sent(fields)))

    def _tools(self, call: CallModel, tool: OutputTool | None, *, cache: bool) -> Ready:
        specs = [self._pieces.get(spec, None, _tool) for spec in call.tools]
        return _array([*specs, *([written(tool.spec)] if tool else [])], cache=cache)


def _tool(spec: ToolSpec, _: None) -> bytes:
    """The tool; its schema is that of an object, whatever it is combined of."""
    said = {"description": spec.description} if spec.description.strip() else {}
    wire = {"name": spec.name, **said, "input_schema": of_object(spec.parameters)}
    return written(wire)


def _system(
    call: CallModel,
    instructions: Iterable[bytes],
    tool: OutputTool | None,
    *,
    cache: bool,
) -> Ready:
    """The system prompt, what the system said before anyone spoke, and a wish."""
    said = written(blocks.text(call.system)) if call.system.strip() else b""
    wish = written(blocks.text(WISH.format(tool.name))) if tool else b""
    return _array([*filter(None, (said, *instructions, wish))], cache=cache)


def _array(items: list[bytes], *, cache: bool) -> Ready:
    """These, and the last of them marked."""
    return array([*items[:-1], *map(marked, items[-1:])] if cache else items)


def _choice(dialect: Dialect, asked: Mapping[str, Json]) -> Json:
    """A call can be forced only of a model that does not think, and of no newer one."""
    thinks = members(asked.get("thinking")).get("type", "disabled") != "disabled"
    return None if thinks or dialect.thinking == "effort" else {"type": "any"}


def _sent(fields: dict[str, Json]) -> dict[str, Json]:
    """The fields that say something; to choose a tool there must be one."""
    sent = {
        name: value
        for name, value in fields.items()
        if not (name in OPTIONAL and value in (None, {}, array(())))
    }
    if "tools" not in sent:
        sent.pop("tool_choice", None)
    return sent
