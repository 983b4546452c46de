"""What a model is told about a tool that does not exist: the nearest ones, then the rest."""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import Final

from loopcore.tools import ToolSpec

MOST_NAMES: Final = 50
MOST_NEAR: Final = 3
LONGEST: Final = 80
"""How much of a name is looked at: a model may have invented anything."""

WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
SHORTEST: Final = 3
"""Shorter words and names are in too many others to mean anything."""


def unknown(tools: Iterable[ToolSpec], name: str) -> str:
    """There is no such tool; which may have been meant, and which there are."""
    names = [tool.name for tool in tools]
    if not names:
        return f"There is no tool {name!r}; no tools are available now."
    found = near(name, names)
    rest = [other for other in names if other not in found][:MOST_NAMES]
    hint = f" Did you mean {' or '.join(map(repr, found))}?" if found else ""
    listed = f" Available: {', '.join((*found, *rest))}."
    return f"There is no tool {name!r}.{hint}{listed}"


def near(name: str, names: Iterable[str]) -> list[str]:
    """The names that may have been meant, the nearest first: three at most.

    Case and punctuation do not count. A typo is near, so is a part of a name, and a name
    that shares a word; what is much further off than the nearest is left out.

    >>> near("ragbot_vectorSearch", ["vectorSearch", "vectorQuery", "fetch"])
    ['vectorSearch']
    """
    scored = [(_likeness(name, other), other) for other in names]
    best = max((score for score, _ in scored), default=0.0)
    least = max(LEAST, best * 0.8)
    found = [pair for pair in scored if pair[0] >= least]
    found.sort(key=lambda pair: -pair[0])
    return [other for _, other in found[:MOST_NEAR]]


LEAST: Final = 0.6
PART: Final = 0.8
QUARTER: Final = 0.25


def _likeness(one: str, other: str) -> float:
    """How alike two names are, from 0 to 1."""
    a, b = _plain(one), _plain(other)
    same_letters = SequenceMatcher(None, a, b, autojunk=False).ratio()
    return max(same_letters, _shared(_words(one), _words(other)), _inside(a, b))


def _plain(name: str) -> str:
    return "".join(letter for letter in name[:LONGEST].casefold() if letter.isalnum())


def _words(name: str) -> frozenset[str]:
    found = WORD.findall(name[:LONGEST])
    return frozenset(word.casefold() for word in found if len(word) >= SHORTEST)


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    """From a quarter of all their words on, two names are alike."""
    share = len(one & other) / max(len(one | other), 1)
    return (1 + share) / 2 if share >= QUARTER else 0.0


def _inside(one: str, other: str) -> float:
    shorter, longer = sorted((one, other), key=len)
    return PART if len(shorter) >= SHORTEST and shorter in longer else 0.0
