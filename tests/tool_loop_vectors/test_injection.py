"""Tool loop vectors about tools that come and go while a loop runs.

Their injection strategies are one hook point here: `prepare_next_turn` gives the tools of
the turns to come. What was added and removed is in `state.settings.tools`, and told as
`HookWrote`; the next prompt starts from the configuration again (T17).
"""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from loopcore import RunResult, Tool, ToolOutput, ToolResultMessage, run_sync
from loopcore.events import HookWrote
from loopcore.hooks import Hooks, TurnUpdate, TurnView
from loopcore.testing import ScriptedModel
from tests import standing_in
from tests.driving import MODEL, Run, Spy, call, config, spec
from tests.ways import every_way, output, play, scripted

EXAMPLES = Path(__file__).parent.parent / "examples"


def offered(played: Run) -> list[list[str]]:
    """The names of the tools that each request offered."""
    return [[tool.name for tool in request.tools] for request in played.requests]


def after_first(update: TurnUpdate) -> Hooks:
    """A rule that writes this after the first turn."""
    return Hooks(
        "inject", prepare_next_turn=lambda view: update if view.turn == 1 else None
    )


@every_way
def test_a_tool_that_is_added_after_a_turn_is_offered_in_the_next(way: str) -> None:
    """Vector 68."""
    added = TurnUpdate(tools=[spec("a"), spec("late")])
    cfg = config(after_first(added), tools="a")
    model = ScriptedModel(call("a"), call("late"), "ok", id=MODEL)
    played = play(way, cfg, model, *tools("a", "late"))

    assert [["a"], ["a", "late"], ["a", "late"]] == offered(played)
    assert {"a": "ok", "late": "ok"} == played.outcomes
    assert ["inject"] == [event.hook for event in played.events(HookWrote)]
    assert added.tools == played.state.settings.tools


def tools(*names: str) -> list[Any]:
    """Tools that give their own name."""

    async def named() -> str:
        return "x"

    return [Tool(spec(name), named) for name in names]


@every_way
def test_the_rule_sees_the_call_its_result_the_turn_and_the_tools(way: str) -> None:
    """Vector 69: their lists are the loop's own and can be changed; ours cannot."""
    spy = Spy()
    cfg = config(Hooks("spy", prepare_next_turn=spy), tools="a")
    scripted(way, cfg, call("a", x=1), "ok", tools={"a": ["A"]})

    first, _ = spy.views
    (made,), (result,) = first.message.calls, first.results
    assert ("a", {"x": 1}, "A", 1) == (
        made.name,
        made.arguments,
        result.text,
        first.turn,
    )
    assert ((spec("a"),), 3) == (first.tools, len(first.transcript))


@every_way
def test_a_result_that_a_program_reads_is_in_its_details(way: str) -> None:
    """Vector 70: theirs parses each result's text, if it begins with a bracket.

    Here a tool says what is for the program; a text is a text, whatever it looks like.
    """
    spy = Spy()
    cfg = config(Hooks("spy", prepare_next_turn=spy))
    outputs = ["plain", '{"k": 1}', ToolOutput("said", details={"k": 1})]
    asked = [call("a", f"c{n}") for n in range(3)]
    scripted(way, cfg, asked, "ok", tools={"a": outputs})

    details = [result.details for result in spy.views[0].results]
    assert [None, None, {"k": 1}] == details


@every_way
def test_tools_are_added_and_removed_and_the_first_of_a_name_wins(way: str) -> None:
    """Vector 71, D75: a decorator round all tools is `Interpreter.wrap`."""
    twin = spec("a", timeout=5.0)
    cfg = config(after_first(TurnUpdate(tools=[spec("a"), twin, spec("new")])))
    model = ScriptedModel(call("b"), [call("a"), call("b", "gone")], "ok", id=MODEL)
    played = play(way, cfg, model, *tools("a", "b", "new"))

    assert {"b": "ok", "a": "ok", "gone": "unknown_tool"} == played.outcomes
    (ran,) = [e for e in played.performed if getattr(e, "call", None) == call("a")]
    assert spec("a") == getattr(ran, "spec", None)


