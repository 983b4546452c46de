"""Responses: the bytes of a Chat Completions response as one reply or one fault.

Streamed or in one piece is seen by the first byte, not by the headers, which lie. What is
not understood never becomes an empty success.
"""

from collections.abc import Mapping
from typing import Final

from attrs import define, evolve, field

from loopcore import AssistantMessage, CallModel, ModelError, Tell
from loopcore_adapters.chat.draft import Draft, Finish
from loopcore_adapters.faults import Fault, bad_response, body_fault
from loopcore_adapters.loose import Json, items, members, parse, text, whole
from loopcore_adapters.sse import BOM, LIMIT, Event, Events, TooLarge

FINISHES: Final[Mapping[str, Finish]] = {
    "stop": "end",
    "end": "end",
    "end_turn": "end",
    "eos": "end",
    "stop_sequence": "end",
    "tool_calls": "tools",
    "function_call": "tools",
    "tool_use": "tools",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "model_context_window_exceeded": "length",
    "content_filter": "refusal",
    "refusal": "refusal",
    "safety": "refusal",
    "sensitive": "refusal",
}
FAULTS: Final[Mapping[str, Fault]] = {
    "error": "server",
    "network_error": "network",
    "insufficient_system_resource": "overloaded",
    "abort": "cut_stream",
}
BEGINNING: Final = 1200


@define
class Decoder:
    """Reads one response. `tell` hears what adds up, part by part, to the reply.

    A response in one piece, or an event of a streamed one, of more than `limit` bytes is
    a fault.
    """

    call: CallModel
    tell: Tell
    limit: int = LIMIT
    _draft: Draft = field(init=False)
    _events: Events = field(init=False)
    _beginning: bytes = field(default=b"", init=False)
    _start: bytes = field(default=b"", init=False)
    _body: bytearray | None = field(default=None, init=False)
    _streamed: bool = field(default=False, init=False)
    _understood: bool = field(default=False, init=False)
    _done: bool = field(default=False, init=False)
    _reason: str = field(default="", init=False)
    _error: ModelError | None = field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        self._draft = Draft(self.call.id, self.call.model, self.tell)
        self._events = Events(self.limit)

    def feed(self, data: bytes) -> bool:
        """Take these bytes; True once the reply, or a fault, is complete."""
        if len(self._beginning) < BEGINNING:
            self._beginning = (self._beginning + data)[:BEGINNING]
        if not self._streamed and self._body is None:
            data = self._look(data)
        if self._body is not None:
            self._collect(self._body, data)
        elif self._streamed:
            self._stream(data)
        return self._over

    def finish(self, fault: ModelError | None = None) -> AssistantMessage | ModelError:
        """The one result; `fault` is what broke the connection, if something did."""
        if self._body is not None and not self._error:
            self._read(bytes(self._body), fault)
        elif self._streamed and not self._over:
            self._last_event()
        self._draft.end()
        error = self._error or self._cut(fault)
        result = error or self._reply(self._reason.lower())
        if isinstance(result, ModelError):
            return evolve(result, partial=self._draft.partial())
        return result

    @property
    def _over(self) -> bool:
        return self._done or self._error is not None

    def _look(self, data: bytes) -> bytes:
        """Choose the form of the response as soon as a byte says it."""
        lead = (self._start + data).removeprefix(BOM).lstrip()
        if not lead or BOM.startswith(lead):
            self._start = lead
            return b""
        if lead[:1] in b"{[":
            self._body = bytearray()
        self._streamed = self._body is None
        return lead

    def _collect(self, body: bytearray, data: bytes) -> None:
        body += data
        if len(body) > self.limit:
            what = f"The response has more than {self.limit} bytes"
            self._error = bad_response(what, self._beginning)

    def _stream(self, data: bytes) -> None:
        try:
            for event in self._events.feed(data):
                self._event(event)
                if self._over:
                    return
        except TooLarge as problem:
            self._error = bad_response(f"{problem}".capitalize(), self._beginning)

    def _last_event(self) -> None:
        """An event without its blank line counts if it is whole."""
        for event in self._events.finish():
            try:
                parse(event.data)
            except ValueError:
                self._done = event.data.strip() == "[DONE]"
            else:
                self._event(event)

    def _event(self, event: Event) -> None:
        data = event.data.strip()
        if data == "[DONE]":
            self._done = True
        elif data:
            self._data(data)

    def _data(self, data: str) -> None:
        try:
            chunk = parse(data)
        except ValueError:
            self._error = bad_response("An event of the stream is not JSON", data)
            return
        self._error = body_fault(chunk)
        self._chunk(members(chunk))

    def _read(self, body: bytes, fault: ModelError | None) -> None:
        """The response in one piece."""
        try:
            value = parse(body)
        except ValueError as problem:
            what = f"The response is not JSON ({problem})"
            self._error = fault or bad_response(what, body)
            return
        self._error = body_fault(value)
        self._chunk(members(value))
        if self._understood:
            self._reason = self._reason or "stop"

    def _chunk(self, chunk: Mapping[str, Json]) -> None:
        self._draft.usage(chunk.get("usage"))
        self._draft.usage(members(chunk.get("x_groq")).get("usage"))
        choices = chunk.get("choices")
        self._understood = self._understood or (self._streamed and choices == [])
        for choice in map(members, items(choices)):
            if (whole(choice.get("index")) or 0) == 0:
                self._choice(choice)

    def _choice(self, choice: Mapping[str, Json]) -> None:
        self._error = self._error or body_fault({"error": choice.get("error")})
        self._draft.usage(choice.get("usage"))
        self._reason = text(choice.get("finish_reason")) or self._reason
        if "delta" in choice:
            self._understood = True
            self._draft.delta(members(choice["delta"]))
        elif members(choice.get("message")):
            self._understood = True
            self._draft.message(members(choice["message"]))

    def _cut(self, fault: ModelError | None) -> ModelError | None:
        """Why this is no whole reply, if it is none."""
        if self._understood and (self._reason or (self._done and self._draft.parts)):
            return None
        if fault:
            return fault
        if self._beginning.strip() and not self._understood:
            return bad_response("This is no chat completion", self._beginning)
        if self._done:
            return bad_response("The stream ended without a reply", self._beginning)
        if self._beginning.strip():
            return ModelError("The stream ended before the reply did.", "cut_stream")
        return ModelError("The response was empty.", "cut_stream")

    def _reply(self, reason: str) -> AssistantMessage | ModelError:
        """What the reason says that the server gave for the end of the reply."""
        finish = FINISHES.get(reason, "end")
        silent = not self._draft.has("text", "refusal", "call")
        if reason in FAULTS:
            return ModelError(f"The reply ended as {reason!r}.", FAULTS[reason])
        if silent and finish == "refusal":
            return ModelError(f"The reply was withheld: {reason}.", "content_filter")
        if silent and reason and reason not in FINISHES:
            return ModelError(f"An empty reply ended as {reason!r}.", "bad_response")
        if self._draft.has("refusal"):
            finish = "refusal"
        elif finish == "end" and self._draft.has("call"):
            finish = "tools"
        return self._draft.reply(finish)
