"""The tools that a run has when nobody gave any: they can do no harm."""

from datetime import datetime
from pathlib import Path

from returns.result import Failure, Success

from loopcore import tool
from loopcore.cli.arithmetic import NoNumber, value_of
from loopcore.cli.files import Read, read_below


@tool
def calculate(expression: str) -> Read:
    """Compute an arithmetic expression, such as (3 + 4) * 2 ** 10."""
    try:
        return Success(str(value_of(expression)))
    except NoNumber as why:
        return Failure(str(why))


@tool
def clock() -> str:
    """Tell the current date and time."""
    return datetime.now().astimezone().strftime("%A %Y-%m-%d %H:%M:%S %z (%Z)")


@tool
def read_file(path: str) -> Read:
    """Read a text file below the current folder, or list a folder."""
    return read_below(Path.cwd(), path)


TOOLS = (calculate, clock, read_file)