@every_way
def test_without_a_rule_the_tools_stay(way: str) -> None:
    """Vector 72."""
    played = scripted(way, config(), call("a"), "ok", tools={"a": ["A"]})

    assert [["a", "b"], ["a", "b"]] == offered(played)
    assert () == played.events(HookWrote)


@pytest.fixture
def unfold(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The example of a tool that opens into others."""
    monkeypatch.syspath_prepend(EXAMPLES)
    monkeypatch.setitem(sys.modules, "loopcore_adapters", standing_in)
    monkeypatch.setitem(standing_in.ARGUMENTS, "travel", {})
    yield importlib.import_module("unfold")
    for name in ("unfold", "app"):
        sys.modules.pop(name, None)


def journey(way: str, unfold: Any, *replies: Any, alone: bool = False) -> Run:
    """A run whose model opens the door, and then says these."""
    inner = unfold.trains, unfold.hotels
    cfg = config(
        unfold.opens(unfold.travel, *inner, alone=alone),
        tools=[unfold.weather, unfold.travel],
    )
    model = ScriptedModel(call("travel"), *replies, id=MODEL)
    return play(way, cfg, model, unfold.weather, unfold.travel, *inner)


@every_way
def test_a_tool_opens_into_others_and_is_gone(way: str, unfold: Any) -> None:
    """Vectors 73, 104: streamed as in every mode; the door again is an unknown tool."""
    asked = [call("trains", to="Rome"), call("travel", "again")]
    played = journey(way, unfold, asked, "The 8:04.")

    inside = ["weather", "trains", "hotels"]
    assert [["weather", "travel"], inside, inside] == offered(played)
    assert {"travel": "ok", "trains": "ok", "again": "unknown_tool"} == played.outcomes
    assert "The 8:04." == output(played)


@every_way
def test_a_tool_may_open_into_others_alone(way: str, unfold: Any) -> None:
    """Vector 74."""
    played = journey(way, unfold, call("hotels", city="Rome"), "One.", alone=True)

    assert ["trains", "hotels"] == offered(played)[1]
    assert {"travel": "ok", "hotels": "ok"} == played.outcomes


@every_way
def test_a_door_may_stand_behind_a_door(way: str, unfold: Any) -> None:
    """Vector 73: to any depth."""
    first, second = unfold.travel, unfold.trains
    cfg = config(
        unfold.opens(first, second),
        unfold.opens(second, unfold.hotels),
        tools=[first],
    )
    model = ScriptedModel(
        call("travel"),
        call("trains", to="Rome"),
        call("hotels", city="Rome"),
        "ok",
        id=MODEL,
    )
    played = play(way, cfg, model, first, second, unfold.hotels)

    assert [["travel"], ["trains"], ["hotels"], ["hotels"]] == offered(played)


def test_the_example_opens_its_door(unfold: Any) -> None:
    """Vector 73: as the file has it, with a model that calls what it is offered."""
    result: RunResult = run_sync(unfold.config, unfold.interpreter, "Go to Rome.")

    stored = [m.name for m in result.messages if isinstance(m, ToolResultMessage)]
    assert ["weather", "travel"] == stored
    names = [tool.name for tool in result.state.settings.tools]
    assert ["weather", "trains", "hotels"] == names


def test_a_hook_that_adds_no_tools_says_nothing(unfold: Any) -> None:
    """Vector 72: the door stays shut until it is called."""
    shut = unfold.opens(unfold.travel, unfold.trains)
    spy = Spy()
    cfg = config(Hooks("spy", prepare_next_turn=spy), shut, tools=[unfold.travel])
    scripted("run", cfg, "hi")

    (view,) = spy.views
    assert isinstance(view, TurnView)
    assert shut.prepare_next_turn is not None
    assert None is shut.prepare_next_turn(view)
