"""A reply on its way: parts that grow, each in the place it will have."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Final, Literal, TypeAlias

from attrs import define, evolve, field

from loopcore import AssistantMessage, Image, Tell, Text, Thinking, ToolCall, Usage
from loopcore_adapters.flow import Flow, mend
from loopcore_adapters.gemini.kept import keep
from loopcore_adapters.loose import Json, count, dump, filled, members, text

Part: TypeAlias = Text | Image | Thinking | ToolCall
Finish: TypeAlias = Literal["end", "tools", "length", "refusal", "error"]
"""How a reply over this wire can end."""

MARKS: Final = frozenset(("text", "thought", "thoughtSignature"))
"""The fields of a part that is words."""


PROVIDERS: Final = frozenset(
    ("executableCode", "codeExecutionResult", "toolCall", "toolResponse")
)
"""The fields of a part that the provider's own tools made."""

MOST_STRANGE: Final = 20
"""How many names of fields that are not known are told."""


@define
class Words:
    """A text or a thought. A signed one came whole: it neither grows nor is joined."""

    thought: bool
    signature: str | None = None
    flow: Flow = field(factory=Flow, init=False)

    def part(self) -> Part:
        """The part as far as it came."""
        if self.thought:
            return Thinking(self.flow.text, self.signature)
        return Text(self.flow.text, signature=self.signature)

    def takes(self, signature: str | None, *, thought: bool) -> bool:
        """Whether words of this kind, that came with this, are more of it."""
        return self.thought == thought and not self.signature and not signature


@define
class Draft:
    """Takes what arrives, tells what is new of it, gives the message.

    `answer` is the name of the tool whose call is the text of a reply, if there is one.
    `strange` are the fields of the parts that the protocol does not have.
    """

    effect_id: str
    model: str
    tell: Tell
    answer: str = ""
    parts: list[Words | Part] = field(factory=list[Words | Part], init=False)
    strange: dict[str, None] = field(factory=dict[str, None], init=False)
    _usage: dict[str, Json] = field(factory=dict[str, Json], init=False)

    def take(self, part: Mapping[str, Json]) -> None:
        """One part of a response: a piece of the words before it, or one more."""
        signature = mend(text(part.get("thoughtSignature"))) or None
        picture = _picture(part)
        if isinstance(part.get("functionCall"), dict):
            self._called(members(part["functionCall"]), signature)
        elif picture and not part.get("thought"):
            self._shown(picture, signature)
        elif "text" in part or part.keys() <= MARKS:
            self._spoken(
                text(part.get("text")), signature, thought=part.get("thought") is True
            )
        elif not picture:
            self.parts.append(keep(part))
            self._wonder(part)

    def _wonder(self, part: Mapping[str, Json]) -> None:
        if len(self.strange) < MOST_STRANGE:
            self.strange |= dict.fromkeys(sorted(part.keys() - MARKS - PROVIDERS))

    def usage(self, usage: Json) -> None:
        """Counts so far: they are totals, so the last one holds, field by field."""
        self._usage |= filled(usage)

    def end(self) -> None:
        """Nothing more will come: tell what was held back."""
        for place, part in enumerate(self.parts):
            if isinstance(part, Words):
                self._tell(place, part, part.flow.end())

    def reply(self, finish: Finish) -> AssistantMessage:
        """The message as far as it came."""
        found = [
            part.part() if isinstance(part, Words) else part for part in self.parts
        ]
        return AssistantMessage(
            found, model=self.model, finish=finish, usage=usage_of(self._usage)
        )

    def partial(self) -> AssistantMessage | None:
        """What had arrived, if anything had."""
        return self.reply("error") if self.parts or self._usage else None

    @property
    def calls(self) -> bool:
        """Whether a tool is called."""
        return any(isinstance(part, ToolCall) for part in self.parts)

    @property
    def silent(self) -> bool:
        """Whether nothing is said, shown or called; thoughts say nothing."""
        return not self.calls and not any(
            isinstance(part, Image)
            or (isinstance(part, Words) and not part.thought and part.flow.pieces)
            for part in self.parts
        )

    def _spoken(self, more: str, signature: str | None, *, thought: bool) -> None:
        if more or signature:
            place, words = self._words(signature, thought=thought)
            self._tell(place, words, words.flow.add(more))

    def _words(self, signature: str | None, *, thought: bool) -> tuple[int, Words]:
        last = self.parts[-1] if self.parts else None
        if isinstance(last, Words) and last.takes(signature, thought=thought):
            return len(self.parts) - 1, last
        opened = Words(thought, signature)
        self.parts.append(opened)
        return len(self.parts) - 1, opened

    def _tell(self, place: int, words: Words, more: str) -> None:
        if more and words.thought:
            self.tell(part=place, thinking=more)
        elif more:
            self.tell(more, part=place)

    def _called(self, call: Mapping[str, Json], signature: str | None) -> None:
        name, arguments = mend(text(call.get("name"))), _arguments(call.get("args"))
        place = len(self.parts)
        if self.answer and name == self.answer:
            self.parts.append(Words(thought=False))
            self._spoken(arguments or "{}", None, thought=False)
            return
        made_up = (
            f"call_{sha256(f'{self.effect_id}#{place}'.encode()).hexdigest()[:16]}"
        )
        made = ToolCall.parse(name, arguments, mend(text(call.get("id"))) or made_up)
        self.parts.append(evolve(made, signature=signature) if signature else made)
        if name or arguments:
            self.tell(part=place, name=name, arguments=arguments)

    def _shown(self, picture: Image, signature: str | None) -> None:
        self.parts.append(picture)
        if signature:  # a picture has no place for it
            self.parts.append(keep({"thoughtSignature": signature}))


def _arguments(args: Json) -> str:
    """The arguments as text; some servers write them as such."""
    if isinstance(args, str):
        return mend(args)
    return "" if args is None else mend(dump(args))


def _picture(part: Mapping[str, Json]) -> Image | None:
    data = members(part.get("inlineData"))
    mime = text(data.get("mimeType"))
    shown = mime.startswith("image/")
    return Image(mend(text(data.get("data"))), mend(mime)) if shown else None


def usage_of(raw: Mapping[str, Json]) -> Usage:
    """The counts. The wire's prompt includes what came from the cache.

    Thoughts are counted beside the candidates, unless the total says otherwise.
    """
    prompt, made = (count(raw.get(f"{n}TokenCount")) for n in ("prompt", "candidates"))
    cached, thoughts = (
        count(raw.get(f"{n}TokenCount")) for n in ("cachedContent", "thoughts")
    )
    tools = count(raw.get("toolUsePromptTokenCount"))
    within = count(raw.get("totalTokenCount")) == prompt + tools + made
    output = made if within else made + thoughts
    return Usage(max(0, prompt - cached) + tools, output, cached, 0, thoughts)
