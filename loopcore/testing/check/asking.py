"""Asking a hook about a view, as a run does."""

from typing import Any, Final

from attrs import frozen

from loopcore.frozen import freeze
from loopcore.hooks.code import base, code_of
from loopcore.hooks.fault import Fault
from loopcore.hooks.fold import fold
from loopcore.hooks.points import POINTS, PointName
from loopcore.hooks.rule import Hooks
from loopcore.runtime.purity import Returned, returned
from loopcore.testing.check.broken import Breach, HookLaw, broken
from loopcore.testing.strategies.listening import leaving


@frozen
class Asked:
    """What a hook said about a view, field by field, or how it failed."""

    said: Returned
    fault: Fault | None = None


def ask(hook: Hooks, point: PointName, view: Any) -> Asked:  # noqa: ANN401  # a view
    """What this hook says about the view."""
    try:
        folded = fold((hook,), point, view)
    except SystemExit as left:
        sentence = f"Hook {hook.name!r} {leaving(point, left)}"
        return Asked({"fault": sentence}, Fault(hook.name, point, sentence))
    if folded.fault:
        return Asked({"fault": folded.fault.sentence}, folded.fault)
    if folded.need:
        return Asked(returned(point, folded.need[1]))
    return Asked(returned(point, folded.update))


def written(point: PointName, value: object) -> Returned | None:
    """What a hook returned, field by field, as `ask` has it; None where it is a mistake."""
    kind = POINTS[point]
    make: Any = kind.update
    try:
        update: Any = make(value) if isinstance(value, kind.bare) else value
        found = returned(point, update)
        return {**found, "memo": freeze(found["memo"])} if "memo" in found else found
    except Exception:  # noqa: BLE001  # whatever its values do
        return None


def place(hook: Hooks, point: PointName) -> str:
    """Where a hook's function at a point is written."""
    code = code_of(getattr(hook, point))
    return f"{base(code.co_filename)}:{code.co_firstlineno}" if code else "no file"


def failing(fault: Fault, view: Any, hint: str = "") -> Breach:  # noqa: ANN401  # a view
    """The law that a hook breaks by failing."""
    return broken(_law_of(fault.alone), fault.hook, f"{fault.alone}{hint}", view)


def _law_of(sentence: str) -> HookLaw:
    for part, law in FAULTS:
        if part in sentence:
            return law
    return "fields"


FAULTS: Final[tuple[tuple[str, HookLaw], ...]] = (
    (" wrote a memo that is not JSON ", "memo"),
    (" cannot be changed; return what should change: ", "unchanged_view"),
    (" raised ", "total"),
)
