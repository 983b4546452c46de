"""`fork` and `shrink`: another run, and a smaller one."""

from itertools import count
from pathlib import Path
from typing import Any

import click
from returns.result import Failure

from loopcore.cli.app import callable_of, configuration
from loopcore.cli.mistakes import Mistake, as_sentences
from loopcore.cli.past import (
    FILE,
    busy,
    journal_of,
    progress,
    tell,
    tell_json,
    with_redaction,
)
from loopcore.cli.saving import go_on, reserve, save, saved_as
from loopcore.frozen import counted
from loopcore.journal import Replay, fork, shrink
from loopcore.journal.fork import Forked
from loopcore.journal.many import Told
from loopcore.journal.shrink import MOST, Fails
from loopcore.state import State


@click.command("fork")
@click.argument("app")
@click.argument("journal", type=FILE)
@click.option("--turn", type=int, help="After this turn.")
@click.option("--at", type=int, help="After this input, from 1.")
@click.option(
    "--say", metavar="TEXT", help="With --at: this prompt instead of that input."
)
@click.option(
    "--run-id", help="The name of the new run; else the old one's with -fork."
)
@click.option("--save", "target", type=FILE, help="Where to; else RUN_ID.json.")
@with_redaction
def fork_(*, app: str, journal: Path, **given: Any) -> None:  # noqa: ANN401  # the options
    """Save JOURNAL's run as it stood at some point, to go another way.

    Go on with it by `loopcore run APP --resume FILE "..."`.
    """
    with as_sentences(debug=given["debug"]):
        past = journal_of(journal, given["redact"])
        run_id = given["run_id"] or f"{past.run_id}-fork"
        target = given["target"] or saved_as(run_id)
        reserve(target, "--save")
        point = {"turn": given["turn"], "at": given["at"], "replace": given["say"]}
        config = configuration(app)
        with busy("replaying"):
            state = _opened(fork(config, past, run_id=run_id, **point))
        save(state, target)
        if given["as_json"]:
            tell_json({"run_id": run_id, "saved": str(target), "state": repr(state)})
        else:
            tell(f"{state!r}\nsaved to {target} · go on with:  {go_on(app, target)}")


def _opened(found: Forked) -> State:
    if isinstance(found, Failure):
        raise Mistake(str(found.failure()))
    return found.unwrap()


def _watched(fails: Fails, told: Told) -> Fails:
    """The same, and it is told each time how often it was asked, and how often at most."""
    tries = count(1)

    def asked(again: Replay) -> bool:
        told(next(tries), MOST)
        return fails(again)

    return asked


@click.command("shrink")
@click.argument("app")
@click.argument("journal", type=FILE)
@click.option(
    "--fails",
    required=True,
    metavar="MODULE:FUNCTION",
    help="Says of a Replay whether it still holds.",
)
@click.option("--save", "target", type=FILE, help="Where to; else JOURNAL.small.jsonl.")
@with_redaction
def shrink_(*, app: str, journal: Path, fails: str, **given: Any) -> None:  # noqa: ANN401  # the options
    """Write the smallest journal of which MODULE:FUNCTION still says yes."""
    with as_sentences(debug=given["debug"]):
        target = given["target"] or journal.with_suffix(".small.jsonl")
        reserve(target, "--save")
        past = journal_of(journal, given["redact"])
        config, asked = configuration(app), callable_of(fails)
        with progress("shrinking") as step:
            small = shrink(config, past, _watched(asked, step))
        small.write(target)
        hooks = ", ".join(small.hooks) or "no hooks"
        was, now = (
            counted(len(past.entries), "input"),
            counted(len(small.entries), "input"),
        )
        if given["as_json"]:
            told = {"inputs": len(small.entries), "hooks": list(small.hooks)}
            tell_json({"saved": str(target), **told})
        else:
            tell(f"{was} → {now} · {hooks} · saved to {target}")
