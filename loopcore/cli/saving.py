"""Runs in files."""

import re
import shlex
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_IMODE
from tempfile import NamedTemporaryFile
from typing import IO, Final

from returns.result import Failure

from loopcore import Answer, LoopConfig, State
from loopcore.cli.mistakes import Mistake
from loopcore.cli.past import journal_of
from loopcore.frozen import parse_json
from loopcore.hiding import Patterns
from loopcore.journal import replay
from loopcore.journal.lines import FORMAT
from loopcore.runtime.live import given_up


def is_journal(file: Path) -> bool:
    """Whether the first line of a file is a journal's header."""
    try:
        header = parse_json(_data(file).partition(b"\n")[0])
    except ValueError:
        return False
    match header:
        case {"format": str(name)}:
            return name == FORMAT
        case _:
            return False


def _data(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as problem:
        message = f"Cannot read {file}: {problem.strerror}."
        raise Mistake(message) from problem


def recorded_in(
    file: Path, config: LoopConfig, redact: Patterns = ()
) -> tuple[State, tuple[Answer, ...]]:
    """The run that this journal records, as it stands at its end.

    With it come the answers of the tools that were under way then, and are not to be run
    once more.
    """
    past = journal_of(file, redact)
    found = replay(config, past)
    if isinstance(found, Failure):
        raise Mistake(str(found.failure()))
    state = found.unwrap().result.state
    return state, tuple(given_up(state, past.in_flight))


def saved_as(run_id: str) -> Path:
    """The file of a run that nobody names a file for: here, whatever its name is made of.

    A journal of somebody else may name its run as it likes.
    """
    return Path(f"{re.sub(NO_NAME, '_', run_id)}.json")


NO_NAME: Final = r"[^\w.-]|^[.-]"


def go_on(app: str, file: Path) -> str:
    """The command that goes on with the run saved in this file."""
    return shlex.join(["loopcore", "run", app, "--resume", str(file)])


def saved_in(file: Path) -> State:
    """The run that was saved in this file."""
    data = _data(file)
    loaded = State.loads(data)
    if isinstance(loaded, Failure):
        message = f"{file}: {loaded.failure()}"
        raise Mistake(message)
    return loaded.unwrap()


def save(state: State, file: Path) -> None:
    """Save the run; what was in the file stays whole until all is written.

    Only its owner may read a new one; another keeps its permissions. It is written under
    a name that nobody can foresee, lest a link is in its place that leads elsewhere.
    """
    data = state.dumps()
    with _writing(file), _beside(file) as (new, handle):
        handle.write(data)
        handle.close()
        with suppress(FileNotFoundError):
            new.chmod(S_IMODE(file.stat().st_mode))
        new.replace(file)


@contextmanager
def _beside(file: Path) -> Generator[tuple[Path, IO[bytes]]]:
    """A file in the same folder, which is gone if it did not take a better name."""
    with NamedTemporaryFile(
        dir=file.parent, prefix=f".{file.name[:99]}.", delete=False
    ) as handle:
        new = Path(handle.name)
        try:
            yield new, handle
        finally:
            new.unlink(missing_ok=True)


def reserve(file: Path, option: str) -> None:
    """Make sure that a file can be written later: nothing is there, but its folder."""
    if file.exists():
        message = f"{file} exists already; give {option} another path, or remove it."
        raise Mistake(message)
    with _writing(file):
        file.parent.mkdir(parents=True, exist_ok=True)


@contextmanager
def _writing(file: Path) -> Generator[None]:
    try:
        yield
    except OSError as problem:
        message = f"Cannot write {file}: {problem.strerror}."
        raise Mistake(message) from problem
