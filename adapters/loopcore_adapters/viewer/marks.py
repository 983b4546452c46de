"""What became of each stored message in a request: shown, rewritten or left out."""

from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

from attrs import frozen

from loopcore_adapters.viewer.known import Known

Fate: TypeAlias = Literal["shown", "rewritten", "left out"]

Passed: TypeAlias = tuple[str, Sequence[int]]
"""A hook, and the messages that were to be shown after it."""


@frozen
class Mark:
    """What became of a message. `by` are the hooks that did it."""

    fate: Fate
    by: tuple[str, ...] = ()


def marks(known: Known, stored: Sequence[int], passed: Sequence[Passed]) -> list[Mark]:
    """A mark for each stored message, as the hooks of a request pass it on."""
    return list(_marks(known, stored, passed))


def _marks(
    known: Known, stored: Sequence[int], passed: Sequence[Passed]
) -> Iterator[Mark]:
    last = passed[-1][1] if passed else stored
    shown = {known.root(number): number for number in last}
    kept = [(hook, {known.root(n) for n in numbers}) for hook, numbers in passed]
    for number in stored:
        found = shown.get(number)
        if found is None:
            by = next(hook for hook, roots in kept if number not in roots)
            yield Mark("left out", (by,))
        elif found == number:
            yield Mark("shown")
        else:
            yield Mark("rewritten", known.writers(found))
