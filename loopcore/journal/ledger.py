"""What each step led to, in digests: what a journal keeps of it, and a replay compares."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any, Final

from attrs import define, field
from pyrsistent import PVector

from loopcore.effects import CallModel, Consult, Effect, RequestApproval, RunTool, Sleep
from loopcore.events import Event, HookWrote, MessageAdded, RunEnd, Stop
from loopcore.frozen import FrozenDict, Json, dump_json, evolve, freeze_object
from loopcore.hooks import TurnUpdate
from loopcore.journal.digests import Digests
from loopcore.journal.pieces import pieces
from loopcore.reducer import Effects
from loopcore.state import State
from loopcore.tools import ToolSpec

TOOLS: Final = tuple[ToolSpec, ...]

PREVIEW: Final = 200
"""How many characters are kept of what a hook wrote: a hint for whoever reads."""


@define
class Shown:
    """What the newest request of a run showed: None for the transcript as it was stored.

    `since` are the messages stored after that request.
    """

    messages: list[str] | None = None
    since: list[str] = field(factory=list[str])

    def base(self, stored: Callable[[], list[str]]) -> list[str]:
        """What the next request would show if nothing else were to change."""
        if self.messages is None:
            return stored()
        return [*self.messages, *self.since]


class Ledger:
    """Tells, step by step, what a run was led to. It follows one run from its state on.

    What it says of a step depends on the steps before: a request is told by what it shows
    otherwise than the request before it did, or the size of a journal would be quadratic.
    """

    def __init__(self, digests: Digests) -> None:
        self.digests = digests
        self._runs = defaultdict[str, Shown](Shown)
        self._before: dict[str, Shown] = {}

    def reset(self) -> None:
        """From here on, refer to nothing that was told before."""
        self._runs.clear()

    def entry(self, state: State, effects: Effects) -> FrozenDict[Json]:
        """What the step that ended in this state led to. What there is none of is left out."""
        self._before = {}
        told: dict[str, list[Json]] = {}
        for event in effects.tell:
            found = self._event(event, state)
            if found:
                told.setdefault(found[0], []).append(found[1])
        asked = [self._asked(effect, state) for effect in effects.perform]
        said = {**told, "ask": asked, "cancel": effects.cancel}
        return FrozenDict({k: tuple(value) for k, value in said.items() if value})

    def _event(self, event: Event, state: State) -> tuple[str, Json] | None:
        match event:
            case MessageAdded():
                return "added", self._stored(event)
            case HookWrote(update=TurnUpdate(transcript=PVector())):
                return "replaced", self._replaced(event)
            case RunEnd(run_id=state.run_id):
                return "stop", self.digests.shown(_placeless(event.stop), Stop)
            case _:
                return None

    def wrote(self, effects: Effects) -> tuple[Json, ...]:
        """Which hooks wrote which fields, and how each value begins: hints, not compared."""
        return tuple(
            (event.hook, event.point, self._previews(event.update))
            for event in effects.tell
            if isinstance(event, HookWrote)
        )

    def base(self, effect: CallModel, state: State) -> list[str]:
        """What the pieces of this request refer to: digests, for one of the newest step."""
        owner = owner_of(state, effect.id)
        shown = self._before.get(effect.id, Shown())
        return shown.base(lambda: self._transcript(owner))

    def _previews(self, update: Any) -> FrozenDict[Json]:  # noqa: ANN401  # any update
        found = self.digests.shown(update)
        return freeze_object({name: shortened(value) for name, value in found.items()})

    def _stored(self, event: MessageAdded) -> str:
        digest = self.digests(event.message)
        self._runs[event.run_id].since.append(digest)
        return digest

    def _replaced(self, event: HookWrote) -> str:
        """A hook rewrote the transcript: all of it is new."""
        self._runs[event.run_id] = Shown()
        return self.digests.of([*map(self.digests, event.update.transcript)])

    def _asked(self, effect: Effect, state: State) -> FrozenDict[Json]:
        told = {"id": effect.id, "kind": type(effect).__name__, **self._fields(effect)}
        if isinstance(effect, CallModel):
            told["messages"] = self._shows(effect, owner_of(state, effect.id))
        return FrozenDict({k: v for k, v in told.items() if v is not None})

    def _fields(self, effect: Effect) -> dict[str, Json]:
        digests = self.digests
        match effect:
            case CallModel():
                return {
                    "model": effect.model,
                    "system": digests.kept(effect.system) if effect.system else None,
                    "tools": digests.kept(effect.tools, TOOLS)
                    if effect.tools
                    else None,
                    "thinking": effect.thinking,
                    "options": digests.of(effect.options) if effect.options else None,
                    "output": digests.of(effect.output) if effect.output else None,
                }
            case RunTool():
                return {
                    "tool": effect.spec.name,
                    "arguments": digests.of(effect.arguments),
                }
            case RequestApproval():
                question = digests.of(effect.question) if effect.question else None
                arguments = digests.of(effect.arguments)
                return {
                    "tool": effect.spec.name,
                    "arguments": arguments,
                    "question": question,
                }
            case Consult():
                return {"service": effect.service, "data": digests.of(effect.data)}
            case Sleep():
                return {"seconds": effect.seconds, "until": effect.until}

    def _shows(self, effect: CallModel, owner: State | None) -> Json:
        """None for the transcript as it is stored; else pieces of what was shown before."""
        run_id = owner.run_id if owner else ""
        before = self._before[effect.id] = self._runs[run_id]
        if owner is not None and effect.messages is owner.transcript:
            self._runs[run_id] = Shown()
            return None
        now = [self.digests(message) for message in effect.messages]
        if self._is_stored(now, owner):  # a hook may show it in a vector of its own
            self._runs[run_id] = Shown()
            return None
        self._runs[run_id] = Shown(now)
        return pieces(before.base(lambda: self._transcript(owner)), now)

    def _is_stored(self, shown: list[str], owner: State | None) -> bool:
        same_length = owner is not None and len(shown) == len(owner.transcript)
        return same_length and shown == self._transcript(owner)

    def _transcript(self, owner: State | None) -> list[str]:
        return [self.digests(message) for message in owner.transcript] if owner else []


def _placeless(stop: Stop) -> Stop:
    """The stop without the line at which a hook failed: code moves within its file."""
    return evolve(stop, detail="") if stop.reason == "hook_error" else stop


def shortened(value: Json) -> Json:
    """A value as it is if it is short, else how it begins."""
    text = value if isinstance(value, str) else dump_json(value)
    return value if len(text) <= PREVIEW else f"{text[:PREVIEW]}…"


def owner_of(state: State, effect_id: str) -> State | None:
    """The run, this or one within it, whose effect this is; None if it is none of these."""
    if effect_id in state.pending:
        return state
    owners = (owner_of(child, effect_id) for child in state.children)
    return next(filter(None, owners), None)
