"""Verdicts: what a value of one decides, and that no later update makes it weaker."""

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias, cast

import attrs
from attrs import frozen

from loopcore.frozen import EMPTY, Unset
from loopcore.hooks.merge import STRICT
from loopcore.hooks.updates import Update
from loopcore.runtime.purity import brief
from loopcore.testing.merging.drawing import parts_of
from loopcore.testing.merging.kinds import Kind

Strength: TypeAlias = Callable[[Any], Any]
"""How strong a value is: what it gives for a stronger one is greater."""

Verdicts: TypeAlias = Iterable[str] | Mapping[str, Sequence[Any] | Strength]
"""Fields that are verdicts; or each with its values from the weakest to the strongest, or
with a function that says how strong a value is."""

KNOWN: Final[Mapping[str, Strength]] = {
    "decision": lambda value: next(
        n for n, kind in enumerate(STRICT) if isinstance(value, kind)
    ),
    "stop": bool,
    "retry": lambda value: not value,
}
"""The verdicts of loopcore's own updates: Block is the strongest, and to stop, and no."""


@frozen
class Verdict:
    """A field that is a verdict; `strength` is unknown where only its values are."""

    name: str
    decides: Callable[[Any], Any]
    ordered: bool

    def lifted(self, kind: Kind, a: Any, b: Any) -> str:  # noqa: ANN401  # updates
        """How one of two takes back what the other decided, if it does."""
        if not (kind.wrote(a, self.name) and kind.wrote(b, self.name)):
            return ""
        why = self._order(a, b) or self._weaker(a, b) or self._again(a, b)
        if not why:
            return ""
        one, other = self._of(a | b), self._of(b | a)
        return (
            f"the verdict `{self.name}` {why} ({kind.rule(self.name)}): a = {a!r}, "
            f"b = {b!r}; a | b has {self.name}={brief(one)}, b | a has "
            f"{self.name}={brief(other)}. {_advice(kind)}"
        )

    def _of(self, update: object) -> Any:  # noqa: ANN401  # a field's value
        return getattr(update, self.name)

    def _decides(self, update: object) -> Any:  # noqa: ANN401  # whatever compares
        return self.decides(self._of(update))

    def _order(self, a: Any, b: Any) -> str:  # noqa: ANN401  # as above
        same = self._decides(a | b) == self._decides(b | a)
        return "" if same else "is lifted by whoever comes later"

    def _weaker(self, a: Any, b: Any) -> str:  # noqa: ANN401  # as above
        if not self.ordered:
            return ""
        both = self._decides(a | b)
        fine = both >= self._decides(a) and both >= self._decides(b)
        return "" if fine else "is weaker in both than in one of them"

    def _again(self, a: Any, b: Any) -> str:  # noqa: ANN401  # as above
        both = a | b
        then = [self._decides(both | a), self._decides(both | b)]
        fine = then == [self._decides(both)] * 2
        return "" if fine else "becomes another one when it is said again"


def _advice(kind: Kind) -> str:
    if kind.ruled:
        return (
            "Give the field a rule that joins, such as "
            'field(default=UNSET, metadata={"rule": any_stop})'
        )
    return f"Let `{kind.type.__name__}.__or__` keep the stronger of both"


def verdicts_of(kind: Kind, given: Verdicts) -> list[Verdict]:
    """The verdicts among its fields: those that are named, and loopcore's own."""
    named = cast("Mapping[str, Any]", given)  # if it is a mapping
    orders = named if isinstance(given, Mapping) else EMPTY
    own = KNOWN if issubclass(kind.type, Update) else {}
    names = [name for name in dict.fromkeys((*given, *own)) if name in kind.fields]
    return [_verdict(kind, name, orders.get(name) or KNOWN.get(name)) for name in names]


def _verdict(kind: Kind, name: str, order: Any) -> Verdict:  # noqa: ANN401  # or None
    if order is None:
        return Verdict(name, _decision(kind.hints.get(name)), ordered=False)
    if callable(order):
        return Verdict(name, order, ordered=True)
    listed = list(order)

    def place(value: object) -> int:
        if value not in listed:
            raise ValueError(UNLISTED.format(name, value))
        return listed.index(value)

    return Verdict(name, place, ordered=True)


UNLISTED: Final = "verdicts names the values of `{}`, and {!r:.80} is not among them"


def _decision(annotation: Any) -> Callable[[Any], Any]:  # noqa: ANN401  # any type
    """What a value decides: yes or no, which class it is of, or else all that it is."""
    parts = [part for part in parts_of(annotation) if part not in (Unset, type(None))]
    records = [part for part in parts if _is_record(part)]
    if bool in parts and len(parts) > 1:
        return bool
    return type if len(records) > 1 and len(records) == len(parts) else _itself


def _is_record(part: Any) -> bool:  # noqa: ANN401  # as above
    return isinstance(part, type) and (
        attrs.has(part) or dataclasses.is_dataclass(part)
    )


def _itself(value: Any) -> Any:  # noqa: ANN401  # a field's value
    return value


def refuse_no_verdicts(given: Verdicts, kinds: Sequence[Kind]) -> None:
    """Refuse names of fields that no class has.

    Raises:
        TypeError: for a text instead of names.
        ValueError: naming the name, and the fields that there are.
    """
    if isinstance(given, str):
        message = f"check_merge_laws(verdicts=...) takes names: verdicts=[{given!r}]"
        raise TypeError(message)
    for name in given:
        if not any(name in kind.fields for kind in kinds):
            there = "; ".join(
                f"{kind.type.__name__} has {', '.join(kind.fields) or 'none'}"
                for kind in kinds
            )
            message = f"no update has a field {name!r} to be a verdict: {there}"
            raise ValueError(message)
