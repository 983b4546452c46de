"""What one step does otherwise than another did with the same input, in words."""

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Final

from attrs import evolve, frozen

from loopcore.effects import CallModel, Effect, RequestApproval, RunTool
from loopcore.events import HookWrote, MessageAdded, Stop
from loopcore.frozen import Json, dump_json
from loopcore.journal.compare import GATES, STORING
from loopcore.journal.folding import Step
from loopcore.messages import Message, ToolResultMessage
from loopcore.state import State, spoken

SHOWING: Final = ("transform_context", "prepare_next_turn", "on_model_error")
SETTINGS: Final = ("model", "system", "thinking", "options", "output")


@frozen
class Change:
    """Something that another configuration does otherwise.

    Args:
        journal: the file, or the run's name.
        number: at which input, from 1.
        turn: in which turn.
        what: what it is about, such as a call.
        old, new: how it was, and how it is.
        hook, point: the hook that makes the difference, if one does.
    """

    journal: str
    number: int
    turn: int
    what: str
    old: str
    new: str
    hook: str = ""
    point: str = ""


@frozen
class Both:
    """The same input under two configurations."""

    journal: str
    old: Step
    new: Step

    def change(
        self, what: str, old: str, new: str, points: Iterable[str] = ()
    ) -> Change:
        """A change of this step; the hook is one that wrote at one of these points."""
        hook, point = self._writer(tuple(points))
        turn = max(self.old.before.turns, 1)
        return Change(self.journal, self.old.number, turn, what, old, new, hook, point)

    def _writer(self, points: tuple[str, ...]) -> tuple[str, str]:
        now, then = _writes(self.new, points), _writes(self.old, points)
        differ = [w for w in now if w not in then] + [w for w in then if w not in now]
        return next(((w.hook, w.point) for w in differ), ("", ""))


def _writes(step: Step, points: tuple[str, ...]) -> list[HookWrote]:
    events = (event for event in step.effects.tell if isinstance(event, HookWrote))
    return [event for event in events if event.point in points]


def changes(both: Both, *, same_history: bool) -> Iterator[Change]:
    """What differs in this step. What only follows from another difference is left out.

    `same_history` says whether all that was stored before this step is the same.
    """
    if both.old.led == both.new.led:
        return
    yield from _calls(both)
    yield from _results(both)
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
        yield both.change(named, *fates, GATES)


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
            return _settled(state, int(place.rpartition(".")[2]))


def _settled(state: State, number: int) -> str:
    """How a call that is neither run nor asked about ended, as far as it has."""
    results = list[ToolResultMessage]()
    for message in reversed(state.transcript):
        if not isinstance(message, ToolResultMessage):
            break
        results.insert(0, message)
    turn = state.turn.results if state.turn and state.turn.slots else tuple(results)
    if number < len(turn):
        return f"{turn[number].outcome}: {turn[number].text!r}"
    return f"stopped: {state.stop}" if state.stop else "does not run"


def _results(both: Both) -> Iterator[Change]:
    """Messages that are stored otherwise, but for the results of calls told already."""
    if _by_id(both.old).keys() != _by_id(both.new).keys():
        return
    for was, now in zip_longest(_added(both.old), _added(both.new)):
        if was != now:
            yield both.change(
                _named(was or now), _said(was), _said(now), (*STORING, *GATES)
            )


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
        for name in SETTINGS:
            if getattr(was, name) != getattr(now, name):
                yield both.change(
                    f"request: {name}", _short(was, name), _short(now, name), SHOWING
                )
        if was.tools != now.tools:
            yield both.change("request: tools", _tools(was), _tools(now), SHOWING)
        if same_history and was.messages != now.messages:
            counts = f"{len(was.messages)} messages", f"{len(now.messages)} messages"
            yield both.change("shown to the model", *counts, SHOWING)


def _short(request: CallModel, name: str) -> str:
    value: Json = getattr(request, name)
    return (value if isinstance(value, str) else dump_json(value)) or "none"


def _tools(request: CallModel) -> str:
    return ", ".join(spec.name for spec in request.tools) or "none"


def _stops(both: Both) -> Iterator[Change]:
    was, now = both.old.state.stop, both.new.state.stop
    if was == now:
        return
    found = both.change("stop", _stop(was), _stop(now))
    who = now or was
    assert who is not None  # noqa: S101  # they differ
    yield _by(found, who)


def _by(change: Change, stop: Stop) -> Change:
    return evolve(
        change, hook=stop.hook or change.hook, point=stop.point or change.point
    )


def _stop(stop: Stop | None) -> str:
    return str(stop) if stop else GOES_ON


GOES_ON: Final = "goes on"
"""Said of a run that did not stop there."""
