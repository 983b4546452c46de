"""The results of a batch: shaped by hooks, in order, before they are stored."""

from loopcore.config import AnyConfig
from loopcore.frozen import evolve
from loopcore.hooks.fold import Folded
from loopcore.hooks.views import ToolResultView
from loopcore.messages import Text, ToolCall, ToolResultMessage
from loopcore.reducer.ask import ask, fault_stop, unheard
from loopcore.reducer.out import Out, move, put, the_turn
from loopcore.reducer.winding import CANCELLED, WITHHELD, Stage, answered
from loopcore.state import Done, Settled, Slot, State, Waiting
from loopcore.tools import ToolOutput


def after_tool_call(config: AnyConfig, state: State, out: Out) -> Stage:
    """The tool ran: hooks react to its output."""
    turn = the_turn(state)
    if turn.at == turn.last:
        return _next_group(state)
    slot = turn.slots[turn.at]
    if not isinstance(slot, Settled):
        return move(state, turn.at + 1), "after_tool_call"
    if not slot.ran:
        return state, "after_tool_result"
    return _react(config, state, out, turn.at, slot)


def _react(config: AnyConfig, state: State, out: Out, at: int, slot: Settled) -> Stage:
    if unheard(config, state, "after_tool_call"):
        return put(state, at, evolve(slot, ran=False)), "after_tool_result"
    view = _view(state, slot)
    state, folded = ask(config, state, out, "after_tool_call", str(at), view)
    if folded is None:
        return state, None
    state = _faulted(state, folded)
    shaped = evolve(slot, output=_shaped(slot, folded), ran=False)
    return put(state, at, shaped), "after_tool_result"


def after_tool_result(config: AnyConfig, state: State, out: Out) -> Stage:
    """Anything that is about to be stored: hooks shape it."""
    turn = the_turn(state)
    slot = turn.slots[turn.at]
    assert isinstance(slot, Settled)  # noqa: S101  # after_tool_call looked
    state, folded = ask(
        config, state, out, "after_tool_result", str(turn.at), _view(state, slot)
    )
    if folded is None:
        return state, None
    state = _faulted(state, folded)
    done = _done(slot.call, _shaped(slot, folded))
    return put(state, turn.at, done, turn.at + 1), "after_tool_call"


def _view(state: State, slot: Settled) -> ToolResultView:
    return ToolResultView(
        state=state,
        call=slot.call,
        spec=slot.spec,
        arguments=slot.arguments,
        parts=slot.output.parts,
        details=slot.output.details,
        outcome=slot.output.outcome,
        terminate=slot.output.terminate,
        seconds=slot.seconds,
    )


def _faulted(state: State, folded: Folded) -> State:
    """A hook failed: the run will end, but the other calls still have their hooks."""
    if folded.fault is None or state.ending:
        return state
    return evolve(state, ending=fault_stop(folded.fault))


def _shaped(slot: Settled, folded: Folded) -> ToolOutput:
    """The output as far as updated; withheld if a guard had no say."""
    view: ToolResultView = folded.view
    if not folded.wrote and not folded.fault:
        return slot.output
    if folded.fault and folded.guarded:
        text = WITHHELD.format(folded.fault.hook)
        return ToolOutput((Text(text),), outcome="error", terminate=view.terminate)
    return evolve(
        slot.output,
        content=view.parts,
        details=view.details,
        outcome=view.outcome,
        terminate=view.terminate,
    )


def _done(call: ToolCall, output: ToolOutput) -> Done:
    message = ToolResultMessage(
        call.id, call.name, output.parts, output.outcome, output.details
    )
    return Done(message, output.terminate)


def _next_group(state: State) -> Stage:
    """The next call of a sequential batch, or the end of the turn."""
    turn = the_turn(state)
    if state.ending:
        slots = tuple(map(_ended, turn.slots))
        return evolve(state, turn=evolve(turn, slots=slots)), "end_turn"
    if turn.last == len(turn.slots):
        return state, "end_turn"
    turn = evolve(turn, first=turn.last, last=turn.last + 1)
    return evolve(state, turn=turn), "prepare_tool_call"


def _ended(slot: Slot) -> Slot:
    """What a failed hook left undone is answered here."""
    if isinstance(slot, Waiting):
        return answered(slot.call, CANCELLED, "cancelled")
    return slot


def as_they_came(state: State) -> State:
    """The state in which the outputs of a group, which no hook shapes, are results."""
    turn = the_turn(state)
    slots = [
        _done(s.call, s.output) if isinstance(s, Settled) else s for s in turn.slots
    ]
    return evolve(state, turn=evolve(turn, slots=tuple(slots), at=turn.last))
