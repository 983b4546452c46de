"""Tests that are named by a table: that they are there, and what they say of themselves."""

import ast
from pathlib import Path
from typing import Final

TESTS: Final = Path(__file__).parent


def docstring(name: str) -> str | None:
    """What the test `file::test` or `file::Class::test` says; None if there is none."""
    file, *path = name.split("::")
    if not (TESTS / file).exists():
        return None
    node: ast.AST | None = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    for part in path:
        node = _inside(node, part)
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return None
    return ast.get_docstring(node) or ""


def _inside(node: ast.AST | None, name: str) -> ast.AST | None:
    body: list[ast.AST] = getattr(node, "body", [])
    return next((inner for inner in body if getattr(inner, "name", "") == name), None)
