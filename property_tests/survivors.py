"""Mutants that no test sees, since they change nothing: which they are, and why."""

from typing import Final

from attrs import frozen


@frozen
class Survivor:
    """A mutant: its function, a part of what it lost and got, and why that is the same."""

    where: str
    lost: str
    got: str
    why: str


EXPLAINED: Final[tuple[Survivor, ...]] = ()
