"""Values that cannot change: frozen JSON, vectors, and the word for "not mentioned".

This module imports nothing of ours but `evolve`, which it gives too. It alone names
pyrsistent, and only its pure-Python vector: the C one lets the garbage collector clear
records that are still held.
"""

import copyreg
import enum
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Literal,
    NoReturn,
    Protocol,
    TypeAlias,
    TypeGuard,
    TypeVar,
)

import attrs
from pyrsistent import PVector
from pyrsistent._pvector import (
    python_pvector,  # pyright: ignore[reportUnknownVariableType]  # untyped upstream
)

from loopcore.evolving import evolve as evolve  # noqa: PLC0414  # it is exported

T = TypeVar("T")
V = TypeVar("V")

Json: TypeAlias = Any
"""None, bool, int, float, str, a tuple of these, or a `FrozenDict` of these."""

DEPTH: Final = 100
"""How deep frozen JSON may nest: well below where interpreters and services give up."""

BITS: Final = 12_000
"""How long an integer may be: Python refuses to print one of more than 4300 digits."""


class Unset(enum.Enum):
    """The type of `UNSET`."""

    UNSET = "unset"

    def __repr__(self) -> str:
        return "UNSET"

    def __bool__(self) -> Literal[False]:
        return False


UNSET: Final = Unset.UNSET
"""Keep. The default of every field of every update; None is a value."""


class FrozenDict(dict[str, V]):
    """A dict that refuses change, keeps insertion order and can be hashed.

    >>> FrozenDict(a=1) == {"a": 1}
    True
    >>> {**FrozenDict(a=1), "b": 2}
    {'a': 1, 'b': 2}
    """

    __slots__ = ("_hash",)
    _hash: int

    def __hash__(self) -> int:  # type: ignore[override]  # pyright: ignore[reportIncompatibleVariableOverride]  # dict says None: it can change
        try:
            return self._hash
        except AttributeError:
            value = hash(frozenset(self.items()))
            object.__setattr__(self, "_hash", value)
            return value

    def __reduce__(self) -> tuple[type["FrozenDict[V]"], tuple[dict[str, V]]]:
        return FrozenDict, (dict(self),)

    def __copy__(self) -> "FrozenDict[V]":
        return self

    def __deepcopy__(self, memo: object) -> "FrozenDict[V]":
        return self

    def copy(self) -> "FrozenDict[V]":
        """Itself: it cannot change."""
        return self

    def with_(self, key: str, value: V) -> "FrozenDict[V]":
        """A dict that also holds this."""
        return FrozenDict({**self, key: value})

    def without(self, key: str) -> "FrozenDict[V]":
        """A dict that does not hold this."""
        return FrozenDict({name: self[name] for name in self if name != key})

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        message = "a FrozenDict cannot be changed; build a new one: {**old, key: value}"
        raise TypeError(message)

    __setitem__ = __delitem__ = _refuse
    if not TYPE_CHECKING:
        __ior__ = _refuse
        clear = pop = popitem = setdefault = update = _refuse


EMPTY: Final[FrozenDict[Any]] = FrozenDict()


