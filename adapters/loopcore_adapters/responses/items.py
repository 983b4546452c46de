"""The items of an output: which of them an event is about."""

from collections.abc import Mapping
from typing import Final, TypeAlias

from attrs import define, field

from loopcore_adapters.loose import Json, text, whole

MESSAGE: Final = "message"
THOUGHT: Final = "reasoning"
CALL: Final = "function_call"
PICTURE: Final = "image_generation_call"
KINDS: Final = (MESSAGE, THOUGHT, CALL, PICTURE)
"""The items that become parts; others are of tools that the provider runs itself."""

Event: TypeAlias = Mapping[str, Json]


@define(eq=False)
class Item:
    """An item of the output: what the server said of it, newer words over older ones."""

    kind: str
    said: dict[str, Json] = field(factory=dict[str, Json])

    def learn(self, said: Mapping[str, Json]) -> None:
        """The server says this of it now."""
        filled = (pair for pair in said.items() if pair[1] not in (None, "", []))
        self.said.update(filled)


@define
class Items:
    """Finds an item by its id, else by its place; without either it is the last one.

    Servers leave out the one or the other, and some give an item a new id each time.
    """

    all: list[Item] = field(factory=list[Item], init=False)
    _by_id: dict[str, Item] = field(factory=dict[str, Item], init=False)
    _by_index: dict[int, Item] = field(factory=dict[int, Item], init=False)

    def of(self, kind: str, event: Event) -> Item:
        """The item of this kind that the event is about; a new one if there is none."""
        known = self._known(text(event.get("item_id")), event.get("output_index"))
        return known if known and known.kind == kind else self.open(kind, event)

    def open(self, kind: str, event: Event) -> Item:
        """A new item, which further events may be about."""
        item = Item(kind)
        self.all.append(item)
        if item_id := text(event.get("item_id")):
            item.learn({"id": item_id})
            self._by_id[item_id] = item
        if (index := whole(event.get("output_index"))) is not None:
            self._by_index[index] = item
        return item

    def came(self, kind: str, item_id: str, left: list[Item]) -> Item | None:
        """The item of those left that this is: by its id, else the next of its kind."""
        of_kind = (item for item in left if item.kind == kind)
        known = first = next(of_kind, None)
        while known and known.said.get("id") != item_id:
            known = next(of_kind, None)
        known = known or first
        if known:
            left.remove(known)
        return known

    def _known(self, item_id: str, index: Json) -> Item | None:
        if item_id in self._by_id:
            return self._by_id[item_id]
        if (place := whole(index)) is not None:
            return self._by_index.get(place)
        return self.all[-1] if self.all and not item_id else None
