"""Dialects: where servers that speak Responses differ, as data."""

import re
from typing import Final, Literal

from attrs import field, frozen

from loopcore_adapters import efforts as known
from loopcore_adapters.efforts import UNTHINKING, Efforts, Least

EFFORTS: Final[Efforts] = {
    "off": {"effort": "none"},
    "low": {"effort": "low", "summary": "auto"},
    "medium": {"effort": "medium", "summary": "auto"},
    "high": {"effort": "high", "summary": "auto"},
}
"""What `reasoning` says for each level of thinking. Thinking is seen as its summary."""

NO_MODEL: Final = re.compile(r"(?!)")


@frozen
class Dialect:
    """What a server wants otherwise than the protocol's inventor does.

    Args:
        role: of instructions in mid-conversation. Where it is a user's, as most chat templates
            know the system only at the beginning, these are tagged, and what the system
            said before anyone spoke belongs to its prompt.
        images: whether it takes pictures; else each run of them becomes a stand-in.
        result_images: whether a tool's result can hold them; else they follow it.
        call_id: which call ids it takes as they are.
        call_id_length: how long the others are made.
        efforts: how it is asked to think, by level; a level that is not here is not sent.
        least: what is asked of models that know no "off" as the others do, or no effort.
        unthinking: the names of models that refuse to be asked for encrypted thoughts.
        cache_key: whether it keeps a conversation's prompts where a key says.
        output: how it is held to a JSON Schema: as the protocol has it, or by a prompt.
        output_roots: whether that schema may be of any value; else only of an object.
    """

    role: Literal["developer", "system", "user"] = "user"
    images: bool = True
    result_images: bool = True
    call_id: re.Pattern[str] = re.compile(r"[A-Za-z0-9_-]{1,64}")
    call_id_length: int = 64
    efforts: Efforts = field(default=EFFORTS)
    least: Least = ()
    unthinking: re.Pattern[str] = NO_MODEL
    cache_key: bool = False
    output: Literal["json_schema", "prompt"] = "json_schema"
    output_roots: bool = False


PLAIN: Final = Dialect()
OPENAI: Final = Dialect(
    role="developer",
    least=known.OPENAI,
    unthinking=UNTHINKING,
    cache_key=True,
)
XAI: Final = Dialect(role="system", least=known.XAI, cache_key=True)
OPENROUTER: Final = Dialect(least=known.OPENROUTER)
LOCAL: Final = Dialect(least=known.OPEN, result_images=False, output_roots=True)
LLAMACPP: Final = Dialect(
    least=known.OPEN,
    result_images=False,
    output="prompt",  # its server passes over `text.format`
)
LMSTUDIO: Final = LLAMACPP
"""It passes over `text.format`, too."""
