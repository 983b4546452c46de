"""Conformance vectors: does a port of loopcore, or an engine that drives it, do the same?

    python -m loopcore.testing.vectors check                    the reducer itself
    python -m loopcore.testing.vectors check --command ./port   a port that is a program
    python -m loopcore.testing.vectors serve                    the reducer as such a program
    python -m loopcore.testing.vectors make FILE                make the vectors anew

`check` exits with 0 if all is the same, else with 1; with 2 if it could not ask.
"""

import argparse
import contextlib
import math
import shlex
import sys
from collections.abc import Sequence

from attrs import evolve

from loopcore.testing.vectors.conform import Report, check, checked
from loopcore.testing.vectors.file import SHIPPED, Vectors
from loopcore.testing.vectors.program import LIMIT, program, serve


def main(given: Sequence[str] | None = None) -> int:
    """Do what is asked; 0 if all vectors are met."""
    asked = _parser().parse_args(given)
    match asked.what:
        case "serve":
            serve(sys.stdin, sys.stdout)
        case "make":
            from loopcore.testing.vectors.made import made  # noqa: PLC0415  # for this alone

            made().write(asked.file)
        case _:
            return _checked(asked.file, asked.command, asked.timeout)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m loopcore.testing.vectors", description=__doc__
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("what", choices=("check", "serve", "make"))
    parser.add_argument("file", nargs="?", default=str(SHIPPED), help="of vectors")
    parser.add_argument("--command", default="", help="the program to check")
    parser.add_argument(
        "--timeout",
        type=_seconds,
        default=LIMIT,
        metavar="SECONDS",
        help="how long the program has for an answer (%(default)g)",
    )
    return parser


def _seconds(text: str) -> float:
    with contextlib.suppress(ValueError):
        if 0 < float(text) < math.inf:
            return float(text)
    message = f"it takes seconds, more than 0; it got {text!r}"
    raise argparse.ArgumentTypeError(message)


def _checked(path: str, command: str, limit: float) -> int:
    try:
        vectors = Vectors.read(path)
        report, note = _asked(vectors, command, limit) if command else _own(vectors)
    except (OSError, ValueError) as problem:
        _complain(str(problem))
        return 2
    print(report)  # noqa: T201  # it is a command
    _complain(report.silent or note)
    return 2 if report.silent else int(bool(report.wrong))


def _own(vectors: Vectors) -> tuple[Report, str]:
    return check(vectors=vectors), ""


def _asked(vectors: Vectors, command: str, limit: float) -> tuple[Report, str]:
    """What a program comes to, and what was odd about its end."""
    with program(_words(command), limit) as port:
        report = checked(port, vectors)
    return evolve(report, silent=report.silent or port.surplus), port.note


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as problem:
        message = f"--command {command!r} cannot be read: {problem}"
        raise ValueError(message) from None
    if not words:
        message = f"--command {command!r} names no program"
        raise ValueError(message)
    return words


def _complain(what: str) -> None:
    if what:
        print(what, file=sys.stderr)  # noqa: T201  # it is a command


if __name__ == "__main__":
    sys.exit(main())
