"""Responses: the bytes of a generateContent response as one reply or one fault.

What is not understood never becomes an empty success.
"""

from collections.abc import Mapping
from typing import Final

from attrs import define, evolve, field

from loopcore import AssistantMessage, CallModel, ModelError, Tell
from loopcore_adapters.body import Body
from loopcore_adapters.fault_kinds import Fault
from loopcore_adapters.faults import bad_response, body_fault, told
from loopcore_adapters.gemini.draft import Draft, Finish
from loopcore_adapters.gemini.output import answer_tool
from loopcore_adapters.loose import Json, items, members, text, whole
from loopcore_adapters.sse import LIMIT

FINISHES: Final[Mapping[str, Finish]] = {
    "STOP": "end",
    "MAX_TOKENS": "length",
    "CONTINUATION": "length",
    "SAFETY": "refusal",
    "RECITATION": "refusal",
    "LANGUAGE": "refusal",
    "BLOCKLIST": "refusal",
    "PROHIBITED_CONTENT": "refusal",
    "SPII": "refusal",
    "IMAGE_SAFETY": "refusal",
    "IMAGE_PROHIBITED_CONTENT": "refusal",
    "IMAGE_RECITATION": "refusal",
    "MODEL_ARMOR": "refusal",
    "ESCALATION": "refusal",
    "OTHER": "refusal",  # as Google's guide has it: against its terms, or unsupported
}
FAULTS: Final[Mapping[str, Fault]] = {
    # What the model wrote could not be read; the next try is likely to be sound.
    "MALFORMED_FUNCTION_CALL": "server",
    "MALFORMED_RESPONSE": "server",
    "UNEXPECTED_TOOL_CALL": "server",
    "TOO_MANY_TOOL_CALLS": "bad_response",
    "MISSING_THOUGHT_SIGNATURE": "bad_request",
    "PUP_LIMITED_DISABLED": "auth",
}

IN_PIECES: Final = (
    "The arguments of a call come in pieces. Leave out the option "
    "streamFunctionCallArguments."
)


@define
class Decoder:
    """Reads one response. `tell` hears what adds up, part by part, to the reply.

    A response in one piece, or an event of a streamed one, of more than `limit` bytes is
    a fault. A stream is read to its end: some servers give a reason in each event.
    """

    call: CallModel
    tell: Tell
    limit: int = LIMIT
    _draft: Draft = field(init=False)
    _body: Body = field(init=False)
    _understood: bool = field(default=False, init=False)
    _reason: str = field(default="", init=False)
    _note: str = field(default="", init=False)
    _blocked: str = field(default="", init=False)
    _id: str = field(default="", init=False)
    _odd: bool = field(default=False, init=False)
    _error: ModelError | None = field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        tool = answer_tool(self.call)
        self._draft = Draft(self.call.id, self.call.model, self.tell, tool)
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
            for _, said in self._body.finish(fault):
                self._take(said)
        self._draft.end()
        result = self._fault or self._cut(fault) or self._reply(self._reason.upper())
        if not isinstance(result, ModelError):
            return result
        request_id = result.request_id or self._id or None
        return told(evolve(result, request_id=request_id), self._draft.partial())

    @property
    def _fault(self) -> ModelError | None:
        return self._error or self._body.fault

    def _take(self, said: Json) -> None:
        """An event's JSON, or the response in one piece, which may be an array of them."""
        for chunk in items(said) or (said,):
            self._error = self._error or body_fault(chunk)
            self._chunk(members(chunk))

    def _chunk(self, chunk: Mapping[str, Json]) -> None:
        self._draft.usage(chunk.get("usageMetadata"))
        self._id = text(chunk.get("responseId")) or self._id
        feedback = members(chunk.get("promptFeedback"))
        if reason := text(feedback.get("blockReason")):
            self._blocked = reason
            self._note = text(feedback.get("blockReasonMessage"))
        for candidate in map(members, items(chunk.get("candidates"))):
            if (whole(candidate.get("index")) or 0) == 0:
                self._candidate(candidate)

    def _candidate(self, candidate: Mapping[str, Json]) -> None:
        self._understood = True
        self._reason = text(candidate.get("finishReason")) or self._reason
        self._note = text(candidate.get("finishMessage")) or self._note
        content = candidate.get("content")
        self._odd = self._odd or _is_odd(content)
        for part in map(members, items(members(content).get("parts"))):
            function = members(part.get("functionCall"))
            if function.get("partialArgs") or function.get("willContinue"):
                self._error = ModelError(IN_PIECES, "bad_response")
                return
            self._draft.take(part)

    def _cut(self, fault: ModelError | None) -> ModelError | None:
        """Why this is no whole reply, if it is none."""
        if self._blocked and not self._draft.parts:
            said = self._noted(f"The prompt was blocked: {self._blocked}.")
            return ModelError(said, "content_filter")
        ended = self._body.done or not self._body.streamed
        if self._understood and (self._reason or (ended and self._draft.parts)):
            return None
        return fault or self._short(ended=ended)

    def _short(self, *, ended: bool) -> ModelError:
        if not self._understood:
            return self._body.not_understood("This is no response of generateContent")
        if ended:
            return bad_response("The response holds no reply", self._body.beginning)
        return self._body.broken_off

    def _reply(self, reason: str) -> AssistantMessage | ModelError:
        """What the reason says that the server gave for the end of the reply."""
        finish = FINISHES.get(reason, "end")
        if reason in FAULTS:
            said = self._noted(f"The reply ended as {reason}.")
            return ModelError(said, FAULTS[reason])
        if self._draft.silent and finish == "refusal":
            said = self._noted(f"The reply was withheld: {reason}.")
            return ModelError(said, "content_filter")
        if self._draft.silent and reason and reason not in FINISHES:
            said = self._noted(f"An empty reply ended as {reason}.")
            return ModelError(said, "bad_response")
        if self._draft.silent and (self._odd or self._draft.strange):
            kinds = ", ".join(self._draft.strange) or "no parts"
            what = f"The reply has only content that is not known here ({kinds})"
            return bad_response(what, self._body.beginning)
        tools = finish == "end" and self._draft.calls
        return self._draft.reply("tools" if tools else finish)

    def _noted(self, said: str) -> str:
        return f"{said} {self._note}".strip()


def _is_odd(content: Json) -> bool:
    """Whether a content is not what the protocol has, as far as it can be a text."""
    parts = members(content).get("parts")
    if not (isinstance(content, dict | None) and isinstance(parts, list | None)):
        return True
    texts = (members(part).get("text") for part in items(parts))
    whole = all(isinstance(part, dict) for part in items(parts))
    return not (whole and all(isinstance(said, str | None) for said in texts))
