"""A response as JSON values: those of its events, or the one that it is, over all wires.

Streamed or in one piece is seen by the first byte, not by the headers, which lie.
"""

import re
from collections.abc import Iterator
from typing import Final, TypeAlias

from attrs import define, field

from loopcore import ModelError
from loopcore_adapters.faults import bad_response
from loopcore_adapters.loose import Json, parse
from loopcore_adapters.sse import BOM, LIMIT, Event, Events, TooLarge

Said: TypeAlias = tuple[str, Json]
"""The name of an event, and its JSON. A response in one piece has an empty name."""

MOST: Final = 16
"""How many times the limit a whole stream may have: one without an end is a fault."""

BEGINNING: Final = 1200
DONE: Final = "[DONE]"
EMPTY: Final = "The response was empty."
FIRST: Final = re.compile(rb"(\xef\xbb\xbf)?\s*(event|data|id|retry|):")
"""What a stream of events begins with, and other texts do not."""


@define
class Body:
    """Feed it bytes, consume what it yields, then `finish` it.

    A response in one piece, or an event of a streamed one, of more than `limit` bytes is
    a fault, as is a stream of more than `MOST` times as many, and what is no JSON: then
    `fault` says so, and nothing more is yielded. `done` is set by the "[DONE]" that ends
    some streams. `beginning` is there to be shown.
    """

    limit: int = LIMIT
    beginning: bytes = field(default=b"", init=False)
    fault: ModelError | None = field(default=None, init=False)
    done: bool = field(default=False, init=False)
    streamed: bool = field(default=False, init=False)
    _events: Events = field(init=False)
    _start: bytes = field(default=b"", init=False)
    _whole: bytearray | None = field(default=None, init=False)
    _size: int = field(default=0, init=False)
    _heard: bool = field(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        self._events = Events(self.limit)

    def feed(self, data: bytes) -> Iterator[Said]:
        """What these bytes complete."""
        if len(self.beginning) < BEGINNING:
            self.beginning = (self.beginning + data)[:BEGINNING]
        if not self.streamed and self._whole is None:
            data = self._look(data)
        if self._whole is not None:
            self._collect(self._whole, data)
        elif self.streamed:
            yield from self._stream(data)
            self._weigh(data)

    def _weigh(self, data: bytes) -> None:
        self._size += len(data)
        if self._size > MOST * self.limit and not (self.done or self.fault):
            what = f"The stream has more than {MOST * self.limit} bytes"
            self.fault = bad_response(what, self.beginning)

    def finish(self, fault: ModelError | None = None) -> Iterator[Said]:
        """What is left. `fault` is what broke the connection, if something did."""
        if self.fault or self.done:
            return
        if self._whole is not None:
            yield from self._one(bytes(self._whole), fault)
        elif self.streamed:
            yield from self._last()

    def not_understood(self, what: str) -> ModelError:
        """The fault of a response in which there was nothing of a reply.

        If it breaks off in its first event it may well have been one.
        """
        if not self.beginning.strip():
            return ModelError(EMPTY, "cut_stream")
        if FIRST.match(self.beginning) and not self._heard:
            return self.broken_off
        return bad_response(what, self.beginning)

    @property
    def broken_off(self) -> ModelError:
        """The fault of a response that ends before its reply does."""
        return ModelError("The stream ended before the reply did.", "cut_stream")

    def _look(self, data: bytes) -> bytes:
        """Choose the form of the response as soon as a byte says it."""
        lead = (self._start + data).removeprefix(BOM).lstrip()
        if not lead or BOM.startswith(lead):
            self._start = lead
            return b""
        if lead[:1] in b"{[":
            self._whole = bytearray()
        self.streamed = self._whole is None
        return lead

    def _collect(self, whole: bytearray, data: bytes) -> None:
        whole += data
        if len(whole) > self.limit:
            what = f"The response has more than {self.limit} bytes"
            self.fault = bad_response(what, self.beginning)

    def _one(self, whole: bytes, fault: ModelError | None) -> Iterator[Said]:
        try:
            value = parse(whole)
        except ValueError as problem:
            what = f"The response is not JSON ({problem})"
            self.fault = fault or bad_response(what, whole)
        else:
            yield "", value

    def _stream(self, data: bytes) -> Iterator[Said]:
        try:
            yield from self._until_over(data)
        except TooLarge as problem:
            self.fault = bad_response(f"{problem}".capitalize(), self.beginning)

    def _until_over(self, data: bytes) -> Iterator[Said]:
        for event in self._events.feed(data):
            yield from self._event(event)
            if self.done or self.fault:
                return

    def _event(self, event: Event) -> Iterator[Said]:
        said = event.data.strip()
        self._heard = self._heard or bool(said)
        if said == DONE:
            self.done = True
        elif said:
            yield from self._json(event.name, said)

    def _json(self, name: str, said: str) -> Iterator[Said]:
        try:
            value = parse(said)
        except ValueError:
            self.fault = bad_response("An event of the stream is not JSON", said)
        else:
            yield name, value

    def _last(self) -> Iterator[Said]:
        """An event without its blank line counts if it is whole."""
        for event in self._events.finish():
            try:
                value = parse(event.data)
            except ValueError:
                self.done = event.data.strip() == DONE
            else:
                yield event.name, value
