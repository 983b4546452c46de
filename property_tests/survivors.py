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


SPARES_A_COPY: Final = "the condition only spares a copy that would be equal"
SPARES_A_STAGE: Final = (
    "a stage passes over what is settled, so this only spares it one"
)
NOTHING_IS_OPEN: Final = (
    "nothing waits and nothing runs inside at this stage, so winding up needs no hooks "
    "of runs inside, and cancels nothing"
)
FALLS_THROUGH: Final = "what stands after the match does the same"
ALWAYS_THERE: Final = (
    "a turn that ends a run has a reply: the other branch is for types"
)

EXPLAINED: Final[tuple[Survivor, ...]] = (
    Survivor("ask.commit", "if memos else state", "or True else state", SPARES_A_COPY),
    Survivor("out.added", "if messages else stored", "or True", SPARES_A_COPY),
    Survivor("turn.chosen", "if chosen else by", "or True else by", SPARES_A_COPY),
)
