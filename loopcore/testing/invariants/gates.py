"""Laws of calls: only what its gate lets through is run, together or one by one."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

from attrs import field, frozen
from returns.result import Success

from loopcore.arguments import arguments_for
from loopcore.config import AnyConfig, Nested
from loopcore.effects import CallModel, Effect, RequestApproval, RunTool
from loopcore.events import MessageAdded, RunEnd, RunStart
from loopcore.frozen import evolve
from loopcore.hooks.merge import Allow, Ask, Block
from loopcore.inputs import Answer, Approve
from loopcore.messages import AssistantMessage, UserMessage
from loopcore.state import State
from loopcore.testing.invariants.moment import Moment, hold
from loopcore.testing.invariants.passes import Pass, fitted, verdict
from loopcore.tools import ToolSpec

Key: TypeAlias = tuple[str, int]
"""A call: the place of its turn, and its number."""


def key_of(effect_id: str) -> Key:
    """The call that an effect is about."""
    place, _, n = effect_id.rsplit(".", 2)
    return place, int(n)


@frozen
class Gate:
    """What is to happen to a call: start, ask or nothing, and with which arguments."""

    what: str
    arguments: Any = None
    question: str = ""


NO: Final = Gate("nothing")


def gate(one: Pass) -> Gate:
    """What the hooks decided at a gate, with the tool's own default when none does."""
    decision, arguments = verdict(one), fitted(one)
    if arguments is None or isinstance(decision, Block) or one.end == "fault":
        return NO
    if one.view.approved:
        return Gate("start", arguments)
    if isinstance(decision, Ask):
        return Gate("ask", arguments, decision.question)
    asks = one.view.spec.needs_approval and not isinstance(decision, Allow)
    return Gate("ask" if asks else "start", arguments)


@frozen(weakref_slot=False)
class Gates:
    """4: a call that is blocked, rejected or cancelled never starts; what may start, does.

    A question is put exactly when hooks or the tool want one, and only its answer lets
    the call pass; an edited call passes its gate again.
    """

    gates: Mapping[Key, Gate] = field(factory=dict[Key, Gate])
    open: frozenset[Key] = frozenset()

    def see(self, moment: Moment) -> "Gates":
        """Look at a step."""
        law = self.decide(moment)
        for one in moment.passes:
            if one.point == "before_tool_call" and one.end != "need":
                law = law.set(one.key, gate(one))
        for effect in moment.effects.perform:
            law = law.start(effect)
        for event in moment.told(RunStart):
            law = law.nest(event)
        return law.rest(moment)

    def set(self, key: Key, found: Gate) -> "Gates":
        gates = {**self.gates, key: found}
        return evolve(self, gates=gates, open=self.open | {key})

    def decide(self, moment: Moment) -> "Gates":
        """A person's answer opens a gate, or shuts it."""
        asked, given = moment.answered, moment.given
        if not isinstance(asked, RequestApproval) or not isinstance(given, Answer):
            return self
        key = key_of(asked.id)
        if isinstance(given.value, Approve):
            return self.set(key, evolve(self.gate_of(key, asked.id), what="start"))
        return evolve(self, gates={**self.gates, key: NO})

    def gate_of(self, key: Key, effect_id: str) -> Gate:
        hold(key in self.gates, "{} passed no gate", effect_id)
        return self.gates[key]

    def start(self, effect: Effect) -> "Gates":
        """A tool that starts, or a question that is put, was let through its gate."""
        match effect:
            case RunTool():
                fit = arguments_for(effect.spec, effect.arguments)
                fits = fit == Success(effect.arguments)
                hold(fits, "{} is run with arguments that do not fit", effect)
                return self.let(effect.id, Gate("start", effect.arguments))
            case RequestApproval(arguments=arguments, question=question):
                return self.let(effect.id, Gate("ask", arguments, question))
            case _:
                return self

    def let(self, effect_id: str, wanted: Gate) -> "Gates":
        key = key_of(effect_id)
        found = self.gate_of(key, effect_id)
        if wanted.what == "start":
            found = evolve(found, question="")
        hold(
            found == wanted, "{}: its gate says {}, it is {}", effect_id, found, wanted
        )
        return self.used(key, effect_id)

    def used(self, key: Key, effect_id: str) -> "Gates":
        hold(key in self.open, "{} passed its gate once, and starts twice", effect_id)
        return evolve(self, open=self.open - {key})

    def nest(self, event: RunStart) -> "Gates":
        """So was a nested run."""
        if "." not in event.run_id:
            return self
        key = key_of(event.run_id)
        found = self.gate_of(key, event.run_id)
        hold(found.what == "start", "{} began; its gate says {}", event.run_id, found)
        prompt = str(found.arguments.get("prompt", ""))  # whatever its schema wants
        wanted = (UserMessage(prompt),)
        hold(event.messages == wanted, "{} is prompted with {}", wanted, event.messages)
        return self.used(key, event.run_id)

    def rest(self, moment: Moment) -> "Gates":
        """What was let through has started, unless its run ended or a hook is waiting."""
        ended = {event.run_id for event in moment.told(RunEnd)}
        shut: set[Key] = set()
        for key in self.open:
            place = key[0]
            held = any(e.id.startswith(f"{place}.") for e in _needs(moment.after))
            over = self.gates[key] is NO or place.rsplit(".", 2)[0] in ended
            hold(held or over, "call {} of {} may start, and does not", key[1], place)
            if over:
                shut.add(key)
        return evolve(self, open=self.open - shut)


