"""How the calls of one reply are run: together, or one by one."""

from collections.abc import Iterable

from attrs import define, field

from loopcore import AssistantMessage, CallModel, LoopConfig, Nested, State, ToolSpec
from loopcore.events import MessageAdded
from property_tests.passes import passes
from property_tests.verdicts import Key, key_of
from property_tests.world import Forks, Moment


@define(eq=False)
class OneByOne(Forks):
    """A batch runs one by one if its configuration or one of its tools says so.

    Then no two of its calls are under way at once; else none starts before all are gated.
    The calls of a reply that was cut, failed or refused are not even looked at.
    """

    tools: dict[str, tuple[ToolSpec, ...]] = field(
        factory=dict[str, tuple[ToolSpec, ...]]
    )
    names: dict[Key, str] = field(factory=dict[Key, str])
    replies: dict[str, AssistantMessage] = field(factory=dict[str, AssistantMessage])
    gated: set[Key] = field(factory=set[Key])

    def see(self, moment: Moment) -> None:
        self.hear(moment)
        for effect in moment.effects.perform:
            if isinstance(effect, CallModel) and ".model." in effect.id:
                self.tools[key_of(effect.id)[0]] = effect.tools
        for place, numbers in under_way(moment.after).items():
            self.check(moment.config, place, numbers)

    def hear(self, moment: Moment) -> None:
        """Which calls there are, whose they are, and which were gated."""
        for one in passes(moment):
            if one.point == "prepare_tool_call":
                self.gated.add(one.key)
            if one.point == "before_tool_call":
                self.names[one.key] = one.view.spec.name
        for event in moment.told(MessageAdded):
            if isinstance(event.message, AssistantMessage):
                run = moment.after.run if event.run_id == moment.after.run_id else 1
                self.replies[f"{event.run_id}.{run}.{event.turn}"] = event.message
        for one in passes(moment):
            if one.point == "prepare_tool_call":
                assert self.replies[one.place].finish in ("end", "tools")

    def check(self, config: LoopConfig, place: str, numbers: set[int]) -> None:
        """Whether what is under way may be, at once."""
        reply = self.replies[place]
        called = {call.name for call in reply.calls}
        slow = any(
            spec.execution == "sequential" and spec.name in called
            for spec in self.tools[place]
        )
        if slow or not self.config_of(config, place).parallel:
            assert len(numbers) == 1
        else:
            every = {(place, n) for n in range(len(reply.calls))}
            assert every <= self.gated

    def config_of(self, config: LoopConfig, place: str) -> LoopConfig:
        """The configuration of the run at a place: nested ones are known by their tool."""
        run_id = place.rsplit(".", 2)[0]
        if "." not in run_id:
            return config
        key = key_of(run_id)
        outer = self.config_of(config, key[0])
        return inside(outer, self.names[key])


def inside(config: LoopConfig, name: str) -> LoopConfig:
    """The configuration behind a tool."""
    nested = (tool for tool in config.tools if isinstance(tool, Nested))
    return next(tool.config for tool in nested if tool.spec.name == name)


def under_way(state: State) -> dict[str, set[int]]:
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
