"""Conversations that go on: what was made of their beginning is not made again.

A request shows the whole conversation, of which only the end is new. To look at each of its
messages again, if only to find the bytes of it, takes time that grows with every turn.
"""

from collections.abc import Callable, Hashable, Iterable
from operator import is_
from threading import Lock
from typing import Final, Generic, TypeVar

from attrs import define, field

from loopcore import Message, ToolResultMessage, project

Going = TypeVar("Going")
"""What the bytes of further messages depend on, such as the ids that are taken."""

ROOM: Final = 32 * 2**20
"""How many bytes are kept for one connected model."""

LATEST: Final = 256
"""How many messages may be new where a beginning is looked for."""


@define(eq=False)
class Beginning(Generic[Going]):
    """The bytes of these messages, and what those of the next depend on."""

    messages: tuple[Message, ...]
    pieces: list[bytes]
    going: Going
    size: int = 0


@define(eq=False)
class Beginnings(Generic[Going]):
    """Knows the bytes of conversations, by the identity of their messages.

    Each is taken out while it is gone on with: of two that begin alike at one time, one is
    made anew. What was used last is kept, as much as there is room for.
    """

    room: int = ROOM
    _size: int = field(default=0, init=False)
    _kept: dict[tuple[int, Hashable], Beginning[Going]] = field(
        factory=dict[tuple[int, Hashable], Beginning[Going]], init=False
    )
    # One model may serve event loops of several threads.
    _using: Lock = field(factory=Lock, init=False)

    def go_on(
        self,
        messages: Iterable[Message],
        key: Hashable,
        begin: Callable[[], Going],
        speak: Callable[[Iterable[Message], Going], Iterable[bytes]],
    ) -> tuple[bytes, ...]:
        """The bytes of what `project` leaves of a conversation; those that are new are made.

        Args:
            messages: the whole conversation.
            key: whatever the bytes depend on beside it.
            begin: makes what the first bytes depend on.
            speak: makes the bytes of further messages, and changes what the next depend on.
        """
        source = tuple(messages)
        begun = self._take(source, key) or Beginning[Going]((), [], begin())
        rest = source[len(begun.messages) :]
        sent = project(rest)
        made = list(speak(sent, begun.going))
        begun.pieces += made
        begun.size += sum(map(len, made))
        begun.messages = source
        said = tuple(begun.pieces)
        if source and _closed(rest, sent):
            self._keep(begun, key)
        return said

    def _take(
        self, source: tuple[Message, ...], key: Hashable
    ) -> Beginning[Going] | None:
        for length in range(len(source), max(0, len(source) - LATEST), -1):
            place = id(source[length - 1]), key
            if place in self._kept:
                return self._taken(place, source[:length])
        return None

    def _taken(
        self, place: tuple[int, Hashable], messages: tuple[Message, ...]
    ) -> Beginning[Going] | None:
        with self._using:
            found = self._kept.get(place)
            if not found or len(found.messages) != len(messages):
                return None
            if not all(map(is_, found.messages, messages)):
                return None
            self._size -= found.size
            return self._kept.pop(place)

    def _keep(self, begun: Beginning[Going], key: Hashable) -> None:
        with self._using:
            place = id(begun.messages[-1]), key
            before = self._kept.pop(place, None)
            self._kept[place] = begun
            self._size += begun.size - (before.size if before else 0)
            while self._size > self.room and self._kept:
                self._size -= self._kept.pop(next(iter(self._kept))).size


def _closed(rest: tuple[Message, ...], sent: Iterable[Message]) -> bool:
    """Whether nothing that is said later changes what is sent of these messages.

    That is so where no call is left for which `project` had to make a result.
    """
    if sent is rest:
        return True
    given = set(map(id, rest))
    return all(id(m) in given for m in sent if isinstance(m, ToolResultMessage))
