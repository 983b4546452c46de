"""Tool loop vectors about calls of tools that do not exist.

No policy is needed for the hint; `limits(unknown_tools=n)` is the source engine's throw.
Counts lie in the run's own memory, so one run's misses end no other.
"""

import pytest

from loopcore import RunTool, State
from loopcore.events import Ended, MessageAdded, Started, TurnEnd
from loopcore.hooks import Hooks
from loopcore.policies import limits
from tests.driving import Run, Spy, begin, call, config
from tests.ways import every_way, output, scripted


@every_way
def test_an_unknown_tool_is_answered_and_the_run_goes_on(way: str) -> None:
    """Vector 58, report 82: in every mode, with the names that there are."""
    played = scripted(way, config(tools="ab"), call("ghost"), "fine")

    assert {"ghost": "unknown_tool"} == played.outcomes
    assert "There is no tool 'ghost'. Available: a, b." == played.results[0].text
    assert "fine" == output(played)


def missing(*names: str, most: int = 4) -> Run:
    """A run in which these are called, one a turn; "a" alone exists."""
    run = begin(config(limits(unknown_tools=most), tools="a"))
    for place, name in enumerate(names):
        run = run.says(call(name, f"c{place}"))
        run = run.ran(f"c{place}") if name == "a" else run
    return run


def test_the_fourth_miss_in_a_row_may_be_one_too_many() -> None:
    """Vector 59: theirs is thrown; ours is a stop, and nothing of the run is lost."""
    run = missing("x", "x", "x", "x")

    assert "limit: 4 unknown tools in a row (hook 'limits')" == str(run.stop)
    assert 9 == len(run.state.transcript)
    assert "" == missing("x", "x", "x").reason


def test_a_tool_that_exists_forgives_the_misses_before_it() -> None:
    """Vector 60."""
    run = missing("x", "x", "a", "x", "x").says("text")

    assert "done" == run.reason


SEARCH = config(tools=["vectorSearch", "vectorQuery", "unrelated"])


def hint(name: str, *tools: str) -> str:
    """What the model is told first about a tool that does not exist."""
    cfg = config(tools=tools) if tools else SEARCH
    text = begin(cfg).says(call(name, "c")).results[0].text
    return text.removeprefix(f"There is no tool {name!r}.").partition("Available:")[0]


@pytest.mark.parametrize(
    "name", ["ragbot_vectorSearch", "my_vectorSearch_v2", "VECTORSEARCH"]
)
def test_one_tool_that_is_much_nearer_is_the_only_hint(name: str) -> None:
    """Vector 61: case, punctuation and what was put round a name do not count."""
    assert " Did you mean 'vectorSearch'? " == hint(name)


def test_two_tools_that_are_as_near_are_both_named() -> None:
    """Vector 62: the unrelated one is listed, and not meant."""
    said = hint("ragbot_vector_tool")

    assert " Did you mean 'vectorSearch' or 'vectorQuery'? " == said
    text = begin(SEARCH).says(call("ragbot_vector_tool")).results[0].text
    assert text.endswith("Available: vectorSearch, vectorQuery, unrelated.")


@pytest.mark.parametrize("name", ["", "ab"])
def test_a_name_that_says_nothing_has_no_hint(name: str) -> None:
    """Vector 63."""
    assert " " == hint(name)


def test_a_name_of_two_letters_is_in_too_many_others() -> None:
    """Vector 64: ours has no option that makes it count."""
    assert " " == hint("ab_something", "ab")


@every_way
def test_the_first_miss_may_end_the_run(way: str) -> None:
    """Vector 65: their immediate throw, in every mode."""
    played = scripted(way, config(limits(unknown_tools=1)), call("x"))

    assert "limit: 1 unknown tools in a row (hook 'limits')" == str(played.stop)
    assert {"x": "unknown_tool"} == played.outcomes


@pytest.mark.parametrize("parallel", [True, False])
def test_misses_of_one_batch_are_all_answered_first(*, parallel: bool) -> None:
    """Vector 66: theirs throws at the fourth and leaves it without a result (D80)."""
    cfg = config(limits(unknown_tools=4), parallel=parallel)
    run = begin(cfg).says(*(call("x", f"c{n}") for n in range(4)))

    assert dict.fromkeys(("c0", "c1", "c2", "c3"), "unknown_tool") == run.outcomes
    assert "limit" == run.reason


@every_way
def test_a_call_of_an_unknown_tool_never_starts(way: str) -> None:
    """Vector 67: theirs is seen by nobody but afterIteration; ours by whom it concerns.

    No tool starts or ends, and no hook of a tool that ran is asked; but what is about to
    be stored is shaped, told as stored, and the turn's end has it.
    """
    ran, stored = Spy(), Spy()
    spy = Hooks("spy", after_tool_call=ran, after_tool_result=stored)
    played = scripted(way, config(spy), call("x"), "fine")

    starts = [e for e in played.events(Started) if isinstance(e.effect, RunTool)]
    ends = [e for e in played.events(Ended) if isinstance(e.effect, RunTool)]
    assert ([], [], []) == (starts, ends, ran.views)
    assert ["x"] == stored.calls
    (result,) = played.results
    assert result in [event.message for event in played.events(MessageAdded)]
    assert (result,) == played.events(TurnEnd)[0].results


def test_the_misses_of_two_runs_of_one_configuration_never_meet() -> None:
    """Vector 59: theirs count on one policy object that all loops share."""
    cfg = config(limits(unknown_tools=2), tools="a")
    one, other = (
        Run(cfg, State.start(cfg, run_id=name)).give("go") for name in ("r1", "r2")
    )
    one, other = one.says(call("x")), other.says(call("x"))

    assert ("", "") == (one.reason, other.reason)
    assert "limit" == one.says(call("x")).reason
