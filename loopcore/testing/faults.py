"""What may go wrong in a simulated run. Each has a chance, and parameters of its own."""

import math
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, Final, TypeAlias

from attrs import Attribute, field, frozen

from loopcore.frozen import constructor


def _chance(fault: object, field_of: "Attribute[Any]", value: object) -> None:
    fits = isinstance(value, int | float) and 0 <= value <= 1
    _refuse(fault, field_of, value, "a chance from 0 to 1", fits=fits)


def _seconds(fault: object, field_of: "Attribute[Any]", value: object) -> None:
    fits = isinstance(value, int | float) and value >= 0 and math.isfinite(value)
    _refuse(fault, field_of, value, "seconds, 0 or more", fits=fits)


def _refuse(
    fault: object, field_of: "Attribute[Any]", value: object, what: str, *, fits: bool
) -> None:
    if not fits:
        name = type(fault).__name__
        message = f"{name}({field_of.name}=...) takes {what}; it got {value!r}"
        raise ValueError(message)


@constructor
@frozen
class RateLimit:
    """A model request is refused, with the seconds after which to come again."""

    chance: float = field(default=0.1, validator=_chance)
    retry_after: float = field(default=30.0, validator=_seconds)


@constructor
@frozen
class CutStream:
    """A reply breaks off in its middle; what had come is handed on as its partial."""

    chance: float = field(default=0.1, validator=_chance)


@constructor
@frozen
class SlowTool:
    """A tool takes longer, by so many seconds: beyond its timeout, if it has one."""

    chance: float = field(default=0.1, validator=_chance)
    seconds: float = field(default=600.0, validator=_seconds)


@constructor
@frozen
class Duplicate:
    """An answer is delivered twice."""

    chance: float = field(default=0.1, validator=_chance)


@constructor
@frozen
class Late:
    """An answer is long on its way, and arrives even if nobody waits for it any more."""

    chance: float = field(default=0.1, validator=_chance)
    seconds: float = field(default=300.0, validator=_seconds)


@constructor
@frozen
class Crash:
    """The process ends at a write to the journal: before it, in its middle or after it.

    After up to `down` seconds another process goes on from the journal.
    """

    chance: float = field(default=0.05, validator=_chance)
    down: float = field(default=600.0, validator=_seconds)


@constructor
@frozen
class FullDisk:
    """A write to the journal fails for want of room, and so the process ends.

    After up to `down` seconds there is room, and another one goes on from the journal.
    """

    chance: float = field(default=0.05, validator=_chance)
    down: float = field(default=600.0, validator=_seconds)


Fault: TypeAlias = (
    RateLimit | CutStream | SlowTool | Duplicate | Late | Crash | FullDisk
)
FAULTS: Final = (RateLimit, CutStream, SlowTool, Duplicate, Late, Crash, FullDisk)

ALL: Final[tuple[Fault, ...]] = tuple(kind() for kind in FAULTS)
"""Each of them, with its usual chance."""


def listed(faults: Iterable[Any]) -> tuple[Fault, ...]:
    """Faults, refused if one of them is none."""
    found = tuple(faults)
    for one in found:
        if not isinstance(one, FAULTS):
            names = ", ".join(f"faults.{kind.__name__}()" for kind in FAULTS)
            message = f"faults= takes {names}; it got {one!r:.80}"
            raise TypeError(message)
    return found


def draw(*names: object) -> float:
    """A number from 0 to 1 that depends on nothing but these names."""
    text = "|".join(map(str, names)).encode()
    return int.from_bytes(blake2b(text, digest_size=6).digest(), "big") / 2**48
