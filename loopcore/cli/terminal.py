"""The terminal, if there is one."""

import sys
from contextlib import suppress
from importlib import import_module

import click
from rich.console import Console

from loopcore.cli.lines import Lines
from loopcore.cli.options import Options
from loopcore.cli.page import Page
from loopcore.cli.person import Ask
from loopcore.cli.screen import Screen
from loopcore.cli.show import Show


def show_for(options: Options) -> Show:
    """How the run is shown."""
    if options.json:
        return Lines()
    page = Page(Console(highlight=False, soft_wrap=True))
    return Screen(page, thinking=options.thinking not in (None, "off"))


def person(options: Options) -> Ask | None:
    """How to ask the person at the terminal; None if nobody is there."""
    there = sys.stdin.isatty() and sys.stdout.isatty() and not options.json
    return ask if there else None


def asking(options: Options) -> Ask:
    """How to get the next line, wherever it comes from."""
    return person(options) or (lambda _: input())


def ask(question: str) -> str:
    """The line that is typed to this question.

    Raises:
        EOFError: at Ctrl-D, or where the input ends.
        KeyboardInterrupt: at Ctrl-C.
    """
    try:
        return input(question)
    except (EOFError, KeyboardInterrupt):
        click.echo()  # neither ends the line that it was typed in
        raise


def be_editable() -> None:
    """Let lines be edited and called back, where that can be had."""
    with suppress(ImportError):
        import_module("readline")  # which then serves input()


def be_lenient() -> None:
    """Let no character that a terminal does not know stop a run."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            errors = "replace" if stream is sys.stdin else "backslashreplace"
            reconfigure(errors=errors)
