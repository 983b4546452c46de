"""Copies of records that share nothing with them, down to the texts."""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import attrs
from attrs import define, field
from pyrsistent import PVector
from returns.result import Failure, Success

from loopcore.frozen import FrozenDict, evolve, vector
from loopcore.messages import MESSAGES


@define(eq=False)
class Copies:
    """Copies of views of one run: a message that several show is copied once."""

    messages: dict[int, tuple[Any, Any]] = field(factory=dict[int, tuple[Any, Any]])

    def of(self, value: Any) -> Any:  # noqa: ANN401  # as above
        """An equal value that shares nothing with it."""
        kind: type = value.__class__
        copy = HOW.get(kind)
        if copy is None:
            copy = HOW[kind] = _how(kind)
        return copy(self, value)

    def message(self, message: Any) -> Any:  # noqa: ANN401  # a message
        """Its copy, of which there is one."""
        found = self.messages.get(id(message))
        if found is None:
            found = self.messages[id(message)] = message, self.record(message)
        return found[1]

    def record(self, record: Any) -> Any:  # noqa: ANN401  # a record
        """The same of copies of what it holds."""
        fields: tuple[attrs.Attribute[Any], ...] = attrs.fields(record.__class__)
        given = {str(f.alias): self.of(getattr(record, f.name)) for f in fields}
        return evolve(record, **given) if given else record

    def items(self, items: Any) -> list[Any]:  # noqa: ANN401  # a sequence
        """Copies of these."""
        return [self.of(item) for item in items]


How: TypeAlias = Callable[[Copies, Any], Any]


def _how(kind: type) -> How:
    """How values of a class are copied."""
    for kinds, copy in REBUILD:
        if issubclass(kind, kinds):
            return copy
    return Copies.record if attrs.has(kind) else lambda _, value: value


def _text(_: Copies, text: str) -> str:
    return text[:1] + text[1:]


def _object(copies: Copies, given: Any) -> Any:  # noqa: ANN401  # a JSON object
    return FrozenDict((_text(copies, k), copies.of(v)) for k, v in given.items())


REBUILD: Final[tuple[tuple[Any, How], ...]] = (
    (str, _text),
    (FrozenDict, _object),
    (tuple, lambda c, v: tuple(c.items(v))),
    (PVector, lambda c, v: vector(c.items(v))),
    (Success, lambda c, v: Success(c.of(v.unwrap()))),
    (Failure, lambda c, v: Failure(c.of(v.failure()))),
    (MESSAGES, Copies.message),
)

HOW: Final[dict[type, How]] = {}
"""By the class of a value."""
