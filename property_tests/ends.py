"""Why a run ends, and what a failed attempt leads to: judged by what the spy heard."""

from typing import Any

from attrs import define, field

from loopcore import AssistantMessage, Sleep, Stop
from loopcore.events import MessageAdded, RunEnd
from loopcore.frozen import evolve
from property_tests.passes import Pass, passes, stop_of
from property_tests.world import Forks, Moment


@define(eq=False)
class Ends(Forks):
    """A run ends for the first reason that hooks, models or people gave, and no other.

    It does not end by itself after a turn for which a hook injected messages.
    """

    injected: set[str] = field(factory=set[str])

    def see(self, moment: Moment) -> None:
        wanted: dict[str, Stop] = {}
        for one in passes(moment):
            if one.point == "prepare_next_turn" and any(one.all("inject")):
                self.injected.add(one.place)
            stop = reason(one)
            if stop and one.run_id not in wanted:
                wanted[one.run_id] = stop
        ends = {event.run_id: event for event in moment.told(RunEnd)}
        assert wanted.keys() <= ends.keys()
        for run_id, end in ends.items():
            run = moment.after.run if run_id == moment.after.run_id else 1
            judge(end.stop, wanted.get(run_id))
            if f"{run_id}.{run}.{end.turn}" in self.injected:
                assert end.stop.reason not in ("done", "terminated")


def judge(stop: Stop, wanted: Stop | None) -> None:
    """Whether this is the stop that was wanted; an abort and an end need no hook."""
    if wanted is None or stop.reason == "aborted":
        assert stop.reason in ("done", "terminated", "aborted")
        return
    assert (stop.reason, stop.hook) == (wanted.reason, wanted.hook)
    if wanted.detail:
        assert stop.detail == wanted.detail


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


def _stop(wish: Any, hook: str) -> Stop:  # True, a reason or a Stop
    if isinstance(wish, Stop):
        return evolve(wish, hook=hook)
    return Stop("hook", wish if isinstance(wish, str) else "", hook=hook)


@define(eq=False)
class Retries(Forks):
    """A failed attempt that is tried again is not stored, and waits as long as was said."""

    def see(self, moment: Moment) -> None:
        for one in passes(moment):
            if one.point != "on_model_error" or one.end == "need":
                continue
            stored = [
                e.message
                for e in moment.told(MessageAdded)
                if e.run_id == one.run_id and isinstance(e.message, AssistantMessage)
            ]
            if reason(one):
                assert [(m.finish, m.error) for m in stored] == [failed(one)]
                continue
            naps = [e for e in moment.effects.perform if isinstance(e, Sleep)]
            assert stored == []
            assert [nap.seconds for nap in naps] == [one.last("delay", 0.0)]


def failed(one: Pass) -> tuple[str, Any]:
    """How a failed reply is stored."""
    return "error", evolve(one.view.error, partial=None)
