"""What one step asks otherwise than another did: requests, needs of hooks, and waits."""

import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import Final, TypeAlias

from attrs import evolve

from loopcore.effects import CallModel, Consult, Sleep
from loopcore.frozen import Json, counted, dump_json
from loopcore.journal.change import Both, Change, Writing
from loopcore.journal.compare import NEED, SETTINGS
from loopcore.journal.folding import Step

SHOWING: Final = ("on_model_error", "prepare_next_turn", "transform_context")
TIMER: Final = re.compile(r"\.run\.[0-9]+$")
"""The timer of a nested run has the id of its call, which is told by itself."""

Outside: TypeAlias = CallModel | Consult | Sleep


def needs(both: Both) -> Iterator[Change]:
    """Services and models that hooks ask, and waits. Two requests are told as requests."""
    old, new = _outside(both.old.step), _outside(both.new.step)
    for effect_id in dict.fromkeys((*old, *new)):
        was, now = old.get(effect_id), new.get(effect_id)
        asks = isinstance(was or now, CallModel)
        if was != now and not (asks and ((was and now) or not both.same_history)):
            fates = _wanted(was), _wanted(now)
            where = Writing(("on_model_error",))
            found = both.change(_named(effect_id, was or now), fates, where)
            yield _by_need(found, effect_id)


def _outside(step: Step) -> dict[str, Outside]:
    kinds = CallModel, Consult, Sleep
    return {
        effect.id: effect
        for effect in step.effects.perform
        if isinstance(effect, kinds)
        if not isinstance(effect, CallModel) or NEED.search(effect.id)
        if not TIMER.search(effect.id)
    }


def _named(effect_id: str, effect: Outside | None) -> str:
    match effect:
        case Consult():
            return f"service {effect.service}"
        case CallModel():
            found = NEED.search(effect_id)
            return f"a model, for {found[3] if found else effect_id!r}"
        case _:
            return "wait"


def _wanted(effect: Outside | None) -> str:
    match effect:
        case Consult():
            return f"asked: {dump_json(effect.data)}"
        case CallModel():
            return f"asked: {counted(len(effect.messages), 'message')}"
        case Sleep():
            return f"{effect.seconds:g} s"
        case None:
            return "none"


def _by_need(change: Change, effect_id: str) -> Change:
    found = NEED.search(effect_id)
    return evolve(change, hook=found[2], point=found[1]) if found else change


def requests(both: Both) -> Iterator[Change]:
    """Requests that both make, and that ask or show something else."""
    old, new = _requests(both.old.step), _requests(both.new.step)
    for effect_id in old:
        if effect_id in new:
            found = _in_request(both, old[effect_id], new[effect_id])
            turn = max(both.old.step.state.turns, 1)  # it is of the turn that it begins
            yield from (evolve(change, turn=turn) for change in found)


def _requests(step: Step) -> dict[str, CallModel]:
    return {e.id: e for e in step.effects.perform if isinstance(e, CallModel)}


def _in_request(both: Both, was: CallModel, now: CallModel) -> Iterator[Change]:
    for name in SETTINGS:
        if name != "tools" and getattr(was, name) != getattr(now, name):
            fates = _short(was, name), _short(now, name)
            yield both.change(f"request: {name}", fates, Writing(SHOWING, field=name))
    if was.tools != now.tools:
        where = Writing(SHOWING, field="tools")
        yield both.change("request: tools", (_tools(was), _tools(now, was)), where)
    if both.same_history and was.messages != now.messages:
        where = Writing(SHOWING, field="messages")
        yield both.change("shown to the model", _counts(was, now), where)


def _short(request: CallModel, name: str) -> str:
    value: Json = getattr(request, name)
    if value is None:
        return "none"
    return (value if isinstance(value, str) else dump_json(value)) or "none"


def _tools(request: CallModel, before: CallModel | None = None) -> str:
    """Their names; one that was there before, and is another now, is said to be."""
    was = {spec.name: spec for spec in before.tools} if before else {}
    said = [
        f"{spec.name} (changed)" if was.get(spec.name, spec) != spec else spec.name
        for spec in request.tools
    ]
    return ", ".join(said) or "none"


def _counts(was: CallModel, now: CallModel) -> tuple[str, str]:
    old, new = (counted(len(one.messages), "message") for one in (was, now))
    pairs = zip_longest(was.messages, now.messages)
    others = sum(1 for one, other in pairs if one != other)
    return old, f"{new}, {others} of them otherwise" if old == new else new
