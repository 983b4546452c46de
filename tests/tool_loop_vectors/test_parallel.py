"""Tool loop vectors about calls that run together: no rule differs from one by one."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from loopcore import Abort, Tool, ToolOutput
from loopcore.hooks import Block, Hooks, TurnView
from loopcore.testing import ScriptedModel
from tests.driving import MODEL, Run, begin, call, config, spec
from tests.ways import every_way, output, play, scripted, together


@every_way
def test_a_batch_of_one_is_the_same_in_both_modes(way: str) -> None:
    """Vector 91."""

    def played(*, parallel: bool) -> Run:
        cfg = config(parallel=parallel)
        return scripted(way, cfg, call("a"), "ok", tools={"a": ["A"]})

    one, other = played(parallel=True), played(parallel=False)
    assert (one.script, one.reason) == (other.script, other.reason)
    assert [type(event) for event in one.told] == [type(event) for event in other.told]


def performed(way: str, *functions: Callable[..., Any], **more: Any) -> Run:
    """A run whose reply called each of these functions, as the tools a, b and c."""
    names = "abc"[: len(functions)]
    timeouts = more.pop("timeouts", {})
    specs = [spec(name, timeout=timeouts.get(name)) for name in names]
    cfg = config(*more.pop("hooks", ()), tools=specs)
    tools = [Tool(s, fn) for s, fn in zip(specs, functions, strict=True)]
    replies = [call(name) for name in names], *more.pop("then", ("ok",))
    return play(way, cfg, ScriptedModel(*replies, id=MODEL), *tools)


@together
def test_calls_that_wait_for_each_other_all_start(way: str) -> None:
    """Vector 92."""
    barrier = asyncio.Barrier(3)

    async def meet() -> str:
        await barrier.wait()
        return "met"

    played = performed(way, meet, meet, meet)

    assert {"a": "ok", "b": "ok", "c": "ok"} == played.outcomes


@together
def test_results_are_stored_in_the_order_of_the_calls(way: str) -> None:
    """Vector 93."""
    b_is_done = asyncio.Event()

    async def slow() -> str:
        await b_is_done.wait()
        return "A"

    async def fast() -> str:
        b_is_done.set()
        return "B"

    assert ["a ok: A", "b ok: B"] == performed(way, slow, fast).script[2:4]


async def hang() -> str:
    """Never ends by itself."""
    await asyncio.Event().wait()
    return "never"


async def quick() -> str:
    """Ends at once."""
    return "B"


@every_way
def test_a_call_that_takes_too_long_says_so_and_leaves_the_others_alone(
    way: str,
) -> None:
    """Vector 94: its work is cancelled; theirs goes on in the background."""
    played = performed(way, hang, quick, timeouts={"a": 0.01})

    assert {"a": "timeout", "b": "ok"} == played.outcomes
    assert "a timed out after 0.01 s" in played.results[0].text
    assert "ok" == output(played)


@every_way
@pytest.mark.parametrize("parallel", [True, False])
def test_a_tool_that_raises_is_a_result_in_both_modes(
    way: str, *, parallel: bool
) -> None:
    """Vector 95: theirs ends the loop, if it runs them one by one."""
    outputs: dict[str, Iterable[object]] = {"a": [OSError("full")], "b": ["B"]}
    cfg = config(parallel=parallel)
    played = scripted(way, cfg, [call("a"), call("b")], "ok", tools=outputs)

    assert ["a raised: OSError: full", "b ok: B"] == played.script[2:4]
    assert "ok" == output(played)


@every_way
@pytest.mark.parametrize("parallel", [True, False])
def test_an_unknown_tool_beside_a_known_one_has_one_text_in_both_modes(
    way: str, *, parallel: bool
) -> None:
    """Vector 96: theirs has a prefix and callbacks in one of them."""
    cfg = config(parallel=parallel)
    played = scripted(way, cfg, [call("x"), call("b")], "ok", tools={"b": ["B"]})

    assert {"x": "unknown_tool", "b": "ok"} == played.outcomes
    assert "There is no tool 'x'. Available: a, b." == played.results[0].text


def first_wish(view: TurnView) -> str | None:
    """Stop for what the first result in the order of the calls wished for."""
    return next((r.text for r in view.results if r.text.startswith("plan")), None)


@together
def test_of_two_wishes_the_first_call_s_counts_whoever_ended_first(way: str) -> None:
    """Vector 97."""
    b_is_done = asyncio.Event()

    async def slow() -> str:
        await b_is_done.wait()
        return "plan A"

    async def fast() -> str:
        b_is_done.set()
        return "plan B"

    stop = Hooks("replan", should_stop_after_turn=first_wish)
    played = performed(way, slow, fast, hooks=[stop], then=())

    assert "plan A" == played.stop.detail
    assert {"a": "ok", "b": "ok"} == played.outcomes


@every_way
def test_of_two_stops_the_first_rule_s_reason_is_kept(way: str) -> None:
    """Vector 98: which of them matters more is the order of the rules; all tools ran."""
    agent = Hooks("agent", should_stop_after_turn=lambda _: "agent")
    action = Hooks("action", should_stop_after_turn=lambda _: "action")
    cfg = config(agent, action)
    tools = {"a": ["A"], "b": ["B"]}
    played = scripted(way, cfg, [call("a"), call("b")], tools=tools)

    assert ("agent", "agent") == (played.stop.detail, played.stop.hook)
    assert {"a": "ok", "b": "ok"} == played.outcomes


def test_a_stop_that_was_decided_before_the_reply_lets_no_tool_run() -> None:
    """Vector 99: an abort while the model is asked."""
    run = begin(config()).give(Abort("enough"))

    assert ("aborted", []) == (run.reason, run.started)
    assert tuple(request.id for request in run.requests) == run.cancelled


@every_way
def test_a_gate_that_is_shut_lets_no_tool_run(way: str) -> None:
    """Vector 99: a rule that knows before the batch that it is over."""
    shut = Hooks("shut", before_tool_call=lambda _: Block("it is over"))
    played = scripted(way, config(shut), [call("a"), call("b")], "ok")

    assert ({"a": "blocked", "b": "blocked"}, []) == (played.outcomes, played.started)


@every_way
@pytest.mark.parametrize("parallel", [True, False])
def test_what_comes_next_is_decided_once_a_turn(way: str, *, parallel: bool) -> None:
    """Vector 100: with all results; theirs sees the last one that succeeded."""
    seen: list[list[str]] = []

    def note(view: TurnView) -> None:
        seen.append([result.outcome for result in view.results])

    cfg = config(Hooks("note", prepare_next_turn=note), parallel=parallel)
    failed = ToolOutput("no", outcome="error")
    outputs: dict[str, Iterable[object]] = {"a": ["A"], "b": [failed]}
    scripted(way, cfg, [call("a"), call("b")], "ok", tools=outputs)

    assert [["ok", "error"], []] == seen
