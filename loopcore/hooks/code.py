"""A function's code: what is called in the end, and where it is written."""

import functools
from collections.abc import Iterator
from types import FrameType
from typing import Any


def unwrapped(function: Any) -> Any:  # noqa: ANN401  # anything that can be called
    """What a partial calls in the end; anything else is itself."""
    while isinstance(function, functools.partial):
        function = function.func
    return function


def code_of(function: Any) -> Any:  # noqa: ANN401  # a code object or None
    """The code of a function, of what a partial calls, or of an object's call."""
    try:
        return _code_of(function)
    except Exception:  # noqa: BLE001  # whatever reading its attributes does
        return None


def _code_of(function: Any) -> Any:  # noqa: ANN401  # a code object or None
    function = unwrapped(function)
    if not hasattr(function, "__code__"):
        function = getattr(function.__class__, "__call__", None)  # noqa: B004
    return getattr(function, "__code__", None)


def base(path: str) -> str:
    """A file's name, without the folders."""
    return path.replace("\\", "/").rsplit("/", 1)[-1]


def place_of(function: object, error: Exception | None = None) -> str:
    """The file and line where it is written, or where it raised; empty if not known."""
    code = code_of(function)
    if code is None:
        return ""
    lines = [line for file, line in _frames(error) if file == code.co_filename]
    line = lines[-1] if lines else code.co_firstlineno
    return f"{base(str(code.co_filename))}:{line}"


def package_of(frame: FrameType) -> str:
    """The package that a frame's code belongs to."""
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def _frames(error: Exception | None) -> Iterator[tuple[str, int]]:
    trace = error.__traceback__ if error else None
    while trace is not None:
        yield trace.tb_frame.f_code.co_filename, trace.tb_lineno
        trace = trace.tb_next
