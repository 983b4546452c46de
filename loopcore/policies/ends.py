"""Ends: limits of a run, and what to do about an empty reply."""

from collections.abc import Mapping
from typing import Any, Final

from attrs import asdict, frozen

from loopcore.events import Stop
from loopcore.frozen import EMPTY, Json, dump_json, evolve
from loopcore.hooks import (
    ContextUpdate,
    ContextView,
    Hooks,
    StopUpdate,
    TurnUpdate,
    TurnView,
)
from loopcore.messages import AssistantMessage, ToolCall, messages
from loopcore.policies.given import (
    refuse_negative,
    refuse_no_text,
    refuse_unless_whole,
)


@frozen
class Limits:
    """How far a run may go; None is no limit."""

    turns: int | None
    tokens: int | None
    cost: float | None
    seconds: float | None
    tool_calls: int | None
    repeats: int | None
    unknown_tools: int | None


@frozen
class Counted:
    """What is counted in a run; `failed` is how often in a row each last call failed."""

    run: int = 0
    begun: float | None = None
    tool_calls: int = 0
    unknown: int = 0
    failed: Mapping[str, int] = EMPTY


def limits(  # noqa: PLR0913  # one name for each limit
    *,
    turns: int | None = None,
    tokens: int | None = None,
    cost: float | None = None,
    seconds: float | None = None,
    tool_calls: int | None = None,
    repeats: int | None = None,
    unknown_tools: int | None = None,
) -> Hooks:
    """Stop a run that goes on too long. Nothing is limited unless you say so.

    Args:
        turns: model replies in this run.
        tokens: all that went in or came out in this run.
        cost: in the currency of the price list. Where no price is known, a run that would
            go on stops after its first turn, and says so.
        seconds: since the run began, by the time that inputs carry; what a person takes to
            answer counts too.
        tool_calls: results in this run.
        repeats: how often in a row one call, with the same arguments, may fail, whatever
            else is called beside it.
        unknown_tools: how often in a row a tool may be called that does not exist.

    A run that ends by itself in the turn that reaches a limit is done; else it stops with
    the reason "limit" once the batch is settled, and its queues stay. Zero turns, tokens
    or cost are reached before the first request.
    """
    most = Limits(turns, tokens, cost, seconds, tool_calls, repeats, unknown_tools)
    refuse_negative("limits", asdict(most))

    def late(view: ContextView) -> ContextUpdate | None:
        counted = _begun(_recall(view.memo), view.state.run, view.now)
        reached = _forbidden(most) or _too_late(most, counted, view.now)
        update = ContextUpdate(memo=_remember(counted))
        return evolve(update, stop=Stop("limit", reached)) if reached else update

    def enough(view: TurnView) -> StopUpdate:
        counted = _count(_begun(_recall(view.memo), view.state.run, view.now), view)
        reached = _reached(most, counted, view) if view.goes_on else ""
        update = StopUpdate(memo=_remember(counted))
        return evolve(update, stop=Stop("limit", reached)) if reached else update

    return Hooks(
        "limits",
        transform_context=late if seconds is not None or _forbidden(most) else None,
        should_stop_after_turn=enough,
    )


def _recall(memo: Json) -> Counted:
    """What was counted; an older loopcore counted the failures of the last call alone."""
    known: dict[str, Any] = dict(memo or EMPTY)
    if "failures" in known:
        known["failed"] = {known["failed"]: known.pop("failures")}
    return Counted(**known)


def _remember(counted: Counted) -> dict[str, Any]:
    return {
        "run": counted.run,
        "begun": counted.begun,
        "tool_calls": counted.tool_calls,
        "unknown": counted.unknown,
        "failed": dict(counted.failed),
    }


def _begun(counted: Counted, run: int, now: float | None) -> Counted:
    """The counts of this run: a new run begins anew."""
    return counted if counted.run == run else Counted(run=run, begun=now)


def _count(counted: Counted, view: TurnView) -> Counted:
    if not view.results:
        return counted
    unknown, failed = counted.unknown, dict[str, int]()
    for call, result in zip(view.message.calls, view.results, strict=False):
        unknown = unknown + 1 if result.outcome == "unknown_tool" else 0
        same = _name(call)
        again = failed.get(same, counted.failed.get(same, 0)) + 1
        failed[same] = again if result.is_error else 0
    return evolve(
        counted,
        tool_calls=counted.tool_calls + len(view.results),
        unknown=unknown,
        failed={same: times for same, times in failed.items() if times},
    )


SHOWN: Final = 80
IN_A_ROW: Final = "failures in a row of"


def _name(call: ToolCall) -> str:
    """A call and its arguments however they are spaced.

    It is no digest: in a record of which something was redacted, what is remembered and
    the next such call are hidden alike.
    """
    said = call.raw if call.malformed else dump_json(call.arguments)
    return f"{call.name} {said}"


def _brief(name: str) -> str:
    """A call for people: never part of an argument, of which a pattern finds no secret."""
    return (
        name if len(name) <= SHOWN else f"{name.partition(' ')[0]} with long arguments"
    )


def _reached(most: Limits, counted: Counted, view: TurnView) -> str:
    """Which limit was reached, in words; the first that was."""
    usage = view.state.usage
    often = max(counted.failed, key=counted.failed.__getitem__, default="")
    found = (
        _at(view.turn, most.turns, "turns"),
        _at(usage.total, most.tokens, "tokens"),
        _priced(usage.cost, most.cost),
        _too_late(most, counted, view.now),
        _at(counted.tool_calls, most.tool_calls, "tool calls"),
        _at(counted.failed.get(often, 0), most.repeats, f"{IN_A_ROW} {_brief(often)}"),
        _at(counted.unknown, most.unknown_tools, "unknown tools in a row"),
    )
    return next(filter(None, found), "")


def _at(value: float, most: float | None, what: str) -> str:
    return f"{most} {what}" if most is not None and value >= most else ""


def _priced(cost: float | None, most: float | None) -> str:
    if most is None:
        return ""
    if cost is None:
        return f"a cost of {most} cannot be kept: no price is known for this model"
    return _at(cost, most, "cost")


def _forbidden(most: Limits) -> str:
    """A limit of zero is reached before the first request is made."""
    named = (("turns", most.turns), ("tokens", most.tokens), ("cost", most.cost))
    return next((f"{value} {what}" for what, value in named if value == 0), "")


def _too_late(most: Limits, counted: Counted, now: float | None) -> str:
    if most.seconds is None or now is None or counted.begun is None:
        return ""
    return _at(now - counted.begun, most.seconds, "seconds")


def nudge(text: str, times: int = 1) -> Hooks:
    """Inject this after an empty reply (no text, no calls), so often in a row.

    Raises:
        ValueError: for an empty text or a negative number of times.
    """
    refuse_no_text("nudge", text=text)
    refuse_unless_whole("nudge", 0, times=times)
    if not text:
        message = "nudge(''): give a text, such as 'Answer, or say what you need.'"
        raise ValueError(message)

    def again(view: TurnView) -> TurnUpdate | None:
        said = view.memo[1] if view.memo[0] == view.state.run else 0
        if not _empty(view.message):
            return TurnUpdate(memo=(view.state.run, 0)) if said else None
        if said >= times:
            return None
        return TurnUpdate(messages(text), memo=(view.state.run, said + 1))

    return Hooks("nudge", memo=(0, 0), prepare_next_turn=again)


def _empty(reply: AssistantMessage) -> bool:
    return not reply.calls and not reply.text.strip() and reply.finish != "refusal"
