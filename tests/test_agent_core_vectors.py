"""The rows of the agent core's table: each is a test, or comes with a named part."""

from pathlib import Path
from typing import Final

from tests.vector_rows import rows_of, unnamed

TESTS: Final = Path(__file__).parent / "agent_core_vectors"

COMES_WITH: Final = {
    118: "the compaction policy: an overflow that no error says",
    119: "the compaction policy: an overflow that no error says",
    120: "the compaction policy: once, then it fails",
    124: "the compaction policy: how long a context is",
    135: "the compaction policy: a reply cut for want of room",
}
"""The rows that no test names yet, and what they come with."""


def test_every_row_is_a_test_or_comes_with_something() -> None:
    assert set(range(1, 139)) == set(rows_of(TESTS)) | COMES_WITH.keys()


def test_no_row_that_is_a_test_is_still_to_come() -> None:
    assert set(rows_of(TESTS)) & COMES_WITH.keys() == set()


def test_every_test_names_a_row() -> None:
    assert unnamed(TESTS) == []
