"""Requests: a `CallModel` as the body of a request of this wire.

Nothing is kept at the server: each request has the whole conversation, the model's own
encrypted thoughts with it.
"""

import re
from hashlib import sha256
from typing import Final

from attrs import define, field

from loopcore import CallModel, ToolSpec
from loopcore_adapters.beginnings import Beginnings
from loopcore_adapters.efforts import asked
from loopcore_adapters.loose import Json, dump, members
from loopcore_adapters.pieces import Pieces, array, joined, written
from loopcore_adapters.responses.conversation import Conversation, Spoken
from loopcore_adapters.responses.dialect import PLAIN, Dialect
from loopcore_adapters.roots import is_object, of_object, rooted
from loopcore_adapters.stand_ins import OUTPUT
from loopcore_adapters.wire import HEADERS, HttpRequest, Options

OF_TOOLS: Final = ("tool_choice", "parallel_tool_calls", "max_tool_calls")
THOUGHTS: Final = ("reasoning.encrypted_content",)
_TURN: Final = re.compile(r"(.+)\.[0-9]+\.[0-9]+\.model\.[0-9]+", re.DOTALL)


def encode(
    call: CallModel, dialect: Dialect = PLAIN, options: Options | None = None
) -> HttpRequest:
    """The request for this effect.

    `options` go into the body as they are, those of the effect over those given here; but
    what `reasoning` and `text` do not say is filled in. A model that refuses to be asked for
    encrypted thoughts wants the option `include=[]`.
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
        given = {**self.options, **call.options}
        fields = {**self._fields(call), **given}
        for name, value in self._filled(call).items():
            said = given.get(name, {})
            if value and isinstance(said, dict):
                fields[name] = {**value, **members(said)}
        if "tools" not in fields:  # what is said of tools is refused without them
            fields = {n: each for n, each in fields.items() if n not in OF_TOOLS}
        return HttpRequest("POST", "/responses", HEADERS, joined(fields))

    def _fields(self, call: CallModel) -> dict[str, Json]:
        name = call.model.partition(":")[2]
        spoken = Conversation(call, self.dialect, self._pieces, self._begun)
        shown = array(spoken.items())
        said = self._instructions(call, spoken.instructions)
        tools = array(self._pieces.get(spec, None, _tool) for spec in call.tools)
        asked = {} if self.dialect.unthinking.fullmatch(name) else {"include": THOUGHTS}
        return {
            "model": name,
            **({"instructions": said} if said else {}),
            "input": shown,
            **({"tools": tools} if call.tools else {}),
            **asked,
            "store": False,
            "stream": True,
            **(_cache_key(call) if self.dialect.cache_key else {}),
        }

    def _filled(self, call: CallModel) -> dict[str, dict[str, Json]]:
        """What options may say more of."""
        schema = _held(call, self.dialect)
        form = {"type": "json_schema", "name": "output", "schema": schema}
        return {
            "reasoning": _effort(call, self.dialect),
            "text": {} if schema is None else {"format": form},
        }

    def _instructions(self, call: CallModel, more: tuple[str, ...]) -> str:
        """The system prompt, and the schema where only a prompt can say it."""
        asks = call.output is not None and _held(call, self.dialect) is None
        wish = OUTPUT.format(dump(call.output)) if asks else ""
        return "\n\n".join(filter(str.strip, (call.system, *more, wish)))


def _effort(call: CallModel, dialect: Dialect) -> dict[str, Json]:
    return asked(call, dialect.least, dialect.efforts, "effort")


def _held(call: CallModel, dialect: Dialect) -> dict[str, Json] | None:
    """The schema that the server is held to, if it can be."""
    if call.output is None or dialect.output == "prompt":
        return None
    schema = rooted(call.output)
    return schema if dialect.output_roots or is_object(schema) else None


def _cache_key(call: CallModel) -> dict[str, Json]:
    """The same for all requests of a conversation, so that they find their prompt."""
    conversation = _TURN.fullmatch(call.id)
    if not conversation:
        return {}
    return {"prompt_cache_key": sha256(conversation[1].encode()).hexdigest()[:32]}


def _tool(spec: ToolSpec, _: None) -> bytes:
    return written(
        {
            "type": "function",
            "name": spec.name,
            "description": spec.description,
            "parameters": of_object(spec.parameters),
            # Else what is optional would have to be rewritten as what may be null.
            "strict": False,
        }
    )
