"""The stages of a turn around its batch: request, reply, end of turn, what comes next."""

from typing import Final

from loopcore.config import AnyConfig
from loopcore.effects import CallModel, Sleep
from loopcore.events import RunEnd, Stop, TurnEnd
from loopcore.frozen import EMPTY, FrozenDict, evolve
from loopcore.hooks.fold import Fault, Folded
from loopcore.hooks.merge import later
from loopcore.hooks.views import ContextView, ErrorView, ReplyView, TurnView
from loopcore.messages import (
    AssistantMessage,
    ModelError,
    Text,
)
from loopcore.reducer.ask import ask, fault_stop, hook_stop, unheard
from loopcore.reducer.batch import cut_off, open_batch, waiting
from loopcore.reducer.out import Out, asked, request, spend, store, the_turn, where
from loopcore.reducer.output import may_repair, misfit, repaired, spoilt, why_not
from loopcore.reducer.queues import drain
from loopcore.reducer.winding import WITHHELD, Stage, truncated, wind_up
from loopcore.state import Done, State, Turn


def open_turn(state: State) -> State:
    """The next turn; how the effects of the last one ended may be forgotten."""
    number = state.turns + 1
    return evolve(state, turns=number, turn=Turn(number), closed=EMPTY)


def transform_context(config: AnyConfig, state: State, out: Out) -> Stage:
    """What this one request shows; nothing of it is stored."""
    turn, settings = the_turn(state), state.settings
    view = ContextView(
        state=state,
        messages=state.transcript,
        model=turn.model or settings.model,
        system=settings.system,
        tools=settings.tools,
        thinking=later(settings.thinking, turn.thinking),
        options=settings.options,
        requests=state.requests,
        usage=state.usage,
    )
    if unheard(config, state, "transform_context"):
        return _call_model(config, state, out, view, EMPTY), None
    state, folded = ask(
        config, state, out, "transform_context", str(turn.attempt), view
    )
    if folded is None:
        return state, None
    if folded.fault:
        return wind_up(config, state, out, fault_stop(folded.fault))
    stop = hook_stop(folded, "transform_context")
    if stop:
        return wind_up(config, state, out, stop)
    return _call_model(config, state, out, folded.view, folded.writers), None


def _call_model(
    config: AnyConfig,
    state: State,
    out: Out,
    shown: ContextView,
    writers: FrozenDict[str],
) -> State:
    turn = the_turn(state)
    effect = CallModel(
        f"{state.place}.model.{turn.attempt}",
        shown.model,
        shown.messages,
        shown.system,
        shown.tools,
        thinking=shown.thinking,
        options=shown.options,
        output=config.wanted.schema if config.wanted else None,
        by=FrozenDict({**state.by, **turn.by, **writers}).without("stop"),
    )
    turn = evolve(turn, asked=shown.model, tools=shown.tools, error=None)
    return evolve(
        state,
        turn=turn,
        requests=state.requests + 1,
        pending=asked(state, out, effect),
    )


def replied(
    config: AnyConfig,
    state: State,
    out: Out,
    effect: CallModel,
    value: AssistantMessage | ModelError,
) -> Stage:
    """The model answered; a failed reply is an error that has a partial reply."""
    if isinstance(value, ModelError):
        return _errored(state, value)
    failure = _failure(value)
    if failure:
        return _errored(state, failure)
    reply = value if value.model else evolve(value, model=effect.model)
    state = spend(state, reply.usage)
    if unheard(config, state, "after_model_call"):
        return _accepted(config, state, out, reply)
    return evolve(state, turn=evolve(the_turn(state), reply=reply)), "after_model_call"


def _errored(state: State, error: ModelError) -> Stage:
    state = spend(state, error.partial.usage) if error.partial else state
    return evolve(state, turn=evolve(the_turn(state), error=error)), "on_model_error"


def _failure(reply: AssistantMessage) -> ModelError | None:
    """Nobody here aborted, so a reply that says so failed like any other."""
    if not reply.failed:
        return None
    error = reply.error or ModelError("the model's reply failed", "bad_response")
    return evolve(error, partial=evolve(reply, error=None))


