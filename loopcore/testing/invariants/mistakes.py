"""What a law says when it does not hold, or cannot even be asked: with file and line."""

import linecache
import traceback
from pathlib import Path
from traceback import FrameSummary
from typing import Final

from loopcore.hooks.code import base

MOST: Final = 300
"""How much of a line of code, or of an error, is shown."""


def told(error: Exception, who: str) -> str:
    """Why a law does not hold: what it says, the line of a bare `assert`, or its error."""
    if isinstance(error, AssertionError):
        return _said(error) or _line(error)
    return f"{who} itself failed: {named(error)}"


def named(error: BaseException) -> str:
    """An error, and where it was raised: the last line of the file that was called."""
    what = f"{type(error).__name__}: {_said(error)}".removesuffix(": ")
    frame = _frame(error)
    return f"{what} at {_place(frame)}" if frame else what


def _said(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  # its own __str__ may fail
        text = "(it cannot be printed)"
    return text if len(text) <= MOST else f"{text[:MOST]}…"


def _frame(error: BaseException) -> FrameSummary | None:
    """Where it was raised, in the file that was called first of all that are not ours."""
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [
        frame for frame in frames if not frame.filename.startswith(OURS)
    ] or frames
    own = [frame for frame in theirs if frame.filename == theirs[0].filename]
    return own[-1] if own else None


OURS: Final = str(Path(__file__).parents[2])
"""Where all of loopcore is."""


def _place(frame: FrameSummary) -> str:
    return f"{base(frame.filename)}:{frame.lineno}"


def _line(error: AssertionError) -> str:
    frame = _frame(error)
    if frame is None:
        return ""
    first = frame.lineno or 0
    lines = range(first, (frame.end_lineno or first) + 1)
    text = " ".join(linecache.getline(frame.filename, line) for line in lines)
    code = " ".join(text.split())
    short = code if len(code) <= MOST else f"{code[:MOST]}…"
    return f"`{short}` at {_place(frame)}" if code else f"at {_place(frame)}"