def _needs(state: State) -> list[Effect]:
    """What hooks wait for, at the gates of calls."""
    gates = (".prepare_tool_call.", ".before_tool_call.")
    return [e for e in state.waiting if any(point in e.id for point in gates)]


@frozen(weakref_slot=False)
class OneByOne:
    """A batch runs one by one if its configuration or one of its tools says so.

    Then no two of its calls are under way at once; else none starts before all are gated.
    The calls of a reply that was cut, failed or refused are not even looked at.
    """

    tools: Mapping[str, tuple[ToolSpec, ...]] = field(
        factory=dict[str, tuple[ToolSpec, ...]]
    )
    names: Mapping[Key, str] = field(factory=dict[Key, str])
    replies: Mapping[str, AssistantMessage] = field(factory=dict[str, AssistantMessage])
    gated: frozenset[Key] = frozenset()

    def see(self, moment: Moment) -> "OneByOne":
        """Look at a step."""
        law = self.hear(moment)
        for place, numbers in _under_way(moment.after).items():
            law.check(moment.config, place, numbers)
        return law

    def hear(self, moment: Moment) -> "OneByOne":
        """Which calls there are, whose they are, and which were gated."""
        raw = [one for one in moment.passes if one.point == "prepare_tool_call"]
        gates = [one for one in moment.passes if one.point == "before_tool_call"]
        asked = [
            (key_of(effect.id)[0], effect.tools)
            for effect in moment.effects.perform
            if isinstance(effect, CallModel) and ".model." in effect.id
        ]
        stored = [
            (moment.place(event), event.message)
            for event in moment.told(MessageAdded)
            if isinstance(event.message, AssistantMessage)
        ]
        replies = {**self.replies, **dict(stored)}
        for one in raw:
            finish = replies[one.place].finish
            hold(
                finish in ("end", "tools"), "a call is run of a reply cut by {}", finish
            )
        return OneByOne(
            {**self.tools, **dict(asked)},
            {**self.names, **{one.key: one.view.spec.name for one in gates}},
            replies,
            self.gated | {one.key for one in raw},
        )

    def check(self, config: AnyConfig, place: str, numbers: set[int]) -> None:
        """Whether what is under way may be, at once."""
        reply = self.replies[place]
        called = {call.name for call in reply.calls}
        slow = any(
            spec.execution == "sequential" and spec.name in called
            for spec in self.tools[place]
        )
        if slow or not self.config_of(config, place).parallel:
            hold(len(numbers) == 1, "the calls {} of {} run at once", numbers, place)
        else:
            every = {(place, n) for n in range(len(reply.calls))}
            early = every - self.gated
            hold(not early, "{} were not gated when the first started", sorted(early))

    def config_of(self, config: AnyConfig, place: str) -> AnyConfig:
        """The configuration of the run at a place: nested ones are known by their tool."""
        run_id = place.rsplit(".", 2)[0]
        if "." not in run_id:
            return config
        key = key_of(run_id)
        return _inside(self.config_of(config, key[0]), self.names[key])


def _inside(config: AnyConfig, name: str) -> AnyConfig:
    """The configuration behind a tool."""
    nested = (tool for tool in config.tools if isinstance(tool, Nested))
    return next(tool.config for tool in nested if tool.spec.name == name)


def _under_way(state: State) -> dict[str, set[int]]:
    """The calls of each place that are asked about or run."""
    found: dict[str, set[int]] = {}
    for effect in state.waiting:
        for place, n in _calls(effect.id.split(".")):
            found.setdefault(place, set()).add(n)
    return found


def _calls(parts: list[str]) -> Iterable[Key]:
    """The calls that an effect is part of, from its id."""
    for at, part in enumerate(parts):
        if part in ("run", "ask"):
            yield ".".join(parts[:at]), int(parts[at + 1])
