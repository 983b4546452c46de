"""A hook that drops what a vector's `append` returns, found in its code."""

import dis
import functools
import inspect
from typing import Any, Final

from loopcore.hooks.code import base


def dropped(function: object) -> str:
    """A vector is not changed by append; say so to whoever drops what it returns."""
    code = getattr(function, "__code__", None)
    if code is None or not (GROW & {*code.co_names} and VECTORS & {*code.co_names}):
        return ""
    return _dropped_in(code, inspect.ismethod(function))


@functools.lru_cache(maxsize=256)  # reading code takes longer than making a rule
def _dropped_in(code: Any, is_method: bool) -> str:  # noqa: ANN401, FBT001  # a code object
    view = code.co_varnames[is_method:][:1]
    ops = [op for op in dis.get_instructions(code) if op.opname not in NOISE]
    for n, (seen, held, grow) in enumerate(zip(ops, ops[1:], ops[2:], strict=False)):
        on_view = seen.argval in view and seen.opname.startswith("LOAD_FAST")
        grows = held.argval in VECTORS and grow.argval in GROW
        if on_view and grows and _is_dropped(ops[n:]):
            where = f"{base(code.co_filename)}:{_line(code, held)}"
            return (
                f"called view.{held.argval}.{grow.argval}(...) and dropped the result "
                f"({where}). A PVector is not changed by {grow.argval}, it returns a new "
                f"one: `return view.{held.argval}.{grow.argval}(...)`."
            )
    return ""


VECTORS: Final = frozenset(("messages", "transcript", "new_messages"))
GROW: Final = frozenset(("append", "extend"))
NOISE: Final = ("CACHE", "EXTENDED_ARG")


def _is_dropped(ops: list[dis.Instruction]) -> bool:
    """Whether what `view.messages.append(...)` leaves on the stack is thrown away."""
    depth = 0
    for n, op in enumerate(ops[:-1]):
        depth += dis.stack_effect(op.opcode, op.arg, jump=False)
        if n > GROW_AT and depth == 1:
            return ops[n + 1].opname == "POP_TOP"
    return False


GROW_AT: Final = 2


def _line(code: Any, op: dis.Instruction) -> int:  # noqa: ANN401  # a code object
    line = op.positions.lineno if op.positions else None
    return int(line or code.co_firstlineno)
