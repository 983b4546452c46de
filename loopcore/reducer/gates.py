"""The gates of a call: mended, checked, judged, before it may run."""

from returns.result import Failure, Success

from loopcore.arguments import arguments_for
from loopcore.config import AnyConfig
from loopcore.frozen import UNSET, evolve
from loopcore.hooks.fold import Folded
from loopcore.hooks.merge import Allow, Ask, Block, Verdict
from loopcore.hooks.views import RawCallView, ToolCallView
from loopcore.messages import Outcome, ToolCall
from loopcore.reducer.ask import ask, fault_stop, unheard
from loopcore.reducer.batch import find
from loopcore.reducer.out import Out, move, put, the_turn
from loopcore.reducer.unknown import unknown
from loopcore.reducer.winding import Stage, wind_up
from loopcore.state import Ready, Settled, Slot, State, Waiting
from loopcore.tools import ToolOutput, ToolSpec


def prepare_tool_call(config: AnyConfig, state: State, out: Out) -> Stage:
    """Mend a raw call, find its tool, validate its arguments."""
    turn = the_turn(state)
    if turn.at == turn.last:
        return state, "start_tools"
    if unheard(config, state, "prepare_tool_call") and unheard(
        config, state, "before_tool_call"
    ):
        return _as_tools_have_it(state), "start_tools"
    slot = turn.slots[turn.at]
    if not isinstance(slot, Waiting):
        return move(state, turn.at + 1), "prepare_tool_call"
    call = slot.call
    if unheard(config, state, "prepare_tool_call"):
        return _prepared(state, _check(turn.tools, call, call))
    view = RawCallView(
        state=state,
        call=call,
        spec=find(turn.tools, call.name),
        name=call.name,
        arguments=call.arguments,
    )
    state, folded = ask(config, state, out, "prepare_tool_call", str(turn.at), view)
    if folded is None:
        return state, None
    return _prepared(state, _mended(turn.tools, call, folded))


def _prepared(state: State, checked: Slot) -> Stage:
    at = the_turn(state).at
    if isinstance(checked, Ready):
        return put(state, at, checked), "before_tool_call"
    return put(state, at, checked, at + 1), "prepare_tool_call"


def _as_tools_have_it(state: State) -> State:
    """The state in which the calls of a group, which no hook judges, are ready."""
    turn = the_turn(state)
    slots = list(turn.slots)
    for n in range(turn.at, turn.last):
        slots[n] = _unjudged(turn.tools, slots[n])
    return evolve(state, turn=evolve(turn, slots=tuple(slots), at=turn.last))


def _unjudged(tools: tuple[ToolSpec, ...], slot: Slot) -> Slot:
    """A call as its tool has it: whether it fits, and whether a person is asked."""
    if not isinstance(slot, Waiting):
        return slot
    checked = _check(tools, slot.call, slot.call)
    if isinstance(checked, Ready):
        return evolve(checked, question=_question(checked.spec, None))
    return checked


def _mended(tools: tuple[ToolSpec, ...], call: ToolCall, folded: Folded) -> Slot:
    """The call as hooks mended it, checked."""
    view: RawCallView = folded.view
    if folded.fault:
        return refused(call, folded.fault.sentence, "invalid_arguments")
    malformed = call.malformed if folded.update.arguments is UNSET else ""
    meant = evolve(call, name=view.name, arguments=view.arguments, malformed=malformed)
    return _check(tools, call, meant)


def _check(tools: tuple[ToolSpec, ...], call: ToolCall, meant: ToolCall) -> Slot:
    """The call if it can be run as it is meant, or the result that says why not."""
    spec = find(tools, meant.name)
    if spec is None:
        return refused(call, unknown(tools, meant.name), "unknown_tool")
    if meant.malformed:
        text = f"The arguments of {spec.name} are not a JSON object: {call.malformed}."
        return refused(call, f"{text} They were: {call.raw}", "invalid_arguments", spec)
    match arguments_for(spec, meant.arguments):
        case Success(arguments):
            return Ready(call, spec, arguments)
        case Failure(problem):
            return refused(call, problem, "invalid_arguments", spec)


def refused(
    call: ToolCall, text: str, outcome: Outcome, spec: ToolSpec | None = None
) -> Settled:
    """A result that no tool gave; only after_tool_result sees it."""
    return Settled(call, spec, call.arguments, ToolOutput(text, outcome=outcome))


def before_tool_call(config: AnyConfig, state: State, out: Out) -> Stage:
    """The gate of a valid call: may it run, with what, and must a person be asked?"""
    turn = the_turn(state)
    slot = turn.slots[turn.at]
    assert isinstance(slot, Ready)  # noqa: S101  # this stage is entered with one only
    assert turn.reply is not None  # noqa: S101  # a call stands in a reply
    view = ToolCallView(
        state=state,
        call=slot.call,
        spec=slot.spec,
        arguments=slot.arguments,
        message=turn.reply,
        approved=slot.approved,
        terminate=slot.terminate,
    )
    n = f"{turn.at}.edited" if slot.approved else str(turn.at)
    state, folded = ask(config, state, out, "before_tool_call", n, view)
    if folded is None:
        return state, None
    if folded.fault:
        return wind_up(config, state, out, fault_stop(folded.fault))
    return put(state, turn.at, _gated(slot, folded), turn.at + 1), "prepare_tool_call"


def _gated(slot: Ready, folded: Folded) -> Slot:
    view: ToolCallView = folded.view
    if view.problem:
        hook = folded.writers["arguments"]
        text = f"Hook {hook!r} gave arguments that do not fit. {view.problem}"
        return refused(slot.call, text, "invalid_arguments", slot.spec)
    if isinstance(view.decision, Block):
        return _blocked(slot, view, view.decision)
    return evolve(
        slot,
        arguments=view.arguments,
        question=None if slot.approved else _question(slot.spec, view.decision),
        terminate=view.terminate,
    )


def _blocked(slot: Ready, view: ToolCallView, block: Block) -> Settled:
    reason = block.reason or f"This call of {slot.spec.name} was blocked."
    output = ToolOutput(reason, outcome="blocked", terminate=bool(view.terminate))
    return Settled(slot.call, slot.spec, view.arguments, output)


def _question(spec: ToolSpec, decision: Verdict | None) -> str | None:
    """What a person is asked; the tool's own default decides when no hook does."""
    match decision:
        case Ask(question):
            return question
        case Allow():
            return None
        case _:
            return "" if spec.needs_approval else None
