"""The commands."""

import asyncio
import re
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final, TypeAlias

import click

from loopcore.cli.chat import Chat
from loopcore.cli.comparing import backtest_, diff_
from loopcore.cli.forks import fork_, shrink_
from loopcore.cli.mistakes import Mistake, as_sentences
from loopcore.cli.options import Options, shared
from loopcore.cli.records import check_, explain_, replay_, verify_
from loopcore.cli.session import Session, opened
from loopcore.cli.terminal import asking, be_editable, be_lenient
from loopcore.cli.view import view_

CODES: Final = """\b
Exit codes:
  0    the run came to its end, or waits for a person
  1    it failed, or reached a limit
  2    wrong use
  130  Ctrl-C stopped it
"""


def _tell_version(context: click.Context, _: click.Parameter, told: bool) -> None:  # noqa: FBT001  # a flag
    if not told:
        return
    try:
        click.echo(f"loopcore {version('loopcore')}")
    except PackageNotFoundError:
        click.echo("loopcore, not installed as a package")
    context.exit()


@click.group(epilog=CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_tell_version,
    help="Tell the version.",
)
def commands() -> None:
    """An agent loop as a pure function.

    An APP is the import path of a module that has `config` and `interpreter`, or
    `module:name` for another config of it. Without one, a small model that runs on this
    machine is asked; it can do arithmetic, tell the time, and read files below the current
    folder.
    """
    be_lenient()


@commands.command(epilog=CODES)
@click.argument("words", nargs=-1, metavar="[APP] PROMPT...")
@shared
def run(words: tuple[str, ...], **given: Any) -> None:  # noqa: ANN401  # the options
    """Give a prompt to an APP, and show what comes of it.

    One argument alone is the prompt; with --resume, it is the APP.

    Ctrl-C stops the run. What was said until then is part of it, and is in the file if
    --save or --resume names one. A second Ctrl-C ends the program at once and saves
    nothing.
    """
    options = Options(**given)
    with as_sentences(debug=options.debug), asyncio.Runner() as runner:
        name, prompt = _read(words, resumed=options.resume is not None)
        session = opened("run", name, options, runner)
        _refuse_misfits(session, prompt)
        session.show.begin(session.state, session.title("run"))
        if prompt is None:
            session.go_on()
        else:
            session.say(prompt)
        session.finish()
        code = session.exit_code
    sys.exit(code)


@commands.command()
@click.argument("app", required=False)
@shared
def chat(app: str | None, **given: Any) -> None:  # noqa: ANN401  # the options
    """Talk with an APP; /help lists what else can be said.

    Ctrl-C stops a reply, Ctrl-D ends the conversation. Then the conversation is saved if
    --save or --resume names a file, or if it waits for an answer; /save does so before.
    All of that is one file, unless you name another.
    """
    options = Options(**given)
    with as_sentences(debug=options.debug), asyncio.Runner() as runner:
        session = opened("chat", app, options, runner)
        session.show.begin(session.state, f"{session.title('chat')} · /help")
        be_editable()
        talk = Chat(session, asking(options))
        talk.talk()
        if talk.talked and session.is_kept:
            session.finish(talk.file)


for command in (
    *(replay_, fork_, backtest_, diff_, explain_),
    *(shrink_, verify_, check_, view_),
):
    commands.add_command(command)

Words: TypeAlias = tuple[str | None, str | None]
"""The APP and the prompt."""


def _read(words: tuple[str, ...], *, resumed: bool) -> Words:
    if len(words) == 1:
        name, prompt = (words[0], None) if resumed else (None, words[0])
    else:
        name, prompt = (words[0] if words else None), " ".join(words[1:])
    if not resumed:
        _refuse_silence(prompt or "")
    return name, prompt or None


def _refuse_silence(prompt: str) -> None:
    """Refuse what cannot be meant as a prompt."""
    if not prompt.strip():
        raise click.UsageError(NO_PROMPT)
    if not APP.fullmatch(prompt):
        return
    path = prompt.partition(":")[0].replace(".", "/")
    if Path(f"{path}.py").is_file() or Path(path, "__init__.py").is_file():
        raise click.UsageError(APP_ALONE.format(prompt))


APP: Final = re.compile(r"\w{1,60}(\.\w{1,60}){0,9}(:\w+)?")
NO_PROMPT: Final = 'Give a prompt, in quotes: loopcore run "..."'
APP_ALONE: Final = (
    "{0!r} alone is taken for the prompt, but it is a module here. Give a prompt too, in "
    'quotes: loopcore run {0} "..."'
)


def _refuse_misfits(session: Session, prompt: str | None) -> None:
    """Refuse what would be ignored, or asked of a run that has to be decided on first."""
    options, waiting = session.options, session.state.waiting
    if prompt is None and (options.system or options.thinking):
        raise Mistake(NO_CHANGE)
    if prompt is not None and waiting:
        raise Mistake(WAITS.format(options.resume))


NO_CHANGE: Final = (
    "--system and --thinking change what a prompt starts from; a run that is resumed "
    "without one keeps its own."
)
WAITS: Final = (
    "The run in {} waits for an answer. Leave the prompt out to go on with it."
)
