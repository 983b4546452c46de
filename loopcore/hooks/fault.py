"""A hook failed: what is said of it, and where."""

import re
from typing import Final

from attrs import frozen
from attrs.exceptions import FrozenInstanceError

from loopcore.frozen import NotJson, a, clean, repeatable
from loopcore.hooks.code import place_of
from loopcore.hooks.points import POINTS, PointName
from loopcore.hooks.rule import Hooks
from loopcore.hooks.views import View, ViewChanged


@frozen(weakref_slot=False)
class Fault:
    """A hook failed: who, where, and a sentence about it."""

    hook: str
    point: str
    sentence: str
    error: str = ""

    @property
    def alone(self) -> str:
        """The sentence without what becomes of the run, for where there is none."""
        said = self.sentence.removesuffix(f" {ONE_CALL}")
        return said.removesuffix(f" {ALL_OVER}")


class HookFault(Exception):
    """What is wrong with a hook, as whoever wraps its function has found out.

    It is said as it stands, after the hook's name.
    """


def raised(hook: Hooks, point: PointName, view: View, error: Exception) -> Fault:
    """What it raised; a change of what is frozen is told what to do instead."""
    if isinstance(error, HookFault):
        return fault(hook, point, str(error))
    place, tried = where(hook, point, view, error), _tried(error)
    if tried:
        held = "Views" if isinstance(error, ViewChanged) else "What a view holds"
        return fault(
            hook,
            point,
            f"{tried} {place}. {held} cannot be changed; return what should change: "
            f"`{POINTS[point].update.__name__}(...)`.",
        )
    what = f"{type(error).__name__}: {short_text(error)}"
    after = ONE_CALL if point == "prepare_tool_call" else ALL_OVER
    return fault(hook, point, f"raised {what} at {point} {place}. {after}", what)


def wrong(hook: Hooks, point: PointName, view: View, returned: object) -> Fault:
    """It returned what its point does not take."""
    kind = POINTS[point]
    choices = ", ".join(filter(None, (f"a {kind.update.__name__}", kind.takes, "Need")))
    hint = ""
    if point == "before_tool_call" and type(returned) is str:
        hint = f' Did you mean `Block("{returned[:20]}…")`?'
    return fault(
        hook,
        point,
        f"returned {a(returned)} at {point} {where(hook, point, view)}. "
        f"Return {choices} or None.{hint}",
    )


def unreadable(
    hook: Hooks, point: PointName, view: View, returned: object, problem: Exception
) -> Fault:
    """What it returned raised something when it was read."""
    said = short_text(problem).removesuffix(".")
    place = where(hook, point, view)
    return fault(hook, point, f"returned {a(returned)} at {point} {place}: {said}.")


def unfit(hook: Hooks, point: PointName, view: View, problem: str) -> Fault:
    """Its update is of the right class, and wrong in itself."""
    return fault(hook, point, f"at {point} {where(hook, point, view)} {problem}")


def bad_memo(hook: Hooks, point: PointName, view: View, problem: NotJson) -> Fault:
    """What it would remember cannot be saved."""
    return fault(
        hook,
        point,
        f"wrote a memo that is not JSON at {point} {where(hook, point, view)}: {problem}. "
        "A memo is saved, forked and replayed with the run, so it must be JSON (for a "
        "set, use a sorted list).",
    )


def _tried(error: Exception) -> str:
    """What a hook tried to change, if its error says so: what is frozen in its view."""
    said = short_text(error)
    match error:
        case ViewChanged():
            return f"tried to set {error}"
        case FrozenInstanceError():
            return "tried to set a field of a record"
        case AttributeError(obj=tuple(), name=name) if name in CHANGES:
            return f"called {name}(...) on a list that is frozen (a tuple)"
        case TypeError() if said.startswith("a FrozenDict cannot be changed"):
            return "tried to change an object that is frozen (a FrozenDict)"
        case TypeError() if ITEM.search(said):
            return "tried to change an item of a list that is frozen"
        case _:
            return ""


CHANGES: Final = frozenset(dir(list)) - frozenset(dir(tuple))
ITEM: Final = re.compile(r"'(tuple|PythonPVector)' object does(n't| not) support item")

ONE_CALL: Final = "This call was not run."
ALL_OVER: Final = (
    "What was ready is stored, open calls are answered, and the run stopped; "
    "`result.state` has everything."
)


def fault(hook: Hooks, point: PointName, sentence: str, error: str = "") -> Fault:
    """The fault of this hook, under its name."""
    return Fault(hook.name, point, f"Hook {hook.name!r} {sentence}", error)


def where(
    hook: Hooks, point: PointName, view: View, error: Exception | None = None
) -> str:
    """Where, for people: file and line, call, turn."""
    call = getattr(view, "call", None)
    known = f"{call.id} " if call and call.id else ""
    named = f"call {known}{call.name!r}" if call else ""
    places = (place_of(getattr(hook, point), error), named, f"turn {view.turn}")
    return f"({', '.join(filter(None, places))})"


def short_text(error: Exception) -> str:
    """What an exception says, without addresses: a replay must say the same."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  # its own __str__ may fail
        text = "(it cannot be printed)"
    return clean(repeatable(text)[:500])
