"""Tables of a page: each long text, message and list of tools is in it once.

What a page says of a value is JSON in which every object is one of ours, so that nothing
in a value can be taken for it:

    {"$": n}                    the text number n
    {"#": "1.0"}                a number that a browser would not print as it is
    {"o": [key, value, ...]}    an object; its keys may be any text, in their order
    {"o": [...], "r": "Abort"}  a record, and its class; fields at their default left out
    {"m": n}                    the message number n
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import attrs
from attrs import define, field

from loopcore import (
    AssistantMessage,
    CustomMessage,
    Message,
    SystemMessage,
    ToolResultMessage,
    UserMessage,
)
from loopcore.hooks import UNSET

Told: TypeAlias = Any
"""JSON of the form above."""

SHORT: Final = 60
"""Texts up to here are told where they are used."""

EXACT: Final = 2**53
"""Integers up to here are exact in a browser."""

MESSAGES: Final = (
    SystemMessage,
    UserMessage,
    AssistantMessage,
    ToolResultMessage,
    CustomMessage,
)


@define
class Tables:
    """What the points of a page refer to, by number."""

    texts: list[str] = field(factory=list[str])
    values: list[Told] = field(factory=list[Told])
    message: Callable[[Message], int] = field(default=lambda _: -1)
    _texts: dict[str, int] = field(factory=dict[str, int], init=False)
    _values: dict[Hashable, int] = field(factory=dict[Hashable, int], init=False)
    _seen: dict[int, tuple[object, int]] = field(
        factory=dict[int, tuple[object, int]], init=False
    )

    def text(self, text: str) -> Told:
        """A text, told here if it is short."""
        if len(text) <= SHORT:
            return text
        place = self._texts.setdefault(text, len(self.texts))
        if place == len(self.texts):
            self.texts.append(text)
        return {"$": place}

    def value(self, value: Hashable) -> int:
        """The number of a value that comes again and again, such as a request's tools."""
        known = self._seen.get(id(value))
        if known is None:
            place = self._values.setdefault(value, len(self.values))
            if place == len(self.values):
                self.values.append(self.told(value))
            known = self._seen[id(value)] = value, place
        return known[1]

    def told(self, value: Any) -> Told:  # noqa: ANN401  # any record or JSON
        """Any value."""
        match value:
            case None | bool():
                return value
            case str():
                return self.text(value)
            case int():
                return value if abs(value) < EXACT else {"#": str(value)}
            case float():
                return {"#": repr(value)} if value.is_integer() else value
            case _:
                return self._deep(value)

    def _object(self, value: Mapping[str, Any]) -> Told:
        return {
            "o": [x for k, v in value.items() for x in (self.text(k), self.told(v))]
        }

    def _deep(self, value: Any) -> Told:  # noqa: ANN401  # any record, object or list
        kind: type[Any] = value.__class__
        if issubclass(kind, MESSAGES):
            return {"m": self.message(value)}
        if issubclass(kind, Mapping):
            return self._object(value)
        if issubclass(kind, Sequence):
            return [self.told(item) for item in value]
        if attrs.has(kind):
            return {**self._object(written(value)), "r": kind.__name__}
        return self.text(repr(value))


def written(record: Any) -> dict[str, Any]:  # noqa: ANN401  # any record
    """The fields of a record that are not as they are by default."""
    kind: type[Any] = record.__class__
    pairs = ((f, getattr(record, f.name)) for f in attrs.fields(kind))
    return {f.alias: v for f, v in pairs if v is not UNSET and not _is_default(f, v)}


def _is_default(of: "attrs.Attribute[Any]", value: object) -> bool:
    made: Any = of.default
    if made is attrs.NOTHING:
        return False
    made = made.factory() if hasattr(made, "factory") and not made.takes_self else made
    return type(made) is type(value) and bool(made == value)
