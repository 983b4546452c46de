"""The output of a response: its items as events say them, or all of them at once."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from attrs import define, field, frozen

from loopcore_adapters.loose import Json, items, members, text, whole
from loopcore_adapters.responses import signing
from loopcore_adapters.responses.draft import Draft
from loopcore_adapters.responses.items import (
    CALL,
    KINDS,
    MESSAGE,
    PICTURE,
    THOUGHT,
    Event,
    Item,
    Items,
    Left,
)
from loopcore_adapters.responses.parts import Kind, Section


@frozen
class Place:
    """Where in an output a text stands: in which field of an item, counted by which."""

    item: str
    kind: Kind
    field: str = "content"
    index: str = "content_index"


TEXT: Final = Place(MESSAGE, "text")
REFUSAL: Final = Place(MESSAGE, "refusal")
REASONING: Final = Place(THOUGHT, "thinking")
SUMMARY: Final = Place(THOUGHT, "thinking", "summary", "summary_index")

TEXTS: Final[Mapping[str, Place]] = {
    "response.output_text": TEXT,
    "response.refusal": REFUSAL,
    "response.reasoning": REASONING,
    "response.reasoning_text": REASONING,
    "response.reasoning_summary": SUMMARY,
    "response.reasoning_summary_text": SUMMARY,
}
DELTAS: Final = {f"{name}.delta": place for name, place in TEXTS.items()}
WHOLES: Final = {f"{name}.done": place for name, place in TEXTS.items()}
ENTRIES: Final[Mapping[str, Place]] = {
    "output_text": TEXT,
    "refusal": REFUSAL,
    "reasoning_text": REASONING,
    "summary_text": SUMMARY,
}
"""What an entry of an item's content, or of its summary, is by its type."""


FIELDS: Final = {"refusal": "refusal"}
"""Where an entry has its text, if not in `text`."""

MOST_STRANGE: Final = 20
"""How many kinds of strange things are told."""


