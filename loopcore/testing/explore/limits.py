"""How much is visited: as much as is said, and unasked no more than one can wait for."""

import math
from typing import Final

from loopcore.frozen import UNSET, Unset
from loopcore.testing.explore.found import Exploration

BOUND: Final = 10_000
"""How many states are visited if nobody gives a bound."""

DEEPEST: Final = 200
"""How many inputs a way may have if nobody gives a bound: in so many a run has ended."""


class Endless(Exception):
    """There is more than `explore` visits unasked; `found` is what was seen, in `seconds`."""

    def __init__(self, found: Exploration, seconds: float) -> None:
        super().__init__(found, seconds)
        self.found, self.seconds = found, seconds

    def __str__(self) -> str:
        return f"{self.found!r}, after {self.seconds:,.1f} s. {ENDLESS}"


ENDLESS: Final = (
    f"Unasked, explore visits {BOUND:,} states and ways of {DEEPEST} inputs. If this case "
    "does come to an end, give bound= with more states, or bound=None for all there are; if "
    "it does not, give replies that come to an end, less in also=, or bound= with fewer "
    "states to see a part of them."
)


def limits_of(bound: int | Unset | None) -> tuple[float, float]:
    """How many states to visit, and how long a way may be."""
    if bound is UNSET:
        return BOUND, DEEPEST
    return math.inf if bound is None else bound, math.inf
