"""Reports about conversations that have grown too long for their model."""

from loopcore import ModelError
from loopcore.policies import estimate, fit
from tests.driving import Run, begin, call, config

OVERFLOW = ModelError("too long", "context_overflow")


def shown(run: Run) -> list[int]:
    """How long each message is that the newest request shows."""
    return [len(message.text) for message in run.requests[-1].messages]


def test_the_largest_result_is_cut_first() -> None:
    """Report 105: not the oldest, and no message is left out while that is enough."""
    run = begin(config(fit(), tools="ab"), "question").says(call("a"), finish="tools")
    run = run.ran("a", "small").says(call("b"), finish="tools")
    run = run.ran("b", "y" * 40_000).fails(OVERFLOW).woke()

    question, _, small, _, large = shown(run)
    assert (question, small) == (len("question"), len("small"))
    assert large < 25_000
    assert len(run.requests[-1].messages) == len(run.state.transcript)


def test_the_results_of_the_last_turn_are_capped_together() -> None:
    """Report 115: the newest round is always shown, and made to fit."""
    names = ("1", "2", "3", "4")
    calls = [call("a", name) for name in names]
    run = begin(config(fit(1_000), tools="a"), "question").says(*calls, finish="tools")
    for name in names:
        run = run.ran(name, name * 4_000)

    lengths = shown(run)[2:]
    assert len(set(lengths)) == 1
    assert sum(map(estimate, run.requests[-1].messages)) <= 1_000
    assert [len(m.text) for m in run.results] == [4_000] * 4
