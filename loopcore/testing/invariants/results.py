"""Laws of results: they are what tools gave, as hooks shaped it, field by field."""

from collections.abc import Mapping
from typing import Any, Final

from attrs import field, frozen

from loopcore.effects import Effect, RequestApproval, RunTool, Sleep
from loopcore.events import MessageAdded, RunEnd, Stop, TurnEnd
from loopcore.frozen import evolve
from loopcore.inputs import Answer, Reject, Respond, Value
from loopcore.messages import AssistantMessage, Text
from loopcore.testing.invariants.gates import Key, key_of
from loopcore.testing.invariants.moment import Moment, hold
from loopcore.testing.invariants.passes import Pass, guarded
from loopcore.tools import ToolOutput

SHAPERS: Final = ("after_tool_call", "after_tool_result")


@frozen(weakref_slot=False)
class Results:
    """A result is its output as shaped by the hooks, field by field; or it is withheld.

    after_tool_call sees exactly the calls whose tools ran; what no tool or hook gave is
    an answer of the run's own. A batch ends its run only if all its results ask for that.
    """

    outputs: Mapping[Key, ToolOutput] = field(factory=dict[Key, ToolOutput])
    ran: frozenset[Key] = frozenset()
    wishes: Mapping[Key, bool] = field(factory=dict[Key, bool])
    shaped: Mapping[Key, ToolOutput] = field(factory=dict[Key, ToolOutput])
    last: Mapping[str, str] = field(factory=dict[str, str])

    def see(self, moment: Moment) -> "Results":
        """Look at a step."""
        law = self.wish(moment)
        law = law.nested(moment)
        law = law.answer(moment)
        for one in moment.passes:
            if one.point in SHAPERS:
                law = law.shape(one)
        for event in moment.told(TurnEnd):
            law.check(moment, event)
        law.go_on(moment)
        return law

    def wish(self, moment: Moment) -> "Results":
        """What hooks said at gates about the end of the run."""
        gates = (one for one in moment.passes if one.point == "before_tool_call")
        said = (
            (one.key, one.last("terminate", one.view.terminate))
            for one in gates
            if one.end == "done"
        )
        wishes = {key: wish for key, wish in said if wish is not None}
        return evolve(self, wishes={**self.wishes, **wishes})

    def answer(self, moment: Moment) -> "Results":
        """What a tool gave, or a person in its place."""
        asked, given = moment.answered, moment.given
        if not isinstance(given, Answer) or asked is None:
            return self
        if isinstance(asked, RequestApproval) and isinstance(given.value, Reject):
            wish = {key_of(asked.id): False}
            return evolve(self, wishes={**wish, **self.wishes})
        output = _given(asked, given.value)
        return self if output is None else self.gave(key_of(asked.id), output)

    def gave(self, key: Key, output: ToolOutput) -> "Results":
        if key in self.wishes:
            output = evolve(output, terminate=self.wishes[key])
        outputs = {**self.outputs, key: output}
        return evolve(self, outputs=outputs, ran=self.ran | {key})

    def nested(self, moment: Moment) -> "Results":
        """What a nested run came to, unless it was stopped from outside."""
        said = {
            e.run_id: e.message.text
            for e in moment.told(MessageAdded)
            if isinstance(e.message, AssistantMessage)
        }
        law = evolve(self, last={**self.last, **said})
        for end in moment.told(RunEnd):
            if "." in end.run_id and end.stop.reason != "aborted":
                key = key_of(end.run_id)
                outputs = {**law.outputs, key: law.amounts(end)}
                law = evolve(law, outputs=outputs, ran=law.ran | {key})
        asked = moment.answered
        if isinstance(asked, Sleep) and asked.id.rsplit(".", 2)[1] == "run":
            key = key_of(asked.id)
            outputs = {**law.outputs, key: ToolOutput("", outcome="timeout")}
            law = evolve(law, outputs=outputs, ran=law.ran | {key})
        return law

    def amounts(self, end: RunEnd) -> ToolOutput:
        """Its last text, or why it has none."""
        wish = self.wishes.get(key_of(end.run_id), False)
        if end.stop.reason == "done":
            return ToolOutput(self.last[end.run_id], terminate=wish)
        return ToolOutput(str(end.stop), outcome="error", terminate=wish)

    def shape(self, one: Pass) -> "Results":
        """Hooks shape an output; what a tool gave reaches them as it was."""
        before = self.shaped.get(one.key, self.outputs.get(one.key))
        ran = one.key in self.ran
        if one.point == "after_tool_call":
            hold(ran, "after_tool_call is asked about {}, which did not run", one.key)
        else:
            first = ran and one.key not in self.shaped
            hold(not first, "after_tool_call is not asked about {}", one.key)
        seen = _seen(one.view)
        if before is not None and before.outcome != "timeout":
            hold(seen == before, "{}: hooks see {}, not {}", one.told(), seen, before)
        if one.end == "need":
            return self
        return evolve(self, shaped={**self.shaped, one.key: shaped(one, seen)})

    def check(self, moment: Moment, event: TurnEnd) -> None:
        """Each call of the reply has its result, as shaped."""
        calls = event.message.calls if event.message else ()
        found = [(r.call_id, r.name) for r in event.results]
        wanted = [(call.id, call.name) for call in calls]
        hold(found == wanted, "the results are of {}, the calls are {}", found, wanted)
        ended = event.run_id in {e.run_id for e in moment.told(RunEnd)}
        place = moment.place(event)
        for n, result in enumerate(event.results):
            output = self.shaped.get((place, n))
            if output is None:
                own = ended and result.outcome in ("cancelled", "truncated")
                hold(own, "no tool, person or hook gave {}", result)
                continue
            said = ToolOutput(
                result.parts, outcome=result.outcome, details=result.details
            )
            due = evolve(output, terminate=False)
            hold(said == due, "stored is {}, not {}", said, due)

    def go_on(self, moment: Moment) -> None:
        """A batch ends its run only if all its results ask for that, and then it does."""
        stops = {e.run_id: e.stop for e in moment.told(RunEnd)}
        for event in moment.told(TurnEnd):
            keys = [(moment.place(event), n) for n in range(len(event.results))]
            wishes = [key in self.shaped and self.shaped[key].terminate for key in keys]
            _judge(moment, event, stops.get(event.run_id), wishes)


