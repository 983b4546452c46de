"""What one step does otherwise than another did with the same input, in words."""

from collections.abc import Iterator
from itertools import zip_longest
from typing import Final

from attrs import evolve
from pyrsistent import PVector

from loopcore.effects import Effect, RequestApproval, RunTool, call_number
from loopcore.events import HookWrote, MessageAdded, Started, Stop
from loopcore.frozen import counted, dump_json
from loopcore.hooks import TurnUpdate
from loopcore.journal.asked import needs, requests
from loopcore.journal.change import Both, CallKey, Change, Writing
from loopcore.journal.compare import GATES
from loopcore.journal.folding import NOTHING, Step
from loopcore.messages import AssistantMessage, Message, ToolResultMessage
from loopcore.state import Done, Running, Settled, Slot, State
from loopcore.tools import ToolOutput
from loopcore.wording import spoken

DECIDING: Final = ("after_model_call", *GATES)
SHAPING: Final = (*DECIDING, "after_tool_call", "after_tool_result")
REPLYING: Final = ("on_model_error", "after_model_call")
TURNING: Final = ("prepare_next_turn",)
WAITS: Final = "waits"
"""Said of a call that is not decided yet."""


def changes(both: Both) -> Iterator[Change]:
    """What differs in this step. What only follows from another difference is left out."""
    old, new = both.old.step, both.new.step
    if old.led == new.led:
        return
    calls = [*_calls(both)]
    yield from (change for _, change in calls)
    if not calls:
        yield from _messages(both)
    yield from _rewritten(both)
    yield from needs(both)
    same = both.same_history and stores_same(old, new)
    yield from requests(evolve(both, same_history=same))
    yield from _stops(both)


def stores_same(old: Step, new: Step | None) -> bool:
    """Whether both store the same; None is a step that was not taken."""
    led = new.led if new else NOTHING
    return all(old.led.get(name) == led.get(name) for name in ("added", "replaced"))


def calls_told(both: Both) -> dict[CallKey, bool]:
    """The calls of which this step tells something, and whether that is how they end."""
    return {key: WAITS not in (c.old, c.new) for key, c in _calls(both)}


def _calls(both: Both) -> Iterator[tuple[CallKey, Change]]:
    """Calls that ran and do not, or the other way round, or with other arguments."""
    old, new = _by_key(both.old.step), _by_key(both.new.step)
    for key in dict.fromkeys((*old, *new)):
        was, now = old.get(key), new.get(key)
        if was == now or key in both.known:
            continue
        if isinstance(was, RunTool) and isinstance(now, RunTool):
            fates = dump_json(was.arguments), dump_json(now.arguments)
        else:
            old_state, new_state = both.old.step.state, both.new.step.state
            fates = _fate(old_state, was, key), _fate(new_state, now, key)
        where = Writing(DECIDING, call=key)
        yield key, both.change(spoken_call(was or now), fates, where)


def _by_key(step: Step) -> dict[CallKey, Effect]:
    """The calls that are run or asked about; a nested run is one, too."""
    started = (event for event in step.effects.tell if isinstance(event, Started))
    found: dict[CallKey, Effect] = {
        (event.run_id, event.turn, call_number(event.effect.id)): event.effect
        for event in started
        if isinstance(event.effect, RunTool | RequestApproval)
    }
    before = _nested(step.before)
    begun = (pair for pair in _nested(step.state).items() if pair[0] not in before)
    return {**found, **dict(begun)}


def _nested(state: State) -> dict[CallKey, RunTool]:
    """The nested runs that are under way, as the calls that they are."""
    found: dict[CallKey, RunTool] = {}
    for slot in state.turn.slots if state.turn else ():
        if isinstance(slot, Running) and slot.child:
            name = slot.child.run_id
            key = state.run_id, state.turns, call_number(name)
            found[key] = RunTool(name, slot.call, slot.spec, slot.arguments)
            found |= _nested(slot.child)
    return found


def spoken_call(effect: Effect | None) -> str:
    """A call as a person would write it."""
    if isinstance(effect, RunTool):
        effect = RequestApproval(effect.id, effect.call, effect.spec, effect.arguments)
    return spoken(effect) if isinstance(effect, RequestApproval) else ""


def _fate(state: State, effect: Effect | None, key: CallKey) -> str:
    match effect:
        case RunTool():
            return "runs"
        case RequestApproval():
            return f"asks: {effect.question}" if effect.question else "asks"
        case _:
            owner = _run(state, key[0])
            return _settled(owner, key[2]) if owner else "does not run"


def _run(state: State, run_id: str) -> State | None:
    """The run of this name: this one, or one within it."""
    if state.run_id == run_id:
        return state
    found = (_run(child, run_id) for child in state.children)
    return next(filter(None, found), None)


def _settled(state: State, number: int) -> str:
    """How a call that is neither run nor asked about ended, as far as it has."""
    results = list[ToolResultMessage]()
    for message in reversed(state.transcript):
        if not isinstance(message, ToolResultMessage):
            break
        results.insert(0, message)
    slots = [*map(_ready, state.turn.slots)] if state.turn else []
    said = dict(enumerate(slots or map(_outcome, results))).get(number)
    return said or (f"stopped: {state.stop}" if state.stop else "does not run")


