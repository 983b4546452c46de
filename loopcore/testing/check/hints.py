"""What a stranger may not know about the view at which a hook failed."""

from collections.abc import Iterator
from types import CodeType
from typing import Any, Final

import attrs

from loopcore.hooks.fault import Fault
from loopcore.hooks.points import PointName
from loopcore.hooks.rule import Hooks
from loopcore.hooks.views import ContextView
from loopcore.testing.check.unordered import codes


def hint_of(
    hook: Hooks,
    point: PointName,
    view: Any,  # noqa: ANN401  # a view
    fault: Fault,
) -> str:
    """A sentence to add to the one about this fault, if something is known to help."""
    if LIST_AND_TUPLE in fault.sentence and fault.error.startswith("TypeError"):
        return LISTS
    if "'NoneType'" in fault.sentence and fault.error.startswith(MISSING):
        return _of_nothing(hook, point, view)
    empty = fault.error and isinstance(view, ContextView) and not view.messages
    return NO_MESSAGES if empty else ""


def _of_nothing(hook: Hooks, point: PointName, view: Any) -> str:  # noqa: ANN401  # as above
    """Which fields that the hook reads are None here, and what to write."""
    read = {name for code in codes(hook, point) for name in _names(code)}
    fields: tuple[attrs.Attribute[Any], ...] = attrs.fields(view.__class__)
    known = ("now", *(field.name for field in fields))
    empty = [name for name in known if name in read and getattr(view, name) is None]
    if empty == ["now"]:
        return NO_TIME
    named = " and ".join(f"`view.{name}`" for name in empty)
    are = "is" if len(empty) == 1 else "are"
    return f" {named} {are} None here: {INSTEAD.get(empty[0], SAY)}." if empty else ""


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


MISSING: Final = ("TypeError", "AttributeError")
LIST_AND_TUPLE: Final = 'can only concatenate tuple (not "list")'
LISTS: Final = " What is a list in JSON is a tuple in a view: write `[*view.memo, x]`."
SAY: Final = "say what is to be then"
NO_TIME: Final = (
    f" Where nobody tells the time `view.now` is None: write `view.now or 0`, or {SAY}."
)
INSTEAD: Final = {"memo": "give it a first value, `Hooks(..., memo=...)`"}
NO_MESSAGES: Final = " Nothing is shown here: an earlier hook may have left no message."
