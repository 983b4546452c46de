"""What one step does otherwise than another did with the same input, in words."""

import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import Final

from attrs import evolve

from loopcore.effects import (
    CallModel,
    Consult,
    Effect,
    RequestApproval,
    RunTool,
    Sleep,
    call_number,
)
from loopcore.events import MessageAdded, Stop
from loopcore.frozen import Json, dump_json
from loopcore.journal.change import Both, Change
from loopcore.journal.compare import GATES, STORING
from loopcore.journal.folding import Step
from loopcore.messages import Message, ToolResultMessage
from loopcore.state import Done, Settled, Slot, State
from loopcore.tools import ToolOutput
from loopcore.wording import spoken

SHOWING: Final = ("transform_context", "prepare_next_turn", "on_model_error")
SETTINGS: Final = ("model", "system", "thinking", "options", "output")


def changes(both: Both, *, same_history: bool) -> Iterator[Change]:
    """What differs in this step. What only follows from another difference is left out.

    `same_history` says whether all that was stored before this step is the same.
    """
    if both.old.led == both.new.led:
        return
    yield from _calls(both)
    yield from _results(both)
    yield from _others(both)
    stores_same = both.old.led.get("added") == both.new.led.get("added")
    yield from _requests(both, same_history=same_history and stores_same)
    yield from _stops(both)


def _calls(both: Both) -> Iterator[Change]:
    """Calls that ran and do not, or the other way round, or with other arguments."""
    old, new = _by_id(both.old), _by_id(both.new)
    for effect_id in dict.fromkeys((*old, *new)):
        was, now = old.get(effect_id), new.get(effect_id)
        if was == now:
            continue
        named = spoken_call(was or now)
        if isinstance(was, RunTool) and isinstance(now, RunTool):
            fates = dump_json(was.arguments), dump_json(now.arguments)
        else:
            old_fate = _fate(both.old.state, was, effect_id)
            fates = old_fate, _fate(both.new.state, now, effect_id)
        yield both.change(named, fates, GATES, call_number(effect_id))


def _by_id(step: Step) -> dict[str, Effect]:
    """The calls that are run or asked about, by their place."""
    kinds = RunTool, RequestApproval
    asked = (effect for effect in step.effects.perform if isinstance(effect, kinds))
    return {_place(effect.id): effect for effect in asked}


def _place(effect_id: str) -> str:
    """Where a call stands, whether it is run or asked about."""
    head, _, number = effect_id.rpartition(".")
    return f"{head.rpartition('.')[0]}.{number}"


def spoken_call(effect: Effect | None) -> str:
    """A call as a person would write it."""
    if isinstance(effect, RunTool):
        effect = RequestApproval(effect.id, effect.call, effect.spec, effect.arguments)
    return spoken(effect) if isinstance(effect, RequestApproval) else ""


def _fate(state: State, effect: Effect | None, place: str) -> str:
    match effect:
        case RunTool():
            return "runs"
        case RequestApproval():
            return f"asks: {effect.question}" if effect.question else "asks"
        case _:
            return _settled(state, call_number(place))


def _settled(state: State, number: int) -> str:
    """How a call that is neither run nor asked about ended, as far as it has."""
    results = list[ToolResultMessage | ToolOutput | None]()
    for message in reversed(state.transcript):
        if not isinstance(message, ToolResultMessage):
            break
        results.insert(0, message)
    ready = [*map(_ready, state.turn.slots)] if state.turn else []
    result = dict(enumerate(ready or results)).get(number)
    if result:
        return f"{result.outcome}: {result.text!r}"
    return f"stopped: {state.stop}" if state.stop else "does not run"


def _ready(slot: Slot) -> ToolResultMessage | ToolOutput | None:
    match slot:
        case Done():
            return slot.message
        case Settled():
            return slot.output
        case _:
            return None


def _results(both: Both) -> Iterator[Change]:
    """Messages that are stored otherwise, but for the results of calls told already."""
    if _by_id(both.old).keys() != _by_id(both.new).keys():
        return
    old, new = _added(both.old), _added(both.new)
    if _has_results(old) != _has_results(new):  # one batch is over sooner: that is told
        old, new = _no_results(old), _no_results(new)
    place = 0
    for was, now in zip_longest(old, new):
        is_result = isinstance(was or now, ToolResultMessage)
        if was != now:
            points, n = (RESULTS, place) if is_result else (MESSAGES, None)
            fates = _said(was), _said(now)
            yield both.change(_named(was or now), fates, points, n)
        place += is_result


