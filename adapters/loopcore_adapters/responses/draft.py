"""A reply on its way: parts that grow, each in the place it will have."""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Literal, TypeAlias

from attrs import define, field

from loopcore import AssistantMessage, Tell, Usage
from loopcore_adapters.loose import Json, amount, count, members
from loopcore_adapters.responses import signing
from loopcore_adapters.responses.items import THOUGHT, Item
from loopcore_adapters.responses.parts import Called, Kind, Part, Picture, Words

Finish: TypeAlias = Literal["end", "tools", "length", "refusal", "error"]
"""How a reply over this wire can end."""

Growing: TypeAlias = Words | Called | Picture


@define
class Draft:
    """Has the parts of a reply, tells what is new of them, gives the message."""

    effect_id: str
    model: str
    tell: Tell
    parts: list[Growing] = field(factory=list[Growing], init=False)
    _words: dict[tuple[int, Kind, int], Words] = field(
        factory=dict[tuple[int, Kind, int], Words], init=False
    )
    _calls: dict[int, Called] = field(factory=dict[int, Called], init=False)
    _pictures: set[int] = field(factory=set[int], init=False)
    _usage: Mapping[str, Json] = field(factory=dict[str, Json], init=False)

    def words(self, item: Item, kind: Kind, place: int) -> Words:
        """A text or refusal that stands there in its item; a thought is one part."""
        key = id(item), kind, 0 if kind == "thinking" else place
        if key not in self._words:
            self._words[key] = Words(kind, item, len(self.parts))
            self.parts.append(self._words[key])
        return self._words[key]

    def call(self, item: Item) -> Called:
        """The call that the item is; its name is told as soon as it is known."""
        if id(item) not in self._calls:
            self._calls[id(item)] = Called(item, len(self.parts))
            self.parts.append(self._calls[id(item)])
        call = self._calls[id(item)]
        if name := call.named(item.said.get("name")):
            self.tell(part=call.place, name=name)
        return call

    def picture(self, item: Item) -> None:
        """The image that the item is."""
        if id(item) not in self._pictures:
            self._pictures.add(id(item))
            self.parts.append(Picture(item, len(self.parts)))

    def show(self, part: Words, more: str) -> None:
        """Tell this, which is new of a text, a refusal or a thought."""
        if more and part.kind == "thinking":
            self.tell(part=part.place, thinking=more)
        elif more:
            self.tell(more, part=part.place)

    def show_arguments(self, call: Called, more: str) -> None:
        """Tell this, which is new of a call's arguments."""
        if more:
            self.tell(part=call.place, arguments=more)

    def usage(self, usage: Json) -> None:
        """The counts."""
        self._usage = members(usage)

    def end(self) -> None:
        """Nothing more will come: tell what was held back."""
        for part in self.parts:
            match part:
                case Words():
                    self._end(part)
                case Called():
                    self.show_arguments(part, part.end())
                case Picture():
                    pass

    def _end(self, words: Words) -> None:
        for more in words.end():
            self.show(words, more)

    def reply(self, finish: Finish) -> AssistantMessage:
        """The message as far as it came."""
        usage = usage_of(self._usage)
        return AssistantMessage(
            self._made(), model=self.model, finish=finish, usage=usage
        )

    def partial(self) -> AssistantMessage | None:
        """What had arrived, if anything had."""
        return self.reply("error") if self.parts or self._usage else None

    def has(self, *kinds: str) -> bool:
        """Whether there is a part of one of these kinds: of texts it is their own."""
        found = (p.kind if isinstance(p, Words) else p.item.kind for p in self.parts)
        return any(kind in kinds for kind in found)

    def _made(self) -> Iterator[Part]:
        thoughts = (part.item.said for part in self.parts if part.item.kind == THOUGHT)
        linked = any(map(signing.readable, thoughts))
        for part in self.parts:
            match part:
                case Words():
                    yield part.part(linked=linked)
                case Called():
                    yield part.part(self._made_up_id(part), linked=linked)
                case Picture():
                    yield part.part()

    def _made_up_id(self, call: Called) -> str:
        digest = sha256(f"{self.effect_id}#{call.place}".encode()).hexdigest()
        return f"call_{digest[:16]}"


def usage_of(raw: Mapping[str, Json]) -> Usage:
    """The counts; the wire's input includes what came from the cache."""
    asked = members(raw.get("input_tokens_details"))
    made = members(raw.get("output_tokens_details"))
    read = count(asked.get("cached_tokens"))
    written = count(asked.get("cache_write_tokens"))
    return Usage(
        max(0, count(raw.get("input_tokens")) - read - written),
        count(raw.get("output_tokens")),
        read,
        written,
        count(made.get("reasoning_tokens")),
        cost=amount(raw.get("cost")),
    )
