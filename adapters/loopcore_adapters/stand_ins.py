"""What a model is shown of what it cannot be shown, the same over all wires."""

import re
from collections.abc import Iterable
from itertools import chain, groupby
from typing import Final, TypeAlias

from loopcore import Image, Message, Text, Thinking, ToolCall, ToolResultMessage
from loopcore_adapters.pictures import SEEN, is_shown

Part: TypeAlias = Text | Image | Thinking | ToolCall

NO_IMAGES: Final = "[Left out: an image, which this model cannot see.]"
NO_OUTPUT: Final = "[The tool gave no output.]"
FAILED_SILENTLY: Final = "[The tool gave no output. It ended as: {}.]"
SEE_BELOW: Final = "[The tool gave an image; it follows.]"
NOTHING: Final = "[Nothing was said yet.]"
GO_ON: Final = "[Go on.]"
"""What the user says where a conversation has to begin or end with one, and none spoke.

Many models, and Google's since Gemini 3.6, refuse to go on with words of their own.
"""

INSTRUCTION: Final = "<system>\n{}\n</system>"
"""How a user's message says what the system says: most models know one system prompt."""

OUTPUT: Final = "Your final answer is one JSON value that fits this JSON Schema: {0}"


def shown(
    parts: Iterable[Part], *, images: bool = True, media: re.Pattern[str] = SEEN
) -> list[Text | Image]:
    """The texts and images; one text instead of each run of images that no one could see.

    >>> cat = Image("Y2F0", "image/png")
    >>> shown([cat, cat, Text("a")], images=False)[1:]
    [Text('a')]
    """
    seen = [part for part in parts if isinstance(part, Text | Image)]
    runs = groupby(
        seen,
        lambda part: isinstance(part, Image) and not (images and is_shown(part, media)),
    )
    blind = ([Text(NO_IMAGES)] if image else run for image, run in runs)
    return list(chain.from_iterable(blind))


def lead(message: Message) -> str:
    """What stands before pictures that are shown after the message that they are of."""
    if isinstance(message, ToolResultMessage):
        return f"From the result of {message.name}:"
    return "From your reply:"


def plain(parts: Iterable[Part]) -> str:
    """The texts, a line each; a run of images is one stand-in."""
    seen = shown(parts, images=False)
    return "\n".join(part.text for part in seen if isinstance(part, Text))


def silent(result: ToolResultMessage) -> str:
    """What is said for a result that has neither text nor images."""
    return FAILED_SILENTLY.format(result.outcome) if result.is_error else NO_OUTPUT
