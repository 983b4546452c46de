"""Laws of what is asked and told: effects are answered once, starts and ends balance."""

from collections.abc import Mapping
from typing import Any, Final

from attrs import field, frozen

from loopcore.codec import from_json, to_json
from loopcore.effects import CallModel, Effect
from loopcore.events import Ended, Event, RunEnd, RunStart, Started, TurnEnd
from loopcore.frozen import evolve
from loopcore.inputs import Abort, Answer, Continue, Input, Prompt
from loopcore.messages import AssistantMessage, ModelError, Usage
from loopcore.state import State
from loopcore.testing.invariants.moment import Moment, hold

STARTERS: Final = (Prompt, Continue)


@frozen(weakref_slot=False)
class Waiting:
    """13: what waits is exactly what was asked and not answered or cancelled.

    Also: no id is ever given twice, and a run that is not over waits for something.
    """

    asked: Mapping[str, Effect] = field(factory=dict[str, Effect])
    ids: frozenset[str] = frozenset()

    def see(self, moment: Moment) -> "Waiting":
        """Look at a step."""
        effects, after = moment.effects, moment.after
        ids = [effect.id for effect in effects.perform]
        hold(len(set(ids)) == len(ids), "{} were asked, one of them twice", ids)
        again = self.ids.intersection(ids)
        hold(not again, "{} was asked already, in a step before", sorted(again))

        asked = {**self.asked, **dict(zip(ids, effects.perform, strict=True))}
        gone = list(effects.cancel)
        if isinstance(moment.given, Answer):
            gone.append(moment.given.effect_id)
        for effect_id in gone:
            hold(effect_id in asked, "{} ended, and was not waiting", effect_id)
            del asked[effect_id]

        waiting = {effect.id: effect for effect in after.waiting}
        hold(waiting.keys() >= asked.keys(), LOST, _less(asked, waiting))
        hold(asked.keys() >= waiting.keys(), EXTRA, _less(waiting, asked))
        hold(waiting == asked, "what waits is not as it was asked")
        hold(len(after.waiting) == len(waiting), "{} waits twice", list(waiting))
        idle = after.stage == "idle"
        hold(idle != bool(waiting), "it is {}, and waits for {}", after.stage, waiting)
        return evolve(self, asked=asked, ids=self.ids.union(ids))


LOST: Final = "{} was asked and neither answered nor cancelled, and does not wait"
EXTRA: Final = "{} waits, and was not asked, or is over"


def _less(some: Mapping[str, Any], others: Mapping[str, Any]) -> list[str]:
    return [key for key in some if key not in others]


@frozen(weakref_slot=False)
class Balance:
    """11: starts and ends balance: each run, turn and effect that began ends once.

    Also: events carry the run's time, and tell the effects as they are.
    """

    running: Mapping[str, int] = field(factory=dict[str, int])
    started: frozenset[str] = frozenset()

    def see(self, moment: Moment) -> "Balance":
        """Look at a step."""
        tell, effects, after = moment.effects.tell, moment.effects, moment.after
        started = tuple(e.effect for e in tell if isinstance(e, Started))
        ended = [e for e in tell if isinstance(e, Ended) and e.cancelled]
        cancelled = tuple(e.effect.id for e in ended)
        hold(started == effects.perform, "{} were told as started", started)
        hold(cancelled == effects.cancel, "{} were told as cancelled", cancelled)
        times = {event.at for event in tell}
        hold(times <= {after.now}, "events tell the times {}", times)

        running, begun = dict(self.running), set(self.started)
        for event in tell:
            _take(running, begun, event)
        _answered(moment)
        root = after.run_id in running
        hold(root == (after.stage != "idle"), "the run is {}", after.stage)
        hold(root or not running, "{} go on after the outer run", list(running))
        hold(root or not begun, "{} go on after the outer run", sorted(begun))
        return evolve(self, running=running, started=frozenset(begun))


def _take(running: dict[str, int], begun: set[str], event: Event) -> None:
    """What an event begins or ends."""
    match event:
        case RunStart(run_id=run_id):
            hold(run_id not in running, "run {} began twice", run_id)
            running[run_id] = 0
        case TurnEnd(run_id=run_id, turn=turn):
            running[run_id] = _counted(running, run_id) + 1
            hold(running[run_id] == turn, "turn {} of {} ended", turn, run_id)
        case RunEnd(run_id=run_id, turn=turn):
            turns = _counted(running, run_id)
            hold(turns == turn, "{} ended in turn {} of {}", run_id, turn, turns)
            del running[run_id]
        case Started(effect):
            hold(effect.id not in begun, "{} started twice", effect.id)
            begun.add(effect.id)
        case Ended(effect):
            hold(effect.id in begun, "{} ended, and had not started", effect.id)
            begun.remove(effect.id)
        case _:
            _counted(running, event.run_id)


