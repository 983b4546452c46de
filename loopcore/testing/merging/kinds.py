"""Classes of what merges by `|`: which they are, and values of them and their fields."""

import dataclasses
import typing
from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs
from attrs import field, frozen
from hypothesis import strategies as st

from loopcore.frozen import EMPTY, UNSET
from loopcore.hooks.merge import any_stop, both, give_up, later, strictest
from loopcore.hooks.updates import Update, rules
from loopcore.testing.merging.drawing import aliases, exact, made, of, parts_of, tried
from loopcore.testing.strategies.changing import FIELDS
from loopcore.testing.strategies.plain import Drawn

LAWFUL: Final = (any_stop, both, give_up, later, strictest)
"""The rules that loopcore has, whose algebra is known."""

HERE: Final[dict[tuple[str, str], Callable[[], Drawn[Any]]]] = {
    **FIELDS,
    ("", "delay"): lambda: exact(0),
}
"""What fields of these names hold; delays, too, are such as add up."""

EDGES: Final[dict[type, tuple[Any, ...]]] = {
    str: ("", "a", "b", " ", " a", "a ", "a\n", "A", "a b"),
    int: tuple(range(-2, 11)),
    float: (0.0, 1.0, -1.0, 0.5, 2.0),
}
"""Values at which a rule is likely to treat its field in another way."""


@frozen(eq=False)
class Kind:
    """A class of what merges.

    Args:
        type: the class.
        empty: one that writes nothing.
        made: some of them.
        fields: the names of its fields.
        values: what its fields may hold, by name, where that is known.
        hints: the annotations of its fields, where they are known.
    """

    type: "type[Any]"
    empty: Any
    made: Drawn[Any]
    fields: tuple[str, ...]
    values: Mapping[str, Drawn[Any]] = field(default=EMPTY)
    hints: Mapping[str, Any] = field(default=EMPTY)

    @property
    def ruled(self) -> bool:
        """Whether each of its fields merges by a rule of its own."""
        mine: Any = self.type
        return issubclass(mine, Update) and mine.__or__ is Update.__or__

    def only(self, name: str) -> Drawn[Any]:
        """Those that write this field and no other."""
        alias = aliases(self.type).get(name, name)
        made = self.values[name].map(lambda value: tried(self.type, {alias: value}))
        return made.filter(lambda one: one is not None)

    def wrote(self, one: object, name: str) -> bool:
        """Whether this one writes this field."""
        value, usual = getattr(one, name), getattr(self.empty, name)
        return value is not usual and (type(value) is not type(usual) or value != usual)

    def rule(self, name: str) -> str:
        """How this field merges, in words."""
        if not self.ruled:
            return f"`{self.type.__name__}.__or__` merges it"
        rule: Any = rules(self.type)[name]
        return f"its rule is {getattr(rule, '__name__', rule)}"

    @property
    def doubtful(self) -> tuple[str, ...]:
        """The fields by whose own values the algebra has to be tried."""
        if not self.ruled:
            return self.fields
        known = rules(self.type)
        return tuple(name for name in self.fields if known[name] not in LAWFUL)


def kind_of(kind: "type[Any]") -> Kind:
    """A class of which values are made up from its annotations.

    Raises:
        TypeError: for a class of which none can be made, or that does not merge.
    """
    empty = _merging(kind)
    if not (attrs.has(kind) or dataclasses.is_dataclass(kind)):
        raise TypeError(NO_FIELDS.format(kind.__name__))
    try:
        hints = typing.get_type_hints(kind)
    except Exception as problem:  # noqa: BLE001  # annotations may be any code
        message = UNREADABLE.format(kind.__name__, f"{problem!r:.200}")
        raise TypeError(message) from None
    names = tuple(aliases(kind))
    bare = [name for name in names if name not in hints]
    if bare:
        raise TypeError(NO_HINT.format(kind.__name__, bare[0]))
    values = {name: _values(kind, name, hints[name]) for name in names}
    return Kind(kind, empty, made(kind, values), names, values, hints)


def kind_of_some(kind: "type[Any]", found: "list[Any]") -> Kind:
    """A class of which these values are given.

    Raises:
        TypeError: for a class that does not merge.
    """
    empty = _merging(kind)
    names = tuple(aliases(kind)) or tuple(getattr(found[0], "__dict__", ()))
    try:
        hints = typing.get_type_hints(kind)
    except Exception:  # noqa: BLE001  # then each verdict is its value
        hints = {}
    return Kind(kind, empty, st.sampled_from(found), names, hints=hints)


def _merging(kind: "type[Any]") -> Any:  # noqa: ANN401  # one of this class
    """One that writes nothing, of a class that merges and can be compared."""
    name = kind.__name__
    if not any("__or__" in vars(base) for base in kind.__mro__):
        raise TypeError(NO_MERGE.format(name))
    if all("__eq__" not in vars(base) for base in kind.__mro__[:-1]):
        raise TypeError(NO_EQUAL.format(name))
    try:
        return kind()
    except Exception as problem:  # noqa: BLE001  # as may a class
        message = NO_EMPTY.format(name, f"{problem!r:.200}")
        raise TypeError(message) from None


NO_MERGE: Final = (
    "check_merge_laws takes classes of updates and updates, which merge by `|`; {} has no "
    "`__or__`. Make it a subclass of loopcore.hooks.Update, or write one"
)
NO_EQUAL: Final = (
    "check_merge_laws compares what two ways of merging come to, and {} has no `==` of its "
    "own. Make it an attrs class or a dataclass, or write `__eq__`"
)
NO_EMPTY: Final = (
    "check_merge_laws needs an empty update, which changes nothing, and {0}() cannot be "
    "made: {1}. Give each field a default that stands for not written, such as UNSET"
)
NO_FIELDS: Final = (
    "check_merge_laws makes up values of attrs classes and dataclasses, and {0} is neither. "
    "Give it some of its values instead, of which every three are tried: "
    "check_merge_laws({0}(...), {0}(...), {0}(...))"
)
UNREADABLE: Final = (
    "check_merge_laws makes up values from annotations, and those of {0} cannot be read: "
    "{1}. Give it some of its values instead, of which every three are tried: "
    "check_merge_laws({0}(...), {0}(...), {0}(...))"
)
NO_HINT: Final = (
    "check_merge_laws makes up values from annotations, and the field `{1}` of {0} has "
    "none. Say what it holds, as in `{1}: str | Unset = field(default=UNSET)`. Or give it "
    "some of its values instead, of which every three are tried: "
    "check_merge_laws({0}(...), {0}(...), {0}(...))"
)
UNMADE: Final = (
    "check_merge_laws could make up no {0} from its annotations: {1}. Give it some values "
    "instead, of which every three are tried: "
    "check_merge_laws({0}(...), {0}(...), {0}(...))"
)


def _values(kind: "type[Any]", name: str, annotation: Any) -> Drawn[Any]:  # noqa: ANN401  # any type
    known = HERE.get((kind.__name__, name)) or HERE.get(("", name))
    if known and issubclass(kind, Update):
        return known()
    edges = [value for part in parts_of(annotation) for value in _edges(part)]
    drawn_ones = of(annotation).filter(lambda value: value is not UNSET)
    return st.sampled_from(edges) | drawn_ones if edges else drawn_ones


def _edges(annotation: Any) -> tuple[Any, ...]:  # noqa: ANN401  # any type
    return EDGES.get(annotation, ()) if isinstance(annotation, type) else ()
