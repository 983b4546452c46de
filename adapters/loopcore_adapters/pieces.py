"""Bytes that are made once and joined for each request: a long conversation is a join."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from threading import Lock
from typing import Final, TypeVar

from attrs import define, field, frozen

from loopcore_adapters.loose import Json, dump

Kept = TypeVar("Kept")
Key = TypeVar("Key", bound=Hashable)
ROOM: Final = 32 * 2**20
"""How many bytes are kept for one connected model."""


@define(eq=False)
class Pieces:
    """Keeps what was made of each message (or tool), as long as there is room.

    What it was made of is known by identity, and held, so that its identity stays its own.
    The key says all else that the bytes depend on, and of which kind they are: one message
    may have several, and an id of a call may be any text. What was made first is forgotten
    first.

    >>> pieces, message = Pieces(), object()
    >>> pieces.get(message, "a", lambda _, key: key.encode())
    b'a'
    >>> pieces.get(message, "a", lambda _, key: b"is not asked for again")
    b'a'
    """

    room: int = ROOM
    # One model may serve event loops of several threads.
    _writing: Lock = field(factory=Lock, init=False)
    _size: int = field(default=0, init=False)
    _kept: dict[tuple[int, Hashable], tuple[object, bytes]] = field(
        factory=dict[tuple[int, Hashable], tuple[object, bytes]], init=False
    )

    def get(self, message: Kept, key: Key, make: Callable[[Kept, Key], bytes]) -> bytes:
        """The bytes of this message, made at most once while they are kept."""
        found = self._kept.get((id(message), key))
        return found[1] if found else self._keep(message, key, make(message, key))

    def _keep(self, message: object, key: Hashable, made: bytes) -> bytes:
        with self._writing:
            if (id(message), key) not in self._kept:
                self._kept[id(message), key] = message, made
                self._size += len(made)
            while self._size > self.room:
                _, forgotten = self._kept.pop(next(iter(self._kept)))
                self._size -= len(forgotten)
        return made


@frozen
class Ready:
    """JSON that is written already."""

    text: bytes


def array(items: Iterable[bytes]) -> Ready:
    """The JSON array of these; empty ones are none.

    >>> array([b"1", b"", b"2,3"])
    Ready(text=b'[1,2,3]')
    """
    return Ready(b"[" + b",".join(filter(None, items)) + b"]")


def written(value: Json) -> bytes:
    """The JSON of this as it is sent: half a character, wherever it stands, is replaced."""
    return (
        value.text if isinstance(value, Ready) else dump(value).encode(errors="replace")
    )


def joined(fields: Mapping[str, Json]) -> bytes:
    """The JSON object with these members, some of which may be `Ready`.

    >>> joined({"a": Ready(b"[1]"), "b": None})
    b'{"a":[1],"b":null}'
    """
    pairs = (written(name) + b":" + written(value) for name, value in fields.items())
    return b"{" + b",".join(pairs) + b"}"
