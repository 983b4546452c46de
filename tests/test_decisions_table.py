"""Every decision is a test that names it."""

import ast
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent

ROWS = [
    *(f"T{n}" for n in range(1, 19)),
    *(f"D{n}" for n in range(1, 18)),
    *(f"D{n}" for n in range(20, 27)),
    *(f"D{n}" for n in range(30, 53)),
    *(f"D{n}" for n in range(60, 94)),
]

NOT_YET = {
    "D82": "what a resume does with a tool that a journal notes as started, or does not",
    "D84": "that the journal of a task that was cancelled resumes",
}
"""Rows of which a part is tested when there are journals."""


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


@pytest.mark.parametrize("row", NOT_YET)
def test_what_is_not_tested_yet_waits_for_journals(row: str) -> None:
    """When it fails: test what the table says, and take the row out of it."""
    assert row in ROWS
    assert importlib.util.find_spec("loopcore.journal") is None, NOT_YET[row]
