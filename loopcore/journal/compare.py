"""Comparing a step with its record: what differs first, both values, and who wrote it."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import Any, Final

from attrs import evolve, frozen

from loopcore.codec import to_json
from loopcore.config import AnyConfig
from loopcore.effects import CallModel
from loopcore.events import HookWrote
from loopcore.frozen import UNSET, Json, dump_json
from loopcore.hooks.points import POINTS
from loopcore.journal.digests import Digests
from loopcore.journal.divergence import Divergence
from loopcore.journal.folding import Refused, Step, steps
from loopcore.journal.journal import Journal
from loopcore.journal.ledger import Ledger
from loopcore.journal.marks import hook_digest
from loopcore.journal.pieces import whole
from loopcore.messages import (
    AssistantMessage,
    SystemMessage,
    ToolResultMessage,
    UserMessage,
)

GATES: Final = ("prepare_tool_call", "before_tool_call")
STORING: Final = ("after_tool_result", "after_tool_call", "after_model_call")
WRITERS: Final[Mapping[str, tuple[str, ...]]] = {
    "message": (*STORING, *GATES, "prepare_next_turn"),
    "transcript": ("prepare_next_turn",),
    "CallModel": (
        *("transform_context", "prepare_next_turn", "on_model_error"),
        *(*STORING, *GATES),
    ),
    "RunTool": GATES,
    "RequestApproval": GATES,
    "Sleep": ("on_model_error",),
    "Consult": (),
}
"""The points at which a hook can have written what differs."""

SETTINGS: Final = ("model", "system", "tools", "thinking", "options", "output")
"""Fields of a request that stand under the same name in an update."""

NEED: Final = re.compile(
    rf"\.({'|'.join(POINTS)})\.[0-9]+(?:\.edited)?\.([^.]+)\.(.+)$"
)
"""A need's id ends with its point, its attempt, its hook and its key, whatever that is."""


@frozen
class Found:
    """What differs first: digests, or values where the record has them whole."""

    kind: str
    recorded: Json
    now: Json
    effect: str = ""
    field: str = ""


def difference(config: AnyConfig, journal: Journal, one: Step | Refused) -> Divergence:
    """The difference between a step and its record, told as far as it can be known."""
    before = one.state if isinstance(one, Refused) else one.before
    bare = Divergence(
        journal.path or f"the journal of {journal.run_id}",
        one.number,
        len(journal.entries),
        one.entry.input,
        before.turns,
    )
    if isinstance(one, Refused):
        return evolve(bare, kind="input", reason=str(one.why))
    return Inquiry(config, journal, one).told(bare)


