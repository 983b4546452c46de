"""The calls of one reply: a batch that is opened, started together, and settled."""

from collections.abc import Iterable

from loopcore.config import AnyConfig
from loopcore.effects import RequestApproval, RunTool
from loopcore.frozen import evolve
from loopcore.inputs import Approve, Decision, Edit, Reject, Respond
from loopcore.messages import AssistantMessage, ToolCall
from loopcore.reducer.ask import unheard
from loopcore.reducer.nested import begin
from loopcore.reducer.out import Out, asked, move, put, request, the_turn
from loopcore.reducer.results import as_they_came
from loopcore.reducer.winding import TRUNCATED, Stage
from loopcore.state import (
    Asked,
    Ready,
    Running,
    Settled,
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
    specs = (find(turn.tools, call.name) for call in calls)
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


def find(tools: tuple[ToolSpec, ...], name: str) -> ToolSpec | None:
    """The first tool of this name wins."""
    return next((tool for tool in tools if tool.name == name), None)


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
        return as_they_came(state), "after_tool_call"
    return move(state, turn.first), "after_tool_call"


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
