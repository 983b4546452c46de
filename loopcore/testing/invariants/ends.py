"""Laws of ends: why a run ends, what a failed attempt leads to, and typed outputs."""

from typing import Final

from attrs import frozen

from loopcore.config import AnyConfig
from loopcore.effects import Sleep
from loopcore.events import MessageAdded, RunEnd, Stop
from loopcore.frozen import evolve
from loopcore.messages import AssistantMessage, UserMessage
from loopcore.output import problem
from loopcore.testing.invariants.moment import Moment, hold
from loopcore.testing.invariants.passes import Pass, stop_of


@frozen(weakref_slot=False)
class Ends:
    """A run ends for the first reason that hooks, models or people gave, and no other.

    It does not end by itself after a turn for which a hook injected messages.
    """

    injected: frozenset[str] = frozenset()

    def see(self, moment: Moment) -> "Ends":
        """Look at a step."""
        wanted: dict[str, Stop] = {}
        injected = {
            one.place
            for one in moment.passes
            if one.point == "prepare_next_turn" and any(one.all("inject"))
        }
        for one in moment.passes:
            stop = reason(one)
            if stop and one.run_id not in wanted:
                wanted[one.run_id] = stop
        law = Ends(self.injected | injected)
        ends = {event.run_id: event for event in moment.told(RunEnd)}
        late = [str(stop) for run_id, stop in wanted.items() if run_id not in ends]
        hold(not late, "{} was decided, and the run goes on", late)
        for run_id, end in ends.items():
            judge(end.stop, wanted.get(run_id))
            if moment.place(end) in law.injected:
                itself = end.stop.reason in BY_ITSELF
                hold(not itself, "messages were injected, and the run is {}", end.stop)
        return law


BY_ITSELF: Final = ("done", "terminated")
UNASKED: Final = (*BY_ITSELF, "aborted", "output_error")
"""The ends that no hook and no model has to want."""


def judge(stop: Stop, wanted: Stop | None) -> None:
    """Whether this is the stop that was wanted; an abort and an end need no hook."""
    if wanted is None or stop.reason == "aborted":
        hold(stop.reason in UNASKED, "the run stops as {}, which nobody wanted", stop)
        return
    same = (stop.reason, stop.hook) == (wanted.reason, wanted.hook)
    hold(same, "the run stops as {}, where {} was wanted", stop, wanted)
    said = not wanted.detail or stop.detail == wanted.detail
    hold(said, "the run stops as {}, where {} was wanted", stop, wanted)


def reason(one: Pass) -> Stop | None:
    """The stop that a pass leads to."""
    if one.end == "need":
        return None
    if one.end == "fault":
        fatal = one.point != "prepare_tool_call"
        return Stop("hook_error", hook=one.said[-1].hook) if fatal else None
    if one.point == "on_model_error":
        tries = one.all("retry")
        retry = bool(tries) and all(tries)
        return None if retry else Stop("model_error", str(one.view.error))
    if one.point == "after_model_call":
        failed = one.last("message", one.view.message).failed
        return Stop("model_error") if failed else None
    said = stop_of(one)
    return _stop(*said) if said else None


def _stop(wish: bool | str | Stop, hook: str) -> Stop:  # noqa: FBT001
    if isinstance(wish, Stop):
        return evolve(wish, hook=wish.hook or hook)
    return Stop("hook", wish if isinstance(wish, str) else "", hook=hook)


@frozen(weakref_slot=False)
class Retries:
    """A failed attempt that is tried again is not stored, and waits as long as was said."""

    def see(self, moment: Moment) -> "Retries":
        """Look at a step."""
        for one in moment.passes:
            if one.point == "on_model_error" and one.end != "need":
                _retry(moment, one)
        return self


def _retry(moment: Moment, one: Pass) -> None:
    stored = [
        e.message
        for e in moment.told(MessageAdded)
        if e.run_id == one.run_id and isinstance(e.message, AssistantMessage)
    ]
    if reason(one):
        found = [(m.finish, m.error) for m in stored]
        wanted = ("error", evolve(one.view.error, partial=None))
        hold(found == [wanted], "a reply failed and ends the run; stored is {}", stored)
        return
    hold(not stored, "{} is stored, and tried again", stored)
    naps = [e.seconds for e in moment.effects.perform if isinstance(e, Sleep)]
    delay = one.last("delay", 0.0)
    hold(naps == [delay], "it waits {}, where {} s were said", naps, delay)


SENT_BACK: Final = "Your reply could not be used"


@frozen(weakref_slot=False)
class Outputs:
    """A run that wants an output ends done only with one: D79, D85.

    A reply that does not fit is sent back, but steering goes first; so often and no more,
    a refusal never.
    """

    def see(self, moment: Moment) -> "Outputs":
        """Look at a step."""
        config, root = moment.config, moment.after.run_id
        if config.wanted is None:
            return self
        told = [e for e in moment.effects.tell if e.run_id == root]
        back = [e for e in told if isinstance(e, MessageAdded) and _is_back(e.message)]
        if back:
            _sent_back(moment, len(back))
        for end in told:
            if isinstance(end, RunEnd):
                _ended(moment, end.stop.reason)
        return self


def _is_back(message: object) -> bool:
    return isinstance(message, UserMessage) and message.text.startswith(SENT_BACK)


def _sent_back(moment: Moment, times: int) -> None:
    after, config = moment.after, moment.config
    reply = last_reply(moment)
    steered = len(after.steering) < len(moment.before.steering)
    hold(times == 1, "a reply is sent back {} times", times)
    hold(not steered, "a reply is sent back where steering goes first")
    hold(not fits(config, reply), "{} is sent back, and fits", reply)
    hold(reply.finish != "refusal", "a refusal is sent back")
    most = config.repairs
    hold(after.repairs <= most, "{} repairs, of {}", after.repairs, most)


def _ended(moment: Moment, why: str) -> None:
    config, reply = moment.config, last_reply(moment)
    if why == "done":
        hold(fits(config, reply), "the run is done with {}, which does not fit", reply)
    if why == "output_error":
        hold(not fits(config, reply), "{} fits, and the run failed for it", reply)
        used = moment.after.repairs == config.repairs or reply.finish == "refusal"
        hold(used, "the run gave up after {} repairs", moment.after.repairs)


NOTHING_SAID: Final = AssistantMessage(())


def last_reply(moment: Moment) -> AssistantMessage:
    """The run's last reply."""
    said = (m for m in reversed(moment.after.new) if isinstance(m, AssistantMessage))
    return next(said, NOTHING_SAID)


def fits(config: AnyConfig, reply: AssistantMessage) -> bool:
    """Whether a reply comes to the output that is wanted."""
    refused = reply.finish == "refusal"
    return (
        not refused
        and config.wanted is not None
        and not problem(config.wanted, reply.text)
    )
