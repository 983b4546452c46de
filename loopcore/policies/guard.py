"""Guards: what a person is asked about, and what nobody is shown."""

import re
from collections.abc import Callable
from typing import Final, TypeAlias

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
from loopcore.messages import (
    CustomMessage,
    Image,
    Message,
    Part,
    ToolCall,
    ToolResultMessage,
)
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
    Put it before `compact`, whose summary is made of what was shown so far.
    It fails closed: if it cannot do its work, the result is withheld.

    Raises:
        ValueError: for no pattern, or one that is no regular expression.
    """
    if not patterns:
        message = "redact() needs at least one pattern: redact(r'sk-[A-Za-z0-9]+')"
        raise ValueError(message)
    found = tuple(map(_compiled, patterns))

    def hide(text: str) -> str:
        hidden = _hidden(found, replacement, text)
        if hidden == text and ESCAPE in text:  # JSON may spell a secret in escapes
            spelt = ESCAPED.sub(lambda escape: chr(int(escape[1], 16)), text)
            return text if spelt == _hidden(found, replacement, spelt) else replacement
        return hidden

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


ESCAPE: Final = "\\u"
ESCAPED: Final = re.compile(r"\\u([0-9a-fA-F]{4})")


def _hidden(found: tuple[re.Pattern[str], ...], replacement: str, text: str) -> str:
    for pattern in found:
        text = pattern.sub(lambda _: replacement, text)
    return text


def _message(message: Message, hide: Hide) -> Message:
    """The message without what is hidden; the same object if nothing was."""
    if isinstance(message, CustomMessage):
        return message
    shown = (
        _result(message, hide) if isinstance(message, ToolResultMessage) else message
    )
    parts = tuple(_part(part, hide) for part in shown.parts)
    if shown is message and parts == message.parts:
        return message
    return evolve(shown, content=parts)


def _result(message: ToolResultMessage, hide: Hide) -> ToolResultMessage:
    """Its id and its name are hidden as those of its call are, so that they still pair."""
    call_id, name = hide(message.call_id), hide(message.name)
    if (call_id, name) == (message.call_id, message.name):
        return message
    return evolve(message, call_id=call_id, name=name)


def _part(part: Part, hide: Hide) -> Part:
    match part:
        case Image():
            return part
        case ToolCall():
            return _call(part, hide)
        case _:
            text = hide(part.text)
            if text == part.text and _keeps(part.signature, hide):
                return part
            return evolve(part, text=text, signature=None)


def _keeps(signature: str | None, hide: Hide) -> bool:
    """Whether a provider's token may be sent back: it can spell out what it signs."""
    return signature is None or hide(signature) == signature


def _call(call: ToolCall, hide: Hide) -> ToolCall:
    arguments = _json(call.arguments, hide)
    raw = None if call.raw is None else hide(call.raw)
    name, call_id = hide(call.name), hide(call.id)
    same = (arguments, raw, name, call_id) == (
        call.arguments,
        call.raw,
        call.name,
        call.id,
    )
    if same and _keeps(call.signature, hide):
        return call
    return evolve(
        call,
        name=name,
        id=call_id,
        arguments=arguments,
        raw=raw if call.malformed else None,
        signature=None,
    )


def _json(value: Json, hide: Hide) -> Json:
    """JSON without what is hidden: in texts, in keys, and in numbers by their text."""
    match value:
        case str():
            return hide(value)
        case bool() | None:
            return value
        case int() | float():
            said = str(value)
            return value if hide(said) == said else hide(said)
        case tuple():
            return tuple(_json(item, hide) for item in value)  # pyright: ignore[reportUnknownVariableType]
        case FrozenDict():
            return _object(value, hide)  # pyright: ignore[reportUnknownArgumentType]
        case _:
            return value


def _object(value: FrozenDict[Json], hide: Hide) -> FrozenDict[Json]:
    found: dict[str, Json] = {}
    for key, item in value.items():
        name = hide(key)
        while name in found:  # two keys that are hidden stay two
            name += "_"
        found[name] = _json(item, hide)
    return FrozenDict(found)
