"""Laws of views: hooks are shown what is."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from attrs import field, frozen

from loopcore.effects import CallModel
from loopcore.events import MessageAdded, RunEnd, TurnEnd
from loopcore.frozen import evolve
from loopcore.inputs import Answer
from loopcore.messages import AssistantMessage, ModelError
from loopcore.testing.invariants.gates import Key, key_of
from loopcore.testing.invariants.moment import Moment, hold
from loopcore.testing.invariants.passes import Pass, fitted
from loopcore.tools import ToolSpec


@frozen(weakref_slot=False)
class Views:
    """Hooks are shown what is: the request, the reply, the call, the result, the turn.

    `goes_on` says whether the run goes on, if no hook objects.
    """

    tools: Mapping[str, tuple[ToolSpec, ...]] = field(
        factory=dict[str, tuple[ToolSpec, ...]]
    )
    replies: Mapping[str, AssistantMessage] = field(factory=dict[str, AssistantMessage])
    gated: Mapping[Key, tuple[ToolSpec, Any]] = field(
        factory=dict[Key, tuple[ToolSpec, Any]]
    )
    seconds: Mapping[Key, float | None] = field(factory=dict[Key, float | None])

    def see(self, moment: Moment) -> "Views":
        """Look at a step."""
        law = self.hear(moment)
        for one in moment.passes:
            CHECKS[one.point](law, moment, one)
            if one.point == "before_tool_call" and one.end == "done":
                law = law.passed(one)
        return law

    def hear(self, moment: Moment) -> "Views":
        """What is offered, replied and answered."""
        asked = {
            key_of(effect.id)[0]: effect.tools
            for effect in moment.effects.perform
            if isinstance(effect, CallModel) and ".model." in effect.id
        }
        stored = {
            moment.place(event): event.message
            for event in moment.told(MessageAdded)
            if isinstance(event.message, AssistantMessage)
        }
        given, seconds = moment.given, dict(self.seconds)
        if isinstance(given, Answer) and given.effect_id.rsplit(".", 2)[-2] == "run":
            seconds[key_of(given.effect_id)] = given.seconds
        return evolve(
            self,
            tools={**self.tools, **asked},
            replies={**self.replies, **stored},
            seconds=seconds,
        )

    def passed(self, one: Pass) -> "Views":
        """A call passed its gate, with these arguments."""
        arguments = fitted(one)
        if arguments is None:
            arguments = one.view.call.arguments
        gated = {**self.gated, one.key: (one.view.spec, arguments)}
        return evolve(self, gated=gated)


def _same(one: Pass, **wanted: Any) -> None:  # noqa: ANN401  # what its view should have
    for name, value in wanted.items():
        found = getattr(one.view, name)
        hold(found == value, "{}: a hook is shown {} {}", one.told(), name, found)


def _context(_: Views, __: Moment, one: Pass) -> None:
    state = one.view.state
    requests, usage = state.requests, state.usage
    _same(one, messages=state.transcript, requests=requests, usage=usage)


def _reply(_: Views, moment: Moment, one: Pass) -> None:
    """The reply as it came, under the name of the model that was asked."""
    asked, given = moment.answered, moment.given
    if not isinstance(asked, CallModel) or ".model." not in asked.id:
        return
    assert isinstance(given, Answer)  # noqa: S101  # something was answered
    reply: Any = given.value
    _same(one, message=evolve(reply, model=reply.model or asked.model))


def _error(_: Views, moment: Moment, one: Pass) -> None:
    asked, given = moment.answered, moment.given
    if not isinstance(asked, CallModel) or ".model." not in asked.id:
        return
    assert isinstance(given, Answer)  # noqa: S101  # something was answered
    _same(one, attempt=key_of(asked.id)[1], model=asked.model)
    if isinstance(given.value, ModelError):
        _same(one, error=given.value)
    else:
        partial = one.view.error.partial
        wanted: Any = given.value
        hold(partial == evolve(wanted, error=None), "{} has no partial reply", one.view)


def _raw(law: Views, _: Moment, one: Pass) -> None:
    call, tools = law.replies[one.place].calls[one.n], law.tools[one.place]
    spec = next((tool for tool in tools if tool.name == call.name), None)
    _same(one, call=call, name=call.name, arguments=call.arguments, spec=spec)


def _gate(law: Views, _: Moment, one: Pass) -> None:
    reply = law.replies[one.place]
    _same(one, call=reply.calls[one.n], message=reply)
    known = one.view.spec in law.tools[one.place]
    hold(known, "{}: {} was not offered", one.told(), one.view.spec)


def _result(law: Views, _: Moment, one: Pass) -> None:
    """With the tool and the arguments that passed the gate, and how long it took."""
    call = law.replies[one.place].calls[one.n]
    spec, arguments = law.gated.get(one.key, (one.view.spec, call.arguments))
    seconds = law.seconds.get(one.key)
    _same(one, call=call, spec=spec, arguments=arguments, seconds=seconds)


def _turn(_: Views, moment: Moment, one: Pass) -> None:
    told = [e for e in moment.told(TurnEnd) if moment.place(e) == one.place]
    for event in told:
        usage = event.usage
        _same(one, message=event.message, results=event.results, usage=usage)
    state = one.view.state
    settings = state.settings
    _same(one, new_messages=state.new, model=settings.model, system=settings.system)
    _same(one, tools=settings.tools, thinking=settings.thinking)


def _stop(law: Views, moment: Moment, one: Pass) -> None:
    """If no hook stops it here, it goes on as was said."""
    _turn(law, moment, one)
    if one.end != "done" or any(one.all("stop")):
        return
    ended = {e.run_id: e.stop.reason for e in moment.told(RunEnd)}
    itself = ended.get(one.run_id) in ("done", "terminated")
    hold(itself != one.view.goes_on, "goes_on was {}", one.view.goes_on)


CHECKS: Final[dict[str, Callable[[Views, Moment, Pass], None]]] = {
    "transform_context": _context,
    "after_model_call": _reply,
    "on_model_error": _error,
    "prepare_tool_call": _raw,
    "before_tool_call": _gate,
    "after_tool_call": _result,
    "after_tool_result": _result,
    "prepare_next_turn": _turn,
    "should_stop_after_turn": _stop,
}
