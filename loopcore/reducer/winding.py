"""Winding up: abort, a failed hook, a failed model and a stop end a run the same way.

Nothing further is asked or run, open calls are answered, outputs that had arrived pass
their hooks, the turn is closed, and the last stages run.
"""

from typing import Final, TypeAlias

from loopcore.config import AnyConfig
from loopcore.effects import CallModel
from loopcore.events import Stop
from loopcore.frozen import evolve
from loopcore.inputs import Abort
from loopcore.messages import (
    AssistantMessage,
    Outcome,
    Text,
    ToolCall,
    ToolResultMessage,
)
from loopcore.reducer.nested import abort_children
from loopcore.reducer.out import Out, cancel, spend, store, the_turn
from loopcore.state import Done, Settled, Slot, State

Stage: TypeAlias = tuple[State, str | None]

END: Final = Abort("the outer run ended")
CANCELLED: Final = "The run ended before this call was finished."
TRUNCATED: Final = "The reply was cut off, so this call was not run; call it again."
WITHHELD: Final = "[withheld: hook {0!r} failed]"


def wind_up(  # an abort is handed on to nested runs
    config: AnyConfig, state: State, out: Out, stop: Stop, given: Abort = END
) -> Stage:
    """Go to the last stages. What was decided first stands."""
    ending = state.ending or stop
    state = evolve(state, ending=ending, stage="rest", known=())
    state = abort_children(config, state, out, given)
    by = "the Abort" if ending.reason == "aborted" else "the hook error"
    state = cancel(state, out, tuple(state.pending), by)
    turn = state.turn
    if turn is None or turn.over:
        return state, "end"
    slots = tuple(map(_closed, turn.slots))
    turn = evolve(turn, slots=slots, at=0)
    return evolve(state, turn=turn), "after_tool_call"


def _closed(slot: Slot) -> Slot:
    """The slot with an answer, if it had none: made here, so it passes no hook."""
    match slot:
        case Settled() | Done():
            return slot
        case _:
            return answered(slot.call, CANCELLED, "cancelled")


def answered(call: ToolCall, text: str, outcome: Outcome) -> Done:
    """A result that no hook sees."""
    return Done(ToolResultMessage(call.id, call.name, text, outcome))


def truncated(state: State, reply: AssistantMessage) -> State:
    """The calls of a reply that failed are answered, and never run."""
    slots = tuple(answered(c, TRUNCATED, "truncated") for c in reply.calls)
    return evolve(state, turn=evolve(the_turn(state), slots=slots))


def abort(config: AnyConfig, state: State, out: Out, given: Abort) -> Stage:
    """Stop: what had arrived of a reply is kept, everything open is answered."""
    streamed = _streamed(state, given)
    if streamed:
        state = _keep(spend(state, streamed.usage), out, streamed)
    elif state.stage == "after_model_call":
        state = _keep(state, out, _arrived(config, state))
    return wind_up(config, state, out, Stop("aborted", given.reason), given)


def _streamed(state: State, given: Abort) -> AssistantMessage | None:
    """What had come of the turn's own request, whose id a fork has from before."""
    needs = [known.effect_id for known in state.known]
    asked = (e.id for e in state.pending.values() if isinstance(e, CallModel))
    own = (effect_id for effect_id in asked if effect_id not in needs)
    return next((given.partials[i] for i in own if i in given.partials), None)


def _arrived(config: AnyConfig, state: State) -> AssistantMessage:
    """The reply that a hook had not let pass yet, withheld if hooks there fail closed."""
    reply = the_turn(state).reply
    assert reply is not None  # noqa: S101  # hooks are asked about a reply only
    guards = (h.name for h in config.hooks if h.fail_closed and h.after_model_call)
    guard = next(guards, None)
    return reply if guard is None else evolve(reply, content=(withheld(guard),))


def withheld(hook: str) -> Text:
    """What is stored in place of what this hook guards."""
    return Text(WITHHELD.format(hook))


def _keep(state: State, out: Out, streamed: AssistantMessage) -> State:
    turn = the_turn(state)
    reply = evolve(
        streamed, finish="aborted", model=streamed.model or turn.asked, error=None
    )
    state = store(state, out, reply, turn=evolve(turn, reply=reply))
    return truncated(state, reply)
