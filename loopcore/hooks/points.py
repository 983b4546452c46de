"""The points of a run where hooks are asked: what they see, and what they may change."""

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, NoReturn, Self, TypeAlias, TypeVar

import attrs
from attrs import field, frozen
from pyrsistent import PVector
from returns.result import Failure, Success

from loopcore.arguments import arguments_for
from loopcore.codec import register
from loopcore.events import Stop
from loopcore.frozen import (
    EMPTY,
    UNSET,
    FrozenDict,
    Json,
    Unset,
    constructor,
    evolve,
    freeze,
    one_of,
    takes,
    vector,
)
from loopcore.hooks.merge import (
    Allow,
    Ask,
    Block,
    Rule,
    Verdict,
    any_stop,
    both,
    give_up,
    later,
    strictest,
)
from loopcore.inputs import ServiceError
from loopcore.messages import (
    NO_USAGE,
    AssistantMessage,
    CustomMessage,
    Message,
    ModelError,
    Outcome,
    Part,
    SystemMessage,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
    messages,
    parts,
    text_of,
    transcript,
)
from loopcore.settings import (
    THINKING,
    ThinkingLevel,
    model_or_unset,
    object_or_unset,
    specs_or_unset,
)
from loopcore.state import Rejected, State, refuse_unpaired
from loopcore.tools import ToolSpec

PointName: TypeAlias = Literal[
    "transform_context",
    "after_model_call",
    "on_model_error",
    "prepare_tool_call",
    "before_tool_call",
    "after_tool_call",
    "after_tool_result",
    "prepare_next_turn",
    "should_stop_after_turn",
]

Found: TypeAlias = Success[Any] | Failure[ModelError | ServiceError]
T = TypeVar("T")
U = TypeVar("U", bound="Update")


class ViewChanged(AttributeError):
    """A hook tried to change its view."""


def _refuse(self: object, name: str, value: object = None) -> NoReturn:  # noqa: ARG001
    message = f"{type(self).__name__}.{name}"
    raise ViewChanged(message)


def view(cls: type[T]) -> type[T]:
    """Name the field when somebody tries to set it."""
    cls.__setattr__ = cls.__delattr__ = _refuse  # type: ignore[method-assign]  # what it is for
    return cls


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


@frozen(weakref_slot=False)
class Update:
    """What a hook changes. `a | b` merges two: field by field, by the rule of each."""

    memo: Json = field(default=UNSET, kw_only=True)

    def __or__(self, other: Self) -> Self:
        if type(self) is not type(other):
            return NotImplemented
        merged = {
            name: rule(getattr(self, name), getattr(other, name))
            for name, rule in rules(type(self)).items()
        }
        return evolve(self, **merged)

    @property
    def written(self) -> tuple[str, ...]:
        """The fields that it writes."""
        return tuple(n for n in rules(type(self)) if getattr(self, n) is not UNSET)


_RULES: Final[dict[type, dict[str, Rule]]] = {}


def rules(update: type[Update]) -> dict[str, Rule]:
    """The merge rule of each field."""
    found = _RULES.get(update)
    if found is None:
        found = {f.name: f.metadata.get("rule", later) for f in attrs.fields(update)}
        _RULES[update] = found
    return found


def _parts(value: Any) -> Any:  # noqa: ANN401  # content or UNSET
    return UNSET if value is UNSET else parts(value)


def _details(value: Any) -> Any:  # noqa: ANN401  # JSON or UNSET
    return UNSET if value is UNSET else freeze(value)


def _inject(value: Any) -> Any:  # noqa: ANN401  # what is said, or UNSET
    return UNSET if value is UNSET else messages(value)


def _delay(update: object, field_of: "attrs.Attribute[Any]", value: Any) -> None:  # noqa: ANN401
    """Seconds to wait: a number that is finite and not negative."""
    takes(int, float)(update, field_of, value)
    if value is not UNSET and not 0 <= value <= FOREVER:
        span = f"seconds from 0 to {FOREVER:.0f}"
        message = f"RetryUpdate(delay=...) takes {span}; it got {value}"
        raise ValueError(message)


FOREVER: Final = 1e9


