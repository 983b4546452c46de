"""The rows of the agent core's table: each is a test."""

from pathlib import Path
from typing import Final

from tests.vector_rows import rows_of, unnamed

TESTS: Final = Path(__file__).parent / "agent_core_vectors"


def test_every_row_is_a_test() -> None:
    assert set(range(1, 139)) == set(rows_of(TESTS))


def test_every_test_names_a_row() -> None:
    assert unnamed(TESTS) == []
