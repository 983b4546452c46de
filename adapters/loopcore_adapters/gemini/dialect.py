"""Dialects: where the generations of Gemini models differ, as data.

A model's name says of which generation it is. A name that says nothing, such as
"gemini-flash-latest", is taken for one of the newest.
"""

import re
from collections.abc import Mapping
from typing import Final, TypeAlias

from attrs import field, frozen

from loopcore_adapters.loose import Json

Efforts: TypeAlias = Mapping[str, Mapping[str, Json]]
"""For each level of thinking, the `thinkingConfig` that asks for it."""


def _levels(off: str) -> Efforts:
    """Thinking as a level. It cannot be turned off; "LOW" is what all models take."""
    asked = {
        level: {"thinkingLevel": level.upper(), "includeThoughts": True}
        for level in ("low", "medium", "high")
    }
    return {"off": {"thinkingLevel": off}, **asked}


def _budgets(off: int) -> Efforts:
    """Thinking in tokens: as many as Google's own OpenAI-compatible endpoint asks for."""
    tokens = {"low": 1024, "medium": 8192, "high": 24576}
    asked = {
        level: {"thinkingBudget": budget, "includeThoughts": True}
        for level, budget in tokens.items()
    }
    return {"off": {"thinkingBudget": off}, **asked}


@frozen
class Dialect:
    """What a model takes. The defaults are those of Gemini 3 and later.

    Args:
        ids: whether calls and results have ids, by which it pairs them; the generation
            before knows none.
        signed: whether it refuses a turn's first call without a signature, so that one that
            it did not make needs a stand-in.
        nested: whether a result may hold pictures; else they follow in a turn of their own.
        output_with_tools: whether it may still call tools while it is held to a schema.
        efforts: how it is asked to think, by level; a level that is not here is not sent.
    """

    ids: bool = True
    signed: bool = True
    nested: bool = True
    output_with_tools: bool = True
    efforts: Efforts = field(factory=lambda: _levels("LOW"))


def _older(efforts: Efforts) -> Dialect:
    return Dialect(
        ids=False, signed=False, nested=False, output_with_tools=False, efforts=efforts
    )


NEWEST: Final = Dialect()
LITE: Final = Dialect(efforts=_levels("MINIMAL"))
GEMINI_25: Final = _older(_budgets(0))
GEMINI_25_PRO: Final = _older(_budgets(128))  # it always thinks; this is the least
GEMINI_2: Final = _older({})  # these do not think

_NAMES: Final[tuple[tuple[re.Pattern[str], Dialect], ...]] = (
    (re.compile(r"gemini-2\.5-pro"), GEMINI_25_PRO),
    (re.compile(r"gemini-2\.5"), GEMINI_25),
    (re.compile(r"gemini-[12]\b"), GEMINI_2),
    (re.compile(r"flash-lite"), LITE),
)


def dialect_of(model: str) -> Dialect:
    """The dialect of the model of this name.

    >>> dialect_of("gemini-2.5-flash").ids, dialect_of("gemini-3-pro").ids
    (False, True)
    """
    return next((known for name, known in _NAMES if name.search(model)), NEWEST)
