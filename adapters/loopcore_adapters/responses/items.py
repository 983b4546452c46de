"""The items of an output: which of them an event is about."""

from collections import defaultdict, deque
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
    place: int | None = None
    said: dict[str, Json] = field(factory=dict[str, Json])

    def learn(self, said: Mapping[str, Json]) -> None:
        """The server says this of it now."""
        filled = (pair for pair in said.items() if pair[1] not in (None, "", []))
        self.said.update(filled)


@define
class Left:
    """The items that are not yet found in the output that is given at the end."""

    _by_id: dict[tuple[str, str], deque[Item]] = field(
        factory=lambda: defaultdict[tuple[str, str], deque[Item]](deque), init=False
    )
    _of_kind: dict[str, deque[Item]] = field(
        factory=lambda: defaultdict[str, deque[Item]](deque), init=False
    )
    _found: set[int] = field(factory=set[int], init=False)

    def add(self, item: Item) -> None:
        """It is to be found."""
        self._by_id[item.kind, text(item.said.get("id"))].append(item)
        self._of_kind[item.kind].append(item)

    def take(self, kind: str, item_id: str) -> Item | None:
        """The item that this is: by its id, else the next of its kind."""
        known = self._next(self._by_id[kind, item_id])
        known = known or self._next(self._of_kind[kind])
        if known:
            self._found.add(id(known))
        return known

    def _next(self, items: deque[Item]) -> Item | None:
        while items and id(items[0]) in self._found:
            items.popleft()
        return items[0] if items else None


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
        item = Item(kind, whole(event.get("output_index")))
        self.all.append(item)
        if item_id := text(event.get("item_id")):
            item.learn({"id": item_id})
            self._by_id[item_id] = item
        if item.place is not None:
            self._by_index[item.place] = item
        return item

    def begin(self, kind: str, event: Event, call_id: Json) -> Item:
        """The item that begins: a new one, unless this very one was announced before."""
        known = self._by_id.get(text(event.get("item_id")))
        place = whole(event.get("output_index"))
        if known and place is not None and (known.kind, known.place) == (kind, place):
            same = known.said.get("call_id", call_id) == call_id
            return known if same else self.open(kind, event)
        return self.open(kind, event)

    def _known(self, item_id: str, index: Json) -> Item | None:
        if item_id in self._by_id:
            return self._by_id[item_id]
        if (place := whole(index)) is not None:
            return self._by_index.get(place)
        return self.all[-1] if self.all and not item_id else None
