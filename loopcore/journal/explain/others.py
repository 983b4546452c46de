"""Where the stop, a request, a memory or a setting came from."""

from collections.abc import Iterator
from typing import Final

from loopcore.effects import CallModel
from loopcore.frozen import dump_json
from loopcore.journal.diff import said
from loopcore.journal.explain.past import WIDE, Past, has_field, told_input, unknown
from loopcore.journal.history import requests, wrote
from loopcore.journal.tables import short
from loopcore.messages import AssistantMessage


def stop(past: Past, _: str) -> Iterator[str]:
    found = past.end.stop
    if found is None:
        waiting = ", ".join(effect.id for effect in past.end.waiting)
        yield f"it has not stopped: it waits for {waiting or 'an input'}"
        return
    who = f" · hook {found.hook} at {found.point}" if found.hook else ""
    detail = f": {found.detail}" if found.detail else ""
    yield f"{found.reason}{detail}{who}, turn {past.end.turns}"
    last = past.steps[-1] if past.steps else None
    if last:
        yield f"  led to by   {told_input(last)}"
    if found.error:
        yield f"  raised      {found.error}"
    queued = len(past.end.steering), len(past.end.follow_ups)
    if any(queued):
        yield f"  still queued  {queued[0]} steering, {queued[1]} follow-ups"


def request(past: Past, rest: str) -> Iterator[str]:
    found = {effect.id: (step, effect) for step, effect in requests(past.steps)}
    effect_id, _, name = rest.partition(" ")
    if effect_id not in found:
        unknown(
            f"there is no request {effect_id!r}: it has {', '.join(found) or 'none'}"
        )
    step, one = found[effect_id]
    yield f"request {one.id} · {one.model} · {len(one.messages)} messages"
    yield f"  led to by   {told_input(step)}"
    for key in ("model", "system", "tools", "thinking", "options", "messages"):
        if name in ("", key):
            writer = one.by.get(key, FROM.get(key, "the configuration"))
            yield f"  {key:<10}  {_shown(one, key)}  ← {writer}"
    done = past.effects[effect_id]
    ended = (
        f"input {done.ended.number}: {_reply(done.value)}"
        if done.ended
        else "still waiting"
    )
    yield f"  ended       {'cancelled' if done.cancelled else ended}"


def _reply(value: object) -> str:
    return short(
        said(value) if isinstance(value, AssistantMessage) else str(value), WIDE
    )


def _shown(request: CallModel, key: str) -> str:
    match key:
        case "tools":
            return ", ".join(tool.name for tool in request.tools) or "none"
        case "messages":
            return f"{len(request.messages)}"
        case "options":
            return dump_json(request.options)
        case _:
            return short(str(getattr(request, key) or "none"), WIDE)


def memory(past: Past, name: str) -> Iterator[str]:
    if name not in past.end.memos:
        known = ", ".join(past.end.memos) or "none"
        unknown(f"no hook {name!r} has a memory: there are {known}")
    yield f"memory of {name}: {short(dump_json(past.end.memos[name]), WIDE)}"
    for step in past.steps:
        for shaped in wrote([step]):
            if shaped.hook == name and "memo" in shaped.fields:
                memo = short(dump_json(shaped.update.memo), 40)
                yield f"  {told_input(step)} at {shaped.point}: {memo}"


def setting(past: Past, name: str) -> Iterator[str]:
    settings = past.end.settings
    if not has_field(settings, name):
        unknown(
            f"there is no setting {name!r}: model, system, tools, thinking, options"
        )
    value = getattr(settings, name)
    text = ", ".join(tool.name for tool in value) if name == "tools" else str(value)
    yield f"setting {name}: {short(text, WIDE)}"
    yield f"  ← {past.end.by.get(name, 'the configuration, or the input that began the run')}"


FROM: Final = {"messages": "the transcript"}
