"""The calls of one reply: gated in order, run together, stored in order."""

from collections.abc import Iterable

from returns.result import Failure, Success

from loopcore.arguments import arguments_for
from loopcore.config import AnyConfig
from loopcore.effects import RequestApproval, RunTool
from loopcore.frozen import UNSET, evolve
from loopcore.hooks.fold import Folded
from loopcore.hooks.merge import Allow, Ask, Block, Verdict
from loopcore.hooks.views import RawCallView, ToolCallView, ToolResultView
from loopcore.inputs import Approve, Decision, Edit, Reject, Respond
from loopcore.messages import (
    AssistantMessage,
    Outcome,
    Text,
    ToolCall,
    ToolResultMessage,
)
from loopcore.reducer.ask import ask, fault_stop, unheard
from loopcore.reducer.nested import begin
from loopcore.reducer.out import Out, asked, move, put, request, the_turn
from loopcore.reducer.unknown import unknown
from loopcore.reducer.winding import (
    CANCELLED,
    TRUNCATED,
    WITHHELD,
    Stage,
    answered,
    wind_up,
)
from loopcore.state import (
    Asked,
    Done,
    Ready,
    Running,
    Settled,
    Slot,
    State,
    Turn,
    Waiting,
)
from loopcore.tools import ToolOutput, ToolSpec


def open_batch(config: AnyConfig, turn: Turn, reply: AssistantMessage) -> Turn:
    """The turn with the calls of its reply as a batch: all together, or one by one."""
    calls = reply.calls
    one_by_one = not config.parallel or _sequential(turn, calls)
    slots = tuple(map(Waiting, calls))
    last = 1 if one_by_one else len(slots)
    return evolve(turn, reply=reply, slots=slots, last=last)


def _sequential(turn: Turn, calls: Iterable[ToolCall]) -> bool:
    """Whether a tool of the batch wants it one by one; unknown tools have no say."""
    specs = (_find(turn.tools, call.name) for call in calls)
    return any(spec is not None and spec.execution == "sequential" for spec in specs)


def waiting(state: State, reply: AssistantMessage) -> State:
    """The reply's calls as slots that nothing was done for."""
    slots = tuple(map(Waiting, reply.calls))
    return evolve(state, turn=evolve(the_turn(state), slots=slots))


def cut_off(turn: Turn, reply: AssistantMessage) -> Turn:
    """The turn of a reply that was cut, or is a refusal: its calls do not run."""
    output = ToolOutput(TRUNCATED, outcome="truncated")
    slots = tuple(Settled(call, None, call.arguments, output) for call in reply.calls)
    return evolve(turn, reply=reply, slots=slots, last=len(slots))


def _find(tools: tuple[ToolSpec, ...], name: str) -> ToolSpec | None:
    """The first tool of this name wins."""
    return next((tool for tool in tools if tool.name == name), None)


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
        spec=_find(turn.tools, call.name),
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
    spec = _find(tools, meant.name)
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


def start_tools(config: AnyConfig, state: State, out: Out) -> Stage:
    """Start what the gates let through, together; ask people about the rest."""
    turn = the_turn(state)
    group = enumerate(turn.slots[turn.first : turn.last], turn.first)
    ready = {n: slot for n, slot in group if isinstance(slot, Ready)}
    inner = {n: slot for n, slot in ready.items() if _is_nested(config, slot)}
    outer = [(n, slot) for n, slot in ready.items() if n not in inner]
    slots = list(turn.slots)
    for n, slot in outer:
        slots[n] = _started(slot)
    wanted = (_wanted(state, n, slot) for n, slot in outer)
    state = evolve(
        state,
        turn=evolve(turn, slots=tuple(slots)),
        pending=asked(state, out, *wanted),
    )
    for n, slot in inner.items():
        state = begin(config, state, out, n, slot)
    return state, "run_tools"


def _is_nested(config: AnyConfig, slot: Ready) -> bool:
    return slot.question is None and config.nested(slot.spec.name) is not None


