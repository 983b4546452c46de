"""Tool loop vectors about ends: a tool's own result as the end, replanning, signals.

Theirs are a tool's flag, exceptions that a tool raises, and signals on a process. Here a
tool's exception is a result like any other, and an end is a value that somebody decided: a
tool by `terminate`, a hook by `stop`, a person by `Abort`.
"""

from collections.abc import AsyncIterator, Iterable

import pytest

from loopcore import (
    Abort,
    Interpreter,
    NotDone,
    RunResult,
    RunTool,
    Stop,
    Stream,
    Tool,
    ToolContext,
    ToolOutput,
    stream,
)
from loopcore.events import Ended, Started, TurnEnd
from loopcore.frozen import Json
from loopcore.hooks import Block, Hooks, ToolCallView, TurnView
from loopcore.policies import truncate_results
from loopcore.testing import ScriptedModel
from tests.driving import MODEL, Run, begin, call, config, spec
from tests.leaks import alone
from tests.ways import every_way, output, play, scripted

LAST = ToolOutput("the whole report", terminate=True)


@every_way
def test_a_tools_result_may_be_the_end(way: str) -> None:
    """Vector 75: the result is the last message; the model is not asked again (D90)."""
    played = scripted(way, config(), call("a"), tools={"a": [LAST]})

    assert ("terminated", 1) == (played.reason, len(played.requests))
    assert "the whole report" == played.state.new[-1].text
    assert None is output(played)


@every_way
def test_the_last_result_is_stored_short_and_told_whole(way: str) -> None:
    """Vector 76: rules hold for it too; theirs passes by all transformers."""
    cfg = config(truncate_results(3, marker="…"))
    played = scripted(way, cfg, call("a"), tools={"a": [LAST]})

    assert "the…" == played.results[0].text
    (end,) = [e for e in played.events(Ended) if isinstance(e.effect, RunTool)]
    assert LAST == end.value
    assert (played.results[0],) == played.events(TurnEnd)[0].results


@every_way
@pytest.mark.parametrize("parallel", [True, False])
def test_one_of_two_results_is_not_the_end_and_both_are(
    way: str, *, parallel: bool
) -> None:
    """Vectors 77, 101, 107, D60: one rule in all modes.

    Theirs ends after the batch one by one, not at all together, and streamed at once, with
    the second call never answered.
    """
    cfg, asked = config(parallel=parallel), [call("a"), call("b")]
    one = scripted(way, cfg, asked, "ok", tools={"a": [LAST], "b": ["B"]})
    both = scripted(way, cfg, asked, tools={"a": [LAST], "b": [LAST]})

    assert ("done", {"a": "ok", "b": "ok"}) == (one.reason, one.outcomes)
    assert ("terminated", {"a": "ok", "b": "ok"}) == (both.reason, both.outcomes)


REPLAN = ToolOutput("The plan does not hold.", details={"replan": "no trains"})


def replan(view: TurnView) -> Stop | None:
    """End the run if a tool wants another plan; the reason is the tool's."""
    reasons = (wish(result.details) for result in view.results)
    reason = next(filter(None, reasons), "")
    return Stop("hook", reason) if reason else None


def wish(details: Json) -> str:
    """Why a tool wants another plan, if it does."""
    match details:
        case {"replan": str(reason)}:
            return reason
        case _:
            return ""


@every_way
@pytest.mark.parametrize("parallel", [True, False])
def test_a_tool_may_ask_for_another_plan(way: str, *, parallel: bool) -> None:
    """Vector 78: theirs raises, and leaves calls without a result in the history."""
    cfg = config(Hooks("replan", should_stop_after_turn=replan), parallel=parallel)
    asked = [call("a"), call("b")]
    played = scripted(way, cfg, asked, tools={"a": [REPLAN], "b": ["B"]})

    assert ("hook", "no trains") == (played.stop.reason, played.stop.detail)
    assert {"a": "ok", "b": "ok"} == played.outcomes


@every_way
@pytest.mark.parametrize("kind", [None, int])
def test_a_run_that_wants_another_plan_is_not_parsed_and_not_retried(
    way: str, kind: type | None
) -> None:
    """Vector 79: of a typed output theirs parses "", and starts again."""
    cfg = config(Hooks("replan", should_stop_after_turn=replan), output=kind)
    played = scripted(way, cfg, call("a"), tools={"a": [REPLAN]})

    assert 1 == len(played.requests)
    with pytest.raises(NotDone, match="no trains"):
        RunResult.of(played.config, played.state).unwrap()


