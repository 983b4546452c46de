"""A reply on its way: parts that grow, each in the place it will have."""

import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Final, Literal, TypeAlias

from attrs import define, field

from loopcore import AssistantMessage, Image, Tell, Text, Thinking, ToolCall, Usage
from loopcore_adapters.chat.calls import CallDraft, Calls, Fragment, fragment
from loopcore_adapters.flow import Flow, mend
from loopcore_adapters.loose import (
    Json,
    amount,
    count,
    dump,
    filled,
    items,
    members,
    text,
)

Part: TypeAlias = Text | Image | Thinking | ToolCall
Finish: TypeAlias = Literal["end", "tools", "length", "refusal", "error"]
"""How a reply over this wire can end."""

Kind: TypeAlias = Literal["text", "thinking", "refusal"]
THOUGHTS: Final = ("reasoning_content", "reasoning", "reasoning_text")
PICTURE: Final = re.compile(r"data:(\w+/[\w.+-]+);base64,(.+)", re.ASCII | re.DOTALL)
JOINED: Final = ("text", "summary", "data", "signature")


@define
class Detail:
    """A provider's own form of some thinking; what grows of it is joined at the end."""

    fields: dict[str, Json]
    _grown: dict[str, list[str]] = field(factory=dict[str, list[str]], init=False)

    def goes_on(self, entry: Mapping[str, Json]) -> bool:
        """Whether this entry is more of it: two that have ids have one id."""
        ids = {self.fields.get("id"), entry.get("id")} - {None}
        same = (self.fields.get(n) == entry.get(n) for n in ("index", "type"))
        return len(ids) <= 1 and all(same)

    def add(self, entry: Mapping[str, Json]) -> None:
        """More of it."""
        for name, value in entry.items():
            before = self.fields.setdefault(name, None)
            if name in JOINED and text(value):
                self._grown.setdefault(name, [text(before)]).append(value)
            elif value:
                self.fields[name] = value
                self._grown.pop(name, None)

    @property
    def whole(self) -> dict[str, Json]:
        """All of it so far."""
        joined = {name: "".join(pieces) for name, pieces in self._grown.items()}
        return {**self.fields, **joined}


@define
class Words:
    """The text, the thinking or the refusal of a reply: there is one of each."""

    kind: Kind
    flow: Flow = field(factory=Flow, init=False)
    details: list[Detail] = field(factory=list[Detail], init=False)

    def part(self) -> Part:
        """The part as far as it came."""
        if self.kind != "thinking":
            return Text(self.flow.text)
        details = [detail.whole for detail in self.details]
        signature = mend(dump(details)) if details else None
        return Thinking(self.flow.text, signature, redacted=not self.flow.text)

    def detail(self, entry: dict[str, Json], *, whole: bool) -> None:
        """A provider's own form of the thinking, kept to go back as it came."""
        if not whole and self.details and self.details[-1].goes_on(entry):
            self.details[-1].add(entry)
        else:
            self.details.append(Detail(dict(entry)))


@define
class Draft:
    """Takes what arrives, tells what is new of it, gives the message.

    `odd` is whether some of it is not what the protocol has.
    """

    effect_id: str
    model: str
    tell: Tell
    parts: list[Words | CallDraft | Image] = field(
        factory=list[Words | CallDraft | Image], init=False
    )
    _spoken: dict[Kind, tuple[int, Words]] = field(
        factory=dict[Kind, tuple[int, Words]], init=False
    )
    _calls: Calls = field(factory=Calls, init=False)
    odd: bool = field(default=False, init=False)
    _usage: dict[str, Json] = field(factory=dict[str, Json], init=False)

    def delta(self, delta: Mapping[str, Json]) -> None:
        """A piece of a message; entries of `tool_calls` are pieces of calls."""
        self._speak(delta, whole=False)
        for more in _fragments(delta):
            call = self._calls.of(more) or self._open(more.index)
            self._call(call, more)

    def message(self, message: Mapping[str, Json]) -> None:
        """A whole message; entries of `tool_calls` are whole calls."""
        self._speak(message, whole=True)
        for more in _fragments(message):
            self._call(self._open(None), more)

    def usage(self, usage: Json) -> None:
        """Counts so far: they are totals, so the last one holds, field by field."""
        self._usage |= filled(usage)

    def end(self) -> None:
        """Nothing more will come: tell what was held back."""
        for place, part in enumerate(self.parts):
            if isinstance(part, CallDraft):
                self._tell_call(part, "", part.end())
            elif isinstance(part, Words):
                self._tell_words(place, part.kind, part.flow.end())

    def reply(self, finish: Finish) -> AssistantMessage:
        """The message as far as it came."""
        found = [self._part(place, part) for place, part in enumerate(self.parts)]
        return AssistantMessage(
            found, model=self.model, finish=finish, usage=usage_of(self._usage)
        )

    def partial(self) -> AssistantMessage | None:
        """What had arrived, if anything had."""
        return self.reply("error") if self.parts or self._usage else None

    def has(self, *kinds: str) -> bool:
        """Whether there is a part of one of these kinds: those of words, call, image."""
        return any(_kind(part) in kinds for part in self.parts)

    def _part(self, place: int, part: Words | CallDraft | Image) -> Part:
        if isinstance(part, Image):
            return part
        if isinstance(part, Words):
            return part.part()
        return part.call(part.id or self._made_up(place))

    def _made_up(self, place: int) -> str:
        """The id of a call that came without one, the same each time it is read."""
        digest = sha256(f"{self.effect_id}#{place}".encode()).hexdigest()
        return f"call_{digest[:16]}"

    def _speak(self, said: Mapping[str, Json], *, whole: bool) -> None:
        self.odd = self.odd or _is_odd(said)
        thoughts = (text(said.get(name)) for name in THOUGHTS)
        self._say("thinking", next(filter(None, thoughts), ""))
        for entry in items(said.get("reasoning_details")):
            self._words("thinking")[1].detail(members(entry), whole=whole)
        for kind, words in _content(said.get("content")):
            self._say(kind, words)
        for entry in items(said.get("images")):
            self._show(text(members(members(entry).get("image_url")).get("url")))
        self._say("refusal", text(said.get("refusal")))

    def _show(self, url: str) -> None:
        """A picture; what is only the address of one is said."""
        found = PICTURE.fullmatch(url)
        if found:
            self.parts.append(Image(mend(found[2]), found[1]))
        else:
            self._say("text", url)

    def _say(self, kind: Kind, more: str) -> None:
        if more:
            place, words = self._words(kind)
            self._tell_words(place, kind, words.flow.add(more))

    def _words(self, kind: Kind) -> tuple[int, Words]:
        if kind not in self._spoken:
            self._spoken[kind] = len(self.parts), Words(kind)
            self.parts.append(self._spoken[kind][1])
        return self._spoken[kind]

    def _open(self, index: int | None) -> CallDraft:
        call = CallDraft(len(self.parts))
        self.parts.append(call)
        self._calls.open(call, index)
        return call

    def _call(self, call: CallDraft, more: Fragment) -> None:
        grown = call.add(more)
        self._calls.know(call)
        self._tell_call(call, *grown)

    def _tell_call(self, call: CallDraft, name: str, arguments: str) -> None:
        if name or arguments:
            self.tell(part=call.part, name=name, arguments=arguments)

    def _tell_words(self, place: int, kind: Kind, more: str) -> None:
        if more and kind == "thinking":
            self.tell(part=place, thinking=more)
        elif more:
            self.tell(more, part=place)


