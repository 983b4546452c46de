"""Laws of what is kept: pairs, queues, and that an abort is the end."""

from collections.abc import Iterable, Mapping
from typing import Final

from attrs import field, frozen
from pyrsistent import PVector

from loopcore.effects import CallModel
from loopcore.events import MessageAdded, RunEnd, RunStart
from loopcore.frozen import evolve
from loopcore.history import project
from loopcore.inputs import Abort, FollowUp, Input, Prompt, Steer, Withdraw
from loopcore.messages import AssistantMessage, Message, ToolResultMessage
from loopcore.state import Queued, State
from loopcore.testing.invariants.moment import Moment, hold
from loopcore.testing.invariants.told import STARTERS


@frozen(weakref_slot=False)
class Paired:
    """3: every call has exactly one result, adjacent and in source order.

    While a turn is open its results are in its slots: they are stored together. And so it
    is in whatever a model is sent: 10.
    """

    said: Mapping[str, tuple[Message, ...]] = field(
        factory=dict[str, tuple[Message, ...]]
    )

    def see(self, moment: Moment) -> "Paired":
        """Look at a step."""
        after, said = moment.after, dict(self.said)
        for event in moment.effects.tell:
            match event:
                case RunStart(run_id=run_id):
                    said[run_id] = ()
                case MessageAdded(run_id=run_id, message=message):
                    said[run_id] = (*said.get(run_id, ()), message)
                case RunEnd(run_id=run_id):
                    owed = open_calls(said.get(run_id, ()))
                    hold(not owed, "{} ended with {} unanswered", run_id, owed)
                case _:
                    pass

        new = tuple(after.new)
        hold(new == said.get(after.run_id, ()), "what was told is not what was stored")
        for state in family(after):
            turn, owed = state.turn, open_calls(state.transcript)
            hold(not owed or (turn and not turn.over), "{} are unanswered", owed)
        for effect in moment.effects.perform:
            if isinstance(effect, CallModel):
                hold(not open_calls(project(effect.messages)), "{} is sent", effect)
        return evolve(self, said=said)


def family(state: State) -> list[State]:
    """A state and all inside it."""
    return [state, *(inner for child in state.children for inner in family(child))]


def open_calls(messages: Iterable[Message]) -> list[str]:
    """The calls at the end that have no result; nothing else may be out of place."""
    owed: list[str] = []
    for message in messages:
        if isinstance(message, ToolResultMessage):
            due = owed.pop(0) if owed else None
            hold(message.call_id == due, RESULT, message.call_id, due)
            continue
        hold(not owed, "{} comes before the results of {}", message, owed)
        if isinstance(message, AssistantMessage):
            owed = [call.id for call in message.calls]
    return owed


RESULT: Final = "the result of {} is where that of {} is due"


@frozen(weakref_slot=False)
class Aborted:
    """5: nothing is requested or run after an abort, until somebody starts a run.

    Also: no hook runs but those of outputs that had arrived, and queues stay.
    """

    over: bool = True

    def see(self, moment: Moment) -> "Aborted":
        """Look at a step."""
        over = self.over and not isinstance(moment.given, STARTERS)
        asked = moment.effects.perform
        hold(not (over and asked), "the run is over, and {} is asked", asked)
        if isinstance(moment.given, Abort):
            _abort(moment, moment.given)
        return Aborted(over or moment.after.stop is not None)


def _abort(moment: Moment, given: Abort) -> None:
    """It ends the run at once."""
    before, after = moment.before, moment.after
    stop = after.stop
    said = (stop.reason, stop.detail) if stop else None
    hold(said == ("aborted", given.reason), "aborted, the run stops as {}", said)
    asked = moment.effects.perform
    hold(not asked, "{} was asked after the abort", asked)
    hold((after.stage, after.waiting) == ("idle", ()), "it still waits: {}", after)
    cancelled = set(moment.effects.cancel)
    wanted = {e.id for e in before.waiting}
    hold(cancelled == wanted, "{} was cancelled, of {}", cancelled, wanted)
    hold(after.steering == before.steering, "the abort took a steer")
    hold(after.follow_ups == before.follow_ups, "the abort took a follow-up")
    hold(after.settings == before.settings, "the abort changed the settings")
    heard = {one.point for one in moment.passes} - LATE
    hold(not heard, "hooks were asked at {}", heard)


