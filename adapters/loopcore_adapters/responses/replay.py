"""A model's reply as items of a later request's input.

A thought goes back to the model that had it, whole as it came, and right before what it
led to; the ids of that go with it. A thought that cannot be read, or that led to nothing,
is left out, and then so are the ids, since the server looks for what belongs together:

* "reasoning ... without its required following item"
* "function_call ... without its required reasoning item"

Thoughts of other models are left out: as text they would be said, and be imitated.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TypeAlias

from attrs import evolve, frozen

from loopcore import AssistantMessage, Text, Thinking, ToolCall
from loopcore_adapters.loose import Json
from loopcore_adapters.pieces import written
from loopcore_adapters.responses import signing
from loopcore_adapters.responses.signing import Voice
from loopcore_adapters.stand_ins import Part

Wire: TypeAlias = dict[str, Json]


@frozen
class Manner:
    """All that the items of a reply depend on besides the reply.

    Args:
        ids: those of its calls.
        names: those of the tools it calls.
        own: whether the model that is asked now made it.
        linked: whether the ids of its items are theirs alone.
    """

    ids: tuple[str, ...]
    names: tuple[str, ...]
    own: bool
    linked: bool


def claims(message: AssistantMessage, _: str) -> bytes:
    """The ids that its items would have, a line each."""
    found = [id_ for _, run in groupby(message.parts, _run) for id_ in _ids(list(run))]
    return "\n".join(found).encode()


def _ids(run: list[Part]) -> Iterator[str]:
    first = run[0]
    if isinstance(first, Text):
        yield signing.voice(first).id
    for part in run:
        if isinstance(part, Thinking):
            yield "".join((signing.thought_id(part) or "").split())
        elif isinstance(part, ToolCall):
            yield signing.item_id(part)


def items(message: AssistantMessage, manner: Manner) -> bytes:
    """The items, with commas between; nothing for a reply of which nothing is sent."""
    thoughts = (part for part in message.parts if isinstance(part, Thinking))
    if manner.linked and any(map(signing.item, thoughts)):
        found = _linked(message, manner)
    else:
        found = _unlinked(message, manner)
    return b",".join(map(written, found))


def _unlinked(message: AssistantMessage, manner: Manner) -> Iterator[Wire]:
    """What was said, and then the calls."""
    texts = [part for part in message.parts if isinstance(part, Text)]
    for phase, parts in groupby(texts, lambda part: _phase(part, manner)):
        yield from _message(parts, Voice(phase=phase))
    yield from _calls(message, manner)


def _phase(part: Text, manner: Manner) -> str:
    return signing.voice(part).phase if manner.own else ""


def _linked(message: AssistantMessage, manner: Manner) -> Iterator[Wire]:
    """All in its order, each thought before what it led to; of adjacent ones the last."""
    calls = _calls(message, manner)
    thought, beside = Wire(), False
    for _, run in groupby(message.parts, _run):
        parts = list(run)
        if isinstance(parts[-1], Thinking):
            thought = signing.item(parts[-1])
            beside = bool(thought)
        elif found := list(_led_to(parts, calls, beside=beside)):
            yield from (thought, *found) if thought else found
            thought = {}


def _run(part: Part) -> tuple[str, str]:
    """What parts of one item, or of one kind, have in common."""
    if not isinstance(part, Text):
        return type(part).__name__, ""
    voice = signing.voice(part)
    return voice.id, voice.phase


def _led_to(
    parts: list[Part], calls: Iterator[Wire], *, beside: bool
) -> Iterator[Wire]:
    """The items of these texts, or calls; with their ids if they stand beside a thought."""
    texts = [part for part in parts if isinstance(part, Text)]
    if texts:
        voice = signing.voice(texts[0])
        yield from _message(texts, voice if beside else evolve(voice, id=""))
    for part in parts:
        if isinstance(part, ToolCall):
            item_id = signing.item_id(part) if beside else ""
            own = {"id": item_id, "status": "completed"} if item_id else {}
            yield next(calls) | own


def _calls(message: AssistantMessage, manner: Manner) -> Iterator[Wire]:
    ids = zip(message.calls, manner.ids, manner.names, strict=True)
    for call, call_id, name in ids:
        yield {
            "type": "function_call",
            "call_id": call_id,
            "name": name,
            "arguments": call.text,
        }


def _message(parts: Iterable[Text], voice: Voice) -> Iterator[Wire]:
    """The message that these texts are; none without text, or of blank text and no id."""
    said = [part for part in parts if part.text]
    if not said or not (voice.id or any(part.text.strip() for part in said)):
        return
    wire: Wire = {"type": "message", "role": "assistant"}
    if voice.id:
        wire |= {"id": voice.id, "status": "completed"}
    wire["content"] = (
        [_entry(part) for part in said]
        if voice.id
        else "".join(part.text for part in said)
    )
    yield wire | ({"phase": voice.phase} if voice.phase else {})


def _entry(part: Text) -> Wire:
    if signing.voice(part).refusal:
        return {"type": "refusal", "refusal": part.text}
    return {"type": "output_text", "text": part.text, "annotations": []}
