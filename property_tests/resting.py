"""States at which runs rest, one of each kind; for what has to hold at all of them."""

from typing import Any, Final

from returns.result import Success

from loopcore import (
    AssistantMessage,
    CallModel,
    FollowUp,
    Input,
    LoopConfig,
    ModelError,
    Prompt,
    RunTool,
    Sleep,
    State,
    Steer,
    Text,
    ToolCall,
    ToolSpec,
    advance,
    deliver,
)
from loopcore.hooks import Ask, Hooks, Need, RetryUpdate

POINTS: Final = (
    "transform_context",
    "after_model_call",
    "on_model_error",
    "prepare_tool_call",
    "before_tool_call",
    "after_tool_call",
    "after_tool_result",
    "prepare_next_turn",
    "should_stop_after_turn",
)
NEED: Final = Need.service("key", "policy")
ADD: Final = ToolCall("add", {"n": 1}, "c1")
SUB: Final = ToolCall("sub", {"prompt": "look"}, "c2")


def _asks(view: Any) -> Need | None:  # a view of any point
    return None if view.answers else NEED


def _config(*hooks: Hooks) -> LoopConfig:
    child = LoopConfig(model="test:child", tools=[ToolSpec("look")])
    inner = child.as_tool("sub", "A run inside.", timeout=9.0)
    return LoopConfig(model="test:model", tools=[ToolSpec("add"), inner], hooks=hooks)


CONFIG: Final = _config()
PATIENT: Final = _config(
    Hooks("patient", on_model_error=lambda _: RetryUpdate(retry=True, delay=2.0))
)
ASKING: Final = _config(Hooks("asking", before_tool_call=lambda _: Ask("may it?")))


def _given(config: LoopConfig, state: State, *given: Any) -> State:
    return advance(config, state, *given, at=1.5).unwrap()[0]


def _first(config: LoopConfig) -> State:
    return _given(config, State.start(config, run_id="r"), "go")


def _calling(config: LoopConfig, *calls: ToolCall) -> State:
    state = _first(config)
    for effect in state.waiting:
        if isinstance(effect, CallModel):
            content: list[Text | ToolCall] = [Text("so"), *calls]
            state = _given(config, state, effect.reply(AssistantMessage(content)))
    return state


def _parked(point: str) -> tuple[LoopConfig, State]:
    functions: Any = {point: _asks}
    config = _config(Hooks("asks", **functions))
    state = _first(config)
    for _ in range(4):
        effect = state.waiting[0]
        if isinstance(effect, CallModel):
            fails = point == "on_model_error"
            answer = (
                effect.fail("no") if fails else effect.reply(AssistantMessage([ADD]))
            )
            state = _given(config, state, answer)
        if isinstance(effect, RunTool):
            state = _given(config, state, effect.reply("3"))
    return config, state


def _inbox(state: State, given: Input) -> State:
    match deliver(state, given):
        case Success(placed):
            return placed
        case refused:
            raise AssertionError(refused)


def _failed() -> State:
    state = _first(PATIENT)
    (effect,) = state.waiting
    assert isinstance(effect, CallModel)
    state = _given(PATIENT, state, effect.fail(ModelError("busy", "overloaded")))
    assert isinstance(state.waiting[0], Sleep)
    return state


def _resting() -> dict[str, tuple[LoopConfig, State]]:
    asked = _calling(ASKING, ADD, SUB)
    edit = asked.approvals[0].edit(n=2)
    queued = _given(CONFIG, _first(CONFIG), Steer("now"), FollowUp("then", "k"))
    idle = State.start(CONFIG, run_id="r")
    return {
        "idle": (CONFIG, idle),
        "started": (CONFIG, _first(CONFIG)),
        "queued": (CONFIG, queued),
        "running": (CONFIG, _calling(CONFIG, ADD, SUB)),
        "asked": (ASKING, asked),
        "edited": (ASKING, _given(ASKING, asked, edit)),
        "sleeping": (PATIENT, _failed()),
        "prompted": (CONFIG, _inbox(idle, Prompt("go"))),
        "answered": (ASKING, _inbox(asked, asked.approvals[0].edit(n=3))),
        **{point: _parked(point) for point in POINTS},
    }


RESTING: Final = _resting()
"""A configuration and a state of it, by what the state is like."""
