"""Places in code: whose it is, and at which line a name is written."""

import dis
import sysconfig
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Final

LIBRARIES: Final = tuple(
    {
        *(
            sysconfig.get_path(name)
            for name in ("stdlib", "platstdlib", "purelib", "platlib")
        ),
        str(Path(__file__).parents[2]),
    }
)
GENERATED: Final = ("<frozen ", "<attrs ", "<__array_function__")


@cache
def is_own(file: str) -> bool:
    """Whether code is a program's own: of no library, of loopcore neither."""
    return not file.startswith((*LIBRARIES, *GENERATED))


def line_of(code: CodeType, name: str) -> int:
    """The line where a name is written in this code, or else read, or else its first."""
    codes = [code, *(c for c in code.co_consts if isinstance(c, CodeType))]
    ops = [op for one in codes for op in dis.get_instructions(one) if op.argval == name]
    writes = [op for op in ops if op.opname.startswith("STORE_")]
    for op in (*writes, *ops):
        if op.positions and op.positions.lineno:
            return op.positions.lineno
    return code.co_firstlineno
