"""`verify` a file, and `check` a folder."""

from collections.abc import Iterable
from typing import TypeAlias

from attrs import frozen
from returns.result import Failure, Success

from loopcore.config import AnyConfig
from loopcore.journal.backtest import Source, read
from loopcore.journal.divergence import Divergence
from loopcore.journal.journal import AnyPath, JournalError, text_of
from loopcore.journal.lines import Chain, Damaged
from loopcore.journal.many import Told, each, several
from loopcore.journal.replay import diverged

Verified: TypeAlias = Success[int] | Failure[JournalError]


def verify(path: AnyPath) -> Verified:
    """How many lines of this file hold together; a `Failure` names the first that does not.

    Nothing is understood of them but their chain, so files of any version can be verified.
    A last line that was not written whole counts as damage here.
    """
    try:
        data = text_of(path)
    except JournalError as problem:
        return Failure(problem)
    lines, chain = data.removesuffix(b"\n").split(b"\n"), Chain()
    for number, line in enumerate(lines, 1):
        try:
            chain, _ = chain.take(line)
        except Damaged as problem:
            return Failure(JournalError(str(path), number, str(problem)))
    return Success(len(lines))


@frozen
class Checked:
    """What became of one journal: how many inputs replayed, or why not all."""

    journal: str
    inputs: int = 0
    problem: Divergence | JournalError | None = None


@frozen
class Check:
    """What became of many journals under today's configuration."""

    journals: tuple[Checked, ...]

    @property
    def same(self) -> int:
        """How many replayed to their end."""
        return sum(1 for one in self.journals if one.problem is None)

    @property
    def problems(self) -> tuple[Divergence | JournalError, ...]:
        """Why the others did not."""
        return tuple(one.problem for one in self.journals if one.problem)


def check(
    config: AnyConfig,
    journals: Iterable[Source],
    *,
    workers: int | None = None,
    progress: Told | None = None,
) -> Check:
    """`replay` for many journals: does today's code still do what was recorded?"""

    def look(source: Source) -> Checked:
        return checked(config, source)

    found = each(look, several("check", journals), workers, progress)
    return Check(found)


def checked(config: AnyConfig, source: Source) -> Checked:
    """What becomes of one journal."""
    journal = read(source)
    if isinstance(journal, JournalError):
        return Checked(journal.path, problem=journal)
    name, count = journal.path or journal.run_id, len(journal.entries)
    return Checked(name, count, diverged(config, journal))
