"""What only the provider understands, kept to go back to its model as it came.

A provider's own tools leave parts in a reply (code that it ran, what came of it), and a
picture has a signature. They are kept as redacted thinking, whose payload they are.
"""

from collections.abc import Mapping
from typing import Final

from loopcore import Thinking
from loopcore_adapters.flow import mend
from loopcore_adapters.loose import Json, dump, members, parse, text
from loopcore_adapters.pictures import is_base64

NAME: Final = "gemini"
OURS: Final = frozenset(("text", "functionCall", "functionResponse"))
"""What is never kept, for it is understood."""


def keep(part: Mapping[str, Json]) -> Thinking:
    """The part, as redacted thinking.

    >>> keep({"executableCode": {"code": "1"}}).signature
    '{"gemini":{"executableCode":{"code":"1"}}}'
    """
    return Thinking("", mend(dump({NAME: part})), redacted=True)


def kept(thought: Thinking) -> dict[str, Json]:
    """The part that was kept; empty if this is no such thinking.

    >>> kept(keep({"thoughtSignature": "Zm9v"})), kept(Thinking("hm", "Zm9v"))
    ({'thoughtSignature': 'Zm9v'}, {})
    """
    if not thought.redacted:
        return {}
    try:
        part = members(members(parse(thought.signature or "")).get(NAME))
    except ValueError:
        return {}
    signature = part.get("thoughtSignature")
    sound = signature is None or is_base64(text(signature))
    return part if sound and not OURS & part.keys() else {}
