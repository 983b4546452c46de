"""`replay`, `check`, `explain`, `verify`: what is in a journal, and whether it still holds."""

import sys
import time
from pathlib import Path
from typing import Any

import click
from returns.result import Failure

from loopcore.cli.app import configuration
from loopcore.cli.mistakes import FAILED, Mistake, as_sentences
from loopcore.cli.past import (
    ANY,
    FILE,
    WORKERS,
    journal_of,
    journals_in,
    progress,
    tell,
    tell_json,
    with_output,
)
from loopcore.cli.told import check_lines, diverged, same
from loopcore.frozen import counted
from loopcore.journal import Journal, check, explain, replay, verify
from loopcore.journal.tables import check_json, divergence_json


@click.command("replay")
@click.argument("app")
@click.argument("journal", type=FILE)
@with_output
def replay_(*, app: str, journal: Path, as_json: bool, debug: bool) -> None:
    """Fold JOURNAL again with APP, and compare every effect with the record.

    Exit code 1 says that it diverged.
    """
    with as_sentences(debug=debug):
        config, past = configuration(app), journal_of(journal)
        began = time.perf_counter()
        found = replay(config, past)
        seconds = time.perf_counter() - began
        if isinstance(found, Failure):
            problem = found.failure()
            (
                tell_json(divergence_json(problem))
                if as_json
                else tell(diverged(config, past, problem))
            )
            sys.exit(FAILED)
        line = same(found.unwrap(), seconds)
        tell_json({"same": True, "inputs": len(past.entries)}) if as_json else tell(
            line
        )


@click.command("check")
@click.argument("app")
@click.argument("journals", type=ANY, nargs=-1, required=True)
@WORKERS
@with_output
def check_(
    *,
    app: str,
    journals: tuple[Path, ...],
    workers: int | None,
    as_json: bool,
    debug: bool,
) -> None:
    """Replay all JOURNALS, files or folders, with today's APP; for CI.

    Exit code 1 says that one of them diverged, or could not be read.
    """
    with as_sentences(debug=debug):
        config, files = configuration(app), journals_in(journals)
        with progress("replaying") as step:
            found = check(config, files, workers=workers, progress=step)
        tell_json(check_json(found)) if as_json else tell(check_lines(found))
        sys.exit(FAILED if found.problems else 0)


@click.command("explain")
@click.argument("app")
@click.argument("journal", type=FILE)
@click.argument("what", nargs=-1, required=True, metavar="WHAT...")
@with_output
def explain_(
    *,
    app: str,
    journal: Path,
    what: tuple[str, ...],
    as_json: bool,
    debug: bool,
) -> None:
    """Tell where something of JOURNAL came from.

    WHAT is `stop`, `message 3`, `message 3.content`, `request ID`, `memory HOOK` or
    `setting model`.
    """
    with as_sentences(debug=debug):
        text = _explained(configuration(app), journal_of(journal), " ".join(what))
        tell_json(
            {"what": " ".join(what), "lines": text.splitlines()}
        ) if as_json else tell(text)


def _explained(config: Any, past: Journal, what: str) -> str:  # noqa: ANN401  # a LoopConfig
    try:
        return explain(config, past, what)
    except LookupError as problem:
        raise Mistake(str(problem)) from None


@click.command("verify")
@click.argument("journals", type=ANY, nargs=-1, required=True)
@with_output
def verify_(*, journals: tuple[Path, ...], as_json: bool, debug: bool) -> None:
    """Tell whether the lines of JOURNALS are as they were written.

    Exit code 1 says that some are not.
    """
    with as_sentences(debug=debug):
        found = {str(path): verify(path) for path in journals_in(journals)}
        broken = {
            n: str(f.failure()) for n, f in found.items() if isinstance(f, Failure)
        }
        if as_json:
            tell_json({"whole": len(found) - len(broken), "broken": broken})
        for name, result in found.items() if not as_json else ():
            tell(
                broken.get(name) or f"{name}: {counted(result.unwrap(), 'line')}, whole"
            )
        sys.exit(FAILED if broken else 0)
