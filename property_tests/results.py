"""Results are what tools gave, as hooks shaped it: computed again from what was heard."""

from typing import Any, Final

from attrs import define, field

from loopcore import (
    Answer,
    AssistantMessage,
    Reject,
    RequestApproval,
    Respond,
    RunTool,
    Sleep,
    Stop,
    ToolOutput,
)
from loopcore.events import MessageAdded, RunEnd, TurnEnd
from loopcore.frozen import evolve
from loopcore.messages import Text
from property_tests.passes import Pass, guarded, passes
from property_tests.verdicts import Key, key_of
from property_tests.world import Forks, Moment

SHAPERS: Final = ("after_tool_call", "after_tool_result")


@define(eq=False)
class Results(Forks):
    """A result is its output as shaped by the hooks, field by field; or withheld.

    after_tool_call sees exactly the calls whose tools ran; what no tool or hook gave is
    an answer of the run's own.
    """

    outputs: dict[Key, ToolOutput] = field(factory=dict[Key, ToolOutput])
    ran: set[Key] = field(factory=set[Key])
    wishes: dict[Key, bool] = field(factory=dict[Key, bool])
    shaped: dict[Key, ToolOutput] = field(factory=dict[Key, ToolOutput])
    last: dict[str, str] = field(factory=dict[str, str])

    def see(self, moment: Moment) -> None:
        for one in passes(moment):
            if one.point == "before_tool_call" and one.end == "done":
                wish = one.last("terminate", one.view.terminate)
                self.wishes.update({} if wish is None else {one.key: wish})
        self.nested(moment)
        self.answer(moment)
        for one in passes(moment):
            if one.point in SHAPERS:
                self.shape(one)
        for event in moment.told(TurnEnd):
            self.check(moment, event)
        self.go_on(moment)

    def answer(self, moment: Moment) -> None:
        """What a tool gave, or a person in its place."""
        asked, given = moment.answered, moment.given
        if not isinstance(given, Answer) or asked is None:
            return
        match asked, given.value:
            case RunTool(), ToolOutput() as output:
                self.outputs[key_of(asked.id)] = output
            case RequestApproval(), Respond(output):
                self.outputs[key_of(asked.id)] = output
            case RequestApproval(), Reject():
                self.wishes.setdefault(key_of(asked.id), False)
                return
            case _:
                return
        key = key_of(asked.id)
        self.ran.add(key)
        if key in self.wishes:
            ended = evolve(self.outputs[key], terminate=self.wishes[key])
            self.outputs[key] = ended

    def nested(self, moment: Moment) -> None:
        """What a nested run came to, unless it was stopped from outside."""
        for event in moment.told(MessageAdded):
            if isinstance(event.message, AssistantMessage):
                self.last[event.run_id] = event.message.text
        for end in moment.told(RunEnd):
            if end.run_id.count(".") and end.stop.reason != "aborted":
                self.outputs[key_of(end.run_id)] = self.amounts(end)
                self.ran.add(key_of(end.run_id))
        asked = moment.answered
        if isinstance(asked, Sleep) and ".run." in asked.id[-len(".run.9") :]:
            self.outputs[key_of(asked.id)] = ToolOutput("", outcome="timeout")
            self.ran.add(key_of(asked.id))

    def amounts(self, end: RunEnd) -> ToolOutput:
        """Its last text, or why it has none."""
        wish = self.wishes.get(key_of(end.run_id), False)
        if end.stop.reason == "done":
            return ToolOutput(self.last[end.run_id], terminate=wish)
        return ToolOutput(str(end.stop), outcome="error", terminate=wish)

    def shape(self, one: Pass) -> None:
        """Hooks shape an output; what a tool gave reaches them as it was."""
        before = self.shaped.get(one.key, self.outputs.get(one.key))
        view = one.view
        if one.point == "after_tool_call":
            assert one.key in self.ran
            assert before is not None
        else:
            assert one.key not in self.ran or one.key in self.shaped
        seen = ToolOutput(
            view.parts,
            details=view.details,
            terminate=view.terminate,
            outcome=view.outcome,
        )
        if before is not None and before.outcome != "timeout":
            assert seen == before
        if one.end != "need":
            self.shaped[one.key] = shaped(one, seen)

    def check(self, moment: Moment, event: TurnEnd) -> None:
        """Each call of the reply has its result, as shaped."""
        calls = event.message.calls if event.message else ()
        assert [r.call_id for r in event.results] == [call.id for call in calls]
        assert [r.name for r in event.results] == [call.name for call in calls]
        run = place_run(moment, event)
        ended = event.run_id in {e.run_id for e in moment.told(RunEnd)}
        for n, result in enumerate(event.results):
            output = self.shaped.get((f"{event.run_id}.{run}.{event.turn}", n))
            if output is None:
                assert ended
                assert result.outcome in ("cancelled", "truncated")
                continue
            assert result.parts == output.parts
            assert result.outcome == output.outcome
            assert result.details == output.details

    def go_on(self, moment: Moment) -> None:
        """A batch ends its run only if all its results ask for that, and then it does."""
        stops = {e.run_id: e.stop for e in moment.told(RunEnd)}
        for event in moment.told(TurnEnd):
            run = place_run(moment, event)
            place = f"{event.run_id}.{run}.{event.turn}"
            keys = [(place, n) for n in range(len(event.results))]
            ended = [
                self.shaped[key].terminate if key in self.shaped else False
                for key in keys
            ]
            judge(place, event, stops.get(event.run_id), ended, moment)


def judge(
    place: str,
    event: TurnEnd,
    stop: Stop | None,
    ended: list[bool],
    moment: Moment,
) -> None:
    """Whether a turn's results and what came after it agree."""
    every = bool(ended) and all(ended)
    reply = event.message
    if stop and stop.reason == "terminated":
        assert every
    if stop and stop.reason == "done":
        assert not ended or (reply is not None and reply.finish == "refusal")
    asked = (effect.id for effect in moment.after.waiting)
    next_turn = f"{place.rsplit('.', 1)[0]}.{event.turn + 1}."
    if every and any(i.startswith(next_turn) for i in asked):
        told = moment.effects.tell
        later = told[told.index(event) :]
        assert any(
            isinstance(e, MessageAdded) and e.run_id == event.run_id for e in later
        )


def place_run(moment: Moment, event: TurnEnd) -> int:
    """The number of the run that a turn belongs to: nested runs are their first."""
    return moment.after.run if event.run_id == moment.after.run_id else 1


def shaped(one: Pass, seen: ToolOutput) -> ToolOutput:
    """An output after the hooks of a point."""
    ended = one.last("terminate", seen.terminate)
    if one.end == "fault" and guarded(one):
        text = f"[withheld: hook {one.said[-1].hook!r} failed]"
        return ToolOutput((Text(text),), outcome="error", terminate=ended)
    outcome: Any = seen.outcome
    for flag in one.all("is_error"):
        if flag != (outcome != "ok"):
            outcome = "error" if flag else "ok"
    return ToolOutput(
        one.last("content", seen.parts),
        details=one.last("details", seen.details),
        terminate=ended,
        outcome=outcome,
    )
