"""Responses: the bytes of a Messages response as one reply or one fault.

What is not understood never becomes an empty success. Events:
https://platform.claude.com/docs/en/build-with-claude/streaming
"""

from collections.abc import Mapping
from typing import Final, TypeAlias

from attrs import define, evolve, field

from loopcore import AssistantMessage, CallModel, ModelError, Tell
from loopcore_adapters.body import Body
from loopcore_adapters.faults import body_fault, told
from loopcore_adapters.loose import Json, items, members, text
from loopcore_adapters.messages.dialect import Dialect, dialect_of
from loopcore_adapters.messages.draft import Draft, Finish
from loopcore_adapters.messages.output import output_tool
from loopcore_adapters.sse import LIMIT

Said: TypeAlias = Mapping[str, Json]

FINISHES: Final[Mapping[str, Finish]] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tools",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "pause_turn": "length",  # more would have come: it is no end
    "refusal": "refusal",
    # What gateways pass on as it was over another protocol:
    "stop": "end",
    "tool_calls": "tools",
    "length": "length",
    "content_filter": "refusal",
}


KINDS: Final = frozenset(
    (
        *("message_start", "content_block_start", "content_block_delta"),
        *("content_block_stop", "message_delta", "message_stop", "message", "ping"),
    )
)
"""The events of this protocol; and "message", a reply in one piece."""

NAMELESS: Final = "message"
"""What an event without a name is called."""


@define
class Decoder:
    """Reads one response. `tell` hears what adds up, part by part, to the reply.

    A response in one piece, or an event of a streamed one, of more than `limit` bytes is
    a fault. The dialect is that of the model, unless one is given.
    """

    call: CallModel
    tell: Tell
    limit: int = LIMIT
    dialect: Dialect | None = None
    _draft: Draft = field(init=False)
    _body: Body = field(init=False)
    _understood: bool = field(default=False, init=False)
    _stopped: bool = field(default=False, init=False)
    _reason: str = field(default="", init=False)
    _why: str = field(default="", init=False)
    _error: ModelError | None = field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        dialect = self.dialect or dialect_of(self.call.model)
        tool = output_tool(self.call, dialect)
        self._draft = Draft(self.call.id, self.call.model, self.tell, tool)
        self._body = Body(self.limit)

    def feed(self, data: bytes) -> bool:
        """Take these bytes; True once the reply, or a fault, is complete."""
        for name, said in self._body.feed(data):
            self._take(name, said)
            if self._over:
                break
        return self._over

    def finish(self, fault: ModelError | None = None) -> AssistantMessage | ModelError:
        """The one result; `fault` is what broke the connection, if something did."""
        if not self._over:
            for name, said in self._body.finish(fault):
                self._take(name, said)
        self._draft.end()
        result = self._fault or self._cut(fault) or self._reply(self._reason)
        if isinstance(result, ModelError):
            return told(result, self._draft.partial())
        return result

    @property
    def _fault(self) -> ModelError | None:
        return self._error or self._body.fault

    @property
    def _over(self) -> bool:
        return self._stopped or self._body.done or self._fault is not None

    def _take(self, name: str, value: Json) -> None:
        """An event, or the message that came in one piece; others say nothing of it."""
        said = members(value)
        kind = text(said.get("type")) or (name if name != NAMELESS else "")
        if kind in KINDS:
            self._understood = True
            self._event(kind, said)
        else:
            self._refused(value)

    def _event(self, kind: str, said: Said) -> None:
        match kind:
            case "content_block_delta":  # most are
                self._draft.delta(said.get("index"), members(said.get("delta")))
            case "content_block_start":
                self._draft.start(said.get("index"), members(said.get("content_block")))
            case "message_start":
                self._begin(members(said.get("message")))
            case "message_delta":
                self._draft.usage(said.get("usage"))
                self._ended(members(said.get("delta")))
            case "message":
                self._begin(said)
                self._ended(said)
                self._stopped = True
            case _:
                self._stopped = kind == "message_stop"

    def _refused(self, value: Json) -> None:
        fault = body_fault(value)
        request_id = text(members(value).get("request_id")) or None
        self._error = fault and evolve(fault, request_id=request_id)

    def _ended(self, said: Said) -> None:
        self._reason = text(said.get("stop_reason")) or self._reason
        details = members(said.get("stop_details"))
        self._why = text(details.get("explanation")) or self._why

    def _begin(self, said: Said) -> None:
        """The message: all of it in one piece, nothing of it yet where events follow."""
        self._draft.usage(said.get("usage"))
        content = said.get("content")
        whole = [{"type": "text", "text": content}] if text(content) else items(content)
        if not isinstance(content, str | list | None):
            self._draft.wonder("content")
        for place, block in enumerate(whole):
            self._draft.start(place, members(block))

    def _cut(self, fault: ModelError | None) -> ModelError | None:
        """Why this is no whole reply, if it is none."""
        ended = self._stopped or self._body.done
        if self._understood and (self._reason or (ended and self._draft.parts)):
            return None
        if fault:
            return fault
        if not self._understood:
            return self._body.not_understood("This is no message")
        if ended:
            return ModelError("The response ended without a reply.", "bad_response")
        return self._body.broken_off

    def _reply(self, reason: str) -> AssistantMessage | ModelError:
        """What the reason says that the server gave for the end of the reply."""
        finish = FINISHES.get(reason, "end")
        calls = self._draft.has("call")
        if not calls and not self._draft.has("text"):
            fault = self._silence(reason, finish)
            if fault:
                return fault
        if finish == "end" and calls:
            finish = "tools"
        elif finish == "tools" and not calls and self._draft.answered:
            finish = "end"
        return self._draft.reply(finish)

    def _silence(self, reason: str, finish: Finish) -> ModelError | None:
        """What is wrong with a reply that has neither text nor calls, if anything is."""
        if finish == "refusal":
            why = f"{reason} ({self._why})" if self._why else reason
            return ModelError(f"The reply was withheld: {why}.", "content_filter")
        if reason and reason not in FINISHES:
            return ModelError(f"An empty reply ended as {reason!r}.", "bad_response")
        if self._draft.strange:
            kinds = ", ".join(self._draft.strange)
            what = f"The reply has only content that is not known here: {kinds}."
            return ModelError(what, "bad_response")
        return None
