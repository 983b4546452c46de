"""`backtest` and `diff`: what is otherwise in other runs."""

import sys
from pathlib import Path
from typing import Any

import click

from loopcore import LoopConfig
from loopcore.cli.app import configuration
from loopcore.cli.mistakes import FAILED, as_sentences
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
from loopcore.journal import Backtest, backtest, diff
from loopcore.journal.tables import backtest_json, diff_json


@click.command("backtest")
@click.argument("journals", type=ANY, nargs=-1, required=True)
@click.option(
    "--old", required=True, metavar="APP", help="What they were recorded with."
)
@click.option("--new", required=True, metavar="APP", help="What is to be tried.")
@click.option(
    "--lenient",
    is_flag=True,
    help="Go on past a request that differs, as if the model said the same.",
)
@click.option("--html", type=ANY, metavar="FOLDER", help="Write it as pages, too.")
@click.option("--all", "everything", is_flag=True, help="Show every row.")
@WORKERS
@with_output
def backtest_(*, journals: tuple[Path, ...], old: str, new: str, **given: Any) -> None:  # noqa: ANN401  # the options
    """Tell what another configuration would have done in JOURNALS, files or folders.

    Exit code 1 says that something changes, or could not be compared.
    """
    with as_sentences(debug=given["debug"]):
        configs, files = (configuration(old), configuration(new)), journals_in(journals)
        with progress("backtesting") as step:
            found = backtest(
                files,
                old=configs[0],
                new=configs[1],
                lenient=given["lenient"],
                workers=given["workers"],
                progress=step,
            )
        first = _pages(found, configs[1], given["html"])
        if given["as_json"]:
            tell_json(backtest_json(found))
        else:
            tell(found.table(None if given["everything"] else 20) + first)
        sys.exit(0 if all(one.is_same for one in found.findings) else FAILED)


def _pages(found: Backtest, new: LoopConfig, folder: Path | None) -> str:
    """Where its pages were written, to be told below the table."""
    if folder is None:
        return ""
    # Only who asks for pages pays for the import of what makes them.
    from loopcore_adapters.viewer import write_pages  # noqa: PLC0415

    return f"\n\n{write_pages(found, new, folder)}"


@click.command("diff")
@click.argument("app")
@click.argument("one", type=FILE)
@click.argument("other", type=FILE)
@with_output
def diff_(*, app: str, one: Path, other: Path, as_json: bool, debug: bool) -> None:
    """Show two journals side by side. Exit code 1 says that they differ."""
    with as_sentences(debug=debug):
        found = diff(configuration(app), journal_of(one), journal_of(other))
        tell_json(diff_json(found)) if as_json else tell(str(found))
        sys.exit(0 if found.is_same else FAILED)