def on_model_error(config: AnyConfig, state: State, out: Out) -> Stage:
    """Try again after a while, or store the failed reply and end."""
    turn = the_turn(state)
    error = turn.error
    assert error is not None  # noqa: S101  # this stage is entered with an error only
    view = ErrorView(state=state, error=error, attempt=turn.attempt, model=turn.asked)
    state, folded = ask(config, state, out, "on_model_error", str(turn.attempt), view)
    if folded is None:
        return state, None
    if folded.fault:
        return _give_up(config, state, out, error, fault_stop(folded.fault))
    if not folded.view.retry:
        return _give_up(config, state, out, error, Stop("model_error", str(error)))
    return _sleep(state, out, folded), None


def _sleep(state: State, out: Out, folded: Folded) -> State:
    turn, view = the_turn(state), folded.view
    seconds = max(0.0, float(view.delay))
    until = None if state.now is None else state.now + seconds
    turn = evolve(
        turn,
        model=later(turn.model, folded.update.model),
        thinking=later(turn.thinking, folded.update.thinking),
        by=_chosen(turn.by, folded),
    )
    state = evolve(state, turn=turn)
    return request(
        state, out, Sleep(f"{state.place}.sleep.{turn.attempt}", seconds, until)
    )


def woke(state: State) -> Stage:
    """The pause before a retry is over."""
    turn = the_turn(state)
    return evolve(
        state, turn=evolve(turn, attempt=turn.attempt + 1)
    ), "transform_context"


def _give_up(
    config: AnyConfig, state: State, out: Out, error: ModelError, stop: Stop
) -> Stage:
    partial = error.partial or AssistantMessage(())
    failed = evolve(
        partial,
        model=partial.model or the_turn(state).asked,
        finish="error",
        error=evolve(error, partial=None),
    )
    state = store_reply(state, out, failed)
    return wind_up(config, truncated(state, failed), out, stop)


def store_reply(state: State, out: Out, reply: AssistantMessage) -> State:
    """The reply is history now."""
    turn = evolve(the_turn(state), reply=reply)
    return store(state, out, reply, turn=turn)


def after_model_call(config: AnyConfig, state: State, out: Out) -> Stage:
    """Hooks may replace the reply; then it is stored, and its calls are begun."""
    reply = the_turn(state).reply
    assert reply is not None  # noqa: S101  # this stage is entered with a reply only
    view = ReplyView(state=state, message=reply)
    attempt = str(the_turn(state).attempt)
    state, folded = ask(config, state, out, "after_model_call", attempt, view)
    if folded is None:
        return state, None
    if folded.fault:
        return _withhold(config, state, out, folded, folded.fault)
    return _accepted(config, state, out, folded.view.message)


def _accepted(
    config: AnyConfig, state: State, out: Out, reply: AssistantMessage
) -> Stage:
    """The reply as hooks left it is stored, unless they gave a failed one."""
    error = _failure(reply)
    if error:
        return _give_up(config, state, out, error, Stop("model_error", str(error)))
    turn, stage = _batch(config, the_turn(state), reply)
    return store(state, out, reply, turn=turn), stage


def _batch(config: AnyConfig, turn: Turn, reply: AssistantMessage) -> tuple[Turn, str]:
    """The turn with its reply, and the stage that is next."""
    if not reply.calls:
        return evolve(turn, reply=reply), "end_turn"
    if reply.finish in CUT:
        return cut_off(turn, reply), "after_tool_call"
    return open_batch(config, turn, reply), "prepare_tool_call"


CUT = frozenset(("length", "refusal"))


def _withhold(
    config: AnyConfig, state: State, out: Out, folded: Folded, fault: Fault
) -> Stage:
    """A hook failed at the reply: it is stored as far as updated, unless it is guarded."""
    reply = folded.view.message
    if folded.guarded:
        reply = evolve(reply, content=(Text(WITHHELD.format(fault.hook)),))
    state = store_reply(state, out, reply)
    return wind_up(config, waiting(state, reply), out, fault_stop(fault))


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
    state = evolve(state, settings=settings, by=_chosen(state.by, folded))
    return store(state, out, *view.inject, turn=turn)


def _chosen(by: FrozenDict[str], folded: Folded) -> FrozenDict[str]:
    """Who chose each setting, now that these hooks did."""
    chosen = {k: v for k, v in folded.writers.items() if k in SETTINGS}
    return FrozenDict({**by, **chosen}) if chosen else by


SETTINGS: Final = ("model", "system", "tools", "thinking")


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
