"""The vectors of the tool loop document: each is a test that names it.

`DIFFERS` is where the run does something else than the engine of the document, and why; the
test of such a vector shows what it does instead.
"""

from pathlib import Path
from typing import Final

import pytest

from tests.named_tests import docstring
from tests.vector_rows import rows_of, unnamed

TESTS: Final = Path(__file__).parent / "tool_loop_vectors"

ELSEWHERE: Final = {
    53: "test_policies.py::test_a_result_at_the_limit_is_left_alone",
    54: "test_policies.py::test_a_long_result_keeps_its_head_and_says_what_is_missing",
    55: "test_policies.py::test_a_long_result_may_keep_its_end_and_have_ones_own_marker",
    56: "test_policies.py::test_a_result_at_the_limit_is_left_alone",
}
"""Vectors that are tests of the policy they are about."""

ONE_VIEW: Final = (
    "a request's view is never stored; what is stored is rewritten by name"
)
NO_THROW: Final = "every end is a value with the state in it, never an exception"
ONE_RULE: Final = "the modes differ in nothing but when calls start"

DIFFERS: Final = {
    8: "an outcome beside the text, no prefix in it",
    11: NO_THROW,
    12: NO_THROW,
    13: NO_THROW,
    15: "no tokens are zero tokens; what is not known is the cost",
    24: "the results of a batch are stored together, so that no mode shows half of it",
    26: ONE_VIEW,
    27: ONE_VIEW,
    29: "an inspector is told what is sent, for that is what it is to find out",
    34: "a rewriting that parts a call from its result is refused",
    35: ONE_VIEW,
    36: NO_THROW,
    43: ONE_VIEW,
    47: "strays are left out of requests wherever they stand",
    50: "the newest round is always shown, or there would be nothing to answer",
    51: "the newest round is always shown, or there would be nothing to answer",
    52: "strays are left out of requests wherever they stand",
    59: NO_THROW,
    64: "two letters are in too many names; no option makes them count",
    65: NO_THROW,
    66: "a batch is settled before a limit stops the run",
    67: "what is stored is shaped and told, whether a tool ran or not",
    70: "a tool says in `details` what is for the program; texts are not guessed at",
    75: "`terminate`: the result is the last message, and the output is None",
    76: "rules hold for the last result too",
    78: "no control flow by exceptions: a wish is data, and a hook decides",
    79: "a run that was stopped is neither parsed nor retried",
    80: "`Abort` from outside, or a gate that sees the results so far",
    81: "`should_stop_after_turn`, which is asked when the batch is settled",
    83: "what a tool raises is its result in every mode",
    86: "a blank reply is an answer; asking again is a rule, not an error",
    88: "history stays as it was; wires leave an empty reply out",
    89: "only some servers want a reply between a result and a user message",
    90: "every turn ends, and says so",
    94: "work that is late is cancelled",
    95: ONE_RULE,
    96: ONE_RULE,
    97: "whose wish counts is what the hook says: here the order of the calls",
    98: "the first rule's reason is kept; the order of the rules says what matters",
    100: ONE_RULE,
    101: ONE_RULE,
    106: "a stream runs calls as the configuration says",
    107: ONE_RULE,
    109: "streaming has the same rules and inspectors",
    110: "a repair turn in the same conversation, not the loop again",
    111: "a repair turn in the same conversation, not the loop again",
    112: NO_THROW,
    113: "the type says what is checked; there is no switch beside it",
    114: "the schema goes beside the conversation, so no prompt is added to",
    115: "a timeout is one request's, and a fault that may be tried again",
    116: "a shape that is neither is sent back first; of both, the value counts",
    117: "billing is an inspector like any other",
    118: "thoughts are parts of messages, so nothing has to be harvested from texts",
    120: "an empty text is a text; each wire sends the stand-in it needs",
}


def test_every_vector_is_a_test() -> None:
    assert set(range(1, 121)) == set(rows_of(TESTS)) | ELSEWHERE.keys()


def test_every_test_names_a_vector() -> None:
    assert unnamed(TESTS) == []


@pytest.mark.parametrize("row", ELSEWHERE)
def test_a_test_elsewhere_names_its_vector(row: int) -> None:
    said = docstring(ELSEWHERE[row])

    assert said is not None
    assert "ool loop vector" in said
    assert str(row) in said


def test_a_difference_is_about_a_vector_that_is_a_test() -> None:
    assert set(rows_of(TESTS)) >= DIFFERS.keys()
