"""Show less: a window over the history, and results cut to size."""

from typing import Final, Literal

from loopcore.hooks import (
    ContextUpdate,
    ContextView,
    Hooks,
    ToolResultUpdate,
    ToolResultView,
)
from loopcore.messages import Message, Part, Text
from loopcore.policies.given import (
    refuse_no_function,
    refuse_no_text,
    refuse_unless_whole,
)
from loopcore.policies.places import kept
from loopcore.policies.rounds import Count, Round, estimate, newest_first

UNITS: Final = ("messages", "turns", "tokens")


def sliding_window(
    keep: int,
    *,
    unit: Literal["messages", "turns", "tokens"] = "messages",
    pin: int = 1,
    count: Count = estimate,
) -> Hooks:
    """Show the last `keep` messages, turns or tokens; what is stored stays whole.

    Only whole rounds are shown, a reply together with its results. System messages, the
    first `pin` user messages and, unless `pin` is 0, what this run was asked are shown
    besides, and the newest round always is, however large. `count` gives the tokens of a
    message: an estimate unless you give a tokenizer.

    Raises:
        ValueError: for a `keep` below 1, a negative `pin` or an unknown unit.
    """
    refuse_unless_whole("sliding_window", 1, keep=keep)
    refuse_unless_whole("sliding_window", 0, pin=pin)
    refuse_no_function("sliding_window", count=count)
    if unit not in UNITS:
        message = f"sliding_window(unit={unit!r}): choose one of {', '.join(UNITS)}"
        raise ValueError(message)

    def window(view: ContextView) -> ContextUpdate | None:
        if len(view.messages) <= keep and unit != "tokens":
            return None
        said = tuple(view.messages)
        shown = _newest(said, keep, unit, count) | kept(view, pin)
        if len(shown) == len(said):
            return None
        return ContextUpdate([said[place] for place in sorted(shown)])

    return Hooks("sliding_window", transform_context=window)


def _newest(
    said: tuple[Message, ...], keep: int, unit: str, count: Count
) -> frozenset[int]:
    """The places of the newest rounds that fit, at least one."""
    shown: list[Round] = []
    left = keep
    for group in newest_first(said):
        left -= _size(said, group, unit, count)
        if shown and left < 0:
            break
        shown.append(group)
    return frozenset(place for group in shown for place in group)


def _size(said: tuple[Message, ...], group: Round, unit: str, count: Count) -> int:
    if unit == "tokens":
        return sum(count(said[place]) for place in group)
    return len(group) if unit == "messages" else 1


def truncate_results(
    limit: int = 10_000, *, tail: int = 0, marker: str | None = None
) -> Hooks:
    """Store at most `limit` characters of a result: its head, and `tail` of its end.

    Between them stands a marker that says how much is missing; `marker` replaces it.
    Pictures and details are left alone. `.for_tools(...)` limits it to some tools.

    Raises:
        ValueError: for a negative limit, or a tail that is longer than the limit.
    """
    refuse_unless_whole("truncate_results", 0, limit=limit, tail=tail)
    refuse_no_text("truncate_results", marker=marker or "")
    if tail > limit:
        message = (
            f"truncate_results({limit}, tail={tail}): the tail is part of the limit"
        )
        raise ValueError(message)

    def truncate(view: ToolResultView) -> ToolResultUpdate | None:
        if len(view.text) <= limit:
            return None
        rest = tuple(part for part in view.parts if not isinstance(part, Text))
        return ToolResultUpdate((cut(view.text, limit, tail, marker), *rest))

    return Hooks("truncate_results", after_tool_result=truncate)


def cut(text: str, limit: int, tail: int, marker: str | None) -> Part:
    """The head of a text and its tail, with what says how much is missing between."""
    missing = len(text) - limit
    said = f"\n[... {missing:,} of {len(text):,} characters left out ...]\n"
    end = text[len(text) - tail :]
    return Text(text[: limit - tail] + (said if marker is None else marker) + end)
