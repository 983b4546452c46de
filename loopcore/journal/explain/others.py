"""Where the stop, a request or a memory came from."""

from collections.abc import Iterator
from typing import Final

from loopcore.effects import CallModel
from loopcore.events import HookWrote
from loopcore.frozen import dump_json
from loopcore.journal.diff import said
from loopcore.journal.explain.past import WIDE, Past, told_input, unknown
from loopcore.journal.explain.settings import last_set, text_of
from loopcore.journal.folding import Step
from loopcore.journal.history import requests, told
from loopcore.journal.tables import short
from loopcore.messages import AssistantMessage


def stop(past: Past, _: str) -> Iterator[str]:
    """Why the run stopped, what led to it, and what was left over."""
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
    """What a request shows, and who wrote each field of it."""
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
            writer = one.by.get(key) or FROM.get(key) or _origin(past, step, one, key)
            yield f"  {key:<10}  {_shown(one, key)}  ← {writer}"
    done = past.effects[effect_id]
    ended = (
        f"input {done.ended.number}: {_reply(done.value)}"
        if done.ended
        else "still waiting"
    )
    yield f"  ended       {'cancelled' if done.cancelled else ended}"


def _origin(past: Past, step: Step, one: CallModel, name: str) -> str:
    """Whence a request has a setting that no hook wrote: its run's, or a nested run's."""
    is_own = past.effects[one.id].run_id == past.journal.run_id
    until = past.steps[: step.number] if is_own else ()
    found = last_set(past, until, name)
    return found.who if found else "the configuration"


def _reply(value: object) -> str:
    return short(
        said(value) if isinstance(value, AssistantMessage) else str(value), WIDE
    )


def _shown(request: CallModel, name: str) -> str:
    if name == "messages":
        return f"{len(request.messages)}"
    return short(text_of(request, name), WIDE)


def memory(past: Past, name: str) -> Iterator[str]:
    """What a hook remembers, and where it wrote that."""
    if name not in past.end.memos:
        known = ", ".join(past.end.memos) or "none"
        unknown(f"no hook {name!r} has a memory: there are {known}")
    yield f"memory of {name}: {short(dump_json(past.end.memos[name]), WIDE)}"
    for step, event in told(past.steps):
        if (
            isinstance(event, HookWrote)
            and event.hook == name
            and "memo" in event.update.written
        ):
            memo = short(dump_json(event.update.memo), 40)
            yield f"  {told_input(step)} at {event.point}: {memo}"


FROM: Final = {"messages": "the transcript"}
