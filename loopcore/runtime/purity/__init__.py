"""What a hook reaches beside its view, and whether that makes a difference."""

from loopcore.runtime.purity.blame import blame
from loopcore.runtime.purity.differences import Returned, differing, is_same, returned
from loopcore.runtime.purity.twice import asked_twice, is_checking
from loopcore.runtime.purity.watch import Reach, Watch

__all__ = [
    "Reach",
    "Returned",
    "Watch",
    "asked_twice",
    "blame",
    "differing",
    "is_checking",
    "is_same",
    "returned",
]
