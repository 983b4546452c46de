"""The points of a run where hooks are asked, in the order of a turn: a table."""

from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias

from attrs import frozen
from pyrsistent import PVector
from returns.result import Failure, Success

from loopcore.arguments import arguments_for
from loopcore.codec import register
from loopcore.events import Stop
from loopcore.frozen import (
    UNSET,
    Unset,
    evolve,
)
from loopcore.hooks.merge import (
    Allow,
    Ask,
    Block,
    any_stop,
    give_up,
    later,
    strictest,
)
from loopcore.hooks.updates import (
    ContextUpdate,
    RawCallUpdate,
    ReplyUpdate,
    RetryUpdate,
    StopUpdate,
    ToolCallUpdate,
    ToolResultUpdate,
    TurnUpdate,
    Update,
)
from loopcore.hooks.views import (
    ContextView,
    ErrorView,
    RawCallView,
    ReplyView,
    ToolCallView,
    ToolResultView,
    TurnView,
    View,
)
from loopcore.messages import (
    AssistantMessage,
    CustomMessage,
    Outcome,
    SystemMessage,
    UserMessage,
)
from loopcore.state import Rejected, refuse_unpaired

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
    shown: ContextView = _shown(view, update)
    return evolve(shown, stop=any_stop(view.stop, update.stop))


def _show_retry(view: ErrorView, update: RetryUpdate) -> ErrorView:
    retry = give_up(UNSET if view.retry is None else view.retry, update.retry)
    shown: ErrorView = _shown(view, update)
    return evolve(shown, retry=None if retry is UNSET else retry)


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
