"""Every decision is a test that names it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent

ROWS = [
    *(f"T{n}" for n in range(1, 19)),
    *(f"D{n}" for n in range(1, 18)),
    *(f"D{n}" for n in range(20, 27)),
    *(f"D{n}" for n in range(30, 53)),
    *(f"D{n}" for n in range(60, 94)),
]


def docstrings(folder: Path) -> Iterator[str]:
    """What every test says of itself."""
    for file in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                yield ast.get_docstring(node) or ""


def test_every_decision_is_named_by_a_test() -> None:
    named = {
        row for text in docstrings(HERE) for row in re.findall(r"\b[TD]\d+\b", text)
    }

    assert [row for row in ROWS if row not in named] == []
