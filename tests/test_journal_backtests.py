"""What a backtest says changes: each thing once, as it is, and by the hook that did it."""

from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from loopcore import (
    AssistantMessage,
    Interpreter,
    LoopConfig,
    ToolCall,
    UserMessage,
    run_sync,
    tool,
)
from loopcore.hooks import (
    Allow,
    Block,
    ContextView,
    Hooks,
    Need,
    ToolCallView,
    ToolResultUpdate,
    ToolResultView,
    TurnUpdate,
    TurnView,
)
from loopcore.journal import backtest
from loopcore.testing import ScriptedModel


@tool
def look(at: str) -> str:
    """Look at something."""
    return f"seen: {at}"


OLD = LoopConfig(model="test:script", tools=[look])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A run with two calls in its first turn, and one in its second."""
    a, b, c = (ToolCall("look", {"at": at}, f"c-{at}") for at in "abc")
    model = ScriptedModel(AssistantMessage([a, b]), AssistantMessage([c]), "done")
    file = tmp_path / "r.jsonl"
    run_sync(OLD, Interpreter(model, look), "Hi!", run_id="r1", journal=file).unwrap()
    return file


def allowed(_: ToolCallView) -> Allow:
    return Allow()


def blocked(view: ToolCallView) -> Block | None:
    return Block("not b") if view.arguments["at"] == "b" else None


def injected(view: TurnView) -> TurnUpdate | None:
    return TurnUpdate(inject=[UserMessage("and?")]) if view.turn == 1 else None


def advised(view: ContextView) -> Need | None:
    return None if "advice" in view.answers else Need.service("advice", "adviser", {})


def enough(_: ToolResultView) -> ToolResultUpdate:
    return ToolResultUpdate(terminate=True)


def hooked(**hooks: Any) -> LoopConfig:
    return evolve(OLD, hooks=[Hooks(name, **{p: f}) for name, (p, f) in hooks.items()])


GATE = "before_tool_call"
BLOCKED = (1, "look(at='b')", "runs", "blocked: 'not b'", "rule", GATE)
CASES: dict[str, tuple[LoopConfig, list[tuple[Any, ...]]]] = {
    "one call of two is blocked": (hooked(rule=(GATE, blocked)), [BLOCKED]),
    "another hook has an opinion first": (
        hooked(lax=(GATE, allowed), rule=(GATE, blocked)),
        [BLOCKED],
    ),
    "another hook has an opinion later": (
        hooked(rule=(GATE, blocked), lax=(GATE, allowed)),
        [BLOCKED],
    ),
    "a message is injected": (
        hooked(adds=("prepare_next_turn", injected)),
        [(1, "user message", "none", "and?", "adds", "prepare_next_turn")],
    ),
    "a service is asked": (
        hooked(asks=("transform_context", advised)),
        [(1, "service adviser", "none", "asked: {}", "asks", "transform_context")],
    ),
    "a result ends the run": (
        hooked(ends=("after_tool_result", enough)),
        [(1, "stop", "done", "terminated", "ends", "after_tool_result")],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_each_change_is_told_once_and_by_its_hook(path: Path, case: str) -> None:
    new, expected = CASES[case]

    found = backtest([path], old=OLD, new=new).changed

    assert expected == [(c.turn, c.what, c.old, c.new, c.hook, c.point) for c in found]


def test_a_setting_is_told_of_the_first_request_that_has_it(path: Path) -> None:
    """All that come after it have it, too."""
    found = backtest([path], old=OLD, new=evolve(OLD, system="Brief."), lenient=True)

    assert [(c.turn, c.what, c.old, c.new) for c in found.changed] == [
        (1, "request: system", "none", "Brief.")
    ]


def test_a_request_is_of_the_turn_that_it_begins(path: Path) -> None:
    def late(view: TurnView) -> TurnUpdate | None:
        return TurnUpdate(system="Brief.") if view.turn == 1 else None

    new = hooked(late=("prepare_next_turn", late))

    found = backtest([path], old=OLD, new=new).changed

    assert [(c.turn, c.what, c.hook) for c in found] == [(2, "request: system", "late")]
