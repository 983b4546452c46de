"""Lists of numbers, told shortly: as ranges, or by what they share with an earlier one."""

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

Coded: TypeAlias = dict[str, Any]
"""{"r": [[number, count], ...]}: ranges of numbers; or {"b": [...]}: ranges of places in
the list before, and single numbers that are new."""

FEW: Final = 12
"""So many ranges are told without looking for something shorter."""


def ranges(numbers: Sequence[int]) -> list[list[int]]:
    """Runs of consecutive numbers.

    >>> ranges([4, 5, 6, 9])
    [[4, 3], [9, 1]]
    """
    found: list[list[int]] = []
    for number in numbers:
        if found and sum(found[-1]) == number:
            found[-1][1] += 1
        else:
            found.append([number, 1])
    return found


def coded(numbers: Sequence[int], before: Sequence[int] | None) -> Coded:
    """A list, told by itself or by the one before, whichever is shorter."""
    direct = ranges(numbers)
    if before is None or len(direct) <= FEW:
        return {"r": direct}
    shared = _shared(numbers, before)
    return {"b": shared} if len(shared) < len(direct) else {"r": direct}


def _shared(numbers: Sequence[int], before: Sequence[int]) -> list[int | list[int]]:
    """Runs of places in the list before, and what is new.

    >>> _shared([7, 3, 9, 8], [7, 3, 5, 9])
    [[0, 2], [3, 1], 8]
    """
    places = {number: place for place, number in enumerate(before)}
    found: list[int | list[int]] = []
    for number in numbers:
        place = places.get(number, -1)
        last = found[-1] if found else None
        if place < 0:
            found.append(number)
        elif isinstance(last, list) and sum(last) == place:
            last[1] += 1
        else:
            found.append([place, 1])
    return found
