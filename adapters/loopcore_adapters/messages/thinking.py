"""How a model is told to think: within a budget of tokens, or with an effort.

Rules: https://platform.claude.com/docs/en/build-with-claude/thinking
"""

from collections.abc import Mapping
from typing import Final

from loopcore import CallModel
from loopcore_adapters.loose import Json, members, whole
from loopcore_adapters.messages.dialect import Dialect

BUDGETS: Final[Mapping[str, int]] = {"low": 2_048, "medium": 8_192, "high": 16_384}
GRADES: Final[Mapping[str, str]] = {"low": "low", "medium": "high", "high": "high"}
"""The efforts of those who have two below their most."""

LEAST: Final = 1_024
"""How many tokens a budget has at least."""

ANSWER: Final = 4_096
"""How many tokens are left for the answer at least, if nobody says how many there are."""


BINDING: Final = {"block_binding": {"prefix_mismatch_behavior": "drop_block"}}
"""Thinking that is bound to another beginning of the conversation is to be left out."""

BETA: Final = {"anthropic-beta": "thinking-binding-controls-2026-08-01"}
"""The header without which that may not be said."""


def bound(thinking: Json) -> dict[str, Json]:
    """The thinking that is asked for, where some is sent that is bound to what was before.

    What an option says of it counts more; None leaves it out.

    >>> bound({"type": "adaptive"}) == bound(None)
    True
    >>> bound({"type": "adaptive", "block_binding": None})
    {'type': 'adaptive'}
    """
    asked = members(thinking) or {"type": "adaptive"}
    if asked.get("type") != "adaptive":
        return asked
    found = {**BINDING, **asked}
    return {name: each for name, each in found.items() if each is not None}


def keeps(call: CallModel, dialect: Dialect) -> bool:
    """Whether thinking is sent back: not where it is off, and could not be left out."""
    off = call.thinking == "off" and "thinking" in dialect.off
    return not (dialect.bound and off)


def thinking(
    call: CallModel,
    dialect: Dialect,
    limit: Json,
    *,
    allowed: bool,
) -> dict[str, Json]:
    """The fields that ask for this level of thinking, and for a length.

    Newer models say nothing of what they think unless they are asked to.

    Args:
        call: the effect.
        dialect: the model's.
        limit: the length that was asked for, if one was.
        allowed: whether a budget may be given at this place of the conversation.
    """
    most = {"max_tokens": dialect.max_tokens}
    level = call.thinking
    if level == "off" or (dialect.unbroken and not allowed):
        return most | dict(dialect.off)
    if level is None:
        return most
    if dialect.thinking == "effort":
        shown = {"type": "adaptive", "display": "summarized"}
        return most | {"thinking": shown, "output_config": {"effort": level}}
    budget = _budget(BUDGETS[level], limit)
    if not budget or not allowed:
        return most
    effort = {"output_config": {"effort": GRADES[level]}} if dialect.graded else {}
    return {
        "max_tokens": max(dialect.max_tokens, budget + ANSWER),
        "thinking": {"type": "enabled", "budget_tokens": budget},
        **effort,
    }


def _budget(wish: int, limit: Json) -> int:
    """The budget, below the length that was asked for; 0 if that leaves too little."""
    most = whole(limit)
    if most is None:
        return wish
    budget = min(wish, most - LEAST)
    return budget if budget >= LEAST else 0
