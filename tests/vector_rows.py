"""Which rows of a numbered table the tests of a folder name in their docstrings."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

NAMED: Final = re.compile(
    r"(?:Vectors?|Rows?|Weakness(?:es)?|Reports?) (\d+(?:, \d+)*)"
)


def rows_of(folder: Path) -> list[int]:
    """The rows that tests name, one entry for each test and row."""
    return [row for file in sorted(folder.glob("test_*.py")) for row in _rows(file)]


def unnamed(folder: Path) -> list[str]:
    """The tests that name no row."""
    return [
        test.name
        for file in sorted(folder.glob("test_*.py"))
        for test in _tests(file)
        if not _numbers(test)
    ]


def _rows(file: Path) -> Iterator[int]:
    for test in _tests(file):
        yield from _numbers(test)


def _tests(file: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    body = ast.parse(file.read_text(encoding="utf-8")).body
    found = [node for node in body if isinstance(node, functions)]
    return [node for node in found if node.name.startswith("test_")]


def _numbers(test: ast.FunctionDef | ast.AsyncFunctionDef) -> list[int]:
    said = NAMED.match(ast.get_docstring(test) or "")
    return [int(number) for number in said[1].split(", ")] if said else []