class Inquiry:
    """Looks into one step that differs. Folds the journal again, to know values by name."""

    def __init__(self, config: AnyConfig, journal: Journal, step: Step) -> None:
        self._journal, self._step = journal, step
        self._ledger = self._folded(config)
        self._now = self._ledger.digests
        self._then = self._folded(_as_recorded(config, journal)).digests

    def told(self, bare: Divergence) -> Divergence:
        """The divergence, with what differs."""
        found = self._first()
        hook, point = self._writer(found)
        return evolve(
            bare,
            effect=found.effect,
            kind=found.kind,
            field=found.field,
            recorded=self._value(found.recorded, self._hint(found)),
            now=self._value(found.now, self._asked_now(found)),
            hook=hook,
            point=point,
            is_new=bool(hook) and hook not in self._journal.hooks,
        )

    def _folded(self, config: AnyConfig) -> Ledger:
        ledger = Ledger(Digests(self._journal.hide, remember=True))
        for one in steps(config, self._journal, ledger):
            if one.number >= self._step.number:
                break
        return ledger

    def _first(self) -> Found:
        then, now = self._step.entry.led, self._step.led
        pairs: Iterator[Found] = (
            found
            for look in (self._added, self._replaced, self._asked, self._rest)
            for found in look(then, now)
        )
        return next(pairs, Found("record", dump_json(then), dump_json(now)))

    def _added(self, then: Json, now: Json) -> Iterable[Found]:
        for was, is_ in zip_longest(then.get("added", ()), now.get("added", ())):
            if was != is_:
                yield self._as_shown(Found("message", was, is_))

    def _as_shown(self, found: Found) -> Found:
        """A message that was stored is told as part of the request that shows it."""
        shown = (
            (effect.id, n)
            for effect in self._step.effects.perform
            if isinstance(effect, CallModel)
            for n, message in reversed([*enumerate(effect.messages)])
            if self._now(message) == found.now
        )
        effect_id, n = next(shown, (None, 0))
        if effect_id is None:
            return found
        field = f"messages[{n}]"
        return evolve(found, kind="CallModel", effect=effect_id, field=field)

    def _replaced(self, then: Json, now: Json) -> Iterable[Found]:
        for was, is_ in zip_longest(then.get("replaced", ()), now.get("replaced", ())):
            if was != is_:
                yield Found("transcript", was, is_)

    def _asked(self, then: Json, now: Json) -> Iterable[Found]:
        for was, is_ in zip_longest(then.get("ask", ()), now.get("ask", ())):
            if was != is_:
                yield self._effect(was or {}, is_ or {})

    def _effect(self, was: Json, is_: Json) -> Found:
        if was.get("id") != is_.get("id") or was.get("kind") != is_.get("kind"):
            one = was or is_
            return Found(one["kind"], was.get("id"), is_.get("id"), one["id"])
        names = [name for name in {**was, **is_} if was.get(name) != is_.get(name)]
        bare = Found(
            was["kind"], was.get(names[0]), is_.get(names[0]), was["id"], names[0]
        )
        return self._message(bare) if names[0] == "messages" else bare

    def _message(self, found: Found) -> Found:
        """The first message of a request that is shown otherwise."""
        effect = next(e for e in self._step.effects.perform if e.id == found.effect)
        assert isinstance(effect, CallModel)  # noqa: S101  # only these have messages
        now = [self._now(message) for message in effect.messages]
        base = self._ledger.base(effect, self._step.state)
        then = base if found.recorded is None else whole(base, found.recorded)
        pairs = enumerate(zip_longest(then, now))
        differ = ((n, was, is_) for n, (was, is_) in pairs if was != is_)
        place, was, is_ = next(
            differ, (0, None, None)
        )  # the same, told in other pieces
        return evolve(found, recorded=was, now=is_, field=f"messages[{place}]")

    def _rest(self, then: Json, now: Json) -> Iterable[Found]:
        was, is_ = then.get("cancel", ()), now.get("cancel", ())
        if was != is_:
            yield Found("cancellation", was, is_)
        was, is_ = then.get("stop", (None,))[0], now.get("stop", (None,))[0]
        if was != is_:
            yield Found("stop", _stop(was), _stop(is_))

    def _value(self, digest: Json, else_: Json = None) -> Json:
        """What has the digest, as it is told; if that is not known, the other, or itself.

        Where a hook is not pure, nothing has the digest: each fold makes another value.
        """
        for digests in (self._now, self._then):
            value = digests.value(digest) if isinstance(digest, str) else UNSET
            if value is not UNSET:
                return _told(value)
        return digest if digest is None or else_ is None else else_

    def _hint(self, found: Found) -> Json:
        """How the recorded field of a request begins, if a hook wrote it."""
        if found.kind != "CallModel":
            return None
        points = WRITERS[found.kind]
        written = [fields for _, p, fields in self._step.entry.wrote if p in points]
        hints = [fields[found.field] for fields in written if found.field in fields]
        return hints[-1] if hints else None

    def _asked_now(self, found: Found) -> Json:
        """The field of a request as this step asks it."""
        for effect in self._step.effects.perform:
            if effect.id == found.effect and isinstance(effect, CallModel):
                value = getattr(effect, found.field, None)
                return None if value is None else _told(value)
        return None

    def _writer(self, found: Found) -> tuple[str, str]:
        """The hook that wrote the present value; else the one that wrote the recorded."""
        stopped = "stop" in self._step.led and "stop" not in self._step.entry.led
        if found.kind == "stop" or (stopped and found.now is None):
            return self._stopper()
        for need in filter(None, map(NEED.search, _ids(found))):
            return need[2], need[1]
        points, field = WRITERS.get(found.kind, ()), found.field
        events = [e for e in self._step.effects.tell if isinstance(e, HookWrote)]
        said = [(e.hook, e.point, e.update.written) for e in events]
        now = [(h, p) for h, p, names in said if p in points and _may(field, names)]
        wrote = self._step.entry.wrote
        then = [(h, p) for h, p, names in wrote if p in points and _may(field, names)]
        new = [pair for pair in now if pair not in then]
        gone = [pair for pair in then if pair not in now]
        return next(iter([*new, *gone, *now[::-1]]), ("", ""))

    def _stopper(self) -> tuple[str, str]:
        stop = self._step.state.stop
        return (stop.hook or "", stop.point or "") if stop else ("", "")


def _as_recorded(config: AnyConfig, journal: Journal) -> AnyConfig:
    """The configuration without the hooks that the record does not know as they are.

    Under it, what was recorded is often found again whole.
    """
    known = journal.hooks
    hooks = [hook for hook in config.hooks if known.get(hook.name) == hook_digest(hook)]
    return config if len(hooks) == len(config.hooks) else evolve(config, hooks=hooks)


def _ids(found: Found) -> list[str]:
    """The effects of which one stands in the other's place."""
    ids = (found.now, found.recorded) if found.effect and not found.field else ()
    return [effect_id for effect_id in ids if isinstance(effect_id, str)]


def _may(field: str, written: Iterable[str]) -> bool:
    """Whether who wrote these can have made the difference in that field."""
    return field not in SETTINGS or field in written


def _stop(stop: Json) -> str | None:
    if stop is None:
        return None
    return ": ".join(filter(None, (stop["reason"], stop.get("detail"))))


def _told(value: Any) -> Json:  # noqa: ANN401  # any record
    """A message by its text, tools by their names, other values by their JSON."""
    match value:
        case SystemMessage() | UserMessage() | AssistantMessage() | ToolResultMessage():
            return value.text or to_json(value)
        case tuple():
            return [tool.name for tool in value]  # pyright: ignore[reportUnknownVariableType]  # they are tools
        case str() | dict():
            return value  # pyright: ignore[reportUnknownVariableType]  # it is JSON
        case _:
            return to_json(value)
