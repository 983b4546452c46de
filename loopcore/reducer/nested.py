"""A run inside a run: the slot of a call holds the child's state, and folds it."""

from typing import Final

from loopcore.config import AnyConfig, LoopConfig
from loopcore.effects import Effect, Sleep
from loopcore.events import Stop
from loopcore.frozen import FrozenDict, evolve
from loopcore.inputs import Abort, Answer, Input, Prompt
from loopcore.messages import AssistantMessage, Outcome
from loopcore.reducer.out import (
    Out,
    cancel,
    close,
    pay,
    put,
    request,
    spend,
    the_turn,
)
from loopcore.routing import children, place_of
from loopcore.state import Closed, Ready, Running, Settled, State, seed_of
from loopcore.tools import ToolOutput

GONE = "The configuration of this nested run is gone, so it could not go on."


def begin(config: AnyConfig, state: State, out: Out, place: int, slot: Ready) -> State:
    """Start the nested run of a call, and the timer that aborts it."""
    inner = config.nested(slot.spec.name)
    assert inner is not None  # noqa: S101  # asked for nested tools only
    run_id = f"{state.place}.run.{place}"
    child = State.start(inner, run_id=run_id, seed=seed_of(f"{state.seed}:{run_id}"))
    running = Running(
        slot.call,
        slot.spec,
        slot.arguments,
        slot.terminate,
        child,
    )
    state = put(state, place, running)
    state = feed(
        config, state, out, place, Prompt(str(slot.arguments.get("prompt", "")))
    )
    started = isinstance(the_turn(state).slots[place], Running)
    return _timer(state, out, run_id, slot.spec.timeout) if started else state


def _timer(state: State, out: Out, effect_id: str, seconds: float | None) -> State:
    if seconds is None:
        return state
    until = None if state.now is None else state.now + seconds
    return request(state, out, Sleep(effect_id, seconds, until))


def feed(config: AnyConfig, state: State, out: Out, place: int, given: Input) -> State:
    """Give the nested run of a slot an input; its end settles the slot."""
    slot = the_turn(state).slots[place]
    assert isinstance(slot, Running)  # noqa: S101  # only these have a nested run
    assert slot.child is not None  # noqa: S101
    child = evolve(slot.child, now=state.now, inputs=state.inputs - 1)
    child = fold_child(config, slot, child, out, given)
    state = put(state, place, evolve(slot, child=child))
    return _settle(state, out, place, slot, child) if child.stop else state


def fold_child(
    config: AnyConfig, slot: Running, child: State, out: Out, given: Input
) -> State:
    """The nested run after this input."""
    from loopcore.reducer.step import step  # noqa: PLC0415  # a fold inside a fold

    inner = config.nested(slot.spec.name)
    if inner is None:
        return _forsake(child, out, given)
    child, effects = step(inner, evolve(child, inbox=given))
    out.add(effects)
    return child


NOBODY: Final = LoopConfig(model="nobody:nobody")
"""What folds a run whose configuration is gone: it has no hooks, and only ends runs."""


def _forsake(child: State, out: Out, given: Input) -> State:
    """Nobody can fold it any more: it winds up, and no hook of it is asked."""
    from loopcore.reducer.step import go  # noqa: PLC0415  # a fold inside a fold
    from loopcore.reducer.winding import abort, wind_up  # noqa: PLC0415

    child = evolve(child, inputs=child.inputs + 1)
    if isinstance(given, Abort):
        return go(NOBODY, out, *abort(NOBODY, child, out, given))
    if isinstance(given, Answer):
        child = _took(child, out, given)
    return go(NOBODY, out, *wind_up(NOBODY, child, out, Stop("hook_error", GONE)))


def _took(state: State, out: Out, answer: Answer) -> State:
    """The state of a run whose effect, or one inside it, got an answer of no use."""
    place = place_of(state, answer.effect_id)
    if place is None:
        return pay(close(state, out, answer)[0], answer.value)
    slot = the_turn(state).slots[place]
    assert isinstance(slot, Running)  # noqa: S101  # place_of looked
    assert slot.child is not None  # noqa: S101
    return put(state, place, evolve(slot, child=_took(slot.child, out, answer)))


def _settle(state: State, out: Out, place: int, slot: Running, child: State) -> State:
    timer = (e.id for e in state.pending.values() if _is_timer(e, place))
    state = _bury(cancel(state, out, timer, "the end of its run"), child)
    output = _output(child, slot.terminate)
    settled = Settled(slot.call, slot.spec, slot.arguments, output, ran=True)
    return put(spend(state, child.usage), place, settled)


def _is_timer(effect: Effect, place: int) -> bool:
    """Whether it ends the nested run of this call; a fork has it under its old name."""
    return isinstance(effect, Sleep) and effect.id.endswith(f".run.{place}")


def _bury(state: State, child: State) -> State:
    """Keep how the nested run's effects ended, for answers that come too late."""
    over = {child.run_id: Closed("answered", state.inputs)}
    return evolve(state, closed=FrozenDict({**over, **state.closed, **child.closed}))


def _output(child: State, terminate: bool | None) -> ToolOutput:  # noqa: FBT001
    """What a nested run amounts to: its last reply, or why it did not come to one."""
    done = child.stop is not None and child.stop.reason == "done"
    text = last_text(child) if done else str(child.stop)
    outcome: Outcome = "ok" if done else "error"
    return ToolOutput(text, outcome=outcome, terminate=bool(terminate))


def last_text(state: State) -> str:
    """The text of the run's last reply."""
    said = (m for m in reversed(state.new) if isinstance(m, AssistantMessage))
    reply = next(said, None)
    return reply.text if reply else ""


def time_out(config: AnyConfig, state: State, out: Out, place: int) -> State:
    """The nested run passed its tool's timeout."""
    slot = the_turn(state).slots[place]
    assert isinstance(slot, Running)  # noqa: S101  # only these have a timer
    seconds = slot.spec.timeout
    state = feed(config, state, out, place, Abort(f"no end within {seconds} s"))
    output = ToolOutput(
        f"{slot.spec.name} did not end within {seconds} s and was stopped.",
        outcome="timeout",
        terminate=bool(slot.terminate),
    )
    ended = Settled(slot.call, slot.spec, slot.arguments, output, ran=True)
    return put(state, place, ended)


def abort_children(config: AnyConfig, state: State, out: Out, given: Abort) -> State:
    """The outer run ends: so do its nested runs, and their tokens count."""
    for place, _ in tuple(children(state)):
        slot = the_turn(state).slots[place]
        state = put(feed(config, state, out, place, given), place, slot)
    return state
