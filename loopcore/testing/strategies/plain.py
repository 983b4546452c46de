"""Texts, JSON and the parts of messages, the simplest first so that they shrink."""

from functools import cache
from typing import Any, Final

from hypothesis import strategies as st

from loopcore.frozen import Json, freeze
from loopcore.messages import Image, Part, Text, Thinking, Usage

Drawn = st.SearchStrategy

LONGEST: Final = 12_000
"""How long a text of one character may be: beyond what rules usually cut."""

ODD_TEXTS: Final = (
    "é",
    " ",
    "\n",
    "\u2028",
    "\x00",
    "`rm -rf`",
    '{"a": [1',
    "</script>",
    "\U0001f9ea",
)


def texts(least: int = 0) -> Drawn[str]:
    """Text of so many characters at least: short, odd, and now and then long."""
    return _texts(least)


@cache
def _texts(least: int) -> Drawn[str]:
    short = st.text(min_size=least, max_size=8)
    return st.one_of(short, st.sampled_from(ODD_TEXTS), _long())


def _long() -> Drawn[str]:
    sizes = st.integers(1, 40) | st.integers(1, LONGEST)
    return st.builds(_repeated, st.sampled_from("x\n"), sizes)


def _repeated(character: str, times: int) -> str:
    return character * times


def jsons(leaves: int = 5) -> Drawn[Json]:
    """JSON as a record holds it: objects are `FrozenDict`, arrays tuples."""
    return _jsons(leaves)


@cache
def _jsons(leaves: int) -> Drawn[Json]:
    return st.recursive(
        SCALARS,
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3)
        ),
        max_leaves=leaves,
    ).map(freeze)


KEYS: Final[Drawn[str]] = st.sampled_from(("a", "b", "c d", "type", "é", "$ref"))
SCALARS: Final[Drawn[Any]] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**53), 2**53),
    st.text(max_size=6),
    st.floats(allow_nan=False, allow_infinity=False),
)


@cache
def objects() -> Drawn[Json]:
    """A JSON object."""
    return st.dictionaries(KEYS, jsons(3), max_size=3).map(freeze)


@cache
def parts() -> Drawn[Part]:
    """What a message says: text, thinking, a picture; no calls."""
    return st.one_of(
        st.builds(Text, texts(1)),
        st.builds(Thinking, texts(), signature=st.none() | st.just("signed")),
        st.just(Thinking("", "s", redacted=True)),
        st.builds(Image, st.sampled_from((PIXEL, "")), st.just("image/png")),
    )


PIXEL: Final = "iVBORw0KGgo="


@cache
def usages() -> Drawn[Usage]:
    """Tokens, with a cost or without one."""
    count = st.integers(0, 10_000)
    costs = st.none() | st.floats(0, 1, allow_subnormal=False)
    return st.builds(Usage) | st.builds(Usage, count, count, cost=costs)
