"""The end of a turn, and what comes after it: another turn, or the end."""

from typing import Final

from loopcore.config import AnyConfig
from loopcore.events import RunEnd, Stop, TurnEnd
from loopcore.frozen import EMPTY, evolve
from loopcore.hooks.fold import Folded
from loopcore.hooks.views import TurnView
from loopcore.reducer.ask import ask, fault_stop, hook_stop, unheard
from loopcore.reducer.model import chosen
from loopcore.reducer.out import Out, store, the_turn, where
from loopcore.reducer.output import may_repair, misfit, repaired, spoilt, why_not
from loopcore.reducer.queues import drain
from loopcore.reducer.winding import Stage, wind_up
from loopcore.state import Done, State, Turn


def open_turn(state: State) -> State:
    """The next turn; how the effects of the last one ended may be forgotten."""
    number = state.turns + 1
    return evolve(state, turns=number, turn=Turn(number), closed=EMPTY)


def end_turn(config: AnyConfig, state: State, out: Out) -> Stage:  # noqa: ARG001
    """The batch's results are stored together, and the turn is over."""
    turn = the_turn(state)
    results = turn.results
    state = store(state, out, *results, turn=evolve(turn, over=True))
    out.tell.append(
        TurnEnd(message=turn.reply, results=results, usage=turn.usage, **where(state))
    )
    return state, "end" if state.ending else "prepare_next_turn"


def _turn_view(config: AnyConfig, state: State) -> TurnView:
    turn, settings = the_turn(state), state.settings
    assert turn.reply is not None  # noqa: S101  # a turn without one never ends cleanly
    return TurnView(
        state=state,
        message=turn.reply,
        results=turn.results,
        new_messages=state.new,
        usage=turn.usage,
        model=settings.model,
        system=settings.system,
        tools=settings.tools,
        thinking=settings.thinking,
        goes_on=_goes_on(config, state, turn),
    )


def _goes_on(config: AnyConfig, state: State, turn: Turn) -> bool:
    queued = bool(state.steering or state.follow_ups)
    return queued or turn.again or _unfinished(turn) or bool(_misfit(config, turn))


def prepare_next_turn(config: AnyConfig, state: State, out: Out) -> Stage:
    """Settings for the turns to come, messages that make one, or another history."""
    if unheard(config, state, "prepare_next_turn"):
        return state, "should_stop_after_turn"
    view = _turn_view(config, state)
    state, folded = ask(config, state, out, "prepare_next_turn", "0", view)
    if folded is None:
        return state, None
    state = _prepared(state, out, folded)
    if folded.fault:
        return wind_up(config, state, out, fault_stop(folded.fault))
    return state, "should_stop_after_turn"


def _prepared(state: State, out: Out, folded: Folded) -> State:
    view: TurnView = folded.view
    if not folded.update.written:
        return state
    if view.rewritten is not None:
        state = evolve(state, transcript=view.rewritten)
    settings = evolve(
        state.settings,
        model=view.model,
        system=view.system,
        tools=view.tools,
        thinking=view.thinking,
    )
    turn = evolve(the_turn(state), again=bool(view.inject))
    state = evolve(state, settings=settings, by=chosen(state.by, folded))
    return store(state, out, *view.inject, turn=turn)


def should_stop_after_turn(config: AnyConfig, state: State, out: Out) -> Stage:
    """A graceful stop: before the next request, with the queues left as they are."""
    if unheard(config, state, "should_stop_after_turn"):
        return state, "next_turn"
    view = _turn_view(config, state)
    state, folded = ask(config, state, out, "should_stop_after_turn", "0", view)
    if folded is None:
        return state, None
    if folded.fault:
        return wind_up(config, state, out, fault_stop(folded.fault))
    stop = hook_stop(folded, "should_stop_after_turn")
    return (evolve(state, ending=stop), "end") if stop else (state, "next_turn")


def next_turn(config: AnyConfig, state: State, out: Out) -> Stage:
    """Steering, calls or injected messages want a request; then follow-ups; else the end."""
    turn = the_turn(state)
    following, steered = drain(open_turn(state), out, "steering", config.steering)
    if steered or turn.again or _unfinished(turn):
        return following, "transform_context"
    problem = _misfit(config, turn)
    if problem and may_repair(config, state, turn):
        return repaired(following, out, problem), "transform_context"
    if problem:
        return evolve(state, ending=spoilt(state, problem)), "end"
    following, followed = drain(following, out, "follow_ups", config.follow_ups)
    if followed:
        return evolve(following, repairs=0), "transform_context"
    return evolve(state, ending=_finished(config, turn)), "end"


def _misfit(config: AnyConfig, turn: Turn) -> str:
    """Why the reply is not the output that is wanted; a batch that ends a run is none."""
    return "" if _terminated(turn) else misfit(config, turn)


def _finished(config: AnyConfig, turn: Turn) -> Stop:
    if _terminated(turn):
        return Stop("terminated")
    return Stop("done", why_not(config, turn) or _cut(turn))


def _cut(turn: Turn) -> str:
    """A run that ends with a reply that was cut or refused is done, and says so."""
    return CUT_SHORT.get(turn.reply.finish, "") if turn.reply else ""


CUT_SHORT: Final = {
    "length": "the reply was cut off at the length limit",
    "refusal": "the model refused",
}


def _terminated(turn: Turn) -> bool:
    """Whether every result of a batch asked for the end."""
    done = [slot.terminate for slot in turn.slots if isinstance(slot, Done)]
    return bool(done) and all(done)


def _unfinished(turn: Turn) -> bool:
    refused = turn.reply is not None and turn.reply.finish == "refusal"
    return bool(turn.slots) and not refused and not _terminated(turn)


def end(config: AnyConfig, state: State, out: Out) -> Stage:  # noqa: ARG001
    """The run is over, for the reason that was decided."""
    stop = state.ending
    assert stop is not None  # noqa: S101  # whoever leads here decides why
    out.tell.append(RunEnd(stop=stop, usage=state.usage, **where(state)))
    state = evolve(state, stage="idle", turn=None, ending=None, stop=stop)
    return state, None
