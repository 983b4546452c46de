"""Asking the model: what a request shows, its failure, and its reply."""

from typing import Final

from loopcore.config import AnyConfig
from loopcore.effects import CallModel, Sleep
from loopcore.events import Stop
from loopcore.frozen import EMPTY, FrozenDict, evolve
from loopcore.hooks.fault import Fault
from loopcore.hooks.fold import Folded
from loopcore.hooks.merge import later
from loopcore.hooks.views import ContextView, ErrorView, ReplyView
from loopcore.messages import AssistantMessage, ModelError, Text
from loopcore.reducer.ask import ask, fault_stop, hook_stop, unheard
from loopcore.reducer.batch import cut_off, open_batch, waiting
from loopcore.reducer.out import Out, asked, request, spend, store, the_turn
from loopcore.reducer.winding import WITHHELD, Stage, truncated, wind_up
from loopcore.state import State, Turn


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
        by=chosen(turn.by, folded),
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


CUT: Final = frozenset(("length", "refusal"))


def _withhold(
    config: AnyConfig, state: State, out: Out, folded: Folded, fault: Fault
) -> Stage:
    """A hook failed at the reply: it is stored as far as updated, unless it is guarded."""
    reply = folded.view.message
    if folded.guarded:
        reply = evolve(reply, content=(Text(WITHHELD.format(fault.hook)),))
    state = store_reply(state, out, reply)
    return wind_up(config, waiting(state, reply), out, fault_stop(fault))


def chosen(by: FrozenDict[str], folded: Folded) -> FrozenDict[str]:
    """Who chose each setting, now that these hooks did."""
    written = {k: v for k, v in folded.writers.items() if k in SETTINGS}
    return FrozenDict({**by, **written}) if written else by


SETTINGS: Final = ("model", "system", "tools", "thinking")
