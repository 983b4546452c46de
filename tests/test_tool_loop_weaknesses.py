"""The weaknesses that users of the tool loop document's engine feel: each is shown gone."""

from pathlib import Path
from typing import Final

from tests.named_tests import docstring
from tests.vector_rows import rows_of, unnamed

TESTS: Final = Path(__file__).parent / "tool_loop_weaknesses"

DRIFT: Final = "test_docs.py::test_the_code_of_a_page_runs_from_top_to_bottom"


def test_every_weakness_is_shown_gone() -> None:
    assert set(range(1, 25)) == {*rows_of(TESTS), 22}


def test_documents_that_drift_are_found_out_by_running_them() -> None:
    assert (docstring(DRIFT) or "").startswith("Weakness 22:")


def test_every_test_names_a_weakness() -> None:
    assert unnamed(TESTS) == []
