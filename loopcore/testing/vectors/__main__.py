"""Conformance vectors: does a port of loopcore, or an engine that drives it, do the same?

    python -m loopcore.testing.vectors check                    the reducer itself
    python -m loopcore.testing.vectors check --command ./port   a port that is a program
    python -m loopcore.testing.vectors serve                    the reducer as such a program
    python -m loopcore.testing.vectors make FILE                make the vectors anew

`check` exits with 0 if all is the same, else with 1; with 2 if it could not ask.
"""

import argparse
import shlex
import sys
from collections.abc import Sequence

from loopcore.testing.vectors.conform import check, checked
from loopcore.testing.vectors.file import SHIPPED, Vectors
from loopcore.testing.vectors.program import program, serve


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
            return _checked(asked.file, asked.command)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m loopcore.testing.vectors", description=__doc__
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("what", choices=("check", "serve", "make"))
    parser.add_argument("file", nargs="?", default=str(SHIPPED), help="of vectors")
    parser.add_argument("--command", default="", help="the program to check")
    return parser


def _checked(path: str, command: str) -> int:
    try:
        vectors = Vectors.read(path)
        if command:
            with program(shlex.split(command)) as port:
                report = checked(port, vectors)
        else:
            report = check(vectors=vectors)
    except (OSError, ValueError) as problem:
        print(problem, file=sys.stderr)  # noqa: T201  # it is a command
        return 2
    print(report)  # noqa: T201  # it is a command
    if report.silent:
        print(report.silent, file=sys.stderr)  # noqa: T201  # as above
        return 2
    return 1 if report.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
