"""Agent core rows about the ready-made rules."""

from loopcore import ModelError, Sleep
from loopcore.policies import limits, retry
from tests.driving import begin, call, config


def test_a_pause_that_is_longer_than_the_longest_is_no_pause() -> None:
    """Row 122: Retry-After 3600 against a cap of 60 fails at once, naming the fault."""
    run = begin(config(retry()))
    run = run.fails(ModelError("wait an hour", "rate_limit", retry_after=3600.0))

    assert () == run.all(Sleep)
    assert "model_error: rate_limit: wait an hour" == str(run.stop)


def test_the_same_failing_call_does_not_go_on_for_ever() -> None:
    """Row 127: the loop is guarded, with a clear reason."""
    run = begin(config(limits(repeats=3), tools="a"))
    for n in range(3):
        waiting = run.says(call("a", f"{n}", x=1))
        run = waiting.give(waiting.tool(f"{n}").fail("no"))

    assert "limit: 3 failures in a row of a {\"x\":1} (hook 'limits')" == str(run.stop)
