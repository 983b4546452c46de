"""The laws that one view shows: a hook is asked about it, again, and about its copy."""

from collections.abc import Callable
from typing import Any, TypeAlias

import attrs
from attrs import frozen

from loopcore.hooks.fold import fold
from loopcore.hooks.points import POINTS, PointName
from loopcore.hooks.rule import Hooks
from loopcore.messages import AssistantMessage, ToolResultMessage
from loopcore.runtime.purity import (
    UNKNOWN,
    Lookout,
    blame,
    brief,
    differing,
    is_same,
    worlds,
)
from loopcore.testing.check.asking import Asked, ask, failing, place, written
from loopcore.testing.check.broken import broken
from loopcore.testing.check.hints import hint_of
from loopcore.testing.strategies.history import is_paired
from loopcore.testing.strategies.listening import Heard

Cares: TypeAlias = Callable[[Any], bool]


@frozen
class Judge:
    """Looks at what hooks say about one view.

    Args:
        cares: whether hooks may say anything about a view; None: about all.
        hint: what to add where a hook fails, as the tools are not known.
    """

    cares: Cares | None = None
    hint: str = ""

    def judge(self, heard: Heard) -> Asked:
        """Ask the hook about the view in every way; raise `Breach` for a law it breaks."""
        hook, point, view, copy = heard.hook, heard.point, heard.view, heard.copy
        _unchanged(hook, point, view, copy)
        with Lookout(getattr(hook, point)) as watch:
            first = ask(hook, point, view)
        if first.fault:
            tools = self.hint if first.fault.error.startswith("KeyError") else ""
            hint = tools or hint_of(hook, point, view, first.fault)
            raise failing(first.fault, view, hint)
        _pure(hook, point, view, (first, watch))
        _steady(heard, first)
        _equal(hook, point, copy, first)
        keep_pairs(hook, point, view)
        self._silent(hook, point, view, first)
        return first

    def _silent(self, hook: Hooks, point: PointName, view: Any, first: Asked) -> None:  # noqa: ANN401  # a view
        if self.cares is None or not first.said or self._cared(hook, point, view):
            return
        sentence = (
            f"Hook {hook.name!r} at {point} ({place(hook, point)}) writes "
            f"{', '.join(first.said)} about a view that `cares` says it does not care "
            "about. Return None there."
        )
        raise broken("no_opinion", hook.name, sentence, view)

    def _cared(self, hook: Hooks, point: PointName, view: Any) -> bool:  # noqa: ANN401  # a view
        """Whether the hook may say anything.

        Raises:
            ValueError: if `cares` does not say.
        """
        try:
            return bool(self.cares and self.cares(view))
        except Exception as problem:
            message = (
                f"check_hooks(cares=...) raised {type(problem).__name__}: {problem} about a "
                f"view of hook {hook.name!r} at {point}. It is asked about all views that a "
                f"hook says something about: {brief(view, 600)}"
            )
            raise ValueError(message) from problem


def _unchanged(hook: Hooks, point: PointName, view: Any, copy: Any) -> None:  # noqa: ANN401  # views
    if view == copy:
        return
    kind = POINTS[point].update.__name__
    names = ", ".join(f"{type(view).__name__}.{name}" for name in _differ(view, copy))
    sentence = (
        f"Hook {hook.name!r} changed {names} at {point} ({place(hook, point)}). Views "
        f"cannot be changed; return what should change: `{kind}(...)`."
    )
    raise broken("unchanged_view", hook.name, sentence, copy)


def _differ(view: Any, copy: Any) -> list[str]:  # noqa: ANN401  # views
    fields: tuple[attrs.Attribute[Any], ...] = attrs.fields(view.__class__)
    names = (f.name for f in fields)
    return [name for name in names if getattr(view, name) != getattr(copy, name)]


def _pure(
    hook: Hooks,
    point: PointName,
    view: Any,  # noqa: ANN401  # a view
    first: tuple[Asked, Lookout],
) -> None:
    """It says the same again; and even if it does, it reaches nothing beside its view."""
    (asked, watch), again = first, ask(hook, point, view)
    if not is_same(asked.said, again.said):
        both = differing(asked.said, again.said)
        cause = blame(watch.found) if watch.found else UNKNOWN
        sentence = (
            f"Hook {hook.name!r} gave two answers to the same view ({both}). {cause}"
        )
        raise broken("pure", hook.name, sentence, view)
    if watch.found:
        does = worlds(watch.found)
        sentence = f"Hook {hook.name!r} {does} at {point}. {blame(watch.found)}"
        raise broken("pure", hook.name, sentence, view)


def _steady(heard: Heard, asked: Asked) -> None:
    """It says what it said when the run came by, however the run went on since."""
    hook, point = heard.hook, heard.point
    before = [written(point, value) for value in heard.said]
    if all(said is None or is_same(said, asked.said) for said in before):
        return
    both = differing(before[0] or {}, asked.said)
    sentence = (
        f"Hook {hook.name!r} gave two answers to the same view at {point} "
        f"({place(hook, point)}): {both}. Between the two it was asked about other views. "
        "What it remembers belongs in its memo, of which each fork of a run has its own: "
        "`Hooks(..., memo=...)`, `view.memo`."
    )
    raise broken("forked", hook.name, sentence, heard.copy)


def _equal(hook: Hooks, point: PointName, copy: Any, first: Asked) -> None:  # noqa: ANN401  # a view
    again = ask(hook, point, copy)
    if is_same(first.said, again.said):
        return
    both = differing(first.said, again.said)
    sentence = (
        f"Hook {hook.name!r} gave two answers to equal views at {point} "
        f"({place(hook, point)}): {both}. The second view is a copy, as after a reload: "
        "compare what it holds with `==`, not with `is` or id()."
    )
    raise broken("equal", hook.name, sentence, copy)


def keep_pairs(hook: Hooks, point: PointName, view: Any) -> None:  # noqa: ANN401  # a view
    """Raise `Breach` if the hook shows a call without its result, or the other way."""
    if point != "transform_context" or not is_paired(view.messages):
        return
    shown = tuple(fold((hook,), point, view).view.messages)
    if not is_paired(shown):
        raise broken("pairs", hook.name, _parted(hook, point, shown), view)


def _parted(hook: Hooks, point: PointName, shown: Any) -> str:  # noqa: ANN401  # messages
    """What is wrong with what is shown."""
    return (
        f"Hook {hook.name!r} parts a tool call from its result at {point} "
        f"({place(hook, point)}): {unpaired(shown)}. Keep whole rounds, as "
        "`sliding_window` does, or return `repair(messages)`."
    )


def unpaired(shown: Any) -> str:  # noqa: ANN401  # messages
    """The first call or result that stands alone."""
    calls = {c.id for m in shown if isinstance(m, AssistantMessage) for c in m.calls}
    results = {m.call_id for m in shown if isinstance(m, ToolResultMessage)}
    alone = (_alone(message, calls, results) for message in shown)
    return next(filter(None, alone), "a result does not stand beside its call")


def _alone(message: object, calls: set[str], results: set[str]) -> str:
    """What of this message is not among these calls and results."""
    match message:
        case ToolResultMessage(call_id=call) if call not in calls:
            return f"the result of {call!r} is shown without its call"
        case AssistantMessage():
            lost = [c.id for c in message.calls if c.id not in results]
            return f"the call {lost[0]!r} is shown without its result" if lost else ""
        case _:
            return ""