def test_an_abort_while_a_tool_runs_lets_no_other_start() -> None:
    """Vector 80: their ACTION signal; by hand. The next run starts without it."""
    cfg = config(parallel=False)
    run = begin(cfg).says(call("a"), call("b")).give(Abort("enough"))

    assert ("aborted", "enough") == (run.reason, run.stop.detail)
    assert (["a"], {"a": "cancelled", "b": "cancelled"}) == (run.started, run.outcomes)
    assert "done" == run.give("again").says("ok").reason


def test_an_abort_of_a_stream_lets_no_other_tool_start() -> None:
    """Vector 80: streamed."""
    played = alone(aborted())

    assert ("aborted", ["a"]) == (played.reason, played.started)
    assert {"a": "cancelled", "b": "cancelled"} == played.outcomes


async def aborted() -> Run:
    """A stream that is aborted when its first tool starts."""

    async def hang(context: ToolContext) -> str:
        await context.cancelled
        return "never"

    cfg = config(parallel=False)
    tools = [Tool(spec(name), hang) for name in "ab"]
    model = ScriptedModel([call("a"), call("b")], id=MODEL)
    live = stream(cfg, Interpreter(model, *tools), "go", run_id="r")
    started = tuple([event.effect async for event in watch(live)])
    return Run(cfg, live.state, performed=started)


async def watch(live: Stream) -> AsyncIterator[Started]:
    """What is started; the first tool's start is answered by an abort."""
    async for event in live:
        if isinstance(event, Started):
            yield event
            if isinstance(event.effect, RunTool):
                live.send(Abort("enough"))


def after_a_stop(view: ToolCallView) -> Block | None:
    """Let nothing run once a tool of the same batch has asked to stop."""
    results = view.state.turn.results if view.state.turn else ()
    wished = any(result.details == {"stop": True} for result in results)
    return Block("the batch was stopped") if wished else None


@every_way
def test_a_tool_may_keep_the_rest_of_its_batch_from_running(way: str) -> None:
    """Vector 80: the rest is answered, so the history stays whole."""
    cfg = config(Hooks("gate", before_tool_call=after_a_stop), parallel=False)
    stop = ToolOutput("stop", details={"stop": True})
    played = scripted(way, cfg, [call("a"), call("b")], "ok", tools={"a": [stop]})

    assert {"a": "ok", "b": "blocked"} == played.outcomes


@every_way
@pytest.mark.parametrize("parallel", [True, False])
def test_a_graceful_stop_waits_for_the_whole_batch(way: str, *, parallel: bool) -> None:
    """Vector 81: their AGENT signal."""
    stop = Hooks("stop", should_stop_after_turn=lambda _: Stop("hook", "enough"))
    cfg, asked = config(stop, parallel=parallel), [call("a"), call("b")]
    played = scripted(way, cfg, asked, tools={"a": ["A"], "b": ["B"]})

    assert ({"a": "ok", "b": "ok"}, "enough") == (played.outcomes, played.stop.detail)


@every_way
def test_a_run_needs_nothing_but_its_configuration_and_its_state(way: str) -> None:
    """Vector 82: theirs looks for a process; ours has nothing around it to look for."""
    model = ScriptedModel("hi", id=MODEL)

    assert "hi" == output(play(way, config(tools=""), model))


class TerminateAgentError(Exception):
    """What a tool of theirs raises to end all."""


@every_way
@pytest.mark.parametrize("parallel", [True, False])
def test_what_a_tool_raises_ends_nothing_but_its_call(
    way: str, *, parallel: bool
) -> None:
    """Vector 83: theirs leaves the loop at once, and later tools are not run."""
    cfg, asked = config(parallel=parallel), [call("a"), call("b")]
    outputs: dict[str, Iterable[object]] = {
        "a": [TerminateAgentError("the end")],
        "b": ["B"],
    }
    played = scripted(way, cfg, asked, "ok", tools=outputs)

    assert {"a": "raised", "b": "ok"} == played.outcomes
    assert "TerminateAgentError: the end" == played.results[0].text
    assert "done" == played.reason