def _kind(part: Words | CallDraft | Image) -> str:
    if isinstance(part, Words):
        return part.kind
    return "image" if isinstance(part, Image) else "call"


def _fragments(said: Mapping[str, Json]) -> Iterator[Fragment]:
    """The entries of `tool_calls`, or of its forerunner; those that say nothing are none."""
    entries = items(said.get("tool_calls"))
    if not entries and members(said.get("function_call")):
        entries = [{"index": 0, "function": said["function_call"]}]
    for entry in entries:
        more = fragment(entry)
        if more.id or more.name or more.arguments:
            yield more


def _is_odd(said: Mapping[str, Json]) -> bool:
    """Whether some of a message is of a kind that it never is, or cannot be shown."""
    content, calls = said.get("content"), said.get("tool_calls")
    if calls is None and isinstance(content, str):  # most deltas
        return False
    if not (isinstance(content, str | list | None) and isinstance(calls, list | None)):
        return True
    thoughts = (said.get(name) for name in THOUGHTS)
    if said.get("audio") or not all(isinstance(one, str | None) for one in thoughts):
        return True
    return any(not _is_text(entry) for entry in items(content))


def _is_text(entry: Json) -> bool:
    """Whether an entry of a content is text, or a thought or refusal, which may be."""
    return isinstance(entry, str) or any(
        isinstance(members(entry).get(name), str | list)
        for name in ("text", "thinking", "refusal")
    )


def _content(content: Json) -> Iterator[tuple[Kind, str]]:
    """The content, which is text, or an array of texts and thoughts."""
    if isinstance(content, str):
        yield "text", content
    for entry in items(content):
        part = members(entry)
        if part.get("type") == "thinking":
            yield "thinking", _joined(part.get("thinking"))
        elif part.get("type") == "refusal":
            yield "refusal", text(part.get("refusal"))
        else:
            yield "text", text(entry) or text(part.get("text"))


def _joined(thinking: Json) -> str:
    texts = (text(members(entry).get("text")) for entry in items(thinking))
    return text(thinking) or "".join(texts)


def usage_of(raw: Mapping[str, Json]) -> Usage:
    """The counts; the wire's prompt includes what came from the cache."""
    prompt, output = (
        count(raw.get("prompt_tokens")),
        count(raw.get("completion_tokens")),
    )
    asked = members(raw.get("prompt_tokens_details"))
    made = members(raw.get("completion_tokens_details"))
    read = count(asked.get("cached_tokens"))
    read = read or count(raw.get("prompt_cache_hit_tokens") or raw.get("cached_tokens"))
    written = count(asked.get("cache_write_tokens"))
    reasoning = count(made.get("reasoning_tokens"))
    beside = count(raw.get("total_tokens")) - prompt - output
    if beside > 0 and not reasoning and beside != read + written:
        reasoning = beside  # Google's server counts it in the total alone
    if reasoning == beside:
        output += reasoning  # some count it beside the completion, not within it
    fresh = max(0, prompt - read - written)
    return Usage(fresh, output, read, written, reasoning, cost=amount(raw.get("cost")))
