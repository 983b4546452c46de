"""Responses: the bytes of a Chat Completions response as one reply or one fault.

What is not understood never becomes an empty success.
"""

from collections.abc import Mapping
from typing import Final

from attrs import define, field

from loopcore import AssistantMessage, CallModel, ModelError, Tell
from loopcore_adapters.body import Body
from loopcore_adapters.chat.draft import Draft, Finish
from loopcore_adapters.fault_kinds import Fault
from loopcore_adapters.faults import bad_response, body_fault, told
from loopcore_adapters.loose import Json, items, members, text, whole
from loopcore_adapters.sse import LIMIT

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
    _body: Body = field(init=False)
    _understood: bool = field(default=False, init=False)
    _reason: str = field(default="", init=False)
    _error: ModelError | None = field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        self._draft = Draft(self.call.id, self.call.model, self.tell)
        self._body = Body(self.limit)

    def feed(self, data: bytes) -> bool:
        """Take these bytes; True once the reply, or a fault, is complete."""
        for _, said in self._body.feed(data):
            self._take(said)
            if self._error:
                break
        return self._body.done or self._fault is not None

    def finish(self, fault: ModelError | None = None) -> AssistantMessage | ModelError:
        """The one result; `fault` is what broke the connection, if something did."""
        if not self._fault:
            self._rest(fault)
        self._draft.end()
        result = self._fault or self._cut(fault) or self._reply(self._reason.lower())
        if isinstance(result, ModelError):
            return told(result, self._draft.partial())
        return result

    @property
    def _fault(self) -> ModelError | None:
        return self._error or self._body.fault

    def _rest(self, fault: ModelError | None) -> None:
        for _, said in self._body.finish(fault):
            self._take(said)
        if self._understood and not self._body.streamed:
            self._reason = self._reason or "stop"

    def _take(self, said: Json) -> None:
        """An event's JSON, or the response that came in one piece."""
        self._error = body_fault(said)
        self._chunk(members(said))

    def _chunk(self, chunk: Mapping[str, Json]) -> None:
        self._draft.usage(chunk.get("usage"))
        self._draft.usage(members(chunk.get("x_groq")).get("usage"))
        choices = chunk.get("choices")
        self._understood = self._understood or (self._body.streamed and choices == [])
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
        if self._understood and (
            self._reason or (self._body.done and self._draft.parts)
        ):
            return None
        if fault:
            return fault
        if not self._understood:
            return self._body.not_understood("This is no chat completion")
        if self._body.done:
            return bad_response(
                "The stream ended without a reply", self._body.beginning
            )
        return self._body.broken_off

    def _reply(self, reason: str) -> AssistantMessage | ModelError:
        """What the reason says that the server gave for the end of the reply."""
        finish = FINISHES.get(reason, "end")
        silent = not self._draft.has("text", "refusal", "call", "image")
        if reason in FAULTS:
            return ModelError(f"The reply ended as {reason!r}.", FAULTS[reason])
        if silent and finish == "refusal":
            return ModelError(f"The reply was withheld: {reason}.", "content_filter")
        if silent and reason and reason not in FINISHES:
            return ModelError(f"An empty reply ended as {reason!r}.", "bad_response")
        if silent and self._draft.odd:
            what = "The reply has only content that is not known here"
            return bad_response(what, self._body.beginning)
        if self._draft.has("refusal"):
            finish = "refusal"
        elif finish == "end" and self._draft.has("call"):
            finish = "tools"
        return self._draft.reply(finish)
