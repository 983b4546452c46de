"""Guards: what a person is asked about, and what nobody is shown."""

import re
from collections.abc import Callable
from typing import TypeAlias

from loopcore.frozen import FrozenDict, Json, evolve
from loopcore.hooks import (
    Ask,
    ContextUpdate,
    ContextView,
    Hooks,
    ToolCallView,
    ToolResultUpdate,
    ToolResultView,
)
from loopcore.messages import CustomMessage, Image, Message, Part, ToolCall
from loopcore.tools import ToolLike, name_of

When: TypeAlias = Callable[[ToolCallView], bool]
Hide: TypeAlias = Callable[[str], str]


def ask_before(*tools: str | ToolLike, when: When | None = None) -> Hooks:
    """Ask a person before these tools run; without any, before all.

    A tool is given by its name, or as it is.

    `when` narrows it to the calls for which it says yes.
    """

    names = tuple(map(name_of, tools))

    def gate(view: ToolCallView) -> Ask | None:
        asked = not names or view.tool in names
        return Ask() if asked and (when is None or when(view)) else None

    return Hooks("ask_before", before_tool_call=gate)


def redact(*patterns: str | re.Pattern[str], replacement: str = "[redacted]") -> Hooks:
    """Keep these out of stored results and of what a model is shown.

    Patterns are regular expressions. Results are stored redacted, error texts that echo
    arguments too; all else, prompts and replies, is stored as it was and shown redacted.
    It fails closed: if it cannot do its work, the result is withheld.

    Raises:
        ValueError: for no pattern, or one that is no regular expression.
    """
    if not patterns:
        message = "redact() needs at least one pattern: redact(r'sk-[A-Za-z0-9]+')"
        raise ValueError(message)
    found = tuple(map(_compiled, patterns))

    def hide(text: str) -> str:
        for pattern in found:
            text = pattern.sub(lambda _: replacement, text)
        return text

    def result(view: ToolResultView) -> ToolResultUpdate | None:
        parts = tuple(_part(part, hide) for part in view.parts)
        details = _json(view.details, hide)
        if parts == view.parts and details == view.details:
            return None
        return ToolResultUpdate(parts, details=details)

    def shown(view: ContextView) -> ContextUpdate | None:
        said = [_message(message, hide) for message in view.messages]
        system = hide(view.system)
        same = all(a is b for a, b in zip(said, view.messages, strict=True))
        if same and system == view.system:
            return None
        return ContextUpdate(view.messages if same else said, system=system)

    return Hooks(
        "redact", fail_closed=True, after_tool_result=result, transform_context=shown
    )


def _compiled(pattern: str | re.Pattern[str]) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as problem:
        message = f"redact({pattern!r}): not a regular expression: {problem}"
        raise ValueError(message) from None


def _message(message: Message, hide: Hide) -> Message:
    """The message without what is hidden; the same object if nothing was."""
    if isinstance(message, CustomMessage):
        return message
    parts = tuple(_part(part, hide) for part in message.parts)
    return message if parts == message.parts else evolve(message, content=parts)


def _part(part: Part, hide: Hide) -> Part:
    match part:
        case Image():
            return part
        case ToolCall():
            return _call(part, hide)
        case _:
            text = hide(part.text)
            return (
                part if text == part.text else evolve(part, text=text, signature=None)
            )


def _call(call: ToolCall, hide: Hide) -> ToolCall:
    arguments = _json(call.arguments, hide)
    raw = None if call.raw is None else hide(call.raw)
    if arguments == call.arguments and raw == call.raw:
        return call
    kept = raw if call.malformed else None
    return evolve(call, arguments=arguments, raw=kept, signature=None)


def _json(value: Json, hide: Hide) -> Json:
    match value:
        case str():
            return hide(value)
        case tuple():
            return tuple(_json(item, hide) for item in value)  # pyright: ignore[reportUnknownVariableType]
        case FrozenDict():
            return FrozenDict({k: _json(v, hide) for k, v in value.items()})  # pyright: ignore[reportUnknownVariableType]
        case _:
            return value
