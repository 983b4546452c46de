"""Where two values differ, place by place, in lines that can be read."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, Final, TypeAlias

import attrs
from attrs import frozen
from pyrsistent import PVector

SHOWN: Final = 100
"""How many characters of a value are shown."""

BEFORE: Final = 20
"""How many characters stand before the first that differs."""

ALIGNED: Final = 400
"""How many items are lined up by what they are; longer lists are compared in order."""

Items: TypeAlias = tuple[Any, ...]


@frozen
class Difference:
    """A place, and what stands there on each side; None where nothing does."""

    path: str
    one: str | None
    other: str | None

    def line(self, left: str = "left", right: str = "right") -> str:
        """The difference in words; the sides are called so."""
        where = self.path or "all of it"
        if self.one is None:
            return f"{where}: only {right}: {self.other}"
        if self.other is None:
            return f"{where}: only {left}: {self.one}"
        return f"{where}: {left} {self.one}, {right} {self.other}"


def differences(one: Any, other: Any, path: str = "") -> Iterator[Difference]:  # noqa: ANN401  # any two values
    """Every place at which two values differ, in order. Numbers and truths are not equal."""
    if one is other:
        return
    if _both(Mapping, one, other):
        yield from _keys(one, other, path)
    elif _both(LISTS, one, other):
        yield from _items(tuple(one), tuple(other), path)
    elif type(one) is not type(other):
        yield Difference(path, clipped(one), clipped(other))
    elif attrs.has(one.__class__):
        yield from _fields(one, other, path)
    elif one != other:
        shown = _texts if _both(str, one, other) else _values
        yield Difference(path, *shown(one, other))


LISTS: Final = (tuple, list, PVector)


def _both(kinds: Any, one: object, other: object) -> bool:  # noqa: ANN401  # classes
    return isinstance(one, kinds) and isinstance(other, kinds)


def _values(one: object, other: object) -> tuple[str, str]:
    return clipped(one), clipped(other)


def clipped(value: object) -> str:
    """A value as Python writes it, cut where it gets long."""
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def _texts(one: str, other: str) -> tuple[str, str]:
    """Both texts, from a little before the place where they part."""
    if max(len(one), len(other)) <= SHOWN:
        return repr(one), repr(other)
    pairs = enumerate(zip(one, other, strict=False))
    place = next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))
    start = max(0, place - BEFORE)
    cut = f" (from character {start})" if start else ""
    return f"{clipped(one[start:])}{cut}", clipped(other[start:])


def _fields(one: Any, other: Any, path: str) -> Iterator[Difference]:  # noqa: ANN401  # records
    joint = "." if path else ""
    for field in attrs.fields(one.__class__):
        inner = f"{path}{joint}{field.name}"
        yield from differences(
            getattr(one, field.name), getattr(other, field.name), inner
        )


def _keys(
    one: Mapping[str, Any], other: Mapping[str, Any], path: str
) -> Iterator[Difference]:
    for key in dict.fromkeys((*one, *other)):
        inner = f"{path}[{key!r}]"
        if key not in other:
            yield Difference(inner, clipped(one[key]), None)
        elif key not in one:
            yield Difference(inner, None, clipped(other[key]))
        else:
            yield from differences(one[key], other[key], inner)


def _items(one: Items, other: Items, path: str) -> Iterator[Difference]:
    """Item by item; of lists that are not equally long, what both have is lined up."""
    if len(one) == len(other) or max(len(one), len(other)) > ALIGNED:
        yield from _in_order(one, other, path, 0, 0)
        return
    for tag, i, j, k, m in _aligned(one, other):
        if tag != "equal":
            yield from _in_order(one[i:j], other[k:m], path, i, k)


def _aligned(one: Items, other: Items) -> Sequence[tuple[str, int, int, int, int]]:
    shown = [*map(repr, one)], [*map(repr, other)]
    return SequenceMatcher(None, *shown, autojunk=False).get_opcodes()


def _in_order(
    one: Items, other: Items, path: str, start: int, begin: int
) -> Iterator[Difference]:
    shared = min(len(one), len(other))
    for n in range(shared):
        yield from differences(one[n], other[n], f"{path}[{start + n}]")
    for n in range(shared, len(one)):
        yield Difference(f"{path}[{start + n}]", clipped(one[n]), None)
    for n in range(shared, len(other)):
        yield Difference(f"{path}[{begin + n}]", None, clipped(other[n]))


def lines(
    found: Iterable[Difference], most: int, left: str = "left", right: str = "right"
) -> list[str]:
    """So many of these in words, and how many more there are."""
    listed = list(found)
    told = [difference.line(left, right) for difference in listed[:most]]
    more = len(listed) - most
    return [*told, f"... and {more} more"] if more > 0 else told