def _counted(running: Mapping[str, int], run_id: str) -> int:
    hold(run_id in running, "something is told of {}, which does not go on", run_id)
    return running[run_id]


def _answered(moment: Moment) -> None:
    """An effect that was answered ends with its answer."""
    ended = [e for e in moment.told(Ended) if not e.cancelled]
    given = moment.given
    if not isinstance(given, Answer):
        hold(not ended, "{} ended, and nothing was answered", ended)
        return
    told = [(e.effect, e.value, e.seconds) for e in ended]
    wanted = (moment.answered, given.value, given.seconds)
    hold(told == [wanted], "{} was answered; told was {}", given.effect_id, told)


@frozen(weakref_slot=False)
class Tokens:
    """What a run used is what the replies to it and to all inside it used, each once."""

    used: Mapping[str, Usage] = field(factory=dict[str, Usage])
    requests: int = 0

    def see(self, moment: Moment) -> "Tokens":
        """Look at a step."""
        begun = isinstance(moment.given, STARTERS)
        used: Mapping[str, Usage] = {} if begun else self.used
        used = {**used, **{e.id: reply.usage for e, reply in _replies(moment)}}
        requests = 0 if begun else self.requests
        asked = (effect.id for effect in moment.effects.perform)
        requests += sum(_is_request(i, moment.after.run_id) for i in asked)

        for end in moment.told(RunEnd):
            total = _total(used, f"{end.run_id}.")
            hold(end.usage == total, "{} used {}, not {}", end.run_id, total, end.usage)
        counted = moment.after.requests
        hold(counted == requests, "{} requests were made, not {}", requests, counted)
        return evolve(self, used=used, requests=requests)


def _total(used: Mapping[str, Usage], prefix: str) -> Usage:
    """All that was used under this run."""
    return sum((u for i, u in used.items() if i.startswith(prefix)), start=Usage())


def _replies(moment: Moment) -> list[tuple[Effect, AssistantMessage]]:
    """The replies that came, whole or in part, and what they answer."""
    asked: Any = moment.answered
    match moment.given:
        case Answer(value=AssistantMessage() as reply):
            return [(asked, reply)]
        case Answer(value=ModelError(partial=AssistantMessage() as reply)):
            return [(asked, reply)]
        case Abort(partials=partials):
            waiting = (e for e in moment.before.waiting if isinstance(e, CallModel))
            own = (e for e in waiting if ".model." in e.id)
            return [(e, partials[e.id]) for e in own if e.id in partials]
        case _:
            return []


REQUEST: Final = 4
"""The parts of a request's id after its run's: run, turn, "model", attempt."""


def _is_request(effect_id: str, run_id: str) -> bool:
    """Whether this is a model request of this very run, not of one inside it."""
    parts = effect_id.removeprefix(f"{run_id}.").split(".")
    return len(parts) == REQUEST and parts[2] == "model"


@frozen(weakref_slot=False)
class Counted:
    """D17: every input is counted, and time does not go back."""

    def see(self, moment: Moment) -> "Counted":
        """Look at a step."""
        before, after = moment.before, moment.after
        hold(after.inputs == before.inputs + 1, "it counts {} inputs", after.inputs)
        held = before.now is None or (after.now is not None and after.now >= before.now)
        hold(held, "it was {}, and is {}", before.now, after.now)
        return self


@frozen(weakref_slot=False)
class Coded:
    """12: what is encoded and decoded again is equal: states, inputs, effects, events.

    A saved state is a complete resume token: 2.
    """

    def see(self, moment: Moment) -> "Coded":
        """Look at a step; this takes longer than all other laws."""
        saved(moment.after)
        for kind, value in ((Input, moment.given), *_of(moment)):
            back = from_json(kind, to_json(value, kind))
            hold(back == value, "{} comes back as {}", value, back)
        return self


def _of(moment: Moment) -> list[tuple[Any, Any]]:
    effects = moment.effects
    events: list[tuple[Any, Any]] = [(Event, event) for event in effects.tell]
    return [*((Effect, effect) for effect in effects.perform), *events]


def saved(state: State) -> None:
    """Hold that a state comes back from its saved form."""
    loaded = State.loads(state.dumps())
    hold(loaded.value_or(None) == state, "saved and loaded, {} is {}", state, loaded)
