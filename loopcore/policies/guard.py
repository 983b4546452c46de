"""Guards: what a person is asked about, and what nobody is shown."""

from collections.abc import Callable
from typing import TypeAlias

from loopcore.frozen import UNSET
from loopcore.hiding import Pattern, hide_json, hide_message, hide_part, hider
from loopcore.hooks import (
    Ask,
    ContextUpdate,
    ContextView,
    Hooks,
    ToolCallView,
    ToolResultUpdate,
    ToolResultView,
)
from loopcore.policies.given import refuse_no_function, refuse_no_text
from loopcore.tools import ToolLike

When: TypeAlias = Callable[[ToolCallView], bool]


def ask_before(*tools: str | ToolLike, when: When | None = None) -> Hooks:
    """Ask a person before these tools run; without any, before all.

    A tool is given by its name, or as it is.

    `when` narrows it to the calls for which it says yes.

    Raises:
        TypeError: for what is no tool, or a `when` that is no function.
    """
    refuse_no_function("ask_before", when=when or bool)
    _refuse_lists(tools)

    def gate(view: ToolCallView) -> Ask | None:
        return Ask() if when is None or when(view) else None

    return Hooks("ask_before", before_tool_call=gate, tools=tools or None)


def _refuse_lists(tools: tuple[object, ...]) -> None:
    if any(isinstance(given, list | tuple | set) for given in tools):
        message = (
            "ask_before() takes tools, each by itself; a list is no tool: write *tools"
        )
        raise TypeError(message)


def redact(*patterns: Pattern, replacement: str = "[redacted]") -> Hooks:
    """Keep these out of stored results and of what a model is shown.

    Patterns are regular expressions. Results are stored redacted, error texts that echo
    arguments too; all else, prompts and replies, is stored as it was and shown redacted.
    Put it before `truncate_results`, which could cut one in two, and before `compact`,
    whose summary is made of what was shown so far.
    It fails closed: if it cannot do its work, the result is withheld.

    Raises:
        ValueError: for no pattern, or one that is no regular expression or finds nothing.
        TypeError: for what is no text.
    """
    refuse_no_text("redact", replacement=replacement)
    if not patterns:
        message = "redact() needs at least one pattern: redact(r'sk-[A-Za-z0-9]+')"
        raise ValueError(message)
    hide = hider("redact", patterns, replacement)

    def result(view: ToolResultView) -> ToolResultUpdate | None:
        parts = tuple(hide_part(part, hide) for part in view.parts)
        details = hide_json(view.details, hide)
        if parts == view.parts and details == view.details:
            return None
        return ToolResultUpdate(parts, details=details)

    def shown(view: ContextView) -> ContextUpdate | None:
        said = [hide_message(message, hide) for message in view.messages]
        system = hide(view.system)
        same = all(a is b for a, b in zip(said, view.messages, strict=True))
        if same and system == view.system:
            return None
        messages = UNSET if same else said
        return ContextUpdate(
            messages, system=UNSET if system == view.system else system
        )

    return Hooks(
        "redact", fail_closed=True, after_tool_result=result, transform_context=shown
    )