def _as_vector(value: Any) -> Any:  # noqa: ANN401  # messages or UNSET
    return UNSET if value is UNSET else vector(messages(value))


@view
@frozen(kw_only=True, weakref_slot=False)
class ContextView(View):
    """Before each request: what it is about to show."""

    messages: PVector[Message] = field(converter=transcript)
    model: str
    system: str = ""
    tools: tuple[ToolSpec, ...] = ()
    thinking: ThinkingLevel | None = None
    options: FrozenDict[Json] = EMPTY
    stop: bool | str | Stop = False
    requests: int = 0
    usage: Usage = NO_USAGE


@constructor
@frozen(weakref_slot=False)
class ContextUpdate(Update):
    """This request only; nothing is stored. Bare: messages."""

    messages: PVector[Message] | Unset = field(default=UNSET, converter=_as_vector)
    model: str | Unset = field(default=UNSET, converter=model_or_unset, kw_only=True)
    system: str | Unset = field(default=UNSET, kw_only=True, validator=takes(str))
    tools: tuple[ToolSpec, ...] | Unset = field(
        default=UNSET, converter=specs_or_unset, kw_only=True
    )
    thinking: ThinkingLevel | Unset | None = field(
        default=UNSET, kw_only=True, validator=one_of(*THINKING)
    )
    options: FrozenDict[Json] | Unset = field(
        default=UNSET, converter=object_or_unset, kw_only=True
    )
    stop: bool | str | Stop | Unset = field(
        default=UNSET,
        kw_only=True,
        metadata={"rule": any_stop},
        validator=takes(bool, str, Stop),
    )


@view
@frozen(kw_only=True, weakref_slot=False)
class ReplyView(View):
    """A reply, before it is stored."""

    message: AssistantMessage


@constructor
@frozen(weakref_slot=False)
class ReplyUpdate(Update):
    """Store this instead. Bare: a message."""

    message: AssistantMessage | Unset = field(
        default=UNSET, validator=takes(AssistantMessage)
    )


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


@constructor
@frozen(weakref_slot=False)
class RetryUpdate(Update):
    """Try again: whether, after how many seconds, and with what."""

    retry: bool | Unset = field(
        default=UNSET, metadata={"rule": give_up}, validator=takes(bool)
    )
    delay: float | Unset = field(default=UNSET, kw_only=True, validator=_delay)
    model: str | Unset = field(default=UNSET, converter=model_or_unset, kw_only=True)
    thinking: ThinkingLevel | Unset | None = field(
        default=UNSET, kw_only=True, validator=one_of(*THINKING)
    )


@view
@frozen(kw_only=True, weakref_slot=False)
class RawCallView(View):
    """A call as the model wrote it, before lookup and validation."""

    call: ToolCall
    spec: ToolSpec | None
    name: str
    arguments: FrozenDict[Json]

    @property
    def tool(self) -> str:
        """The name of the tool that is meant, as mended so far."""
        return self.name


@constructor
@frozen(weakref_slot=False)
class RawCallUpdate(Update):
    """Mend a call's name or arguments."""

    name: str | Unset = field(default=UNSET, kw_only=True, validator=takes(str))
    arguments: FrozenDict[Json] | Unset = field(
        default=UNSET, converter=object_or_unset, kw_only=True
    )


@view
@frozen(kw_only=True, weakref_slot=False)
class ToolCallView(View):
    """A valid call that has not run.

    `decision` is the verdict so far (None: no opinion yet), `approved` whether a person
    already let it pass, `problem` why arguments given by a hook do not fit.
    """

    call: ToolCall
    spec: ToolSpec
    arguments: FrozenDict[Json]
    message: AssistantMessage
    decision: Verdict | None = None
    approved: bool = False
    terminate: bool | None = None
    problem: str = ""

    @property
    def tool(self) -> str:
        """The name of the tool."""
        return self.spec.name


@constructor
@frozen(weakref_slot=False)
class ToolCallUpdate(Update):
    """May it run, and with what (validated again). Bare: a verdict."""

    decision: Verdict | Unset = field(
        default=UNSET,
        metadata={"rule": strictest},
        validator=takes(Allow, Ask, Block),
    )
    arguments: FrozenDict[Json] | Unset = field(
        default=UNSET, converter=object_or_unset, kw_only=True
    )
    terminate: bool | Unset = field(default=UNSET, kw_only=True, validator=takes(bool))


