"""Hiding: texts of a kind that nobody is to see, wherever a record may hold them."""

import re
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias

import attrs
from pyrsistent import PVector

from loopcore.frozen import FrozenDict, Json, evolve, vector
from loopcore.messages import (
    CustomMessage,
    Image,
    Message,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
)

Hide: TypeAlias = Callable[[str], str]
Pattern: TypeAlias = str | re.Pattern[str]
Patterns: TypeAlias = Pattern | Iterable[Pattern]


def hider(who: str, patterns: Iterable[Pattern], replacement: str) -> Hide:
    """A function that hides what these regular expressions find in a text.

    Raises:
        ValueError: for what is no regular expression, or one that finds the empty text;
            `who` was given it.
    """
    found = tuple(_compiled(who, pattern) for pattern in patterns)

    def hide(text: str) -> str:
        hidden = _hidden(found, replacement, text)
        if hidden == text and ESCAPE in text:  # JSON may spell a secret in escapes
            spelt = ESCAPED.sub(lambda escape: chr(int(escape[1], 16)), text)
            return text if spelt == _hidden(found, replacement, spelt) else replacement
        return hidden

    return hide


def hider_of(redact: Patterns) -> Hide | None:
    """What journals hide by `redact=`; None if that is nothing.

    Raises:
        ValueError: for what is no regular expression.
    """
    patterns = (redact,) if isinstance(redact, str | re.Pattern) else tuple(redact)
    return hider("redact", patterns, "[redacted]") if patterns else None


def _compiled(who: str, pattern: Pattern) -> re.Pattern[str]:
    try:
        found = re.compile(pattern)
    except re.error as problem:
        message = f"{who}({pattern!r}): not a regular expression: {problem}"
        raise ValueError(message) from None
    except TypeError:
        message = f"{who}() takes regular expressions, each by itself, not {pattern!r}"
        raise TypeError(message) from None
    if found.search("") is not None:
        message = f"{who}({pattern!r}): it finds the empty text, which is everywhere"
        raise ValueError(message)
    return found


ESCAPE: Final = "\\u"
ESCAPED: Final = re.compile(r"\\u([0-9a-fA-F]{4})")


def _hidden(found: tuple[re.Pattern[str], ...], replacement: str, text: str) -> str:
    """The text without what these find. What is hidden already stays as it is."""
    for pattern in found:
        pieces = text.split(replacement) if replacement else [text]
        text = replacement.join(pattern.sub(lambda _: replacement, p) for p in pieces)
    return text


def hide_message(message: Message, hide: Hide) -> Message:
    """The message without what is hidden; the same object if nothing was."""
    if isinstance(message, CustomMessage):
        return message
    shown = (
        _result(message, hide) if isinstance(message, ToolResultMessage) else message
    )
    parts = tuple(hide_part(part, hide) for part in shown.parts)
    if shown is message and parts == message.parts:
        return message
    return evolve(shown, content=parts)


def _result(message: ToolResultMessage, hide: Hide) -> ToolResultMessage:
    """Its id and its name are hidden as those of its call are, so that they still pair."""
    call_id, name = hide(message.call_id), hide(message.name)
    if (call_id, name) == (message.call_id, message.name):
        return message
    return evolve(message, call_id=call_id, name=name)


def hide_part(part: Part, hide: Hide) -> Part:
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
    arguments = hide_json(call.arguments, hide)
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


def hide_json(value: Json, hide: Hide) -> Json:
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
            return tuple(hide_json(item, hide) for item in value)  # pyright: ignore[reportUnknownVariableType]
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
        found[name] = hide_json(item, hide)
    return FrozenDict(found)


KEPT: Final = frozenset(
    (
        *("id", "effect_id", "run_id", "model", "asked", "finish", "outcome", "mime"),
        *("kind", "thinking"),
    )
)
"""Fields that are no prose: a run needs them as they are."""

KEPT_OF: Final[dict[str, frozenset[str]]] = {
    "Stop": frozenset(("reason", "hook", "point")),
    "State": frozenset(("stage", "by", "closed")),
    "Turn": frozenset(("by",)),
    "Known": frozenset(("hook", "key")),
    "Consult": frozenset(("service",)),
    "CallModel": frozenset(("by", "output")),
    "ToolSpec": frozenset(("name", "execution", "on_interrupt")),
}
PROSE: Final = frozenset(
    ("description", "title", "$comment", "default", "examples", "enum", "const")
)
"""Keywords of a schema whose values are texts, or data as arguments are."""

NAMING: Final = frozenset(
    ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
)
"""Keywords whose keys are names, each of a schema."""


def _schema(value: Json, hide: Hide) -> Json:
    """A schema whose words are hidden; the rules that it makes stay."""
    match value:
        case FrozenDict():
            items: FrozenDict[Json] = value  # pyright: ignore[reportUnknownVariableType]  # it is JSON
            return FrozenDict((k, _keyword(k, v, hide)) for k, v in items.items())
        case tuple():
            return tuple(_schema(item, hide) for item in value)  # pyright: ignore[reportUnknownVariableType]
        case _:
            return value


def _keyword(name: str, value: Json, hide: Hide) -> Json:
    if name in NAMING and isinstance(value, FrozenDict):
        items: FrozenDict[Json] = value  # pyright: ignore[reportUnknownVariableType]  # it is JSON
        return FrozenDict((key, _schema(item, hide)) for key, item in items.items())
    return hide_json(value, hide) if name in PROSE else _schema(value, hide)


RECORDS_BY_ID: Final = frozenset(("pending", "partials"))


def hide_record(value: Any, hide: Hide) -> Any:  # noqa: ANN401  # any record of ours
    """The record without what is hidden, wherever a text may stand in it.

    Names that a run is steered by (ids, models, kinds) stay.
    """
    match value:
        case Text() | Image() | Thinking() | ToolCall():
            return hide_part(value, hide)
        case PVector():
            return vector(_each(value, hide))  # pyright: ignore[reportUnknownArgumentType]  # of anything
        case tuple():
            return tuple(_each(value, hide))  # pyright: ignore[reportUnknownArgumentType]  # of anything
        case str() | dict():
            return hide_json(value, hide)
        case _:
            return _hide_fields(value, hide) if attrs.has(value.__class__) else value


def _each(values: Iterable[Any], hide: Hide) -> Iterable[Any]:
    return (hide_record(item, hide) for item in values)


def _hide_fields(record: Any, hide: Hide) -> Any:  # noqa: ANN401  # any record of ours
    kept = KEPT | KEPT_OF.get(type(record).__name__, frozenset())
    changed: dict[str, Any] = {}
    for field in attrs.fields(record.__class__):
        before = getattr(record, field.name)
        if field.name in kept:
            continue
        after = _hide_field(field.name, before, hide)
        if after != before:
            changed[field.alias or field.name] = after
    return evolve(record, **changed) if changed else record


def _hide_field(name: str, value: Any, hide: Hide) -> Any:  # noqa: ANN401  # any field
    if name == "parameters":  # a tool's
        return _schema(value, hide)
    if name in RECORDS_BY_ID:
        return FrozenDict((key, hide_record(item, hide)) for key, item in value.items())
    return hide_record(value, hide)
