"""Parts of a reply that grow, each of an item of the provider's output."""

from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

from attrs import define, evolve, field

from loopcore import Image, Text, Thinking, ToolCall
from loopcore_adapters.flow import Flow, mend
from loopcore_adapters.loose import Json, as_text, text
from loopcore_adapters.responses import signing
from loopcore_adapters.responses.items import Item

Kind: TypeAlias = Literal["text", "refusal", "thinking"]
Part: TypeAlias = Text | Thinking | ToolCall | Image
Section: TypeAlias = tuple[str, int]
"""Where a text stands: in the content or the summary of its item, and there in which place."""

BETWEEN: Final = "\n\n"
"""What stands between the sections of a thought."""

PLACEHOLDERS: Final = ("", "{}")
"""What servers write for arguments that they know only later."""


@define
class Growth(Flow):
    """Text that arrives in pieces, and then, perhaps, once more as a whole."""

    def whole(self, known: str) -> str:
        """The rest, now that all of it is known; nothing if it is not what was shown."""
        known, before = mend(known), self.text
        self.pieces = [before]  # it may be said once more, and is joined but once
        if not known.startswith(before):
            return self.end()
        self._half = ""
        return self._show(known[len(before) :])


@define
class Words:
    """A text, a refusal, or a thought on its way: what is shown of it, in order."""

    kind: Kind
    item: Item
    place: int
    _shown: list[str] = field(factory=list[str], init=False)
    _sections: dict[Section, Growth] = field(factory=dict[Section, Growth], init=False)
    _last: Section | None = field(default=None, init=False)

    def add(self, section: Section, more: str) -> str:
        """What can be shown now of this piece."""
        return self._show(section, self._of(section).add(more))

    def whole(self, section: Section, known: str) -> str:
        """What is to be shown yet, now that all of this section is known."""
        return self._show(section, self._of(section).whole(known))

    def end(self) -> Iterator[str]:
        """The rest of every section."""
        for section, grown in self._sections.items():
            yield self._show(section, grown.end())

    def part(self, *, linked: bool) -> Part:
        """The part as far as it came; `linked` to a thought of the reply, or not."""
        said = "".join(self._shown)
        if self.kind == "thinking":
            signature = signing.thought(self.item.said)
            return Thinking(said, signature, redacted=bool(signature and not said))
        refusal = self.kind == "refusal"
        signature = signing.words(self.item.said, refusal=refusal, linked=linked)
        return Text(said, signature=signature)

    def _of(self, section: Section) -> Growth:
        return self._sections.setdefault(section, Growth())

    def _show(self, section: Section, more: str) -> str:
        if not more:
            return ""
        if self._shown and section != self._last:
            more = BETWEEN + more
        self._last = section
        self._shown.append(more)
        return more


@define
class Called:
    """A call on its way. What it gives adds up to its name and its arguments."""

    item: Item
    place: int
    name: str = ""
    _first: str = field(default="", init=False)
    _grown: Growth = field(factory=Growth, init=False)

    def named(self, name: Json) -> str:
        """What is new of the name: it comes whole, and may come again."""
        if self.name:
            return ""
        self.name = mend(text(name))
        return self.name

    def begin(self, arguments: Json) -> None:
        """What the arguments were when the call was announced: mostly nothing."""
        self._first = as_text(arguments)

    def add(self, more: str) -> str:
        """What can be shown now of this piece of the arguments."""
        first, self._first = self._first, ""
        return self._grown.add(more if first.strip() in PLACEHOLDERS else first + more)

    def whole(self, arguments: Json) -> str:
        """What is to be shown yet, now that all of the arguments are known."""
        if not (known := as_text(arguments)):
            return ""
        self._first = ""
        return self._grown.whole(known)

    def end(self) -> str:
        """The rest of the arguments."""
        first, self._first = self._first, ""
        return self._grown.add(first) + self._grown.end()

    def part(self, made_up_id: str, *, linked: bool) -> Part:
        """The call as far as it came; `linked` to a thought of the reply, or not."""
        call_id = mend(text(self.item.said.get("call_id"))) or made_up_id
        made = ToolCall.parse(self.name, self._grown.text, call_id)
        signature = signing.call(self.item.said, linked=linked)
        return evolve(made, signature=signature) if signature else made


@define
class Picture:
    """An image that a tool of the provider's made."""

    item: Item
    place: int

    def part(self) -> Part:
        """The image."""
        form = text(self.item.said.get("output_format")) or "png"
        return Image(mend(text(self.item.said.get("result"))), mend(f"image/{form}"))