def _started(slot: Ready) -> Running | Asked:
    if slot.question is None:
        return Running(slot.call, slot.spec, slot.arguments, slot.terminate)
    return Asked(slot.call, slot.spec, slot.arguments, slot.terminate)


def _wanted(state: State, n: int, slot: Ready) -> RunTool | RequestApproval:
    if slot.question is None:
        return RunTool(f"{state.place}.run.{n}", slot.call, slot.spec, slot.arguments)
    return RequestApproval(
        f"{state.place}.ask.{n}", slot.call, slot.spec, slot.arguments, slot.question
    )


def run_tools(config: AnyConfig, state: State, out: Out) -> Stage:  # noqa: ARG001
    """Rest until the group is settled; edited calls pass their gate again first."""
    turn = the_turn(state)
    group = turn.slots[turn.first : turn.last]
    shown = [(n, s) for n, s in enumerate(group, turn.first) if isinstance(s, Asked)]
    if any(slot.edited is None for _, slot in shown):
        return state, None
    if shown:
        return _again(state, shown[0][0]), "before_tool_call"
    if any(isinstance(slot, Running) for slot in group):
        return state, None
    if unheard(config, state, "after_tool_call") and unheard(
        config, state, "after_tool_result"
    ):
        return _as_they_came(state), "after_tool_call"
    return move(state, turn.first), "after_tool_call"


def _as_they_came(state: State) -> State:
    """The state in which the outputs of a group, which no hook shapes, are results."""
    turn = the_turn(state)
    slots = [
        _done(s.call, s.output) if isinstance(s, Settled) else s for s in turn.slots
    ]
    return evolve(state, turn=evolve(turn, slots=tuple(slots), at=turn.last))


def _again(state: State, n: int) -> State:
    slot = the_turn(state).slots[n]
    assert isinstance(slot, Asked)  # noqa: S101  # run_tools looked
    assert slot.edited is not None  # noqa: S101
    ready = Ready(
        slot.call, slot.spec, slot.edited, approved=True, terminate=slot.terminate
    )
    return put(state, n, ready, n)


def ran(state: State, n: int, output: ToolOutput, seconds: float | None) -> State:
    """A tool gave its output: it is in the state before any hook sees it."""
    slot = the_turn(state).slots[n]
    assert isinstance(slot, Running)  # noqa: S101  # the door let it in
    if slot.terminate is not None:
        output = evolve(output, terminate=slot.terminate)
    settled = Settled(slot.call, slot.spec, slot.arguments, output, True, seconds)  # noqa: FBT003
    return put(state, n, settled)


def decided(
    config: AnyConfig, state: State, out: Out, n: int, decision: Decision
) -> State:
    """A person decided about a call."""
    slot = the_turn(state).slots[n]
    assert isinstance(slot, Asked)  # noqa: S101  # the door let it in
    match decision:
        case Edit(arguments):
            return put(state, n, evolve(slot, edited=arguments))
        case Reject(reason):
            text = reason or f"A person rejected this call of {slot.spec.name}."
            return put(state, n, _rejected(slot, text))
        case Respond(output):
            given = evolve(output, terminate=output.terminate or bool(slot.terminate))
            settled = Settled(slot.call, slot.spec, slot.arguments, given, ran=True)
            return put(state, n, settled)
        case Approve():
            return _approved(config, state, out, n, slot)


def _rejected(slot: Asked, text: str) -> Settled:
    output = ToolOutput(text, outcome="rejected", terminate=bool(slot.terminate))
    return Settled(slot.call, slot.spec, slot.arguments, output)


def _approved(config: AnyConfig, state: State, out: Out, n: int, slot: Asked) -> State:
    ready = Ready(slot.call, slot.spec, slot.arguments, terminate=slot.terminate)
    if _is_nested(config, ready):
        return begin(config, state, out, n, ready)
    return request(put(state, n, _started(ready)), out, _wanted(state, n, ready))


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