class NotJson(TypeError):
    """A value that JSON cannot hold: `path` says where, `problem` what."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path or 'the value'} is {problem}")
        self.path, self.problem = path, problem


def clean(text: str) -> str:
    """The text with lone surrogates replaced, so that it can always be encoded.

    >>> clean("a\\ud800b") == "a\\ufffdb"
    True
    """
    refuse_other_than_text(text)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def repeatable(text: str) -> str:
    """The text without the addresses of objects: a replay must say the same.

    >>> repeatable("<function f at 0x7f3a>")
    '<function f>'
    """
    return ADDRESS.sub("", text)


ADDRESS: Final = re.compile(r" at 0x[0-9a-fA-F]+")


def clean_if_any(text: str | None) -> str | None:
    """`clean`, for text that may be missing."""
    return None if text is None else clean(text)


def cleaned(text: str) -> str:
    """`clean`, where a validator says which field was given other than text."""
    return clean(text) if _is_text(text) else text


def cleaned_if_any(text: str | None) -> str | None:
    """`cleaned`, for text that may be missing."""
    return clean(text) if _is_text(text) else text


def cleaned_or_unset(text: str | Unset) -> str | Unset:
    """`cleaned`, for text that may be left as it is."""
    return clean(text) if _is_text(text) else text


def _is_text(value: object) -> TypeGuard[str]:
    return isinstance(value, str)


def refuse_other_than_text(value: object) -> None:
    """Raise TypeError for what is no text."""
    if not isinstance(value, str):
        message = f"text is wanted here; it got {a(value)}: {value!r:.80}"
        raise TypeError(message)


def a(value: object) -> str:
    """A value's kind, with its article.

    >>> a(3), a("x")
    ('an int', 'a str')
    """
    kind = type(value).__name__
    return f"an {kind}" if kind[0] in "AEIOaeiou" else f"a {kind}"


def counted(number: int, noun: str) -> str:
    """So many of these.

    >>> counted(1, "input"), counted(1204, "input")
    ('1 input', '1,204 inputs')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def freeze(value: object, path: str = "", depth: int = DEPTH) -> Any:  # noqa: ANN401  # any JSON
    """The value as frozen JSON: dicts as `FrozenDict`, lists as tuples.

    Raises:
        NotJson: naming the place, for what JSON cannot hold.

    >>> freeze({"a": [1, {"b": None}]})
    {'a': (1, {'b': None})}
    """
    match value:
        case None | bool():
            return value
        case str():
            return clean(str(value))
        case int():
            return _whole(int(value), path)
        case float():
            return _finite(float(value), path)
        case _:
            return _freeze_deep(value, path, depth)


OBJECTS: Final = dict, Mapping
ARRAYS: Final = list, tuple, PVector
"""The commonest first: a class that is only registered as one is found slowly."""


def _freeze_deep(value: object, path: str, depth: int) -> Json:
    if not depth:
        raise NotJson(path, f"nested more than {DEPTH} levels deep (or holds itself)")
    if isinstance(value, OBJECTS):
        pairs = dict[object, object](value)  # pyright: ignore[reportUnknownArgumentType]
        return _freeze_object(pairs, path, depth - 1)
    if isinstance(value, ARRAYS):
        items = tuple[object, ...](value)  # pyright: ignore[reportUnknownArgumentType]
        return tuple(
            freeze(item, f"{path}[{n}]", depth - 1) for n, item in enumerate(items)
        )
    raise NotJson(path, f"{a(value)}, which JSON does not have")


def _freeze_object(
    value: dict[object, object], path: str, depth: int
) -> FrozenDict[Json]:
    for key in value:
        if not isinstance(key, str):
            problem = f"a dict with the key {key!r}; JSON keys are text"
            raise NotJson(path, problem)
    return FrozenDict(
        (clean(str(key)), freeze(item, f"{path}[{key!r}]", depth))
        for key, item in value.items()
    )


def _whole(value: int, path: str) -> int:
    if value.bit_length() > BITS:
        raise NotJson(path, f"an integer of more than {BITS} bits")
    return value


def _finite(value: float, path: str) -> float:
    if not math.isfinite(value):
        raise NotJson(path, f"{value}, which JSON does not have")
    return value


def freeze_object(value: object) -> FrozenDict[Json]:
    """A JSON object, frozen; `NotJson` for anything else."""
    if value is EMPTY:
        return EMPTY
    if isinstance(value, Mapping):
        pairs = dict[object, object](value)  # pyright: ignore[reportUnknownArgumentType]
        return _freeze_object(pairs, "", DEPTH)
    raise NotJson("", f"{a(value)}, not a JSON object")


def parse_json(text: str | bytes) -> Json:
    """JSON text as frozen JSON; `ValueError` says what is wrong with it."""
    try:
        return freeze(json.loads(text, parse_constant=refuse_constant))
    except NotJson as problem:
        raise ValueError(str(problem)) from None
    except RecursionError:
        message = f"nested more than {DEPTH} levels deep"
        raise ValueError(message) from None


def refuse_constant(name: str) -> NoReturn:
    """Refuse NaN and the infinities, which `json` would read: its `parse_constant`."""
    message = f"{name} is not JSON"
    raise ValueError(message)


def dump_json(value: Json) -> str:
    """Compact JSON text, keys in their order."""
    return _compact(value)


_compact: Final = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), allow_nan=False
).encode


def vector(items: Iterable[T] = ()) -> PVector[T]:
    """A persistent vector of these, always pyrsistent's pure-Python one."""
    if type(items) is _VECTOR:
        return items  # type: ignore[return-value]  # pyright: ignore[reportReturnType]
    make: Any = python_pvector  # pyright: ignore[reportUnknownVariableType]
    made: PVector[T] = make(items)
    return made


