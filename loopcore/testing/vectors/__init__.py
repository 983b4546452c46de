"""Conformance vectors: does a port of loopcore, or an engine that drives it, do the same?"""

from loopcore.testing.vectors.conform import (
    Came,
    Moved,
    Refused,
    Report,
    Wrong,
    check,
    reducer,
)
from loopcore.testing.vectors.file import SHIPPED, Vector, Vectors
from loopcore.testing.vectors.form import canonical, digest_of, digests_of

__all__ = [
    "SHIPPED",
    "Came",
    "Moved",
    "Refused",
    "Report",
    "Vector",
    "Vectors",
    "Wrong",
    "canonical",
    "check",
    "digest_of",
    "digests_of",
    "reducer",
]
