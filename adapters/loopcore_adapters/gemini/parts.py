"""The parts of a turn: what each is on the wire, and what stands in for what cannot be."""

import re
from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

from loopcore import Image, Text, Thinking, ToolCall, ToolResultMessage
from loopcore_adapters.gemini.kept import kept
from loopcore_adapters.loose import Json
from loopcore_adapters.pictures import encoded, is_base64, is_shown, mime
from loopcore_adapters.stand_ins import SEE_BELOW, Part, lead, plain, shown, silent

Wire: TypeAlias = dict[str, Json]
Named: TypeAlias = tuple[str, str]
"""The id and the name of a call, as they are sent; the id may be empty."""

MEDIA: Final = re.compile(r"image/(png|jpeg|webp|heic|heif)|application/pdf")
"""What a turn may show, by Google's list."""

RESULT_MEDIA: Final = re.compile(r"image/(png|jpeg|webp)|application/pdf")
"""What a function's response may show."""

UNSIGNED: Final = "skip_thought_signature_validator"
"""Stands in for the signature of a call that the model did not make.

It is one of the two that Google's guide to thought signatures names for this.
"""


def user_parts(parts: Iterable[Part]) -> Iterator[Wire]:
    """What a user says and shows; a run of pictures that cannot be shown is one text."""
    for part in shown(parts, media=MEDIA):
        if isinstance(part, Image) or part.text.strip():
            yield _plainly(part)


def _plainly(part: Text | Image) -> Wire:
    return {"text": part.text} if isinstance(part, Text) else _inline(part)


def _inline(image: Image) -> Wire:
    return {"inlineData": {"mimeType": mime(image), "data": encoded(image)}}


def model_parts(
    parts: Iterable[Part], calls: Iterable[Named], *, own: bool, signed: bool
) -> list[Wire]:
    """A reply. `own` is whether the model that is asked made it.

    Only then are thoughts and signatures sent, on the very parts that they came on. If
    `signed`, the first call has a signature in any case.
    """
    made: list[Wire] = []
    named = iter(calls)
    for part in parts:
        match part:
            case ToolCall():
                made.append(_call(part, next(named)) | _signature(part, own=own))
            case Thinking():
                _think(made, part, own=own)
            case Text():
                _say(made, part, own=own)
            case Image():
                made += user_parts([part])
    first = next((wire for wire in made if "functionCall" in wire), None)
    if signed and first:
        first.setdefault("thoughtSignature", UNSIGNED)
    return made


def _call(call: ToolCall, named: Named) -> Wire:
    call_id, name = named
    function: Wire = {"name": name, "args": call.arguments}
    return {"functionCall": {"id": call_id, **function} if call_id else function}


def _signature(part: Text | Thinking | ToolCall, *, own: bool) -> Wire:
    """What the provider attached; that of another wire would be refused (G2)."""
    signature = part.signature or ""
    return {"thoughtSignature": signature} if own and is_base64(signature) else {}


def _say(made: list[Wire], said: Text, *, own: bool) -> None:
    """The text; a blank one only if it is signed: then thoughts hang on it (G3)."""
    signature = _signature(said, own=own)
    if said.text.strip() or signature:
        made.append({"text": said.text} | signature)


def _think(made: list[Wire], thought: Thinking, *, own: bool) -> None:
    wire = kept(thought) if own else {}
    if wire.keys() == {"thoughtSignature"}:
        if made and "inlineData" in made[-1]:
            made[-1] |= wire
    elif wire:
        made.append(wire)
    elif own and not thought.redacted:
        signature = _signature(thought, own=own)
        if thought.text.strip() or signature:
            made.append({"text": thought.text, "thought": True} | signature)


def function_response(
    answer: ToolResultMessage, call_id: str, name: str, *, nested: bool
) -> Wire:
    """A result, its pictures in it if they may be `nested`. The wire tells errors apart."""
    media = RESULT_MEDIA if nested else MEDIA
    seen = [p for p in answer.parts if isinstance(p, Image) and is_shown(p, media)]
    rest = [part for part in answer.parts if part not in seen]
    text = plain(rest)
    if not text.strip():
        text = SEE_BELOW if seen else silent(answer)
    response: Wire = {"id": call_id} if call_id else {}
    response |= {
        "name": name,
        "response": {"error" if answer.is_error else "output": text},
    }
    if nested and seen:
        response["parts"] = [_inline(image) for image in seen]
    return {"functionResponse": response}


def pictures(answer: ToolResultMessage) -> list[Wire]:
    """The pictures of a result that follow it in a turn of their own."""
    seen = [p for p in answer.parts if isinstance(p, Image) and is_shown(p, MEDIA)]
    said = {"text": lead(answer)}
    return [said, *map(_inline, seen)] if seen else []
