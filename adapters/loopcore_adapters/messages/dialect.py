"""Dialects: where models and servers that speak this protocol differ, as data."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, Literal

from attrs import evolve, field, frozen

from loopcore_adapters.loose import Json


def _disabled() -> Mapping[str, Json]:
    return {"thinking": {"type": "disabled"}}


@frozen
class Dialect:
    """What is asked of a model, and how.

    Args:
        thinking: how it is told to think: by a "budget" of tokens, or by an "effort".
        graded: whether it is told, beside a budget, one of two efforts.
        off: the fields that ask it not to.
        schemas: whether it can be held to a JSON Schema; else a tool takes the output.
        max_tokens: how long a reply may be if nobody says: the protocol wants a number.
        signed: whether thinking must have a signature to go back to it.
        cache: whether it is told what to cache of a prompt.
        bound: whether its thinking is bound to all that was before it, and refused where a
            hook has changed that, unless it is told to leave such thinking out.
        unbroken: whether it refuses to think where a reply with calls, such as that of
            another model, has no thinking.
    """

    thinking: Literal["budget", "effort"] = "budget"
    off: Mapping[str, Json] = field(factory=_disabled)
    graded: bool = False
    schemas: bool = False
    max_tokens: int = 8_192
    signed: bool = False
    cache: bool = False
    bound: bool = False
    unbroken: bool = False


OTHER: Final = Dialect()
"""A model of another maker, behind a server that speaks the protocol."""

LEAST: Final[Mapping[str, Json]] = {"output_config": {"effort": "low"}}
"""The least of models that always think is as near to "off" as they come."""

DEEPSEEK: Final = Dialect(graded=True, unbroken=True)
KIMI: Final = Dialect(off=LEAST, graded=True)
STEADY: Final = Dialect(off={})
"""Models that always think, and are asked for no effort over this wire."""

OLDEST: Final = Dialect(max_tokens=4_096, signed=True, cache=True)
OLD: Final = Dialect(max_tokens=32_000, signed=True, cache=True)
BUDGETED: Final = Dialect(schemas=True, max_tokens=32_000, signed=True, cache=True)
SWITCHED: Final = Dialect(
    "effort", schemas=True, max_tokens=32_000, signed=True, cache=True
)
NEWER: Final = evolve(SWITCHED, bound=True)
BETWEEN: Final = Dialect(
    "effort",
    {"thinking": {"type": "between_tools"}},
    schemas=True,
    max_tokens=32_000,
    signed=True,
    cache=True,
    bound=True,
)
ALWAYS: Final = Dialect(
    "effort",
    LEAST,
    schemas=True,
    max_tokens=32_000,
    signed=True,
    cache=True,
)
NEWEST: Final = evolve(ALWAYS, bound=True)

NAMES: Final[tuple[tuple[re.Pattern[str], Dialect], ...]] = tuple(
    (re.compile(pattern), dialect)
    for pattern, dialect in (
        (r"claude-sonnet-5[-.]5\b", BETWEEN),
        (r"claude-haiku-5[-.]5\b", NEWER),
        (r"claude-(opus|sonnet)-4[-.][678]\b", SWITCHED),
        (r"claude-(opus|sonnet)-5(?![-.]\d\b)", SWITCHED),
        (r"claude-haiku-5", SWITCHED),
        (r"claude-\w+-4[-.]5\b", BUDGETED),
        (r"claude-(\w+-)?4", OLD),
        (r"claude-(\w+-)?[123]\b", OLDEST),
        (r"claude-(fable|mythos)-5(?![-.]\d\b)", ALWAYS),
        (r"claude", NEWEST),
        (r"deepseek", DEEPSEEK),
        (r"kimi-k3", KIMI),
        (r"kimi-k2[.]7-code|glm-5[.]3", STEADY),
    )
)
"""How models are asked, by their names; a name that is new is asked as the newest are.

Sources: https://platform.claude.com/docs/en/build-with-claude/thinking-troubleshooting
and https://platform.claude.com/docs/en/build-with-claude/preserved-thinking
and https://api-docs.deepseek.com/guides/thinking_mode
"""


@lru_cache(256)
def dialect_of(model: str) -> Dialect:
    """The dialect of the model that has this name.

    >>> dialect_of("anthropic:claude-sonnet-4-5").thinking
    'budget'
    >>> dialect_of("anthropic:claude-opus-9").thinking, dialect_of("llamacpp:qwen") is OTHER
    ('effort', True)
    """
    name = model.partition(":")[2].lower()
    return next((one for pattern, one in NAMES if pattern.search(name)), OTHER)
