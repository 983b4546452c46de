"""Views: what a hook sees at each point. They are read-only."""

from collections.abc import Iterable, Mapping
from typing import Any, NoReturn, TypeAlias, TypeVar

from attrs import field, frozen
from pyrsistent import PVector
from returns.result import Failure, Success

from loopcore.events import Stop
from loopcore.frozen import (
    EMPTY,
    FrozenDict,
    Json,
    constructor,
    freeze_object,
)
from loopcore.hooks.merge import (
    Verdict,
)
from loopcore.inputs import ServiceError
from loopcore.messages import (
    NO_USAGE,
    AssistantMessage,
    Message,
    ModelError,
    Outcome,
    Part,
    ToolCall,
    ToolResultMessage,
    Usage,
    text_of,
    transcript,
)
from loopcore.settings import (
    ThinkingLevel,
)
from loopcore.state import State
from loopcore.tools import ToolSpec

Found: TypeAlias = Success[Any] | Failure[ModelError | ServiceError]


T = TypeVar("T")


def several(given: Iterable[Any]) -> tuple[Any, ...]:  # mypy binds no T of a converter
    """These as a tuple: views may be written with lists, as they are printed."""
    return tuple(given)


class ViewChanged(AttributeError):
    """A hook tried to change its view."""


def _refuse(self: object, name: str, value: object = None) -> NoReturn:  # noqa: ARG001
    message = f"{type(self).__name__}.{name}"
    raise ViewChanged(message)


def view(cls: type[T]) -> type[T]:
    """Name the field when somebody tries to set it; print it as short as records are."""
    constructor(cls)
    cls.__setattr__ = cls.__delattr__ = _refuse  # type: ignore[method-assign]  # what it is for
    return cls


def frozen_object(given: Mapping[str, Any]) -> FrozenDict[Json]:
    """Arguments as JSON; those that are frozen already stay."""
    return given if isinstance(given, FrozenDict) else freeze_object(given)


@frozen(kw_only=True, weakref_slot=False)
class View:
    """What a hook sees: read-only. `memo` is its own memory, `answers` those to its needs."""

    state: State = field(repr=False)
    memo: Json = None
    answers: Mapping[str, Found] = field(default=EMPTY)

    @property
    def transcript(self) -> PVector[Message]:
        """The stored messages."""
        return self.state.transcript

    @property
    def turn(self) -> int:
        """The number of this turn in its run, from 1."""
        return self.state.turns

    @property
    def now(self) -> float | None:
        """The run's time in seconds, None if nobody gave one."""
        return self.state.now


@view
@frozen(kw_only=True, weakref_slot=False)
class ContextView(View):
    """Before each request: what it is about to show."""

    messages: PVector[Message] = field(converter=transcript)
    model: str
    system: str = ""
    tools: tuple[ToolSpec, ...] = field(default=(), converter=several)
    thinking: ThinkingLevel | None = None
    options: FrozenDict[Json] = EMPTY
    stop: bool | str | Stop = False
    requests: int = 0
    usage: Usage = NO_USAGE


@view
@frozen(kw_only=True, weakref_slot=False)
class ReplyView(View):
    """A reply, before it is stored."""

    message: AssistantMessage


@view
@frozen(kw_only=True, weakref_slot=False)
class ErrorView(View):
    """A model call failed: the error, and which attempt of this turn it was, from 1."""

    error: ModelError
    attempt: int
    model: str
    retry: bool | None = None
    delay: float = 0.0
    thinking: ThinkingLevel | None = None


@view
@frozen(kw_only=True, weakref_slot=False)
class RawCallView(View):
    """A call as the model wrote it, before lookup and validation."""

    call: ToolCall
    spec: ToolSpec | None
    name: str
    arguments: FrozenDict[Json] = field(converter=frozen_object)

    @property
    def tool(self) -> str:
        """The name of the tool that is meant, as mended so far."""
        return self.name


@view
@frozen(kw_only=True, weakref_slot=False)
class ToolCallView(View):
    """A valid call that has not run.

    `decision` is the verdict so far (None: no opinion yet), `approved` whether a person
    already let it pass, `problem` why arguments given by a hook do not fit.
    """

    call: ToolCall
    spec: ToolSpec
    arguments: FrozenDict[Json] = field(converter=frozen_object)
    message: AssistantMessage
    decision: Verdict | None = None
    approved: bool = False
    terminate: bool | None = None
    problem: str = ""

    @property
    def tool(self) -> str:
        """The name of the tool."""
        return self.spec.name


@view
@frozen(kw_only=True, weakref_slot=False)
class ToolResultView(View):
    """A result, before it is stored."""

    call: ToolCall
    spec: ToolSpec | None
    arguments: FrozenDict[Json] = field(converter=frozen_object)
    parts: tuple[Part, ...] = field(converter=several)
    details: Json = None
    outcome: Outcome = "ok"
    terminate: bool = False
    seconds: float | None = None

    @property
    def text(self) -> str:
        """All its text."""
        return text_of(self.parts)

    @property
    def is_error(self) -> bool:
        """Whether it is anything but "ok"."""
        return self.outcome != "ok"

    @property
    def tool(self) -> str:
        """The name of the tool, as written if there is none."""
        return self.spec.name if self.spec else self.call.name


@view
@frozen(kw_only=True, weakref_slot=False)
class TurnView(View):
    """A turn is over and stored.

    `new_messages` are this run's own so far: what it would return if it stopped here.
    `goes_on` says whether another request would follow if no hook objects.
    """

    message: AssistantMessage
    results: tuple[ToolResultMessage, ...] = field(converter=several)
    new_messages: PVector[Message] = field(converter=transcript)
    usage: Usage
    model: str
    system: str = ""
    tools: tuple[ToolSpec, ...] = field(default=(), converter=several)
    thinking: ThinkingLevel | None = None
    inject: tuple[Message, ...] = field(default=(), converter=several)
    stop: bool | str | Stop = False
    rewritten: PVector[Message] | None = None
    goes_on: bool = False

    @property
    def transcript(self) -> PVector[Message]:
        """The stored messages, as rewritten so far."""
        return self.state.transcript if self.rewritten is None else self.rewritten
