"""`view`: a journal with a time slider, in the terminal or as a page."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from rich.console import Console

from loopcore.cli.app import configuration
from loopcore.cli.mistakes import FAILED, Mistake, as_sentences
from loopcore.cli.past import FILE, busy, journal_of, tell, tell_json, with_redaction
from loopcore.cli.saving import reserve
from loopcore.frozen import counted
from loopcore.hiding import Patterns
from loopcore.journal.private import private

if TYPE_CHECKING:
    from loopcore.cli.view.loop import Visit

WIDTH: Final = 110
HEIGHT: Final = 30
"""The size of what is printed where there is no terminal."""


@click.command("view")
@click.argument("app")
@click.argument("journal", type=FILE)
@click.option("--html", type=FILE, help="Write a page instead, which needs no server.")
@click.option("--other", type=FILE, metavar="JOURNAL", help="Beside this other run.")
@click.option("--at", type=int, help="Begin at this input; else at the last one.")
@with_redaction
def view_(*, app: str, journal: Path, **given: Any) -> None:  # noqa: ANN401  # the options
    """Look at JOURNAL: its transcript, hooks and effects at each input.

    In a terminal the arrow keys go through its inputs, and ? tells the other keys.
    Elsewhere one input is printed. A page that --html wrote before is written anew.

    Exit code 1 says that the journal does not replay with APP.
    """
    with as_sentences(debug=given["debug"]):
        if given["html"]:
            _refuse_others(given["html"])
        visit = _visit(app, journal, given["other"], given["redact"])
        at = _point(visit, given["at"])
        if given["html"]:
            _write(visit, given["html"], at, as_json=given["as_json"])
        else:
            _show(visit, at, as_json=given["as_json"])
        sys.exit(FAILED if visit.seen.timeline.divergence else 0)


def _visit(app: str, journal: Path, other: Path | None, redact: Patterns) -> "Visit":
    # Commands that look at nothing need not wait for what is out there.
    from loopcore.cli.view.loop import Visit  # noqa: PLC0415
    from loopcore_adapters.viewer import Seen, timeline  # noqa: PLC0415

    config, past = configuration(app), journal_of(journal, redact)
    beside = journal_of(other, redact) if other else None
    with busy("replaying"):
        seen = Seen(timeline(config, past))
    return Visit(app, config, past, seen, beside)


def _point(visit: "Visit", at: int | None) -> int:
    last = visit.seen.timeline.last
    if at is None:
        return last
    if not 0 <= at <= last:
        message = f"--at {at}: the journal has the inputs 1 to {last}; 0 is its start."
        raise Mistake(message)
    return at


MADE: Final = '<meta name="generator" content="loopcore view">'


def _refuse_others(file: Path) -> None:
    """Refuse to write over what is no page of ours."""
    if not (file.is_file() and _is_ours(file)):
        reserve(file, "--html")


def _is_ours(file: Path) -> bool:
    with file.open(encoding="utf-8", errors="replace") as text:
        return MADE in text.read(2000)


def _write(visit: "Visit", file: Path, at: int, *, as_json: bool) -> None:
    from loopcore_adapters.viewer import page_of, timeline  # noqa: PLC0415  # as above

    past = visit.seen.timeline
    with busy("writing"):
        other = [timeline(visit.config, visit.other)] if visit.other else []
        text = page_of(past, *other, at=at)
    try:
        with open(file, "w", encoding="utf-8", newline="\n", opener=private) as page:
            page.write(text)
    except OSError as problem:
        message = f"Cannot write {file}: {problem.strerror}."
        raise Mistake(message) from problem
    divergence = past.divergence and str(past.divergence)
    if as_json:
        tell_json({"saved": str(file), "inputs": past.last, "divergence": divergence})
        return
    if divergence:
        tell(divergence)
    size = f"{len(text.encode()) / 1000:,.0f} kB"
    tell(f"{past.run_id} · {counted(past.last, 'input')} · {size} · saved to {file}")


def _show(visit: "Visit", at: int, *, as_json: bool) -> None:
    from loopcore.cli.view.loop import watch  # noqa: PLC0415
    from loopcore.cli.view.screen import Look, screen  # noqa: PLC0415
    from loopcore.cli.view.told import point_json  # noqa: PLC0415  # as above

    console = Console(highlight=False)
    if as_json:
        tell_json(point_json(visit.seen, at))
    elif sys.stdin.isatty() and sys.stdout.isatty():
        watch(visit, Look(at), console)
    else:
        text = screen(visit.seen, Look(at), WIDTH, HEIGHT)
        click.echo("\n".join(line.rstrip() for line in text.plain.splitlines()))
