"""The numbers that a schema leaves room for: from where to where, and in which steps."""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from loopcore.frozen import FrozenDict, Json
from loopcore.testing.doubles.schemas import NoValue

RANGE: Final = 100
"""How far numbers go from a bound that has no other beside it."""


def whole_step(step: float) -> int:
    """The smallest whole number of steps of this size that is whole itself.

    Raises:
        NoValue: if no number of them is.
    """
    if isinstance(step, int):
        return step
    for times in range(1, 1001):
        if float(step * times).is_integer():
            return int(step * times)
    message = f"no integer is a multiple of {step}"
    raise NoValue(message)


def span(schema: FrozenDict[Json]) -> tuple[float, float]:
    """The least and the largest number; what is not said of them is made up."""
    low = max(_said(schema, "minimum", "exclusiveMinimum"), default=None)
    high = min(_said(schema, "maximum", "exclusiveMaximum"), default=None)
    if low is None:
        low = 0 if high is None or high >= 0 else high - RANGE
    return low, low + RANGE if high is None else high


def _said(schema: FrozenDict[Json], *keys: str) -> Iterator[float]:
    """The bounds that are numbers: in older schemas the second one is a yes or no."""
    found = (schema.get(key) for key in keys)
    return (n for n in found if isinstance(n, int | float) and not isinstance(n, bool))


def bounds(schema: FrozenDict[Json], step: float) -> tuple[int, int]:
    """The least and the largest number of steps.

    Raises:
        NoValue: if none lies between the bounds.
    """
    least, most = span(schema)
    whole = isinstance(step, int)
    low = math.ceil(Fraction(least) / step if whole else least / step)
    high = math.floor(Fraction(most) / step if whole else most / step)
    if low * step == schema.get("exclusiveMinimum"):
        low += 1
    if high * step == schema.get("exclusiveMaximum"):
        high -= 1
    if low > high:
        message = f"no multiple of {step} lies between {least} and {most}"
        raise NoValue(message)
    return low, high
