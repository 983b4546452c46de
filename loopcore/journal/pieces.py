"""Lists told by what they share with an earlier one: a shown history mostly repeats."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

Piece: TypeAlias = str | tuple[int, int]
"""A digest, or `(first, count)`: so many of the base, from there."""


def pieces(base: Sequence[str], now: Sequence[str]) -> tuple[Piece, ...]:
    """`now` told by runs of `base` and by what is new in it.

    >>> pieces(["a", "b", "c", "d"], ["a", "c", "d", "e"])
    ((0, 1), (2, 2), 'e')
    """
    places = {digest: place for place, digest in reversed(list(enumerate(base)))}
    told: list[Piece] = []
    first, follows = 0, -1
    for digest in now:
        if not 0 <= follows < len(base) or base[follows] != digest:
            first = follows = places.get(digest, -1)
            told.append(digest)
        if follows >= 0:
            follows += 1
            told[-1] = first, follows - first
    return tuple(told)


def whole(base: Sequence[str], told: Iterable[Piece]) -> Iterator[str]:
    """The list that was told so, one after the other: pieces may tell of a huge one.

    >>> list(whole(["a", "b", "c", "d"], [(0, 1), (2, 2), "e"]))
    ['a', 'c', 'd', 'e']
    """
    for piece in told:
        if isinstance(piece, str):
            yield piece
        else:
            first, count = piece
            yield from base[first : first + count]