@define
class Output:
    """Reads what a server says of its output into a draft of the reply.

    `strange` is what there was that is none of a reply.
    """

    draft: Draft
    strange: dict[str, None] = field(factory=dict[str, None], init=False)
    _items: Items = field(factory=Items, init=False)

    def take(self, kind: str, event: Event) -> None:
        """An event of this kind; one that says nothing of the output changes nothing."""
        if kind in DELTAS:
            self._more(DELTAS[kind], event, text(event.get("delta")))
        elif kind in WHOLES:
            self._whole(WHOLES[kind], event, event)
        elif kind in OTHERS:
            OTHERS[kind](self, event)

    def all(self, output: Json) -> None:
        """The items, all at once: some of them, or all, may have come before."""
        missed = output is None and self.draft.parts  # some give it by events alone
        if not (isinstance(output, list) or missed):
            self._wonder("no output")
        left = Left()
        for item in self._items.all:
            left.add(item)
        for said in map(members, items(output)):
            kind, item_id = text(said.get("type")), text(said.get("id"))
            if kind in KINDS:
                known = left.take(kind, item_id)
                new = known or self._items.open(kind, {"item_id": item_id})
                self._absorb(new, said)
            else:
                self._wonder(kind)

    def announced(self, event: Event) -> None:
        """An item begins. What is encrypted in it may not be whole yet."""
        said = members(event.get("item"))
        kind = text(said.get("type"))
        if kind in KINDS:
            at = {**event, "item_id": said.get("id")}
            item = self._items.begin(kind, at, said.get("call_id"))
            item.learn({**said, "encrypted_content": None})
            if kind == CALL:
                self.draft.call(item).begin(said.get("arguments"))

    def completed(self, event: Event) -> None:
        """An item is whole."""
        said = members(event.get("item"))
        kind = text(said.get("type"))
        if kind in KINDS:
            at = {**event, "item_id": said.get("id")}
            self._absorb(self._items.of(kind, at), said)
        else:
            self._wonder(kind)

    def entry_begins(self, event: Event) -> None:
        """An entry of a content, or of a summary: mostly empty, but not with all servers."""
        entry = members(event.get("part"))
        if place := ENTRIES.get(text(entry.get("type"))):
            self._more(place, event, _said(entry))

    def entry_is_whole(self, event: Event) -> None:
        """An entry of a content, or of a summary, whole."""
        entry = members(event.get("part"))
        if place := ENTRIES.get(text(entry.get("type"))):
            self._whole(place, event, entry)

    def arguments(self, event: Event) -> None:
        """A piece of a call's arguments."""
        call = self.draft.call(self._items.of(CALL, event))
        self.draft.show_arguments(call, call.add(text(event.get("delta"))))

    def all_arguments(self, event: Event) -> None:
        """All of a call's arguments."""
        self._called(self._items.of(CALL, event), event)

    def _more(self, place: Place, event: Event, piece: str) -> None:
        if piece:
            item = self._items.of(place.item, event)
            section = place.field, whole(event.get(place.index)) or 0
            words = self.draft.words(item, place.kind, section[1])
            self.draft.show(words, words.add(section, piece))

    def _whole(self, place: Place, event: Event, entry: Mapping[str, Json]) -> None:
        if known := _said(entry):
            item = self._items.of(place.item, event)
            section = place.field, whole(event.get(place.index)) or 0
            self._known(item, place.kind, section, known)

    def _known(self, item: Item, kind: Kind, section: Section, known: str) -> None:
        words = self.draft.words(item, kind, section[1])
        self.draft.show(words, words.whole(section, known))

    def _absorb(self, item: Item, said: Mapping[str, Json]) -> None:
        item.learn(said)
        if item.kind == CALL:
            self._called(item, said)
        elif item.kind == PICTURE and text(item.said.get("result")):
            self.draft.picture(item)
        elif item.kind == MESSAGE:
            self._spoken(item, "content", said)
        elif item.kind == THOUGHT:
            self._thought(item, said)

    def _called(self, item: Item, said: Mapping[str, Json]) -> None:
        item.learn({"name": said.get("name")})
        call = self.draft.call(item)
        self.draft.show_arguments(call, call.whole(said.get("arguments")))

    def _thought(self, item: Item, said: Mapping[str, Json]) -> None:
        self._spoken(item, "summary", said)
        self._spoken(item, "content", said)
        if signing.readable(item.said):
            self.draft.words(item, "thinking", 0)

    def _spoken(self, item: Item, name: str, said: Mapping[str, Json]) -> None:
        """The texts in this field of the item."""
        if not isinstance(said.get(name), str | list | None):
            self._wonder(item.kind)
        for place, entry in enumerate(_entries(said.get(name))):
            at = REASONING if item.kind == THOUGHT else TEXT
            kind = ENTRIES.get(text(entry.get("type")), at).kind
            if known := _said(entry):
                self._known(item, kind, (name, place), known)
            elif not isinstance(entry.get(FIELDS.get(kind, "text")), str):
                self._wonder(text(entry.get("type")) or item.kind)

    def _wonder(self, kind: str) -> None:
        if len(self.strange) < MOST_STRANGE:
            self.strange[kind or "nameless"] = None


OTHERS: Final[Mapping[str, Callable[[Output, Event], None]]] = {
    "response.output_item.added": Output.announced,
    "response.output_item.done": Output.completed,
    "response.content_part.added": Output.entry_begins,
    "response.content_part.done": Output.entry_is_whole,
    "response.reasoning_summary_part.added": Output.entry_begins,
    "response.reasoning_summary_part.done": Output.entry_is_whole,
    "response.function_call_arguments.delta": Output.arguments,
    "response.function_call_arguments.done": Output.all_arguments,
}


def _entries(value: Json) -> Iterator[Mapping[str, Json]]:
    """The objects of the array; a text is one, too."""
    for entry in [value] if isinstance(value, str) else items(value):
        yield {"text": entry} if isinstance(entry, str) else members(entry)


def _said(entry: Mapping[str, Json]) -> str:
    return text(entry.get("refusal")) or text(entry.get("text"))
