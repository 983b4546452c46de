"""Decisions that show only when effects are performed, from end to end."""

from loopcore import (
    Answer,
    Effect,
    Interpreter,
    LoopConfig,
    Perform,
    Sleep,
    State,
    Tell,
    ToolCall,
    run_sync,
    tool,
)
from loopcore.hooks import Ask, Hooks, TurnUpdate, TurnView
from loopcore.testing import ScriptedModel
from tests.driving import Spy


def then_review(view: TurnView) -> TurnUpdate | None:
    if view.results:
        return TurnUpdate(model="anthropic:strong")
    return None


@tool
def look() -> str:
    """Look at the draft."""
    return "a draft"


def test_a_model_that_nobody_serves_is_told_with_the_hook_that_chose_it() -> None:
    """D74: the hook that chose it in an earlier turn, too."""
    model = ScriptedModel(ToolCall("look"))
    config = LoopConfig(
        model=model, tools=[look], hooks=[Hooks(prepare_next_turn=then_review)]
    )
    stop = run_sync(config, Interpreter(model, look), "go").stop

    assert stop is not None
    assert (stop.reason, stop.hook) == ("model_error", None)
    for fact in ("no_such_model", "'then_review'", "'anthropic:strong'", "test:script"):
        assert fact in stop.detail


async def no_pause(effect: Effect, tell: Tell, inner: Perform) -> Answer | None:
    """Nobody here waits for a time to pass."""
    return None if isinstance(effect, Sleep) else await inner(effect, tell)


def test_a_nested_run_goes_on_from_its_own_state() -> None:
    """D91: after a resume it is not restarted."""
    small = ScriptedModel(ToolCall("look"), "It is good.", id="test:small")
    big = ScriptedModel(ToolCall("ask", {"prompt": "Is it good?"}), "Done.")
    hook = Hooks("ask", before_tool_call=Spy(Ask("sure?")))
    inner = LoopConfig(model=small, tools=[look], hooks=[hook])
    config = LoopConfig(model=big, tools=[inner.as_tool("ask", "Ask.", timeout=600)])
    interpreter = Interpreter(small, big, look)

    paused = run_sync(config, interpreter.wrap(no_pause), "go", run_id="r")
    state = State.loads(paused.state.dumps()).unwrap()
    result = run_sync(
        config, interpreter.wrap(no_pause), state.approvals[0].approve(), state=state
    )

    assert result.unwrap() == "Done."
    assert [len(small.requests), len(big.requests)] == [2, 2]
    assert [m.text for m in result.messages][2] == "It is good."
