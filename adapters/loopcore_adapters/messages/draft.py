"""A reply on its way: content blocks that grow, each in the place it will have."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Final, Literal, TypeAlias

from attrs import define, field

from loopcore import AssistantMessage, Tell, Text, Thinking, ToolCall, Usage
from loopcore_adapters.flow import Flow, mend
from loopcore_adapters.loose import Json, count, dump, members, text, whole
from loopcore_adapters.messages.output import OutputTool

Part: TypeAlias = Text | Thinking | ToolCall
Kind: TypeAlias = Literal["text", "thinking", "call", "other"]
Finish: TypeAlias = Literal["end", "tools", "length", "refusal", "error"]
"""How a reply over this wire can end."""

Told: TypeAlias = Kind | Literal["later"]

UNPLACED: Final = -1

KINDS: Final[Mapping[str, Kind]] = {
    "text": "text",
    "thinking": "thinking",
    "redacted_thinking": "thinking",
    "tool_use": "call",
}
"""Blocks of other kinds are what servers do by themselves; no other wire has them."""

DELTAS: Final[Mapping[str, tuple[Kind, str]]] = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("thinking", "signature"),
    "input_json_delta": ("call", "partial_json"),
}
"""For each kind of delta, the kind of block that it is of, and the field that grows."""

NOTHING: Final = ("other", "")
MOST_STRANGE: Final = 20
"""How many kinds of strange things are told."""


@define
class Block:
    """A block on its way. It has a place once there is something in it.

    `given` is the input that the start of a call had: it counts if no other comes, since
    most servers write an empty object there. A call of the `output` tool becomes text.
    `told` is as what the pieces of it are told; nothing of it is until all of it is there
    that has to be unwrapped.
    """

    kind: Kind
    place: int = field(default=UNPLACED, init=False)
    flow: Flow = field(factory=Flow, init=False)
    signature: list[str] = field(factory=list[str], init=False)
    redacted: bool = field(default=False, init=False)
    id: str = field(default="", init=False)
    name: str = field(default="", init=False)
    given: str = field(default="", init=False)
    output: OutputTool | None = field(default=None, init=False)
    told: Told = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.told = self.kind

    @property
    def becomes(self) -> Kind:
        """The kind of the part that this will be."""
        return "text" if self.output else self.kind

    def part(self, made_up_id: str) -> Part:
        """The part as far as it came."""
        if self.becomes == "text":
            return Text(self.flow.text)
        if self.kind == "call":
            return ToolCall.parse(self.name, self.flow.text, self.id or made_up_id)
        signature = mend("".join(self.signature)) or None
        return Thinking(self.flow.text, signature, redacted=self.redacted)


@define
class Draft:
    """Takes what arrives, tells what is new of it, gives the message.

    Calls of the `output` tool become text. `strange` are the kinds of blocks that there
    were and that are none of these.
    """

    effect_id: str
    model: str
    tell: Tell
    output: OutputTool | None = None
    parts: list[Block] = field(factory=list[Block], init=False)
    strange: dict[str, None] = field(factory=dict[str, None], init=False)
    _open: dict[int, Block] = field(factory=dict[int, Block], init=False)
    _newest: int = field(default=0, init=False)
    _counts: dict[str, Json] = field(factory=dict[str, Json], init=False)

    @property
    def answered(self) -> bool:
        """Whether the output tool was called."""
        return any(
            block.kind == "call" and block.becomes == "text" for block in self.parts
        )

    def start(self, index: Json, start: Mapping[str, Json]) -> None:
        """A block begins, perhaps with some content."""
        kind: Kind = KINDS.get(text(start.get("type")), "other")
        block = Block(kind)
        self._newest = self._index(index)
        known = self._open.get(self._newest)
        if kind == "call" and known and known.id and known.id == start.get("id"):
            return  # the same call, announced once more
        self._open[self._newest] = block
        if kind == "other":
            self.wonder(text(start.get("type")))
        elif kind == "call":
            self._call(block, start)
        elif start.get("type") == "redacted_thinking":
            block.redacted = True
            self._sign(block, text(start.get("data")))
        else:
            self._say(block, self._text(start, kind))
            self._sign(block, text(start.get("signature")))

    def delta(self, index: Json, delta: Mapping[str, Json]) -> None:
        """A piece of a block; of a new one, if none of its kind is open there."""
        kind, name = DELTAS.get(text(delta.get("type")), NOTHING)
        more = self._text(delta, name)
        if not more:
            return
        block = self._block(self._index(index), kind)
        if name == "signature":
            self._sign(block, more)
        elif block.kind == kind:
            self._say(block, more)

    def wonder(self, kind: str) -> None:
        """There is something of this kind, which is none of a reply."""
        if len(self.strange) < MOST_STRANGE:
            self.strange[kind or "nameless"] = None

    def _text(self, said: Mapping[str, Json], name: str) -> str:
        found = said.get(name)
        if isinstance(found, str):
            return found
        if found is not None or not name:
            self.wonder(text(said.get("type")))
        return ""

    def usage(self, usage: Json) -> None:
        """Counts so far: they are totals, so the last one holds, field by field."""
        found = members(usage).items()
        self._counts |= {name: value for name, value in found if value is not None}

    def end(self) -> None:
        """Nothing more will come: tell what was held back."""
        for block in self.parts:
            if block.kind == "call" and not block.flow.text.strip():
                self._say(block, block.given)
            self._tell(block, block.flow.end())
            if block.output and block.output.wrapped:
                value = block.output.unwrapped(block.flow.text)
                block.told, block.flow = "text", Flow()
                self._say(block, value)

    def reply(self, finish: Finish) -> AssistantMessage:
        """The message as far as it came."""
        found = [block.part(self._made_up_id(block.place)) for block in self.parts]
        return AssistantMessage(
            found, model=self.model, finish=finish, usage=usage_of(self._counts)
        )

    def partial(self) -> AssistantMessage | None:
        """What had arrived, if anything had."""
        return self.reply("error") if self.parts or self._counts else None

    def has(self, *kinds: Kind) -> bool:
        """Whether there is a block of one of these kinds."""
        return any(block.becomes in kinds for block in self.parts)

    def _made_up_id(self, place: int) -> str:
        digest = sha256(f"{self.effect_id}#{place}".encode()).hexdigest()
        return f"toolu_{digest[:16]}"

    def _index(self, index: Json) -> int:
        """Which block is meant; the newest, where it is not said."""
        found = whole(index)
        return self._newest if found is None else found

    def _block(self, index: int, kind: Kind) -> Block:
        found = self._open.get(index)
        if found is None or found.kind not in (kind, "other"):
            found = self._open[index] = Block(kind)
        return found

    def _call(self, block: Block, start: Mapping[str, Json]) -> None:
        block.id, block.name = (
            mend(text(start.get("id"))),
            mend(text(start.get("name"))),
        )
        given = start.get("input")
        block.given = text(given) or (dump(given) if given else "")
        if self.output and block.name == self.output.name:
            block.output, block.given = self.output, block.given or "{}"
            block.told = "later" if self.output.wrapped else "text"
        self._place(block)
        if block.name and not block.output:
            self.tell(part=block.place, name=block.name)

    def _place(self, block: Block) -> None:
        if block.place == UNPLACED:
            block.place = len(self.parts)
            self.parts.append(block)

    def _say(self, block: Block, more: str) -> None:
        if block.place == UNPLACED and more:
            self._place(block)
        self._tell(block, block.flow.add(more))

    def _sign(self, block: Block, more: str) -> None:
        if more and block.kind == "thinking":
            self._place(block)
            block.signature.append(more)

    def _tell(self, block: Block, more: str) -> None:
        if not more:
            return
        match block.told:
            case "text":
                self.tell(more, part=block.place)
            case "thinking":
                self.tell(part=block.place, thinking=more)
            case "call":
                self.tell(part=block.place, arguments=more)
            case _:  # later
                return


def usage_of(counts: Mapping[str, Json]) -> Usage:
    """The counts; the wire's input does not include what the cache holds."""
    details = members(counts.get("output_tokens_details"))
    return Usage(
        count(counts.get("input_tokens")),
        count(counts.get("output_tokens")),
        count(counts.get("cache_read_input_tokens")),
        count(counts.get("cache_creation_input_tokens")),
        count(details.get("thinking_tokens")),
    )