_VECTOR: Final = type(python_pvector())  # type: ignore[no-untyped-call]  # untyped upstream


def _made_again(given: Any) -> tuple[Any, tuple[Any]]:  # noqa: ANN401  # a vector, untyped upstream
    """How pickle and deepcopy make it: left to itself, it comes back as the C one."""
    make: Any = python_pvector  # pyright: ignore[reportUnknownVariableType]
    return make, (given.tolist(),)


copyreg.pickle(_VECTOR, _made_again)


def one_of(*values: object) -> "Callable[[object, attrs.Attribute[Any], Any], None]":
    """A validator for a field that takes only these."""

    def check(record: object, field: "attrs.Attribute[Any]", value: object) -> None:
        if value is UNSET or value in values:
            return
        where = f"{type(record).__name__}({field.alias}=...)"
        listed = ", ".join(map(repr, values))
        message = f"{where} takes one of {listed}; it got {value!r}"
        raise ValueError(message)

    return check


def takes(*kinds: type) -> "Callable[[object, attrs.Attribute[Any], Any], None]":
    """A validator: UNSET, or one of these kinds. True is no number: JSON tells them apart."""

    def check(record: object, field: "attrs.Attribute[Any]", value: object) -> None:
        if value is UNSET:
            return
        is_flag = type(value) is bool and bool not in kinds
        if is_flag or not isinstance(value, kinds):
            where = f"{type(record).__name__}({field.alias}=...)"
            names = " or ".join(kind.__name__.removesuffix("Type") for kind in kinds)
            message = f"{where} takes {names}; it got {a(value)}"
            raise TypeError(message)
        if isinstance(value, int) and value.bit_length() > BITS:
            _whole(value, f"{type(record).__name__}({field.alias}=...)")

    return check


def is_finite(value: float) -> bool:
    """Whether JSON and clocks can hold the number."""
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond any float
        return False


def finite(record: object, field: "attrs.Attribute[Any]", value: float | None) -> None:
    """A validator for a number that JSON can hold, or None."""
    takes(int, float, type(None))(record, field, value)
    if value is not None and not is_finite(value):
        where = f"{type(record).__name__}({field.alias}=...)"
        message = f"{where} takes a finite number; it got {value}"
        raise ValueError(message)


def constructor(cls: type[T]) -> type[T]:
    """Print records of this class as the call that makes them, defaults left out.

    A class decorator for attrs records; short reprs are part of the interface.
    """
    shown: list[tuple[attrs.Attribute[Any], str]] = [
        (field, field.alias or field.name)
        for field in attrs.fields(cls)  # type: ignore[arg-type]  # an attrs class
        if field.repr
    ]

    def __repr__(self: object) -> str:  # noqa: N807  # it becomes the class's own
        said: list[str] = []
        for field, name in shown:
            value = getattr(self, field.name)
            if value == default(field) and type(value) is type(default(field)):
                continue
            place = not field.kw_only and len(said) == shown.index((field, name))
            said.append(_brief(value) if place else f"{name}={_brief(value)}")
        return f"{cls.__name__}({', '.join(said)})"

    cls.__repr__ = __repr__  # type: ignore[method-assign]  # what it is for
    cls._repr_pretty_ = printed  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]  # as above
    return cls


class Printer(Protocol):
    """What IPython and Hypothesis print values with."""

    def text(self, text: str, /) -> None: ...


def printed(record: object, printer: Printer, cycle: object) -> None:  # noqa: ARG001  # theirs
    """Print a record as its repr. They would else print all fields of attrs classes."""
    printer.text(repr(record))


def _brief(value: object) -> str:
    if isinstance(value, tuple) and len(value) == 1:  # pyright: ignore[reportUnknownArgumentType]
        return f"[{value[0]!r}]"
    if isinstance(value, tuple | PVector):
        return f"[{', '.join(map(repr, value))}]"  # pyright: ignore[reportUnknownArgumentType]
    return repr(value)


def default(field: "attrs.Attribute[Any]") -> object:
    """The default of an attrs field, made if a factory makes it; NOTHING if none."""
    made: Any = field.default
    return made.factory() if hasattr(made, "takes_self") else made
