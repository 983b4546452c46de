"""Content blocks: the parts of one message as the protocol has them, already written.

Rules: https://platform.claude.com/docs/en/api/messages and what the service refuses: texts
that are blank, images of other types than four, anything but text in a failed result, and
a reply that ends in thinking.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final, TypeAlias

from loopcore import (
    AssistantMessage,
    Image,
    SystemMessage,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from loopcore_adapters.call_ids import tool_name
from loopcore_adapters.loose import Json
from loopcore_adapters.pictures import encoded, mime
from loopcore_adapters.pieces import written
from loopcore_adapters.stand_ins import (
    INSTRUCTION,
    SEE_BELOW,
    Part,
    lead,
    plain,
    shown,
    silent,
)

Block: TypeAlias = dict[str, Json]

IMAGES: Final = re.compile(r"image/(png|jpeg|gif|webp)")
THOUGHTS: Final = ("thinking", "redacted_thinking")
THOUGHT: Final = (b'{"type":"thinking"', b'{"type":"redacted_thinking"')
"""What the bytes of a reply that begins with thinking begin with."""


def calls(piece: bytes) -> bool:
    """Whether there is a call in these bytes of a reply."""
    return b'{"type":"tool_use"' in piece


def thinks(piece: bytes) -> bool:
    """Whether there is thinking in these bytes of a reply."""
    return any(thought in piece for thought in THOUGHT)


Called: TypeAlias = tuple[tuple[str, ...], bool, frozenset[str]]
"""The ids of a reply's calls, whether it is the model's own, and the tools there are."""


def text(said: str) -> Block:
    """A text."""
    return {"type": "text", "text": said}


def joined(blocks: Iterable[Block]) -> bytes:
    """The bytes of these blocks as they stand in an array."""
    return b",".join(map(written, blocks))


def user(message: UserMessage, _: None) -> bytes:
    """What a user says."""
    return joined(_seen(message.parts))


def instruction(message: SystemMessage, tagged: bool) -> bytes:  # noqa: FBT001  # a key
    """What the system says; `tagged` where a user's message has to say it."""
    said = plain(message.parts)
    if not said.strip():
        return b""
    return written(text(INSTRUCTION.format(said) if tagged else said))


def _seen(parts: Iterable[Part]) -> Iterator[Block]:
    """Texts and images; one text instead of each run of images that no one could see."""
    for part in shown(parts, media=IMAGES):
        if isinstance(part, Image):
            yield _picture(part)
        elif part.text.strip():
            yield text(part.text)


def _picture(image: Image) -> Block:
    media = {"type": "base64", "media_type": mime(image), "data": encoded(image)}
    return {"type": "image", "source": media}


def result(answer: ToolResultMessage, name: str) -> bytes:
    """The result of the call that has this id."""
    seen = list(_seen(answer.parts))
    content = [
        block for block in seen if block["type"] == "text" or not answer.is_error
    ]
    if not seen:
        content = [text(silent(answer))]
    elif all(block["type"] == "image" for block in seen):
        content = [text(SEE_BELOW), *content]
    block = {"type": "tool_result", "tool_use_id": name, "content": content}
    return written(block | ({"is_error": True} if answer.is_error else {}))


def pictures(said: AssistantMessage | ToolResultMessage, _: None) -> bytes:
    """The images that cannot stand where they were: in a reply, or in a failed result."""
    stays = isinstance(said, ToolResultMessage) and not said.is_error
    return b"" if stays else _after(lead(said), said.parts)


def _after(place: str, parts: Iterable[Part]) -> bytes:
    seen = _seen(part for part in parts if isinstance(part, Image))
    found = [block for block in seen if block["type"] == "image"]
    return joined([text(place), *found]) if found else b""


def reply(message: AssistantMessage, key: tuple[Called, bool]) -> bytes:
    """What the model said; of thinking only what it can take back.

    Thinking of another model is left out, and so is what has no signature where one is
    needed. Thoughts in a row are sent as they came, all of them: the service refuses a
    part. But one that would stand beside another only because what parted them could not
    be sent is left out: two runs look like one that was changed.
    """
    (names, own, tools), signed = key
    ids = iter(names)
    blocks = list[Block]()
    for thinks, parts in groupby(message.parts, _is_thought):
        if not thinks:
            blocks += _said(parts, ids, tools)
        elif own and not _thinks(blocks[-1:]):
            blocks += _thoughts(parts, signed=signed)
    while _thinks(blocks[-1:]):
        blocks.pop()
    return joined(blocks)


def _is_thought(part: Part) -> bool:
    return isinstance(part, Thinking)


def _thinks(last: list[Block]) -> bool:
    return any(block["type"] in THOUGHTS for block in last)


def _said(
    parts: Iterable[Part], ids: Iterator[str], tools: frozenset[str]
) -> Iterator[Block]:
    for part in parts:
        if isinstance(part, ToolCall):
            yield _call(part, next(ids), tools)
        elif isinstance(part, Text) and part.text.strip():
            yield text(part.text)


def _thoughts(parts: Iterable[Part], *, signed: bool) -> Iterator[Block]:
    for part in parts:
        if isinstance(part, Thinking):
            yield from _thinking(part, signed=signed)


def _call(call: ToolCall, name: str, tools: frozenset[str]) -> Block:
    """The call; malformed arguments are no object, so they are sent as an empty one."""
    return {
        "type": "tool_use",
        "id": name,
        "name": tool_name(call.name, tools),
        "input": call.arguments,
    }


def _thinking(part: Thinking, *, signed: bool) -> Iterator[Block]:
    """The thinking as it came: also an empty text, if it has a signature.

    What other wires keep as a signature is JSON; one model may be reached over several.
    """
    signature = part.signature or ""
    if signature.startswith(("{", "[")):
        signature = ""
    if part.redacted and signature:
        yield {"type": "redacted_thinking", "data": signature}
    elif signature or (part.text.strip() and not signed and not part.redacted):
        yield {"type": "thinking", "thinking": part.text, "signature": signature}
