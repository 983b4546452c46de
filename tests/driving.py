"""Driving a run by hand, and saying in a word what came of it."""

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

from attrs import evolve, field, frozen

from loopcore import (
    AssistantMessage,
    CallModel,
    Effect,
    Event,
    Given,
    LoopConfig,
    Message,
    ModelError,
    Rejected,
    RequestApproval,
    RunTool,
    Sleep,
    State,
    Stop,
    Text,
    ToolCall,
    ToolResultMessage,
    ToolSpec,
    advance,
    deliver,
)
from loopcore.events import Ended, MessageAdded, Started
from loopcore.hooks import Hooks

E = TypeVar("E")

MODEL: Final = "test:model"


def spec(name: str, **more: Any) -> ToolSpec:  # a spec's own fields
    """A tool that takes anything."""
    return ToolSpec(name, f"The tool {name}.", {"type": "object"}, **more)


def typed(name: str, *required: str, **kinds: str) -> ToolSpec:
    """A tool that takes arguments of these JSON types."""
    properties = {key: {"type": kind} for key, kind in kinds.items()}
    schema = {"type": "object", "properties": properties, "required": required}
    return ToolSpec(name, f"The tool {name}.", schema)


def call(name: str, id: str = "", **arguments: object) -> ToolCall:  # noqa: A002
    """A call of this tool; its id is the tool's name unless given."""
    return ToolCall(name, arguments, id or name)


def config(*hooks: Hooks, tools: str | Iterable[Any] = "ab", **more: Any) -> LoopConfig:
    """A configuration; tools that are only named take anything."""
    specs = [spec(tool) if isinstance(tool, str) else tool for tool in tools]
    return LoopConfig(model=MODEL, tools=specs, hooks=hooks, **more)


@frozen
class Run:
    """A run and all that was said about it; each method gives the run after it."""

    config: LoopConfig
    state: State
    told: tuple[Event, ...] = ()
    performed: tuple[Effect, ...] = ()
    cancelled: tuple[str, ...] = ()
    fresh: tuple[Effect, ...] = field(default=(), repr=False)

    def under(self, config: LoopConfig) -> "Run":
        """The same run, folded by another configuration from now on."""
        return evolve(self, config=config)

    def give(self, *given: Given, at: float | None = None) -> "Run":
        """Deliver and step each of these."""
        state, effects = advance(self.config, self.state, *given, at=at).unwrap()
        run = evolve(
            self,
            state=state,
            told=self.told + effects.tell,
            performed=self.performed + effects.perform,
            cancelled=self.cancelled + effects.cancel,
            fresh=effects.perform,
        )
        assert _open(run.told) == {effect.id for effect in state.waiting}
        return run

    def refuses(self, given: Given) -> Rejected:
        """Why the door refuses this."""
        return deliver(self.state, given).failure()

    def says(self, *parts: str | ToolCall, **more: Any) -> "Run":
        """The model that waits replies with these parts."""
        content = [Text(part) if isinstance(part, str) else part for part in parts]
        reply = AssistantMessage(content, **more)
        return self.give(self.one(CallModel).reply(reply))

    def fails(self, error: ModelError | str = "it broke") -> "Run":
        """The model that waits gives no reply."""
        return self.give(self.one(CallModel).fail(error))

    def ran(self, name: str, output: object = "") -> "Run":
        """The tool that runs under this call id gives an output."""
        return self.give(self.tool(name).reply(output))

    def woke(self) -> "Run":
        """The one pause is over."""
        return self.give(self.one(Sleep).done())

    def one(self, kind: type[E]) -> E:
        """The one effect of this kind that waits."""
        (found,) = self.all(kind)
        return found

    def all(self, kind: type[E]) -> tuple[E, ...]:
        """The effects of this kind that wait."""
        return tuple(e for e in self.state.waiting if isinstance(e, kind))

    def tool(self, name: str) -> RunTool:
        """The tool that runs under this call id."""
        return next(e for e in self.all(RunTool) if e.call.id == name)

    def asked(self, name: str) -> RequestApproval:
        """The question about the call of this id."""
        return next(e for e in self.state.approvals if e.call.id == name)

    def events(self, kind: type[E]) -> tuple[E, ...]:
        """The events of this kind, in order."""
        return tuple(event for event in self.told if isinstance(event, kind))

    @property
    def stop(self) -> Stop:
        """Why it ended."""
        assert self.state.stop is not None
        return self.state.stop

    @property
    def reason(self) -> str:
        """The reason of the stop; empty while it runs."""
        return self.state.stop.reason if self.state.stop else ""

    @property
    def requests(self) -> tuple[CallModel, ...]:
        """Every model request that was made, in order."""
        return tuple(e for e in self.performed if isinstance(e, CallModel))

    @property
    def one_request(self) -> CallModel:
        """The model request that waits."""
        return self.one(CallModel)

    @property
    def results(self) -> tuple[ToolResultMessage, ...]:
        """The stored results."""
        return tuple(
            m for m in self.state.transcript if isinstance(m, ToolResultMessage)
        )

    @property
    def outcomes(self) -> dict[str, str]:
        """The outcome under each call id."""
        return {result.call_id: result.outcome for result in self.results}

    @property
    def script(self) -> list[str]:
        """The transcript in words."""
        return [spoken(message) for message in self.state.transcript]

    @property
    def started(self) -> list[str]:
        """The call ids whose tools were started, in order."""
        return [e.call.id for e in self.performed if isinstance(e, RunTool)]

    @property
    def added(self) -> list[str]:
        """The stored messages that were told, in words."""
        return [spoken(event.message) for event in self.events(MessageAdded)]


def begin(config: LoopConfig, *given: Given, **more: Any) -> Run:
    """A run "r" that was given these: a prompt, unless they say otherwise."""
    run = Run(config, State.start(config, run_id="r", **more))
    return run.give(*(given or ("go",)))


def spoken(message: Message) -> str:
    """A message as its kind and its text, or what it calls."""
    kind = type(message).__name__.removesuffix("Message").lower()
    if isinstance(message, ToolResultMessage):
        return f"{message.call_id} {message.outcome}: {message.text}"
    calls = [f"→{call.id}" for call in getattr(message, "calls", ())]
    return " ".join(filter(None, (f"{kind}:", message.text, *calls)))


def words(messages: Iterable[Message]) -> list[str]:
    """Messages in words."""
    return [spoken(message) for message in messages]


def _open(told: Iterable[Event]) -> set[str]:
    """What was started and has not ended: starts and ends balance on every path."""
    found: set[str] = set()
    for event in told:
        if isinstance(event, Started):
            assert event.effect.id not in found
            found.add(event.effect.id)
        elif isinstance(event, Ended):
            found.remove(event.effect.id)
    return found


class Spy:
    """A hook's function that keeps what it was shown, and answers as it is told to."""

    def __init__(self, *answers: Callable[[Any], object] | object) -> None:
        self.views: list[Any] = []
        self.answers = answers

    def __call__(self, view: Any) -> Any:  # a view of any point
        self.views.append(view)
        place = min(len(self.views), len(self.answers)) - 1
        answer = self.answers[place] if self.answers else None
        return answer(view) if callable(answer) else answer

    @property
    def calls(self) -> list[str]:
        """The ids of the calls it was asked about, in order."""
        return [view.call.id for view in self.views]
