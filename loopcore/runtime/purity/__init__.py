"""What a hook reaches beside its view, and whether that makes a difference."""

from loopcore.runtime.purity.around import named_around, reachable
from loopcore.runtime.purity.blame import blame, worlds
from loopcore.runtime.purity.differences import (
    Returned,
    brief,
    differing,
    is_same,
    returned,
)
from loopcore.runtime.purity.places import is_own
from loopcore.runtime.purity.twice import UNKNOWN, asked_twice
from loopcore.runtime.purity.watch import Lookout, Reach

__all__ = [
    "UNKNOWN",
    "Lookout",
    "Reach",
    "Returned",
    "asked_twice",
    "blame",
    "brief",
    "differing",
    "is_own",
    "is_same",
    "named_around",
    "reachable",
    "returned",
    "worlds",
]
