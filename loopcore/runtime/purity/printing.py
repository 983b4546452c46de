"""A `print`, and whether the file that it is given is one in memory."""

import dis
import inspect
from collections.abc import Iterable, Iterator
from io import StringIO
from types import FrameType
from typing import Any, Final

MISSING: Final = object()


def is_in_memory(called: Any, frame: FrameType) -> bool:  # noqa: ANN401  # a built-in function
    """Whether it is a `print(..., file=...)` that names a stream in memory, and no other.

    What a built-in function is given is not seen: what its call names is looked up.
    """
    if called is not print:
        return False
    ops = list(_of_this_call(frame))
    if not any("file" in _keywords(op, frame) for op in ops):
        return False
    kinds = [kind for kind in map(_kind, _named(ops, frame)) if hasattr(kind, "write")]
    return bool(kinds) and all(issubclass(kind, StringIO) for kind in kinds)


def _kind(value: object) -> type[Any]:
    """The class of a value, or of what a class makes."""
    return value if isinstance(value, type) else type(value)


def _named(ops: Iterable[dis.Instruction], frame: FrameType) -> Iterator[object]:
    """What stands behind the names and attributes that these instructions read."""
    names = {**frame.f_builtins, **frame.f_globals, **frame.f_locals}
    value: object = MISSING
    for op in ops:
        if op.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            value = inspect.getattr_static(value, str(op.argval), MISSING)
            yield value
        elif op.opname.startswith("LOAD_") and op.opname != "LOAD_CONST":
            value = names.get(str(op.argval), MISSING)
            yield value


def _of_this_call(frame: FrameType) -> Iterator[dis.Instruction]:
    """The instructions of the call that a frame is at, by where it is written."""
    ops = list(dis.get_instructions(frame.f_code))
    at = next((op.positions for op in ops if op.offset == frame.f_lasti), None)
    return (op for op in ops if at and op.positions and _within(op.positions, at))


def _within(one: dis.Positions, other: dis.Positions) -> bool:
    begins = (one.lineno or 0, one.col_offset or 0)
    ends = (one.end_lineno or 0, one.end_col_offset or 0)
    first = (other.lineno or 0, other.col_offset or 0)
    return first <= begins and ends <= (
        other.end_lineno or 0,
        other.end_col_offset or 0,
    )


def _keywords(op: dis.Instruction, frame: FrameType) -> tuple[object, ...]:
    """The names that a call gives arguments by; each Python writes them in its own way."""
    value: Any = op.argval
    if op.opname == "KW_NAMES" and op.arg is not None:
        value = frame.f_code.co_consts[op.arg]
    return tuple[object](value) if isinstance(value, tuple) else ()  # pyright: ignore[reportUnknownArgumentType]  # of anything
