"""Mistakes, said in a sentence: nobody but who asks for it gets a traceback."""

import errno
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

import click

from loopcore import Rejected
from loopcore.cli.harmless import harmless
from loopcore.journal import JournalError

FAILED: Final = 1
MISUSED: Final = 2
INTERRUPTED: Final = 130
"""What a shell gives for a program that Ctrl-C ended."""


class Mistake(Exception):
    """Something that the person at the terminal can put right, in a sentence."""


@contextmanager
def as_sentences(*, debug: bool) -> Generator[None]:
    """Turn what is raised in here into a sentence and an exit code.

    What a user can put right is 2, anything else 1.
    """
    try:
        yield
    except (click.ClickException, click.exceptions.Exit):
        raise
    except KeyboardInterrupt:
        raise click.exceptions.Exit(INTERRUPTED) from None
    except Exception as problem:
        if isinstance(problem, OSError) and problem.errno == errno.EPIPE:
            raise  # the reader has gone: click ends without a word
        if debug:
            traceback.print_exc()
        raise _spoken(problem) from problem


class _Misused(click.ClickException):
    exit_code = MISUSED


class _Failed(click.ClickException):
    exit_code = FAILED


def _spoken(problem: Exception) -> click.ClickException:
    said = harmless(str(problem))
    if said and isinstance(problem, THEIRS):
        return _Misused(said)
    name = type(problem).__name__
    return _Failed(f"{name}: {said} (--debug shows where)")


THEIRS: Final = (Mistake, Rejected, JournalError, ValueError, TypeError, OSError)
"""What says in a sentence what somebody can put right."""


def place_of(problem: BaseException) -> str:
    """The file and the line where something was raised."""
    if isinstance(problem, SyntaxError):
        return f"{problem.filename}:{problem.lineno}"
    frames = traceback.extract_tb(problem.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith("<frozen")]
    return f"{own[-1].filename}:{own[-1].lineno}"
