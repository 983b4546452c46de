"""Laws that can be read off inputs, effects and states, whatever the hooks say."""

from collections.abc import Iterable
from typing import Any, Final

from attrs import define, field

from loopcore import (
    Abort,
    Answer,
    AssistantMessage,
    CallModel,
    Continue,
    Effect,
    FollowUp,
    Input,
    Message,
    ModelError,
    Prompt,
    State,
    Steer,
    ToolResultMessage,
    Usage,
    Withdraw,
)
from loopcore.events import (
    Ended,
    Event,
    MessageAdded,
    RunEnd,
    RunStart,
    Started,
    TurnEnd,
)
from loopcore.state import Queued
from property_tests.world import Forks, Moment

STARTERS: Final = (Prompt, Continue)


@define(eq=False)
class Waiting(Forks):
    """13: what waits is exactly what was asked and not answered or cancelled.

    Also: no id is ever given twice, and a run that is not over waits for something.
    """

    asked: dict[str, Effect] = field(factory=dict[str, Effect])
    ids: set[str] = field(factory=set[str])

    def see(self, moment: Moment) -> None:
        asked = moment.effects.perform
        ids = [effect.id for effect in asked]

        assert len(set(ids)) == len(ids)
        assert self.ids.isdisjoint(ids)

        self.ids.update(ids)
        if isinstance(moment.given, Answer):
            del self.asked[moment.given.effect_id]
        self.asked.update(zip(ids, asked, strict=True))
        for gone in moment.effects.cancel:
            del self.asked[gone]

        waiting = moment.after.waiting
        assert {effect.id: effect for effect in waiting} == self.asked
        assert len(waiting) == len(self.asked)
        assert bool(waiting) == (moment.after.stage != "idle")


@define(eq=False)
class Balance(Forks):
    """11: starts and ends balance; each turn ends once, each run ends once.

    Also: events carry the run's time, and tell the effects as they are.
    """

    running: dict[str, int] = field(factory=dict[str, int])
    started: set[str] = field(factory=set[str])

    def see(self, moment: Moment) -> None:
        tell, effects = moment.effects.tell, moment.effects
        started = tuple(e.effect for e in tell if isinstance(e, Started))
        cancelled = [e for e in tell if isinstance(e, Ended) and e.cancelled]

        assert started == effects.perform
        assert tuple(e.effect.id for e in cancelled) == effects.cancel
        assert {event.at for event in tell} <= {moment.after.now}

        for event in tell:
            self.take(event)
        self.answers(moment)
        root = moment.after.run_id in self.running
        assert root == (moment.after.stage != "idle")
        assert root or not self.running
        assert root or not self.started

    def take(self, event: Event) -> None:
        match event:
            case RunStart(run_id=run_id):
                assert run_id not in self.running
                self.running[run_id] = 0
            case TurnEnd(run_id=run_id, turn=turn):
                self.running[run_id] += 1
                assert self.running[run_id] == turn
            case RunEnd(run_id=run_id, turn=turn):
                assert self.running.pop(run_id) == turn
            case Started(effect):
                assert effect.id not in self.started
                self.started.add(effect.id)
            case Ended(effect):
                self.started.remove(effect.id)
            case _:
                assert event.run_id in self.running

    def answers(self, moment: Moment) -> None:
        """An effect that was answered ends with its answer."""
        ended = [e for e in moment.told(Ended) if not e.cancelled]
        given = moment.given
        if not isinstance(given, Answer):
            assert ended == []
            return
        (event,) = ended
        assert event.effect == moment.answered
        assert event.seconds == given.seconds
        assert event.value == given.value


@define(eq=False)
class Paired(Forks):
    """3: every call has exactly one result, adjacent and in source order.

    While a turn is open its results are in its slots: they are stored together.
    """

    said: dict[str, tuple[Message, ...]] = field(factory=dict[str, tuple[Message, ...]])

    def see(self, moment: Moment) -> None:
        after = moment.after
        for event in moment.effects.tell:
            if isinstance(event, RunStart):
                self.said[event.run_id] = ()
            if isinstance(event, MessageAdded):
                self.said[event.run_id] += (event.message,)
            if isinstance(event, RunEnd):
                assert open_calls(self.said[event.run_id]) == 0

        assert tuple(after.new) == self.said.get(after.run_id, ())
        for state in family(after):
            turn = state.turn
            assert not open_calls(state.transcript) or (turn and not turn.over)


def family(state: State) -> list[State]:
    """A state and all inside it."""
    return [state, *(inner for child in state.children for inner in family(child))]


def open_calls(messages: Iterable[Message]) -> int:
    """How many calls at the end have no result; nothing else may be out of place."""
    owed: list[str] = []
    for message in messages:
        if isinstance(message, ToolResultMessage):
            assert owed
            assert owed.pop(0) == message.call_id
            continue
        assert not owed
        if isinstance(message, AssistantMessage):
            owed = [call.id for call in message.calls]
    return len(owed)


