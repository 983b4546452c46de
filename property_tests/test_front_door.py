"""What the loop is proven with is what its users have: the public names, and the kit."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

HERE: Final = Path(__file__).parent
FILES: Final = sorted(HERE.rglob("*.py"))

FRONT: Final = {
    *("loopcore", "loopcore.hooks", "loopcore.events", "loopcore.policies"),
    *("loopcore.journal", "loopcore.testing", "loopcore.testing.invariants"),
}
INSIDE: Final = {
    "test_chat.py": "a codec, whose insides are an adapter's",
    "annotated.py": "values for every record's fields, for the form of records",
    "fixed.py": "a digest of states and events, in their form as JSON",
    "test_codec.py": "the form of records as JSON",
    "test_journals.py": "what a damaged file is told of, byte by byte",
    "test_viewer.py": "what is drawn, before it is on a screen",
}
"""What is about the insides, and needs their names."""

WIRES: Final = "wire"
"""In the names of what else is about codecs."""


def imported(file: Path) -> Iterator[str]:
    """The modules of ours that a file imports from."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def is_inside(file: Path) -> bool:
    """Whether it may know the insides."""
    return file.name in INSIDE or WIRES in file.name


LOOP: Final = [file for file in FILES if not is_inside(file)]


@pytest.mark.parametrize("file", LOOP, ids=lambda file: str(file.relative_to(HERE)))
def test_the_loop_is_proven_with_what_users_get(file: Path) -> None:
    ours = {name for name in imported(file) if name.partition(".")[0] == "loopcore"}

    assert ours - FRONT == set()
