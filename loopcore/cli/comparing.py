"""`backtest` and `diff`: what is otherwise in other runs."""

import sys
from collections.abc import Sequence
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
    busy,
    journal_of,
    journals_in,
    progress,
    tell,
    tell_json,
    with_hidden,
    with_redaction,
)
from loopcore.cli.saving import reserve
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
@with_redaction
def backtest_(*, journals: tuple[Path, ...], old: str, new: str, **given: Any) -> None:  # noqa: ANN401  # the options
    """Tell what another configuration would have done in JOURNALS, files or folders.

    Exit code 1 says that something changes, or could not be compared.
    """
    with as_sentences(debug=given["debug"]):
        configs, redact = (configuration(old), configuration(new)), given["redact"]
        files = with_hidden(journals_in(journals), redact)
        _refuse_pages(given["html"])
        with progress("backtesting") as step:
            found = backtest(
                files,
                old=configs[0],
                new=configs[1],
                lenient=given["lenient"],
                workers=given["workers"],
                progress=step,
            )
        first = _pages(found, configs[1], given["html"], redact)
        if given["as_json"]:
            tell_json(backtest_json(found))
        else:
            tell(found.table(None if given["everything"] else 20) + first)
        sys.exit(0 if all(one.is_same for one in found.findings) else FAILED)


def _refuse_pages(folder: Path | None) -> None:
    """Refuse to write pages over others, before there is anything to be lost."""
    for name in ("index.html", "0000.html") if folder else ():
        reserve(Path(folder or "", name), "--html")


def _pages(
    found: Backtest, new: LoopConfig, folder: Path | None, redact: Sequence[str]
) -> str:
    """Where its pages were written, to be told below the table."""
    if folder is None:
        return ""
    # Only who asks for pages pays for the import of what makes them.
    from loopcore_adapters.viewer import write_pages  # noqa: PLC0415

    return f"\n\n{write_pages(found, new, folder, redact=redact)}"


@click.command("diff")
@click.argument("app")
@click.argument("one", type=FILE)
@click.argument("other", type=FILE)
@with_redaction
def diff_(*, app: str, one: Path, other: Path, **given: Any) -> None:  # noqa: ANN401  # the options
    """Show two journals side by side. Exit code 1 says that they differ."""
    with as_sentences(debug=given["debug"]):
        first, second = (journal_of(file, given["redact"]) for file in (one, other))
        config = configuration(app)
        with busy("replaying"):
            found = diff(config, first, second)
        tell_json(diff_json(found)) if given["as_json"] else tell(str(found))
        sys.exit(0 if found.is_same else FAILED)