@define(eq=False)
class Aborted(Forks):
    """5: nothing is requested or run after an abort, until somebody starts a run.

    Also: no hook runs but those of outputs that had arrived, and queues stay.
    """

    over: bool = True
    arrived: set[str] = field(factory=set[str])

    def see(self, moment: Moment) -> None:
        if isinstance(moment.given, STARTERS):
            self.over = False
        elif self.over:
            assert moment.effects.perform == ()
        if isinstance(moment.given, Answer):
            self.arrived.add(moment.given.effect_id)
        if isinstance(moment.given, Abort):
            self.abort(moment, moment.given)
        self.over = self.over or moment.after.stop is not None

    def abort(self, moment: Moment, given: Abort) -> None:
        """It ends the run at once."""
        stop, after = moment.after.stop, moment.after
        assert stop is not None
        assert (stop.reason, stop.detail) == ("aborted", given.reason)
        assert moment.effects.perform == ()
        assert (after.stage, after.waiting) == ("idle", ())
        assert set(moment.effects.cancel) == {e.id for e in moment.before.waiting}
        assert after.steering == moment.before.steering
        assert after.follow_ups == moment.before.follow_ups
        assert after.settings == moment.before.settings
        assert {said.point for said in moment.said} <= LATE


LATE: Final = {"after_tool_call", "after_tool_result"}


@define(eq=False)
class Queues(Forks):
    """8: queued messages are conserved, in order: injected, still queued or withdrawn.

    Steering is taken whenever a turn begins, follow-ups only when nothing else makes one;
    a run that ends by itself leaves none.
    """

    steering: list[Queued] = field(factory=list[Queued])
    follow_ups: list[Queued] = field(factory=list[Queued])

    def see(self, moment: Moment) -> None:
        self.take(moment.given)
        config = moment.config
        steered = taken(self.steering, moment.after.steering)
        followed = taken(self.follow_ups, moment.after.follow_ups)

        begun = begins(moment)
        assert len(steered) == due(self.steering, config.steering, now=begun)
        assert not followed or (begun and not steered)
        assert len(followed) in (0, due(self.follow_ups, config.follow_ups, now=True))
        assert said(steered) + said(followed) == queued_said(moment)

        del self.steering[: len(steered)], self.follow_ups[: len(followed)]
        if ends_by_itself(moment):
            assert self.steering + self.follow_ups == []

    def take(self, given: Input) -> None:
        """What is queued, and what is withdrawn."""
        match given:
            case Steer(say, key):
                self.steering.append(Queued(say, key))
            case FollowUp(say, key):
                self.follow_ups.append(Queued(say, key))
            case Withdraw(key):
                self.steering = kept(self.steering, key)
                self.follow_ups = kept(self.follow_ups, key)
            case _:
                pass


def kept(queue: list[Queued], key: str | None) -> list[Queued]:
    """What a withdrawal leaves."""
    return [queued for queued in queue if key is not None and queued.key != key]


def taken(queue: list[Queued], left: Iterable[Queued]) -> list[Queued]:
    """What was taken from a queue: its oldest, nothing from the middle."""
    rest = list(left)
    count = len(queue) - len(rest)
    assert count >= 0
    assert queue[count:] == rest
    return queue[:count]


def due(queue: list[Queued], mode: str, *, now: bool) -> int:
    """How many are to be taken."""
    return 0 if not now else len(queue) if mode == "all" else min(1, len(queue))


def begins(moment: Moment) -> bool:
    """Whether a turn of the outer run began."""
    before, after = moment.before, moment.after
    return (before.run, before.turns) != (after.run, after.turns)


def said(queue: list[Queued]) -> list[Message]:
    """The messages of these."""
    return [message for queued in queue for message in queued.messages]


def queued_said(moment: Moment) -> list[Message]:
    """The messages stored in this step that had been queued."""
    stored = (e.message for e in moment.told(MessageAdded))
    return [m for m in stored if getattr(m, "text", "").startswith(("steer", "follow"))]


def ends_by_itself(moment: Moment) -> bool:
    """Whether the outer run found nothing more to do."""
    ends = (e for e in moment.told(RunEnd) if e.run_id == moment.after.run_id)
    return any(end.stop.reason in ("done", "terminated") for end in ends)


@define(eq=False)
class Tokens(Forks):
    """What a run used is what the replies to it and to all inside it used, each once."""

    used: dict[str, Usage] = field(factory=dict[str, Usage])
    requests: int = 0

    def see(self, moment: Moment) -> None:
        if isinstance(moment.given, STARTERS):
            self.used, self.requests = {}, 0
        for effect, reply in replies(moment):
            self.used[effect.id] = reply.usage
        self.requests += sum(
            is_request(effect.id, moment.after.run_id)
            for effect in moment.effects.perform
        )

        for end in moment.told(RunEnd):
            assert end.usage == self.total(f"{end.run_id}.")
        assert moment.after.requests == self.requests

    def total(self, prefix: str) -> Usage:
        """All that was used under this run."""
        used = (u for i, u in self.used.items() if i.startswith(prefix))
        return sum(used, start=Usage())


def replies(moment: Moment) -> list[tuple[Effect, AssistantMessage]]:
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


def is_request(effect_id: str, run_id: str) -> bool:
    """Whether this is a model request of this very run, not of one inside it."""
    parts = effect_id.removeprefix(f"{run_id}.").split(".")
    return len(parts) == 4 and parts[2] == "model"
