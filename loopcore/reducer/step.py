"""The machine: a table of small stages, in the order of the documents."""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from returns.result import Failure, Success

from loopcore.config import AnyConfig
from loopcore.effects import (
    CallModel,
    Consult,
    RequestApproval,
    RunTool,
    Sleep,
    call_number,
    is_retry,
)
from loopcore.events import RunStart
from loopcore.frozen import EMPTY, UNSET, FrozenDict, evolve, vector
from loopcore.hooks.merge import later
from loopcore.inputs import (
    Abort,
    Answer,
    Continue,
    FollowUp,
    Prompt,
    Steer,
    Withdraw,
)
from loopcore.messages import NO_USAGE
from loopcore.reducer import model, turn
from loopcore.reducer.ask import parked
from loopcore.reducer.batch import decided, ran, run_tools, start_tools
from loopcore.reducer.door import Given, answerable, deliver, refuse_other
from loopcore.reducer.gates import before_tool_call, prepare_tool_call
from loopcore.reducer.nested import feed, time_out
from loopcore.reducer.out import NOTHING, Effects, Out, close, pay, store, where
from loopcore.reducer.queues import drain, enqueue, withdraw
from loopcore.reducer.results import after_tool_call, after_tool_result
from loopcore.reducer.winding import Stage, abort
from loopcore.routing import place_of
from loopcore.settings import Settings
from loopcore.state import Rejected, State

Moved: TypeAlias = Success[tuple[State, Effects]] | Failure[Rejected]


def step(config: AnyConfig, state: State) -> tuple[State, Effects]:
    """Take the delivered input and go on to the next rest. Pure and total.

    An empty inbox gives the state itself and no effects.

    Raises:
        TypeError: for what is no State, such as the result of deliver() itself.
    """
    refuse_other(state, "step()")
    if state.inbox is None:
        return state, NOTHING
    out = Out()
    given = state.inbox
    state = evolve(state, inbox=None, inputs=state.inputs + 1)
    state = go(config, out, *TAKE[type(given)](config, state, out, given))
    return state, out.effects()


def go(config: AnyConfig, out: Out, state: State, stage: str | None) -> State:
    """The state at the next rest, this stage being next."""
    while stage is not None:
        state, stage = STAGES[stage](config, state, out)
    return state


def advance(
    config: AnyConfig, state: State, *given: Given, at: float | None = None
) -> Moved:
    """Deliver and step each of these in turn: all, or none. Effects are added up.

    Over several inputs one effect may be both asked and cancelled; `state.waiting` is
    what counts.

    Raises:
        TypeError: for what is no State, no input or no time, saying what to write.
        ValueError: for a time that is not finite.
    """
    refuse_other(state, "advance()")
    done = NOTHING
    for one in given:
        placed = deliver(state, one, at=at)
        if isinstance(placed, Failure):
            return placed
        state, effects = step(config, placed.unwrap())
        done = effects if done is NOTHING else done + effects
    return Success((state, done))


def _prompt(config: AnyConfig, state: State, out: Out, given: Prompt) -> Stage:
    state = _begin(evolve(state, by=EMPTY), _changed(config.settings, given))
    out.tell.append(RunStart(messages=given.say, **where(state)))
    state = store(state, out, *given.say)
    state, _ = drain(state, out, "steering", config.steering)
    return state, "transform_context"


def _continue(config: AnyConfig, state: State, out: Out, given: Continue) -> Stage:
    was_answerable = answerable(state)
    by = {k: v for k, v in state.by.items() if getattr(given, k) is UNSET}
    settings = _changed(state.settings, given)
    state = _begin(evolve(state, by=FrozenDict(by)), settings)
    out.tell.append(RunStart(messages=(), **where(state)))
    state, steered = drain(state, out, "steering", config.steering)
    if not steered and not was_answerable:
        state, _ = drain(state, out, "follow_ups", config.follow_ups)
    return state, "transform_context"


def _begin(state: State, settings: Settings) -> State:
    """A run begins, with its first turn."""
    fresh = evolve(
        state,
        run=state.run + 1,
        turns=0,
        settings=settings,
        stage="rest",
        new=vector(),
        requests=0,
        repairs=0,
        usage=NO_USAGE,
        stop=None,
    )
    return turn.open_turn(fresh)


def _changed(settings: Settings, given: Prompt | Continue) -> Settings:
    return evolve(
        settings,
        model=later(settings.model, given.model),
        system=later(settings.system, given.system),
        tools=later(settings.tools, given.tools),
        thinking=later(settings.thinking, given.thinking),
    )


def _queue(_: AnyConfig, state: State, __: Out, given: Steer | FollowUp) -> Stage:
    return enqueue(state, given), None


def _withdraw(_: AnyConfig, state: State, __: Out, given: Withdraw) -> Stage:
    return withdraw(state, given), None


def _answer(config: AnyConfig, state: State, out: Out, given: Answer) -> Stage:
    """Route an answer to what asked for it: a hook, a nested run, a call, the turn."""
    place = place_of(state, given.effect_id)
    if place is not None:
        state = feed(config, state, out, place, given)
        return state, _unless_parked(state)
    state, effect = close(state, out, given)
    if effect.id in [known.effect_id for known in state.known]:
        return _know(state, given), state.stage
    value: Any = given.value  # of the effect's own kind: the door looked
    match effect:
        case CallModel():
            return model.replied(config, state, out, effect, value)
        case RunTool():
            state = ran(state, call_number(effect.id), value, given.seconds)
        case RequestApproval():
            state = decided(config, state, out, call_number(effect.id), value)
        case Sleep():
            return _woke(config, state, out, effect)
        case Consult():
            return state, None
    return state, _unless_parked(state)


def _unless_parked(state: State) -> str | None:
    """An answer while a hook waits for another changes nothing but its slot."""
    return None if parked(state) else "run_tools"


def _know(state: State, given: Answer) -> State:
    """A hook's need was answered: its point is entered again."""
    known = tuple(
        evolve(k, value=given.value) if k.effect_id == given.effect_id else k
        for k in state.known
    )
    return pay(evolve(state, known=known), given.value)


def _woke(config: AnyConfig, state: State, out: Out, effect: Sleep) -> Stage:
    """A retry's pause is over, or a nested run's time is."""
    if is_retry(effect.id):
        return model.woke(state)
    state = time_out(config, state, out, call_number(effect.id))
    return state, _unless_parked(state)


TAKE: Final[dict[type, Callable[[AnyConfig, State, Out, Any], Stage]]] = {
    Prompt: _prompt,
    Continue: _continue,
    Steer: _queue,
    FollowUp: _queue,
    Withdraw: _withdraw,
    Abort: abort,
    Answer: _answer,
}

STAGES: Final[dict[str, Callable[[AnyConfig, State, Out], Stage]]] = {
    "transform_context": model.transform_context,
    "on_model_error": model.on_model_error,
    "after_model_call": model.after_model_call,
    "prepare_tool_call": prepare_tool_call,
    "before_tool_call": before_tool_call,
    "start_tools": start_tools,
    "run_tools": run_tools,
    "after_tool_call": after_tool_call,
    "after_tool_result": after_tool_result,
    "end_turn": turn.end_turn,
    "prepare_next_turn": turn.prepare_next_turn,
    "should_stop_after_turn": turn.should_stop_after_turn,
    "next_turn": turn.next_turn,
    "end": turn.end,
}