@view
@frozen(kw_only=True, weakref_slot=False)
class ToolResultView(View):
    """A result, before it is stored."""

    call: ToolCall
    spec: ToolSpec | None
    arguments: FrozenDict[Json]
    parts: tuple[Part, ...]
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


@constructor
@frozen(weakref_slot=False)
class ToolResultUpdate(Update):
    """Replace these fields of it. `is_error` writes an outcome: False "ok", True "error"."""

    content: tuple[Part, ...] | Unset = field(default=UNSET, converter=_parts)
    details: Json = field(default=UNSET, converter=_details, kw_only=True)
    is_error: bool | Unset = field(default=UNSET, kw_only=True, validator=takes(bool))
    terminate: bool | Unset = field(default=UNSET, kw_only=True, validator=takes(bool))


@view
@frozen(kw_only=True, weakref_slot=False)
class TurnView(View):
    """A turn is over and stored.

    `new_messages` are this run's own so far: what it would return if it stopped here.
    `goes_on` says whether another request would follow if no hook objects.
    """

    message: AssistantMessage
    results: tuple[ToolResultMessage, ...]
    new_messages: PVector[Message]
    usage: Usage
    model: str
    system: str = ""
    tools: tuple[ToolSpec, ...] = ()
    thinking: ThinkingLevel | None = None
    inject: tuple[Message, ...] = ()
    stop: bool | str | Stop = False
    rewritten: PVector[Message] | None = None
    goes_on: bool = False

    @property
    def transcript(self) -> PVector[Message]:
        """The stored messages, as rewritten so far."""
        return self.state.transcript if self.rewritten is None else self.rewritten


@constructor
@frozen(weakref_slot=False)
class TurnUpdate(Update):
    """What the next turn starts from.

    `inject` makes a next turn; `transcript` is the only way to rewrite what is stored.
    """

    inject: tuple[Message, ...] | Unset = field(
        default=UNSET, converter=_inject, metadata={"rule": both}
    )
    model: str | Unset = field(default=UNSET, converter=model_or_unset, kw_only=True)
    thinking: ThinkingLevel | Unset | None = field(
        default=UNSET, kw_only=True, validator=one_of(*THINKING)
    )
    system: str | Unset = field(default=UNSET, kw_only=True, validator=takes(str))
    tools: tuple[ToolSpec, ...] | Unset = field(
        default=UNSET, converter=specs_or_unset, kw_only=True
    )
    transcript: PVector[Message] | Unset = field(
        default=UNSET, converter=_as_vector, kw_only=True
    )


@constructor
@frozen(weakref_slot=False)
class StopUpdate(Update):
    """End the run here. Bare: True, the reason, or a Stop."""

    stop: bool | str | Stop | Unset = field(
        default=UNSET,
        metadata={"rule": any_stop},
        validator=takes(bool, str, Stop),
    )


def _shown(view: Any, update: Update) -> Any:  # noqa: ANN401  # a view of the point
    """The view with what was written: fields that it has under the same name."""
    written = {name: getattr(update, name) for name in update.written if name != "memo"}
    return evolve(view, **written)


def _show_call(view: ToolCallView, update: ToolCallUpdate) -> ToolCallView:
    decision = strictest(view.decision or UNSET, update.decision)
    view = evolve(
        view,
        decision=None if decision is UNSET else decision,
        terminate=later(view.terminate, update.terminate),
    )
    if isinstance(update.arguments, Unset):
        return view
    match arguments_for(view.spec, update.arguments):
        case Success(arguments):
            return evolve(view, arguments=arguments)
        case Failure(problem):
            return evolve(view, problem=problem)


def _decided(view: ToolCallView) -> bool:
    """A Block ends the chain: nothing later lifts it, and nobody is asked about it."""
    return bool(view.problem) or isinstance(view.decision, Block)


def _never(view: object) -> bool:  # noqa: ARG001  # most chains run to their end
    return False


