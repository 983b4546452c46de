"""What users of comparable systems reported: each row is a test.

Those about wires are listed in `reports_on_wires`.
"""

from pathlib import Path
from typing import Final

import pytest

from tests.named_tests import docstring
from tests.reports_on_wires import SPEED, STREAMS, TRANSPORT
from tests.vector_rows import rows_of, unnamed

TESTS: Final = Path(__file__).parent / "reports"

HOOKS: Final = {*range(1, 12), *range(13, 19), 20, 21, 23, 25}
CALLS: Final = {*range(82, 86), *range(88, 96), 97, *range(99, 108)}
TRANSCRIPTS: Final = {*range(109, 116), 117, *range(119, 128)}
OUTPUTS: Final = {159, 160, 162, *range(164, 169)}
RECORDS: Final = {*range(130, 135), *range(136, 151), 152, 153, 155, 157, 158}
GROWTH: Final = {*range(185, 192)}
OF_WIRES: Final = STREAMS | TRANSPORT | SPEED
ROWS: Final = HOOKS | CALLS | TRANSCRIPTS | OUTPUTS | RECORDS | GROWTH | OF_WIRES.keys()

INTERPRETER: Final = "test_interpreter.py"
ENCODE: Final = "test_chat_encode.py"
THOUGHTS: Final = "test_responses_encode.py::TestThoughts"

ELSEWHERE: Final = OF_WIRES | {
    3: "test_run.py::test_cancelling_a_run_cancels_and_awaits_what_is_in_flight",
    9: "test_stream.py::test_a_stream_ends_in_the_state_that_a_run_ends_in",
    82: "tool_loop_vectors/test_unknown_tools.py"
    "::test_an_unknown_tool_is_answered_and_the_run_goes_on",
    83: f"{ENCODE}::TestCalls::test_have_a_name_that_is_taken",
    85: f"{ENCODE}::TestCalls::test_with_broken_arguments_are_valid_json",
    88: f"{INTERPRETER}::test_whatever_a_tool_does_is_an_output",
    89: f"{INTERPRETER}::test_cancelling_from_outside_tells_and_awaits_a_thread",
    95: "test_chat_decode.py::TestCalls::test_that_share_an_id_are_two",
    97: f"{INTERPRETER}::test_what_is_not_json_is_an_error_that_says_so",
    155: "test_journal.py::test_lines_end_with_lf_alone",
    103: "test_run.py::test_each_line_is_in_the_journal_before_the_run_goes_on",
    106: f"{ENCODE}::TestCalls::test_have_null_beside_them_and_not_empty_text",
    107: f"{ENCODE}::TestResults::test_without_text_get_a_stand_in",
    126: f"{THOUGHTS}::test_that_a_hook_took_out_take_the_ids_along",
    127: f"{THOUGHTS}::test_that_cannot_be_read_are_left_out_with_the_ids",
}
"""Rows that are tests of the part they are about."""

DIFFERS: Final = {
    1: "a check that runs besides the model is the program's own; it ends a run by Abort",
    5: "a limit ends a run with the reply that was there; it has no text of its own",
    8: "a reply's calls are those that are run here; what a provider runs is no call of it",
    14: "no rule runs a tool again, so there is nothing to hold back",
    17: "a rule that fails ends the run (T1); what ran keeps its result, in both modes",
    114: "no part of a message names a call, so nothing can be left dangling",
    142: "a pending call keeps what it needs but its configuration; without that it ends so",
    144: "the chain of a journal binds a question to the record; a saved state has none",
    152: "the order of keys is what a model is shown, so it is part of a request",
    165: "an output is read from a reply's text, so no call is forced",
}
"""Rows that are decided otherwise than reported, and why; their tests show what is done."""


def test_every_row_is_a_test() -> None:
    assert set(rows_of(TESTS)) | ELSEWHERE.keys() == ROWS


def test_every_test_names_a_row() -> None:
    assert unnamed(TESTS) == []


@pytest.mark.parametrize("row", ELSEWHERE)
def test_a_test_elsewhere_names_its_row(row: int) -> None:
    said = docstring(ELSEWHERE[row])

    assert said is not None
    assert "eport" in said
    assert str(row) in said


def test_a_decision_is_about_a_row_that_is_a_test() -> None:
    assert set(rows_of(TESTS)) >= DIFFERS.keys()