LATE: Final = {"after_tool_call", "after_tool_result"}


@frozen(weakref_slot=False)
class Queues:
    """8: queued messages are conserved, in order: injected, still queued or withdrawn.

    Steering is taken whenever a turn begins, follow-ups only when nothing else makes one;
    a run that ends by itself leaves none.
    """

    def see(self, moment: Moment) -> "Queues":
        """Look at a step."""
        config, after = moment.config, moment.after
        steering = _queue(moment.before.steering, moment.given, Steer)
        following = _queue(moment.before.follow_ups, moment.given, FollowUp)
        steered = _taken(steering, after.steering)
        followed = _taken(following, after.follow_ups)

        begun = _begins(moment)
        due = _due(steering, config.steering) if begun else 0
        hold(len(steered) == due, "{} steers were taken, not {}", len(steered), due)
        hold(not followed or begun, "follow-ups were taken, and no turn began")
        hold(not (followed and steered), "follow-ups were taken beside steers")
        due = _due(following, config.follow_ups)
        hold(len(followed) in (0, due), "{} of {} were taken", len(followed), due)
        wanted = [m for queued in (*steered, *followed) for m in queued.messages]
        stored = _stored(moment, {id(m) for m in _said([*steering, *following])})
        hold(stored == wanted, "{} was taken, {} was stored", wanted, stored)
        left = [*after.steering, *after.follow_ups] if _ends_by_itself(moment) else []
        hold(not left, "the run ended by itself and left {}", left)
        return self


def _queue(
    queue: PVector[Queued], given: Input, kind: type[Steer | FollowUp]
) -> list[Queued]:
    """A queue before anything is taken from it: what was given is in it."""
    if isinstance(given, kind):
        return [*queue, Queued(given.say, given.key)]
    if isinstance(given, Withdraw):
        return [q for q in queue if given.key is not None and q.key != given.key]
    return list(queue)


def _taken(queue: list[Queued], left: Iterable[Queued]) -> list[Queued]:
    """What was taken from a queue: its oldest, nothing from the middle."""
    rest = list(left)
    count = len(queue) - len(rest)
    hold(count >= 0 and queue[count:] == rest, "of {}, {} is left", queue, rest)
    return queue[:count]


def _due(queue: list[Queued], mode: str) -> int:
    """How many are taken at once."""
    return len(queue) if mode == "all" else min(1, len(queue))


def _begins(moment: Moment) -> bool:
    """Whether a turn of the outer run began."""
    before, after = moment.before, moment.after
    return (before.run, before.turns) != (after.run, after.turns)


def _said(queue: Iterable[Queued]) -> list[Message]:
    return [message for queued in queue for message in queued.messages]


def _stored(moment: Moment, queued: set[int]) -> list[Message]:
    """The messages stored in this step that had been queued, and by nobody else said."""
    others = [m for one in moment.passes for m in _injected(one.all("inject"))]
    others += moment.given.say if isinstance(moment.given, Prompt) else ()
    ours = queued - {id(message) for message in others}
    stored = (e.message for e in moment.told(MessageAdded))
    return [message for message in stored if id(message) in ours]


def _injected(wrote: Iterable[tuple[Message, ...]]) -> list[Message]:
    return [message for said in wrote for message in said]


def _ends_by_itself(moment: Moment) -> bool:
    """Whether the outer run found nothing more to do."""
    ends = (e for e in moment.told(RunEnd) if e.run_id == moment.after.run_id)
    return any(end.stop.reason in ("done", "terminated") for end in ends)