def _ready(slot: Slot) -> str:
    match slot:
        case Done(message=result) | Settled(output=result):
            return _outcome(result)
        case Running():
            return "runs"
        case _:
            return WAITS


def _outcome(result: ToolResultMessage | ToolOutput) -> str:
    return f"{result.outcome}: {result.text!r}"


def _messages(both: Both) -> Iterator[Change]:
    """Messages that are stored otherwise, but for the results of calls told already."""
    old, new = _added(both.old.step), _added(both.new.step)
    own = both.old.step.state.run_id
    both_have = [run_id for run_id in old if run_id in new and run_id != own]
    for run_id in (own, *both_have):  # that a nested run begins is told as a call
        pair = old.get(run_id, []), new.get(run_id, [])
        if (
            len({*map(_has_results, pair)}) > 1
        ):  # one batch is over sooner: that is told
            pair = _no_results(pair[0]), _no_results(pair[1])
        yield from _in_one_run(both, *pair)


def _in_one_run(
    both: Both, old: list[MessageAdded], new: list[MessageAdded]
) -> Iterator[Change]:
    place = 0
    for was, now in zip_longest(old, new):
        one = was or now
        is_result = isinstance(one.message, ToolResultMessage)
        key = (one.run_id, one.turn, place) if is_result else None
        place += is_result
        said, says = (event.message if event else None for event in (was, now))
        if said != says and not (key and both.known.get(key)):
            where = Writing(_points(one.message), call=key)
            found = both.change(_named(one.message), (_said(said), _said(says)), where)
            is_told = not (said and says) and _one_stops(both)
            if found.hook or not is_told:  # what a run that is over says no more
                yield found


def _one_stops(both: Both) -> bool:
    """Whether one of them ends here, which is told by itself."""
    old, new = both.old.step.state.stop, both.new.step.state.stop
    return (old is None) != (new is None)


def _points(message: Message) -> tuple[str, ...]:
    match message:
        case ToolResultMessage():
            return SHAPING
        case AssistantMessage():
            return REPLYING
        case _:
            return TURNING


def _added(step: Step) -> dict[str, list[MessageAdded]]:
    found: dict[str, list[MessageAdded]] = {}
    for event in step.effects.tell:
        if isinstance(event, MessageAdded):
            found.setdefault(event.run_id, []).append(event)
    return found


def _has_results(added: list[MessageAdded]) -> bool:
    return any(isinstance(event.message, ToolResultMessage) for event in added)


def _no_results(added: list[MessageAdded]) -> list[MessageAdded]:
    return [e for e in added if not isinstance(e.message, ToolResultMessage)]


def _named(message: Message) -> str:
    if isinstance(message, ToolResultMessage):
        return f"result of {message.name}"
    return type(message).__name__.removesuffix("Message").lower() + " message"


def _said(message: Message | None) -> str:
    if message is None:
        return "none"
    text = getattr(message, "text", "") or str(message)
    if isinstance(message, ToolResultMessage) and message.is_error:
        return f"{message.outcome}: {text!r}"
    return text


def _rewritten(both: Both) -> Iterator[Change]:
    """A transcript that a hook puts in the place of what is stored."""
    old, new = both.old.step, both.new.step
    if old.led.get("replaced") != new.led.get("replaced"):
        fates = _transcripts(old), _transcripts(new)
        where = Writing(TURNING, field="transcript")
        yield both.change("stored messages", fates, where)


def _transcripts(step: Step) -> str:
    counts = [
        counted(len(event.update.transcript), "message")
        for event in step.effects.tell
        if isinstance(event, HookWrote) and _rewrites(event)
    ]
    return f"rewritten: {', '.join(counts)}" if counts else "as they are"


def _rewrites(event: HookWrote) -> bool:
    match event.update:
        case TurnUpdate(transcript=PVector()):
            return True
        case _:
            return False


def _stops(both: Both) -> Iterator[Change]:
    old, new = both.old.step, both.new.step
    was, now = old.state.stop, new.state.stop
    if was == now or (now is None and _is_behind(old, new)):
        return
    who = now or was
    assert who is not None  # noqa: S101  # they differ
    points = SHAPING[::-1] if who.reason == "terminated" else ()
    found = both.change(
        "stop", (_stop(was), _stop(now)), Writing(points, field="terminate")
    )
    yield _by(found, who)


def _is_behind(old: Step, new: Step) -> bool:
    """Whether the new run is in a batch that the old one ended: how it ends is not known."""
    ended, ends = (_added(step).get(step.state.run_id, []) for step in (old, new))
    return _has_results(ended) and not _has_results(ends)


def _by(change: Change, stop: Stop) -> Change:
    return evolve(
        change, hook=stop.hook or change.hook, point=stop.point or change.point
    )


def _stop(stop: Stop | None) -> str:
    return str(stop) if stop else GOES_ON


GOES_ON: Final = "goes on"
"""Said of a run that did not stop there."""
