"""What a server gives, as what a tool gives."""

import json
from collections.abc import Iterator
from functools import partial
from typing import Final, assert_never

from mcp.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from loopcore import Image, Text, ToolOutput
from loopcore_adapters.loose import Json, dump

PICTURES: Final = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp"))
"""What model services take as pictures; of any other they refuse the whole request."""


def output_of(result: CallToolResult) -> ToolOutput:
    """The output of a tool: all that it said, and what is structured for the program.

    A server that gives nothing but structured content is heard too: the model reads it.
    """
    data: Json = result.structured_content
    parts: list[Text | Image] = [
        part for block in result.content for part in _parts(block)
    ]
    if not parts and data is not None:
        parts = [Text(dump(data))]
    if not parts and result.is_error:
        parts = [Text("The tool failed and did not say why.")]
    return _output(parts, data, failed=result.is_error)


def _output(parts: list[Text | Image], data: Json, *, failed: bool) -> ToolOutput:
    made = partial(ToolOutput, parts, outcome="error" if failed else "ok")
    try:
        return made(details=data)
    except TypeError:  # nested too deeply, or NaN: as text, nothing is lost
        return made(details=json.dumps(data))


def _parts(block: ContentBlock) -> Iterator[Text | Image]:
    match block:
        case TextContent():
            yield Text(block.text)
        case ImageContent():
            yield _picture(block.mime_type, block.data)
        case AudioContent():
            yield _left_out("sound", block.mime_type, block.data)
        case ResourceLink():
            yield Text(_link(block))
        case EmbeddedResource():
            yield from _embedded(block.resource)
        case _:
            assert_never(block)


def _embedded(
    resource: TextResourceContents | BlobResourceContents,
) -> Iterator[Text | Image]:
    if isinstance(resource, TextResourceContents):
        yield Text(f"[resource {resource.uri}]\n{resource.text}")
    else:
        yield Text(f"[resource {resource.uri}]")
        yield _picture(resource.mime_type or "of no known type", resource.blob)


def _picture(mime: str, data: str) -> Text | Image:
    if mime in PICTURES:
        return Image(data, mime)
    return _left_out("data", mime, data)


def _left_out(what: str, mime: str, data: str) -> Text:
    """Says that something was here that no model can be shown."""
    return Text(f"[{what} left out: {mime}, {len(data) * 3 // 4} bytes]")


def _link(link: ResourceLink) -> str:
    said = [link.title or link.name, link.description, link.mime_type]
    return f"[resource {link.uri}: {', '.join(filter(None, said))}]"
