"""The options that `run` and `chat` share, and what they come to."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click
from attrs import frozen

from loopcore.settings import ThinkingLevel

F = TypeVar("F", bound=Callable[..., Any])

FILE: Final = click.Path(dir_okay=False, path_type=Path)


@frozen(kw_only=True)
class Options:
    """What was given on the command line, besides the APP and the prompt."""

    model: str | None = None
    tools: tuple[str, ...] = ()
    system: str | None = None
    thinking: ThinkingLevel | None = None
    run_id: str | None = None
    journal: Path | None = None
    redact: tuple[str, ...] = ()
    resume: Path | None = None
    save: Path | None = None
    json: bool = False
    debug: bool = False

    def go_on(self, command: str, app: str | None, file: Path) -> str:
        """The command that goes on with what was saved in this file."""
        words = ["loopcore", command, *([app] if app else []), "--resume", str(file)]
        if self.model and app:  # without an app, the saved run says its model
            words += ["--model", self.model]
        for tools in self.tools:
            words += ["--tools", tools]
        for pattern in self.redact:
            words += ["--redact", pattern]
        return shlex.join(words)


def patterns(
    _: click.Context, __: click.Parameter, given: tuple[str, ...]
) -> tuple[str, ...]:
    """The regular expressions, refused if they are none or would hide everything."""
    for pattern in given:
        if not pattern:
            message = "'' is found everywhere."
            raise click.BadParameter(message)
        try:
            re.compile(pattern)
        except re.error as problem:
            message = f"{pattern!r} is no regular expression: {problem}."
            raise click.BadParameter(message) from None
    return given


OPTIONS: Final = (
    click.option("--model", metavar="PROVIDER:NAME", help="Ask this model."),
    click.option(
        "--tools",
        multiple=True,
        metavar="MODULE[:NAME]",
        help="Offer the tools of this module: with an APP besides its own, without one "
        "in place of the harmless ones. May be given several times.",
    ),
    click.option("--system", metavar="TEXT", help="The system prompt."),
    click.option(
        "--thinking",
        type=click.Choice(["off", "low", "medium", "high"]),
        help="How hard the model thinks; shows what it thinks.",
    ),
    click.option("--run-id", help="The name of the run; else one is invented."),
    click.option(
        "--journal", type=FILE, help="Record the run in this file; it must be new."
    ),
    click.option(
        "--redact",
        multiple=True,
        metavar="PATTERN",
        callback=patterns,
        help="Keep what this regular expression finds out of the journal. A run that is "
        "saved is saved whole. May be given several times.",
    ),
    click.option(
        "--resume",
        type=FILE,
        help="Go on with the run saved in this file. Then it is saved there again, in "
        "place of what was there, unless --save names another file.",
    ),
    click.option(
        "--save",
        type=FILE,
        help="Save the run in this file, however it ends; it must be new, or that of "
        "--resume. Without both only a run that waits is saved, as RUN_ID.json.",
    ),
    click.option(
        "--json", is_flag=True, help="Print events as JSON Lines, the result last."
    ),
    click.option("--debug", is_flag=True, help="Show where a mistake was raised."),
)


def shared(command: F) -> F:
    """The options above, for a command."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command
