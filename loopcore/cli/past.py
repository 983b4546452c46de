"""What the commands about journals share: which are meant, and how they tell."""

import json
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import click
from returns.result import Failure
from rich.console import Console
from rich.progress import Progress

from loopcore.cli.harmless import harmless
from loopcore.cli.mistakes import Mistake
from loopcore.cli.options import patterns
from loopcore.hiding import Patterns
from loopcore.journal import Journal, TornLine
from loopcore.journal.backtest import Redacted, Source
from loopcore.journal.journal import TORN

F = TypeVar("F", bound=Callable[..., Any])

OFTEN: Final = 0.1
"""How many seconds pass before a bar is drawn anew."""

FILE: Final = click.Path(dir_okay=False, path_type=Path)
ANY: Final = click.Path(path_type=Path)
WORKERS: Final = click.option(
    "--workers", type=click.IntRange(min=1), help="So many processes; else one a core."
)


REDACT: Final = click.option(
    "--redact",
    multiple=True,
    metavar="PATTERN",
    callback=patterns,
    help="What was redacted as it was recorded, if the APP itself says such a thing. May "
    "be given several times.",
)


def with_redaction(command: F) -> F:
    """The options of those that fold a journal with an APP."""
    return REDACT(with_output(command))


def with_output(command: F) -> F:
    """The options that all of these have."""
    command = click.option("--debug", is_flag=True, help="Show where it was raised.")(
        command
    )
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def tell(text: str) -> None:
    """Print this, made safe for a terminal."""
    click.echo(harmless(text))


def tell_json(value: Any) -> None:  # noqa: ANN401  # any JSON
    """Print this as one line of JSON."""
    click.echo(json.dumps(value, ensure_ascii=True))


def journal_of(path: Path, redact: Patterns = ()) -> Journal:
    """The journal in this file; what was redacted in it is hidden now, too.

    Raises:
        Mistake: saying what is wrong with it.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TornLine)
        found = Journal.read(path, redact=redact)
    if isinstance(found, Failure):
        raise Mistake(str(found.failure()))
    journal = found.unwrap()
    if journal.torn:
        click.echo(harmless(TORN.format(path, journal.torn)), err=True)
    return journal


def with_hidden(files: Sequence[Path], redact: Patterns) -> Sequence[Source]:
    """These journals; where something was redacted in them, it is hidden now, too."""
    return [Redacted(file, redact) for file in files] if redact else files


def journals_in(paths: Sequence[Path]) -> list[Path]:
    """The journals that are meant, once: files, and of folders every .jsonl below.

    Raises:
        Mistake: for what is not there, or a folder without any.
    """
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            message = f"There is no {path} here. Give a journal, or a folder of them."
            raise Mistake(message)
        inside = sorted(_inside(path)) if path.is_dir() else [path]
        if not inside:
            message = (
                f"There is no journal in {path}; they are files that end in .jsonl."
            )
            raise Mistake(message)
        found += inside
    return list(dict.fromkeys(found))


def _inside(folder: Path) -> Iterator[Path]:
    """The journals below; pipes, which would be waited for, and folders are none."""
    for path in folder.rglob("*.jsonl"):
        if path.is_file() or not path.exists():  # a link that leads nowhere is told of
            yield path


@contextmanager
def progress(doing: str) -> Generator[Callable[[int, int], None]]:
    """A bar that grows on the terminal; elsewhere it is not to be seen.

    It has no thread of its own: beside one, no process could be forked, and many journals
    would be looked at by one process alone.
    """
    drawn = float("-inf")
    with _bar(auto_refresh=False) as bar:
        task = bar.add_task(doing, total=None)

        def told(done: int, of: int) -> None:
            nonlocal drawn
            now = time.monotonic()
            is_due = done == of or now - drawn >= OFTEN
            drawn = now if is_due else drawn
            bar.update(task, completed=done, total=of, refresh=is_due)

        yield told


@contextmanager
def busy(doing: str) -> Generator[None]:
    """A bar that moves on the terminal while one long thing is done."""
    with _bar(auto_refresh=True) as bar:
        bar.add_task(doing, total=None)
        yield


def _bar(*, auto_refresh: bool) -> Progress:
    console = Console(stderr=True)
    return Progress(
        console=console,
        transient=True,
        disable=not console.is_terminal,
        auto_refresh=auto_refresh,
    )
