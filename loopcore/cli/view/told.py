"""A point of a journal as JSON, for programs."""

from collections import Counter
from typing import Any

from loopcore.codec import to_json
from loopcore.effects import CallModel, Effect
from loopcore.frozen import evolve
from loopcore.inputs import Input
from loopcore.messages import transcript
from loopcore_adapters.viewer import Seen, Wrote


def point_json(seen: Seen, at: int) -> dict[str, Any]:
    """Where the run stands after this input, and what the input led to.

    Records have the form that saved states have. Requests come without their messages,
    and updates without histories: `shown` says how many messages each comes to.
    """
    past, point = seen.timeline, seen.timeline.points[at]
    state = point.state
    return {
        "run_id": past.run_id,
        "inputs": past.last,
        "at": at,
        "time": point.entry.at if point.entry else None,
        "input": to_json(point.input, Input) if point.input else None,
        "turn": state.turns,
        "phase": state.phase,
        "stop": to_json(state.stop) if state.stop else None,
        "folded": point.folded,
        "divergence": str(past.divergence) if past.divergence else None,
        "hooks": [_wrote(wrote) for wrote in point.wrote],
        "silent": [{"hook": hook, "point": where} for hook, where in point.silent],
        "asked": [_effect(effect) for effect in point.effects.perform],
        "cancelled": list(point.effects.cancel),
        "waiting": [effect.id for effect in state.waiting],
        "shown": _shown(seen, at),
        "messages": len(state.transcript),
        "memory": state.memos,
        "usage": to_json(state.usage),
    }


def _wrote(wrote: Wrote) -> dict[str, Any]:
    long = {
        n: len(v) for n, v in wrote.fields.items() if n in ("messages", "transcript")
    }
    fields: dict[str, Any] = dict(to_json(wrote.update))
    return {
        "hook": wrote.hook,
        "point": wrote.point,
        "call": wrote.place if wrote.place >= 0 else None,
        "fields": {name: fields.get(name) for name in wrote.fields} | long,
    }


def _effect(effect: Effect) -> dict[str, Any]:
    bare = (
        evolve(effect, messages=transcript())
        if isinstance(effect, CallModel)
        else effect
    )
    told: dict[str, Any] = dict(to_json(bare, Effect))
    told.pop("messages", None)
    return told


def _shown(seen: Seen, at: int) -> dict[str, Any] | None:
    shown = seen.shown(at)
    if shown is None:
        return None
    fates = Counter(mark.fate for mark in shown.marks)
    return {
        "request": shown.request.id,
        "messages": shown.total,
        "stored": len(shown.marks),
        **{fate: fates[fate] for fate in ("shown", "rewritten", "left out")},
    }
