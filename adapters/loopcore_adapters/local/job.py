"""A download: what is to come, where it is kept meanwhile, and who may give it."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from attrs import frozen

from loopcore_adapters.local.known import Weights
from loopcore_adapters.local.progress import Progress


class Failed(Exception):
    """A source cannot give the file; the message says why, for people."""


@frozen
class Job:
    """What every source is given.

    `part` is the beginning of the file. A source goes on where it ends, whoever wrote it:
    all give the same bytes.
    """

    weights: Weights
    part: Path
    progress: Progress

    @property
    def have(self) -> int:
        """How many bytes are there."""
        return self.part.stat().st_size if self.part.exists() else 0

    def keep(self, size: int) -> None:
        """Forget what comes after so many bytes."""
        with self.part.open("ab") as file:
            file.truncate(size)

    def got(self) -> None:
        """Tell how many bytes are there."""
        self.progress.at(self.have, self.weights.size)


@frozen
class Source:
    """Somebody who may give the file; `fetch` completes the part, or raises `Failed`."""

    name: str
    fetch: Callable[[Job], Awaitable[None]]