RESULTS: Final = (*STORING, *GATES)
MESSAGES: Final = (*STORING, "prepare_next_turn")


def _has_results(messages: list[Message]) -> bool:
    return any(isinstance(message, ToolResultMessage) for message in messages)


def _no_results(messages: list[Message]) -> list[Message]:
    return [m for m in messages if not isinstance(m, ToolResultMessage)]


def _others(both: Both) -> Iterator[Change]:
    """Services that are asked, and waits."""
    old, new = _outside(both.old), _outside(both.new)
    for effect_id in dict.fromkeys((*old, *new)):
        was, now = old.get(effect_id), new.get(effect_id)
        if was != now:
            named = _named_effect(was or now)
            found = both.change(
                named, (_wanted(was), _wanted(now)), ("on_model_error",)
            )
            yield _by_need(found, effect_id)


def _outside(step: Step) -> dict[str, Consult | Sleep]:
    kinds = Consult, Sleep
    return {e.id: e for e in step.effects.perform if isinstance(e, kinds)}


def _named_effect(effect: Consult | Sleep | None) -> str:
    return f"service {effect.service}" if isinstance(effect, Consult) else "wait"


def _wanted(effect: Consult | Sleep | None) -> str:
    match effect:
        case Consult():
            return f"asked: {dump_json(effect.data)}"
        case Sleep():
            return f"{effect.seconds:g} s"
        case None:
            return "none"


def _by_need(change: Change, effect_id: str) -> Change:
    """A need's id ends with its point, its attempt, its hook and its name."""
    found = NEED.search(effect_id)
    return evolve(change, hook=found[2], point=found[1]) if found else change


NEED: Final = re.compile(r"\.([a-z_]+)\.[0-9]+\.([^.]+)\.[^.]+$")


def _added(step: Step) -> list[Message]:
    return [
        event.message for event in step.effects.tell if isinstance(event, MessageAdded)
    ]


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


def _requests(both: Both, *, same_history: bool) -> Iterator[Change]:
    old = {e.id: e for e in both.old.effects.perform if isinstance(e, CallModel)}
    new = {e.id: e for e in both.new.effects.perform if isinstance(e, CallModel)}
    for effect_id in old.keys() & new.keys():
        was, now = old[effect_id], new[effect_id]
        changed = [n for n in SETTINGS if getattr(was, n) != getattr(now, n)]
        for name in changed:
            fates = _short(was, name), _short(now, name)
            yield _in_turn(both.change(f"request: {name}", fates, SHOWING), both)
        if was.tools != now.tools:
            fates = _tools(was), _tools(now)
            yield _in_turn(both.change("request: tools", fates, SHOWING), both)
        if same_history and was.messages != now.messages:
            counts = f"{len(was.messages)} messages", f"{len(now.messages)} messages"
            yield _in_turn(both.change("shown to the model", counts, SHOWING), both)


def _in_turn(change: Change, both: Both) -> Change:
    """A request is of the turn that it begins."""
    return evolve(change, turn=max(both.old.state.turns, 1))


def _short(request: CallModel, name: str) -> str:
    value: Json = getattr(request, name)
    return (value if isinstance(value, str) else dump_json(value)) or "none"


def _tools(request: CallModel) -> str:
    return ", ".join(spec.name for spec in request.tools) or "none"


def _stops(both: Both) -> Iterator[Change]:
    was, now = both.old.state.stop, both.new.state.stop
    if was == now:
        return
    who = now or was
    assert who is not None  # noqa: S101  # they differ
    points = STORING if who.reason == "terminated" else ()
    found = both.change("stop", (_stop(was), _stop(now)), points)
    yield _by(found, who)


def _by(change: Change, stop: Stop) -> Change:
    return evolve(
        change, hook=stop.hook or change.hook, point=stop.point or change.point
    )


def _stop(stop: Stop | None) -> str:
    return str(stop) if stop else GOES_ON


GOES_ON: Final = "goes on"
"""Said of a run that did not stop there."""
