"""`replay`, `check`, `explain`, `verify`: what is in a journal, and whether it still holds."""

import sys
import time
from pathlib import Path
from typing import Any

import click
from returns.result import Failure

from loopcore.cli.app import configuration
from loopcore.cli.harmless import one_line
from loopcore.cli.mistakes import FAILED, Mistake, as_sentences
from loopcore.cli.past import (
    ANY,
    FILE,
    WORKERS,
    busy,
    journal_of,
    journals_in,
    progress,
    tell,
    tell_json,
    with_hidden,
    with_output,
    with_redaction,
)
from loopcore.cli.told import check_lines, diverged, same
from loopcore.frozen import counted
from loopcore.hiding import Patterns
from loopcore.journal import Journal, check, explain, replay, verify
from loopcore.journal.tables import check_json, divergence_json


@click.command("replay")
@click.argument("app")
@click.argument("journal", type=FILE)
@with_redaction
def replay_(*, app: str, journal: Path, redact: Patterns, **given: Any) -> None:  # noqa: ANN401  # the options
    """Fold JOURNAL again with APP, and compare every effect with the record.

    Exit code 1 says that it diverged.
    """
    as_json = given["as_json"]
    with as_sentences(debug=given["debug"]):
        config, past = configuration(app), journal_of(journal, redact)
        began = time.perf_counter()
        with busy("replaying"):
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
@with_redaction
def check_(*, app: str, journals: tuple[Path, ...], **given: Any) -> None:  # noqa: ANN401  # the options
    """Replay all JOURNALS, files or folders, with today's APP; for CI.

    Exit code 1 says that one of them diverged, or could not be read.
    """
    with as_sentences(debug=given["debug"]):
        config = configuration(app)
        files = with_hidden(journals_in(journals), given["redact"])
        with progress("replaying") as step:
            found = check(config, files, workers=given["workers"], progress=step)
        if given["as_json"]:
            tell_json(check_json(found))
        else:
            tell(check_lines(found))
        sys.exit(FAILED if found.problems else 0)


@click.command("explain")
@click.argument("app")
@click.argument("journal", type=FILE)
@click.argument("what", nargs=-1, required=True, metavar="WHAT...")
@with_redaction
def explain_(*, app: str, journal: Path, what: tuple[str, ...], **given: Any) -> None:  # noqa: ANN401  # the options
    """Tell where something of JOURNAL came from.

    WHAT is `stop`, `message 3`, `message 3.content`, `request ID`, `memory HOOK` or
    `setting model`.
    """
    asked = " ".join(what)
    with as_sentences(debug=given["debug"]):
        past = journal_of(journal, given["redact"])
        text = _explained(configuration(app), past, asked)
        if given["as_json"]:
            tell_json({"what": asked, "lines": text.splitlines()})
        else:
            tell(text)


def _explained(config: Any, past: Journal, what: str) -> str:  # noqa: ANN401  # a LoopConfig
    try:
        with busy("replaying"):
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
                broken.get(name)
                or one_line(f"{name}: {counted(result.unwrap(), 'line')}, whole")
            )
        sys.exit(FAILED if broken else 0)