def _given(asked: Effect, value: Value) -> ToolOutput | None:
    match asked, value:
        case RunTool(), ToolOutput() as output:
            return output
        case RequestApproval(), Respond(output):
            return output
        case _:
            return None


def _seen(view: Any) -> ToolOutput:  # noqa: ANN401  # a ToolResultView
    return ToolOutput(
        view.parts,
        details=view.details,
        terminate=view.terminate,
        outcome=view.outcome,
    )


def _judge(
    moment: Moment, event: TurnEnd, stop: Stop | None, wishes: list[bool]
) -> None:
    """Whether a turn's results and what came after it agree."""
    every = bool(wishes) and all(wishes)
    reply = event.message
    if stop and stop.reason == "terminated":
        hold(every, "the run was terminated; its results wish {}", wishes)
    if stop and stop.reason == "done":
        refused = reply is not None and reply.finish == "refusal"
        hold(not wishes or refused, "the run is done, and its calls were answered")
    asked = (effect.id for effect in moment.after.waiting)
    place = moment.place(event)
    next_turn = f"{place.rsplit('.', 1)[0]}.{event.turn + 1}."
    if every and any(i.startswith(next_turn) for i in asked):
        told = moment.effects.tell
        later = told[told.index(event) :]
        said = any(
            isinstance(e, MessageAdded) and e.run_id == event.run_id for e in later
        )
        hold(said, "all results ask for the end, and another turn begins")


WITHHELD: Final = "[withheld: hook {!r} failed]"


def shaped(one: Pass, seen: ToolOutput) -> ToolOutput:
    """An output after the hooks of a point."""
    ended = one.last("terminate", seen.terminate)
    if one.end == "fault" and guarded(one):
        text = Text(WITHHELD.format(one.said[-1].hook))
        return ToolOutput((text,), outcome="error", terminate=ended)
    outcome = seen.outcome
    for flag in one.all("is_error"):
        if flag != (outcome != "ok"):
            outcome = "error" if flag else "ok"
    return ToolOutput(
        one.last("content", seen.parts),
        details=one.last("details", seen.details),
        terminate=ended,
        outcome=outcome,
    )
