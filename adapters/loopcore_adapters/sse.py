"""Server-sent events, incrementally: bytes go in as they come, whole events come out.

No I/O, and no knowledge of what the events mean. However the bytes are cut (inside a
character, between CR and LF), the same events come out.
"""

import re
from collections.abc import Iterator
from typing import Final

from attrs import define, field, frozen

LIMIT: Final = 16 * 2**20
"""How many bytes an event may have: more is a fault, not an answer."""

BOM: Final = b"\xef\xbb\xbf"
BARE: Final = "bare"
DATA: Final = ("data", "error", BARE)
"""What has data. By the standard only the first has.

But some servers say in a field "error", or in a bare line of JSON, why they break off.
"""

_LINE_END: Final = re.compile(rb"\r\n|\n|\r")


class TooLarge(ValueError):
    """An event, or a line, has more bytes than the decoder takes."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"an event of the stream has more than {limit} bytes")


@frozen
class Event:
    """One event: its data lines joined by LF, and its name."""

    data: str
    name: str = "message"


@define
class Events:
    """The decoder. Feed it all bytes, consume what it yields, then `finish` it.

    >>> events = Events()
    >>> list(events.feed(b": ping\\n\\ndata: a\\r")), list(events.feed(b"\\ndata:b\\n\\n"))
    ([], [Event(data='a\\nb', name='message')])
    """

    limit: int = LIMIT
    _line: list[bytes] = field(factory=list[bytes], init=False)
    _data: list[str] = field(factory=list[str], init=False)
    _name: str = field(default="", init=False)
    _open: int = field(default=0, init=False)
    _size: int = field(default=0, init=False)
    _first: bool = field(default=True, init=False)
    _after_cr: bool = field(default=False, init=False)

    def feed(self, data: bytes) -> Iterator[Event]:
        """The events that these bytes complete.

        Raises:
            TooLarge: after the events before the one that is too large.
        """
        if not data:
            return
        text = data.removeprefix(b"\n") if self._after_cr else data
        self._after_cr = data.endswith(b"\r")
        *ended, rest = _LINE_END.split(text)
        for piece in ended:
            yield from self._take(self._whole(piece))
        self._keep(rest)

    def finish(self) -> Iterator[Event]:
        """The last event, if the stream ended without the blank line after it.

        The standard would drop it. Here it is given, because servers forget the blank
        line; who reads it must not mistake a cut one for a whole one.
        """
        if self._line:
            yield from self._take(self._whole(b""))
        yield from self._take(b"")

    def _keep(self, piece: bytes) -> None:
        if piece:
            self._line.append(piece)
            self._open += len(piece)
            self._check(self._open)

    def _whole(self, piece: bytes) -> bytes:
        line = b"".join([*self._line, piece])
        self._line, self._open = [], 0
        return line

    def _check(self, more: int) -> None:
        if self._size + more > self.limit:
            raise TooLarge(self.limit)

    def _take(self, line: bytes) -> Iterator[Event]:
        self._check(len(line))
        if self._first:
            line, self._first = line.removeprefix(BOM), False
        if line:
            self._field(line)
            return
        if self._data:
            yield Event("\n".join(self._data), self._name or "message")
        self._data, self._name, self._size = [], "", 0

    def _field(self, line: bytes) -> None:
        said = line.decode(errors="replace")
        name, _, value = said.partition(":")
        value = value.removeprefix(" ")
        if said[0] + said[-1] == "{}":
            name, value = BARE, said
        if name in DATA:
            self._data.append(value)
            self._size += len(line)
        elif name == "event":
            self._name = value
