"""Conformance vectors as data: configurations without code, states by their digests."""

import hashlib
import json
from collections.abc import Mapping
from functools import partial
from typing import Any, Final, Literal, cast

from attrs import evolve, field, frozen

from loopcore.codec import from_json, to_json
from loopcore.codec.kinds import fields_of as kinds_of
from loopcore.config import LoopConfig, Nested
from loopcore.effects import Effect
from loopcore.events import (
    Delta,
    Ended,
    Event,
    HookWrote,
    MessageAdded,
    RunEnd,
    RunStart,
    Started,
    TurnEnd,
)
from loopcore.frozen import EMPTY, FrozenDict, Json, freeze_object
from loopcore.hooks import Hooks, Need
from loopcore.hooks.points import POINTS, PointName
from loopcore.hooks.updates import Update
from loopcore.reducer import Effects
from loopcore.settings import ThinkingLevel
from loopcore.state import Running, Slot, State, Turn
from loopcore.tools import ToolSpec


@frozen
class Rule:
    """A hook as data: what it says whenever it is asked at its point.

    Args:
        name: the hook's name.
        point: where it is asked; at every other point it has no opinion.
        says: its update, in the JSON form of that point's update.
        tool: only for calls of this tool.
        turn: only in the turn of this number.
        counts: its memo is how often it has said this, from 0.
        needs: it consults this service first, under the key "k", with no data.
        fails: it raises an error instead.
        closed: if it fails, what it guards is withheld.
    """

    name: str
    point: PointName
    says: FrozenDict[Json] = field(default=EMPTY, converter=freeze_object)
    tool: str | None = None
    turn: int | None = None
    counts: bool = False
    needs: str | None = None
    fails: bool = False
    closed: bool = False

    def hook(self) -> Hooks:
        """The hook that it is."""
        update: Update = from_json(POINTS[self.point].update, self.says)
        points: dict[str, Any] = {self.point: partial(self._said, update)}
        memo = 0 if self.counts else None
        tools = None if self.tool is None else (self.tool,)
        return Hooks(
            self.name, memo=memo, tools=tools, fail_closed=self.closed, **points
        )

    def _said(self, update: Update, view: Any) -> Any:  # noqa: ANN401  # a view of its point
        if self.turn not in (None, view.state.turns):
            return None
        if self.fails:
            raise RuntimeError(self.name)
        if self.needs and KEY not in view.answers:
            return Need.service(KEY, self.needs)
        return evolve(update, memo=view.memo + 1) if self.counts else update


KEY: Final = "k"


@frozen
class Inner:
    """A tool that is a nested run of a configuration."""

    name: str
    config: "Form"
    timeout: float | None = None


@frozen
class Form:
    """A configuration as data."""

    model: str
    system: str = ""
    tools: tuple[ToolSpec | Inner, ...] = ()
    rules: tuple[Rule, ...] = ()
    thinking: ThinkingLevel | None = None
    options: FrozenDict[Json] = field(default=EMPTY, converter=freeze_object)
    parallel: bool = True
    steering: Literal["one", "all"] = "one"
    follow_ups: Literal["one", "all"] = "one"

    def config(self) -> LoopConfig:
        """The configuration that it is."""
        return LoopConfig(
            model=self.model,
            system=self.system,
            tools=tuple(map(_tool, self.tools)),
            hooks=tuple(rule.hook() for rule in self.rules),
            thinking=self.thinking,
            options=self.options,
            parallel=self.parallel,
            steering=self.steering,
            follow_ups=self.follow_ups,
        )


def _tool(tool: ToolSpec | Inner) -> ToolSpec | Nested:
    if isinstance(tool, ToolSpec):
        return tool
    return tool.config.config().as_tool(
        tool.name, f"The tool {tool.name}.", timeout=tool.timeout
    )


# What a state and its effects come to, in the form that is compared.


def fields_of(state: State) -> dict[str, Json]:
    """A state's fields in JSON, without those that are as by default.

    Each is whole, where a saved state refers to its transcript.
    """
    found = {f.name: to_json(getattr(state, f.name), kind) for f, kind in FIELDS}
    found["pending"] = [to_json(effect, Effect) for effect in state.pending.values()]
    found["turn"] = state.turn and _turn(state.turn)
    usual = {f.name: f.default for f, _ in FIELDS}
    kept = {k: v for k, v in found.items() if v not in ([], {}, None, usual[k])}
    return cast("dict[str, Json]", worded(kept))


FIELDS: Final = kinds_of(State)


def _turn(turn: Turn) -> dict[str, Json]:
    """A turn, with the states of its nested runs whole."""
    data: dict[str, Json] = to_json(
        evolve(turn, slots=tuple(map(_childless, turn.slots)))
    )
    for n, slot in enumerate(turn.slots):
        if isinstance(slot, Running) and slot.child:
            data["slots"][n]["child"] = fields_of(slot.child)
    return data


def _childless(slot: Slot) -> Slot:
    return evolve(slot, child=None) if isinstance(slot, Running) else slot


def effects_of(effects: Effects) -> dict[str, Json]:
    """Effects in JSON: what is performed whole, and what is told as words."""
    told: dict[str, Json] = {
        "perform": [to_json(effect, Effect) for effect in effects.perform],
        "cancel": list(effects.cancel),
        "tell": [_told(event) for event in effects.tell],
    }
    return {name: value for name, value in told.items() if value}


def _told(event: Event) -> str:
    match event:
        case Started():
            return f"Started {event.effect.id}"
        case Ended():
            return f"Ended {event.effect.id}{' cancelled' if event.cancelled else ''}"
        case HookWrote():
            return f"HookWrote {event.hook} {event.point}"
        case RunEnd():
            return f"RunEnd {event.run_id} {event.stop.reason}"
        case MessageAdded():
            return f"MessageAdded {event.run_id} {type(event.message).__name__}"
        case RunStart() | TurnEnd() | Delta():
            return type(event).__name__


def worded(data: Json) -> Json:
    """JSON without the sentences that each implementation words itself."""
    if isinstance(data, Mapping):
        known = cast("Mapping[str, Json]", data)
        hidden = _own_words(known)
        return {k: worded(v) for k, v in known.items() if k not in hidden}
    if isinstance(data, list | tuple):
        return [worded(item) for item in cast("list[Json]", data)]
    return data


OUTCOMES: Final = frozenset(
    ("unknown_tool", "invalid_arguments", "truncated", "cancelled", "interrupted")
)
REASONS: Final = frozenset(("hook_error", "model_error"))


def _own_words(data: Mapping[str, Json]) -> tuple[str, ...]:
    if data.get("outcome") in OUTCOMES:
        return ("parts",)
    return ("detail", "error") if data.get("reason") in REASONS else ()


def canonical(data: Json) -> str:
    """JSON text that is the same for equal values: keys sorted, nothing between."""
    return json.dumps(
        _plain(data), sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )


def _plain(data: Json) -> Json:
    """With whole numbers as integers, as most languages write them."""
    if isinstance(data, float) and data.is_integer():
        return int(data)
    if isinstance(data, Mapping):
        return {k: _plain(v) for k, v in cast("Mapping[str, Json]", data).items()}
    if isinstance(data, list | tuple):
        return [_plain(item) for item in cast("list[Json]", data)]
    return data


def digest_of(data: Json) -> str:
    """The first 16 digits of the SHA-256 of the canonical JSON text."""
    return hashlib.sha256(canonical(data).encode()).hexdigest()[:16]


def digests_of(state: State) -> dict[str, str]:
    """A digest of each field of a state that is not as by default."""
    return {name: digest_of(value) for name, value in fields_of(state).items()}
