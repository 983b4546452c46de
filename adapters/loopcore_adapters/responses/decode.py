"""Responses: the bytes of a response of this wire as one reply or one fault.

What is not understood never becomes an empty success.
"""

from collections.abc import Mapping
from typing import Final

from attrs import define, field

from loopcore import AssistantMessage, CallModel, ModelError, Tell
from loopcore_adapters.body import Body
from loopcore_adapters.faults import bad_response, body_fault, told
from loopcore_adapters.loose import Json, members, text
from loopcore_adapters.responses.draft import Draft
from loopcore_adapters.responses.items import CALL, PICTURE
from loopcore_adapters.responses.output import Output
from loopcore_adapters.sse import LIMIT

ENDS: Final[Mapping[str, str]] = {
    "response.completed": "completed",
    "response.done": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
    "response.cancelled": "cancelled",
}
"""The events that end a stream, and the status that each says if its response has none."""

TOO_LONG: Final = ("max_output_tokens", "max_tokens", "length")
FILTERED: Final = "content_filter"
KEEPALIVE: Final = "keepalive"


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
    _output: Output = field(init=False)
    _body: Body = field(init=False)
    _understood: bool = field(default=False, init=False)
    _status: str = field(default="", init=False)
    _reason: str = field(default="", init=False)
    _error: ModelError | None = field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        self._draft = Draft(self.call.id, self.call.model, self.tell)
        self._output = Output(self._draft)
        self._body = Body(self.limit)

    def feed(self, data: bytes) -> bool:
        """Take these bytes; True once the reply, or a fault, is complete."""
        for name, said in self._body.feed(data):
            self._take(name, said)
            if self._over:
                break
        return self._over or self._body.done

    def finish(self, fault: ModelError | None = None) -> AssistantMessage | ModelError:
        """The one result; `fault` is what broke the connection, if something did."""
        if not self._over:
            for name, said in self._body.finish(fault):
                self._take(name, said)
        self._draft.end()
        result = self._fault or self._cut(fault) or self._result()
        if isinstance(result, ModelError):
            return told(result, self._draft.partial())
        return result

    @property
    def _fault(self) -> ModelError | None:
        return self._error or self._body.fault

    @property
    def _over(self) -> bool:
        return bool(self._status) or self._fault is not None

    def _take(self, name: str, said: Json) -> None:
        event = members(said)
        kind = text(event.get("type")) or name
        if kind in ENDS:
            self._end(members(event.get("response")), ENDS[kind])
        elif kind.startswith("response.") or kind == KEEPALIVE:
            self._understood = True
            self._output.take(kind, event)
        else:
            self._other(said)

    def _other(self, said: Json) -> None:
        """No event: a response in one piece, or an error."""
        self._error = body_fault(said)
        response = members(said)
        whole = "output" in response or "status" in response
        meant = not self._body.streamed or response.get("object") == "response"
        if whole and meant and not self._error:
            self._end(response, "completed")

    def _end(self, response: Mapping[str, Json], status: str) -> None:
        self._understood = True
        self._output.all(response.get("output"))
        self._draft.usage(response.get("usage"))
        self._reason = text(members(response.get("incomplete_details")).get("reason"))
        self._status = text(response.get("status")) or status
        self._error = body_fault({"error": response.get("error")})
        if "failed" in (status, self._status) and not self._error:
            said = "The response failed, and does not say why."
            self._error = ModelError(said, "server")

    def _cut(self, fault: ModelError | None) -> ModelError | None:
        """Why this is no whole reply, if it is none."""
        if self._status:
            return None
        if fault:
            return fault
        if not self._understood:
            what = "This is no reply over the wire 'responses'"
            return self._body.not_understood(what)
        return self._body.broken_off

    def _result(self) -> AssistantMessage | ModelError:
        """What the status of the response says."""
        if self._status == "cancelled":
            return ModelError("The provider cancelled the response.", "cut_stream")
        if self._status == "incomplete" or self._reason:
            return self._incomplete()
        if self._status != "completed":
            beginning = self._body.beginning
            return bad_response(f"The response is {self._status}", beginning)
        if self._draft.has("refusal"):
            return self._draft.reply("refusal")
        if self._output.strange and not self._draft.has("text", CALL, PICTURE):
            kinds = ", ".join(self._output.strange)
            what = f"The reply has only content that is not known here ({kinds})"
            return bad_response(what, self._body.beginning)
        return self._draft.reply("tools" if self._draft.has(CALL) else "end")

    def _incomplete(self) -> AssistantMessage | ModelError:
        if self._reason in TOO_LONG:
            return self._draft.reply("length")
        said = f"The reply is incomplete: {self._reason or 'no reason is given'}."
        if self._reason != FILTERED:
            return ModelError(said, "bad_response")
        if not self._draft.has("text", "refusal", CALL):
            return ModelError(said, "content_filter")
        return self._draft.reply("refusal")
