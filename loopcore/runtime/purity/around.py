"""What stands around a function: its globals and closures, and what of them has changed."""

import functools
import itertools
import random
import sys
import types
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

from attrs import define, field, frozen

from loopcore.runtime.purity.places import is_own, line_of

DEEPEST: Final = 6
MOST: Final = 5_000
"""How many values are looked at: what lies further is taken to stay."""


@frozen
class Root:
    """A name that a function can reach, and where it stands: a form of a sentence."""

    where: str
    name: str
    code: types.CodeType

    def __str__(self) -> str:
        return self.where.format(self.name)

    @property
    def line(self) -> int:
        """Where the function writes it, or reads it."""
        return line_of(self.code, self.name)


Print: TypeAlias = object
"""Equal for a value that has not changed."""


@frozen(eq=False)
class Same:
    """The print of what is taken not to change: it is the same thing, or another."""

    held: object

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.held is other.held

    def __hash__(self) -> int:
        return id(self.held)


def prints(function: Callable[..., object]) -> dict[Root, Print]:
    """What stands around a function, and around those of its own that it calls."""
    look = _Look()
    look.at(function)
    return look.found


def changed(before: dict[Root, Print], after: dict[Root, Print]) -> list[Root]:
    """The names whose values are not what they were."""
    return [root for root, made in after.items() if before.get(root, made) != made]


def reachable(function: Callable[..., object]) -> list[object]:
    """The values that stand around a function, and around those of its own it calls."""
    look = _Look()
    look.at(function)
    return look.values


@define(eq=False)
class _Look:
    """One look around; nothing is looked at twice."""

    found: dict[Root, Print] = field(factory=dict[Root, Print])
    seen: set[int] = field(factory=set[int])
    left: int = MOST
    values: list[object] = field(factory=list[object])

    def at(self, function: Any) -> None:  # noqa: ANN401  # anything that can be called
        """Look around this function, if nobody has."""
        while isinstance(function, functools.partial):
            function = function.func
        if isinstance(function, types.MethodType):
            self._owner(function)
            function = function.__func__
        if not isinstance(function, types.FunctionType):
            self._object(function)
            return
        if id(function) not in self.seen:
            self.seen.add(id(function))
            for root, value in _roots(function):
                self._root(root, value)

    def _owner(self, method: types.MethodType) -> None:
        root = Root(
            "{!r}, an attribute of the object that it belongs to,", "", _code(method)
        )
        self._attributes(root, method.__self__)

    def _object(self, called: Any) -> None:  # noqa: ANN401  # an object with __call__
        kind: type = called.__class__
        call = getattr(kind, "__call__", None)  # noqa: B004
        if isinstance(call, types.FunctionType) and id(called) not in self.seen:
            self.seen.add(id(called))
            root = Root("{!r}, an attribute of its own,", "", call.__code__)
            self._attributes(root, called)
            self.at(call)

    def _attributes(self, root: Root, owner: object) -> None:
        for name, value in _fields(owner):
            self._root(Root(root.where, name, root.code), value)

    def _root(self, root: Root, value: object) -> None:
        self.values.append(value)
        if isinstance(value, types.FunctionType | types.MethodType) and _is_ours(value):
            self.found[root] = self.print(dict(vars(value)), DEEPEST)
            self.at(value)
        else:
            self.found[root] = self.print(value, DEEPEST)

    def print(self, value: Any, depth: int) -> Print:  # noqa: ANN401  # anything
        """What the value is now."""
        self.left -= 1
        if self.left < 0 or not depth:
            return Same(value)
        kind: type = value.__class__
        for kinds, read in READ:
            if isinstance(value, kinds):
                return kind, read(self, value, depth - 1)
        if _is_own_kind(kind) and not isinstance(value, type):
            return tuple((n, self.print(v, depth - 1)) for n, v in _fields(value))
        return Same(value)

    def pairs(self, value: Any, depth: int) -> Print:  # noqa: ANN401  # a dict
        return tuple((k, self.print(v, depth)) for k, v in list(value.items()))

    def items(self, value: Any, depth: int) -> Print:  # noqa: ANN401  # a sequence
        return tuple(self.print(item, depth) for item in list(value))


def _code(method: types.MethodType) -> types.CodeType:
    function: Any = method.__func__
    code: types.CodeType = function.__code__
    return code


def _is_ours(value: types.FunctionType | types.MethodType) -> bool:
    code: Any = getattr(value, "__code__", None)
    return code is not None and is_own(code.co_filename)


def _is_own_kind(kind: type) -> bool:
    """Whether a class is the program's own, where its module lies."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return is_own(file) if file else kind.__module__ not in sys.builtin_module_names


Reader: TypeAlias = Callable[[_Look, Any, int], object]

READ: Final[tuple[tuple[Any, Reader], ...]] = (
    ((type(None), bool, int, float, complex, str, bytes), lambda _, v, __: v),
    (dict, _Look.pairs),
    ((list, tuple, deque), _Look.items),
    ((set, frozenset), lambda _, v, __: frozenset(v)),
    (bytearray, lambda _, v, __: bytes(v)),
    (random.SystemRandom, lambda _, v, __: Same(v)),
    (random.Random, lambda _, v, __: v.getstate()),
    ((itertools.count, itertools.cycle), lambda _, v, __: repr(v)),
)


def _fields(owner: object) -> list[tuple[str, object]]:
    """The attributes of an object."""
    named = list(getattr(owner, "__dict__", {}).items())
    slots = (s for k in type(owner).__mro__ for s in getattr(k, "__slots__", ()))
    return named + [(s, getattr(owner, s)) for s in slots if hasattr(owner, s)]


def _roots(function: types.FunctionType) -> Iterator[tuple[Root, object]]:
    code = function.__code__
    around = "{!r}, a variable of the function around it,"
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        if not _is_empty(cell):
            yield Root(around, name, code), cell.cell_contents
    for name, value in _defaults(function):
        yield Root("its default {!r}", name, code), value
    known = function.__globals__
    for name in dict.fromkeys(_names(code)):
        if name in known:
            yield Root("the module global {!r}", name, code), known[name]


def _is_empty(cell: types.CellType) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:
        return True
    return False


def _defaults(function: types.FunctionType) -> Iterator[tuple[str, object]]:
    given = function.__defaults__ or ()
    named = function.__code__.co_varnames[: function.__code__.co_argcount]
    yield from zip(named[len(named) - len(given) :], given, strict=True)
    yield from (function.__kwdefaults__ or {}).items()


def _names(code: types.CodeType) -> Iterator[str]:
    """The names that code uses, and the code within it."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _names(inner)
