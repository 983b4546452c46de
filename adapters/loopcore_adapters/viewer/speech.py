"""Messages as a page tells them: their parts, and which hooks had a hand in them."""

from typing import Any, Final

from attrs import define, field

from loopcore import (
    AssistantMessage,
    CustomMessage,
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from loopcore.events import MessageAdded
from loopcore_adapters.viewer.known import UNKNOWN, Known
from loopcore_adapters.viewer.tables import Tables, Told
from loopcore_adapters.viewer.timeline import Point, Wrote

CALLS: Final = (
    "prepare_tool_call",
    "before_tool_call",
    "after_tool_call",
    "after_tool_result",
)
RESULTS: Final = ("after_tool_call", "after_tool_result")


@define
class Shaping:
    """Which hooks had a hand in each stored message, as a run goes on.

    `of` has it by the message's number: what they wrote, in order.
    """

    known: Known
    of: dict[int, list[Wrote]] = field(factory=dict[int, list[Wrote]])
    _calls: dict[tuple[str, int], list[Wrote]] = field(
        factory=dict[tuple[str, int], list[Wrote]]
    )
    _replies: dict[str, list[Wrote]] = field(factory=dict[str, list[Wrote]])
    _stored: dict[str, int] = field(factory=dict[str, int])

    def follow(self, point: Point) -> None:
        """What was written and stored at this point."""
        for wrote in point.wrote:
            if wrote.point in CALLS:
                self._calls.setdefault((wrote.run_id, wrote.place), []).append(wrote)
            elif wrote.point == "after_model_call":
                self._replies.setdefault(wrote.run_id, []).append(wrote)
            for message in wrote.fields.get("inject", ()):
                self.of.setdefault(self.known.number(message), []).append(wrote)
        for event in point.effects.tell:
            if isinstance(event, MessageAdded):
                self._store(event.run_id, event.message)

    def _store(self, run_id: str, message: Message) -> None:
        if isinstance(message, AssistantMessage):
            self._stored[run_id] = 0
            self._shaped(message, self._replies.pop(run_id, []))
        elif isinstance(message, ToolResultMessage):
            place = self._stored.get(run_id, 0)
            self._stored[run_id] = place + 1
            self._shaped(message, self._calls.pop((run_id, place), []))

    def _shaped(self, message: Message, wrote: list[Wrote]) -> None:
        shaping = [one for one in wrote if set(one.fields) != {"memo"}]
        if shaping:
            self.of.setdefault(self.known.number(message), []).extend(shaping)


def raw(wrote: list[Wrote]) -> Any:  # noqa: ANN401  # a view, or None
    """What the first hook that changed a result, or a reply, saw of it."""
    found = (w for w in wrote if w.point in (*RESULTS, "after_model_call"))
    return next((w.view for w in found if w.view is not None), None)


def message_told(tables: Tables, message: Message) -> dict[str, Told]:
    """A message by its kind, parts and the other fields that it has."""
    kind = KINDS.get(type(message), "system")
    said: dict[str, Told] = {"k": kind}
    if message.parts:
        said["p"] = [part_told(tables, part) for part in message.parts]
    match message:
        case AssistantMessage():
            return said | _reply(tables, message)
        case ToolResultMessage():
            return said | _result(tables, message)
        case CustomMessage():
            return said | {
                "name": tables.text(message.kind),
                "data": tables.told(message.data),
            }
        case _:
            return said


KINDS: Final[dict[type[Message], str]] = {
    UserMessage: "user",
    AssistantMessage: "assistant",
    ToolResultMessage: "result",
    CustomMessage: "custom",
}


def _reply(tables: Tables, message: AssistantMessage) -> dict[str, Told]:
    said: dict[str, Told] = {"finish": message.finish, "model": message.model}
    if message.usage != NO_USAGE:
        said["usage"] = usage_told(message.usage)
    if message.error:
        said["error"] = tables.told(message.error)
    return said


NO_USAGE: Final = Usage()


def _result(tables: Tables, message: ToolResultMessage) -> dict[str, Told]:
    said: dict[str, Told] = {
        "outcome": message.outcome,
        "name": tables.text(message.name),
        "id": tables.text(message.call_id),
    }
    if message.details is not None:
        said["details"] = tables.told(message.details)
    return said


def usage_told(usage: Usage) -> list[float | None]:
    """The counts in the order of their fields."""
    counts = (usage.input, usage.output, usage.cache_read, usage.cache_write)
    return [*counts, usage.reasoning, usage.cost]


def part_told(tables: Tables, part: Any) -> dict[str, Told]:  # noqa: ANN401  # any part
    """A part: what it is about stands under its kind."""
    match part:
        case Text(text=text):
            return {"text": tables.text(text)}
        case Thinking(text=text, redacted=redacted):
            return {"thinking": tables.text(text), "redacted": redacted}
        case Image(data=data, mime=mime):
            return {"image": tables.text(data), "mime": tables.text(mime)}
        case ToolCall():
            return _call(tables, part)
        case _:
            return {"text": tables.text(repr(part))}


def _call(tables: Tables, call: ToolCall) -> dict[str, Told]:
    said = {
        "call": tables.text(call.name),
        "arguments": tables.told(call.arguments),
        "id": tables.text(call.id),
    }
    if call.malformed:
        said["malformed"] = tables.text(call.malformed)
        said["raw"] = tables.text(call.raw or "")
    return said


def variant_told(known: Known, number: int) -> dict[str, Told]:
    """Whose variant a message is, if it is one."""
    variant = known.variants.get(number)
    if variant is None:
        return {}
    of = {} if variant.of == UNKNOWN else {"of": variant.of}
    return {**of, "by": variant.by}
