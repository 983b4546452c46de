"""The vectors of the lifecycle document, kinds H and E: each is a test that names it."""

from pathlib import Path
from typing import Final

from tests.vector_rows import rows_of, unnamed

TESTS: Final = Path(__file__).parent / "lifecycle_vectors"


def test_every_vector_of_the_loop_is_a_test() -> None:
    assert set(range(1, 88)) == set(rows_of(TESTS))


def test_every_test_names_a_vector() -> None:
    assert unnamed(TESTS) == []
