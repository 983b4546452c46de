"""`replay`: fold a journal again and compare every effect. Nothing is performed."""

from typing import Generic, TypeAlias

from attrs import frozen
from returns.result import Failure, Success
from typing_extensions import TypeVar

from loopcore.config import AnyConfig, LoopConfig
from loopcore.journal.compare import difference
from loopcore.journal.divergence import Divergence
from loopcore.journal.folding import Refused, Step, steps
from loopcore.journal.journal import Journal
from loopcore.reducer import RunResult

T = TypeVar("T", default=str)


@frozen(repr=False)
class Replay(Generic[T]):
    """A journal that was folded again: every step of it, and what the run came to."""

    steps: tuple[Step, ...]
    result: RunResult[T]

    def __repr__(self) -> str:
        return f"<replay of {len(self.steps)} inputs: {self.result!r}>"


Replayed: TypeAlias = Success[Replay[T]] | Failure[Divergence]


def replay(config: LoopConfig[T], journal: Journal) -> Replayed[T]:
    """Fold it again under this configuration, and compare every effect with the record.

    No model, no tool, no network, no clock. A recorded run is a sequence: the same
    request may have had two answers. It is a `Failure` with the first difference
    otherwise: an effect that was not asked, or is another one, or an input that the run
    cannot take.
    """
    found: list[Step] = []
    for one in steps(config, journal):
        if isinstance(one, Refused) or one.led != one.entry.led:
            return Failure(difference(config, journal, one))
        found.append(one)
    end = found[-1].state if found else journal.start
    return Success(Replay(tuple(found), RunResult.of(config, end)))


def diverged(config: AnyConfig, journal: Journal) -> Divergence | None:
    """Where a replay is not what was recorded; of what it comes to, nothing is kept."""
    for one in steps(config, journal):
        if isinstance(one, Refused) or one.led != one.entry.led:
            return difference(config, journal, one)
    return None
