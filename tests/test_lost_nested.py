"""A nested run whose configuration went away ends as any run does: told, and closed."""

from loopcore import Abort, AssistantMessage, LoopConfig, Usage
from loopcore.events import Ended, RunEnd, TurnEnd
from tests.driving import Run, begin, call, config, spec

DIG = call("dig", prompt="for it")
DEEP = LoopConfig(model="test:deep", tools=[spec("search")])
INNER = LoopConfig(model="test:inner", tools=[DEEP.as_tool("dig", "Digs.")])
OUTER = config(tools=[INNER.as_tool("dig", "Digs.")])


def lost(depth: int = 1) -> Run:
    """A run in so many runs, whose outer configuration then had no nested run."""
    run = begin(OUTER).says(DIG)
    for _ in range(depth - 1):
        run = run.says(DIG)
    return run.under(config(tools="a"))


def test_the_answer_that_came_too_late_is_told_as_an_answer() -> None:
    """D52: an effect that was answered is not cancelled as well."""
    run = lost().says("found")
    ended = [(e.effect.id, e.cancelled) for e in run.events(Ended)]

    assert run.cancelled == ()
    assert ended == [("r.1.1.model.1", False), ("r.1.1.run.0.1.1.model.1", False)]


def test_an_answer_to_a_run_inside_the_lost_one_is_told_too() -> None:
    run = lost(depth=2).says("found")

    assert run.cancelled == ()
    assert [e.run_id for e in run.events(RunEnd)] == [
        "r.1.1.run.0.1.1.run.0",
        "r.1.1.run.0",
    ]


def test_its_turn_is_closed_and_its_calls_are_answered() -> None:
    """Architecture 6: every call gets exactly one result, whatever happened."""
    run = begin(OUTER).says(DIG).says(call("nope"), DIG)
    run = run.under(config(tools="a")).says("found")
    (turn,) = [e for e in run.events(TurnEnd) if e.run_id == "r.1.1.run.0"]

    assert [r.outcome for r in turn.results] == ["unknown_tool", "cancelled"]


def test_what_the_runs_inside_it_used_is_counted() -> None:
    """D81"""
    run = begin(OUTER).says(DIG).says(DIG, usage=Usage(2, 1))
    run = run.under(config(tools="a")).says("found").says("done")

    assert run.state.usage == Usage(2, 1)


def test_a_reply_of_no_use_is_paid_for_all_the_same() -> None:
    """D36, D81: what was asked for was given, and costs what it costs."""
    run = lost().says("found", usage=Usage(3, 1)).says("done")

    assert run.state.usage == Usage(3, 1)


def test_an_abort_keeps_what_it_had_streamed() -> None:
    """D25"""
    partials = {"r.1.1.run.0.1.1.model.1": AssistantMessage("half", usage=Usage(0, 3))}
    run = lost().give(Abort("enough", partials=partials))

    assert run.state.usage == Usage(0, 3)
    assert [(e.run_id, e.stop.reason) for e in run.events(RunEnd)] == [
        ("r.1.1.run.0", "aborted"),
        ("r", "aborted"),
    ]