def _show_result(view: ToolResultView, update: ToolResultUpdate) -> ToolResultView:
    return evolve(
        view,
        parts=later(view.parts, update.content),
        details=later(view.details, update.details),
        outcome=flagged(view.outcome, update.is_error),
        terminate=later(view.terminate, update.terminate),
    )


def flagged(outcome: Outcome, is_error: bool | Unset) -> Outcome:  # noqa: FBT001
    """The outcome that writing `is_error` leads to."""
    if isinstance(is_error, Unset) or is_error == (outcome != "ok"):
        return outcome
    return "error" if is_error else "ok"


def _show_turn(view: TurnView, update: TurnUpdate) -> TurnView:
    return evolve(
        view,
        inject=view.inject + later((), update.inject),
        model=later(view.model, update.model),
        thinking=later(view.thinking, update.thinking),
        system=later(view.system, update.system),
        tools=later(view.tools, update.tools),
        rewritten=later(view.rewritten, update.transcript),
    )


def _show_stop(view: Any, update: Any) -> Any:  # noqa: ANN401  # two kinds of view
    return evolve(view, stop=any_stop(view.stop, update.stop))


def _show_context(view: ContextView, update: ContextUpdate) -> ContextView:
    return _show_stop(_shown(view, evolve(update, stop=UNSET)), update)  # type: ignore[no-any-return]


def _show_retry(view: ErrorView, update: RetryUpdate) -> ErrorView:
    retry = give_up(UNSET if view.retry is None else view.retry, update.retry)
    rest: ErrorView = _shown(view, evolve(update, retry=UNSET))
    return evolve(rest, retry=None if retry is UNSET else retry)


def _fine(update: object) -> str:  # noqa: ARG001  # most updates are as they were made
    return ""


SAYABLE: Final = (SystemMessage, UserMessage, CustomMessage)


def _unstorable(update: TurnUpdate) -> str:
    """Why what it writes cannot be stored."""
    for message in later((), update.inject):
        if not isinstance(message, SAYABLE):
            kind = type(message).__name__
            return f"injected a {kind}; only user, system and custom messages are said"
    if isinstance(update.transcript, Unset):
        return ""
    try:
        refuse_unpaired(tuple(update.transcript))
    except Rejected as refused:
        return f"gave a transcript that cannot be stored: {refused}"
    return ""


@frozen(weakref_slot=False)
class Point:
    """A point: its view and update, how a bare value is read, how an update shows.

    `over` says when the chain ends, `problem` why an update cannot be taken.
    """

    view: type[View]
    update: type[Update]
    show: Callable[[Any, Any], Any] = _shown
    bare: tuple[type, ...] = ()
    takes: str = ""
    over: Callable[[Any], bool] = _never
    problem: Callable[[Any], str] = _fine


POINTS: Final[dict[PointName, Point]] = {
    "transform_context": Point(
        ContextView, ContextUpdate, _show_context, (PVector, list, tuple), "messages"
    ),
    "after_model_call": Point(
        ReplyView, ReplyUpdate, bare=(AssistantMessage,), takes="an AssistantMessage"
    ),
    "on_model_error": Point(ErrorView, RetryUpdate, _show_retry),
    "prepare_tool_call": Point(RawCallView, RawCallUpdate),
    "before_tool_call": Point(
        ToolCallView,
        ToolCallUpdate,
        _show_call,
        (Allow, Ask, Block),
        "Allow(), Ask(...), Block(...)",
        _decided,
    ),
    "after_tool_call": Point(ToolResultView, ToolResultUpdate, _show_result),
    "after_tool_result": Point(ToolResultView, ToolResultUpdate, _show_result),
    "prepare_next_turn": Point(TurnView, TurnUpdate, _show_turn, problem=_unstorable),
    "should_stop_after_turn": Point(
        TurnView, StopUpdate, _show_stop, (bool, str, Stop), "a bool, a reason, a Stop"
    ),
}

register(*(point.update for point in POINTS.values()))

CALL_POINTS: Final[frozenset[PointName]] = frozenset(
    ("prepare_tool_call", "before_tool_call", "after_tool_call", "after_tool_result")
)
