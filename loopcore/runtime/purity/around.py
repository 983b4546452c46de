"""What stands around a function: its globals and closures, and what of them has changed."""

import functools
import itertools
import queue
import random
import sys
import threading
import types
from array import array
from collections import UserDict, UserList, deque
from collections.abc import Callable, Iterator
from enum import Enum
from io import BytesIO, StringIO
from operator import length_hint
from typing import Any, Final, TypeAlias

from attrs import define, field, frozen

from loopcore.runtime.purity.places import is_own, line_of

DEEPEST: Final = 60
MOST: Final = 5_000
"""How many values are looked at: what lies further is taken to stay. Numbers and texts that
lie together in one list or dict count as one."""


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
    return [value for _, value in named_around(function)]


def named_around(function: Callable[..., object]) -> list[tuple[Root, object]]:
    """The same, each with the name that it has there."""
    look = _Look()
    look.at(function)
    return look.values


@define(eq=False)
class _Look:
    """One look around; nothing is looked at twice."""

    found: dict[Root, Print] = field(factory=dict[Root, Print])
    seen: set[int] = field(factory=set[int])
    printed: set[int] = field(factory=set[int])
    left: int = MOST
    values: list[tuple[Root, object]] = field(factory=list[tuple[Root, object]])
    code: types.CodeType = field(init=False)

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
        code = _code(method)
        root = Root("{!r}, an attribute of the object that it belongs to,", "", code)
        self._attributes(root, method.__self__)
        self._class(code, type(method.__self__))

    def _class(self, code: types.CodeType, kind: type[Any]) -> None:
        """What the class of an object holds, as far as it is the program's own."""
        root = Root("{!r}, an attribute of its class,", "", code)
        bases: tuple[Any, ...] = kind.__mro__
        for one in bases:
            if _is_own_kind(one) and not issubclass(one, Enum):
                self._attributes(root, one)

    def _object(self, called: Any) -> None:  # noqa: ANN401  # an object with __call__
        kind: type = called.__class__
        call = getattr(kind, "__call__", None)  # noqa: B004
        if isinstance(call, types.FunctionType) and id(called) not in self.seen:
            self.seen.add(id(called))
            root = Root("{!r}, an attribute of its own,", "", call.__code__)
            self._attributes(root, called)
            self._class(call.__code__, kind)
            self.at(call)

    def _attributes(self, root: Root, owner: object) -> None:
        for name, value in _fields(owner):
            self._root(Root(root.where, name, root.code), value)

    def _root(self, root: Root, value: object) -> None:
        self.values.append((root, value))
        self.code = root.code
        if isinstance(value, types.FunctionType | types.MethodType) and _is_ours(value):
            self.found[root] = self.print(vars(value), DEEPEST)
            self.at(value)
        else:
            self.found[root] = self.print(value, DEEPEST)

    def print(self, value: Any, depth: int) -> Print:  # noqa: ANN401  # anything
        """What the value is now."""
        if type(value) in ATOMS:
            return _atom(value)
        self.left -= 1
        if self.left < 0 or not depth or id(value) in self.printed:
            return Same(value)
        self.printed.add(id(value))
        return self._opened(value, depth - 1)

    def _opened(self, value: Any, depth: int) -> Print:  # noqa: ANN401  # as above
        kind: type = value.__class__
        for kinds, read in READ:
            if isinstance(value, kinds):
                return kind, read(self, value, depth)
        if isinstance(value, types.ModuleType):
            return self._module(value, depth)
        own = value if isinstance(value, type) else kind
        if _is_own_kind(own) and not issubclass(own, Enum):
            return tuple((n, self.print(v, depth)) for n, v in _fields(value))
        return Same(value)

    def _module(self, module: types.ModuleType, depth: int) -> Print:
        """What the function names of an own module; of others it is taken to stay."""
        if not is_own(str(getattr(module, "__file__", None) or sys.prefix)):
            return Same(module)
        names = [n for n in dict.fromkeys(_names(self.code)) if n in vars(module)]
        return tuple((n, self.print(vars(module)[n], depth)) for n in names)

    def frame(self, frame: types.FrameType | None, depth: int) -> Print:
        """How far a generator is."""
        if frame is None:
            return None
        return frame.f_lasti, self.items(frame.f_locals.values(), depth)

    def pairs(self, value: Any, depth: int) -> Print:  # noqa: ANN401  # a dict
        return tuple(map(_plain, value)), self.items(value.values(), depth)

    def items(self, value: Any, depth: int) -> Print:  # noqa: ANN401  # a sequence
        held = tuple(value)
        kinds = set(map(type, held))
        if len(kinds) == 1 and kinds <= EXACT:  # most are, and are compared at once
            return kinds.pop(), held
        if kinds <= ATOMS:
            return tuple(map(_atom, held))
        return tuple(self.print(item, depth) for item in held)


ATOMS: Final = frozenset((type(None), bool, int, float, complex, str, bytes))
"""Classes of values that are what they are."""

EXACT: Final = ATOMS - {float, complex}
"""Of these, those whose values equal themselves, and no others of their class."""


def _atom(value: Any) -> Print:  # noqa: ANN401  # of such a class
    """Its class and itself: True equals 1, but is not what 1 was."""
    kind: type = value.__class__
    return kind, _exact(value)


def _exact(value: object) -> object:
    """A number as text where `==` does not tell it: NaN, and the two zeros."""
    match value:
        case float():
            return float.__repr__(value)
        case complex():
            return complex.__repr__(value)
        case _:
            return value


def _plain(value: object) -> Print:
    """The print of what can be hashed, by `==` if it is no atom."""
    return _atom(value) if isinstance(value, tuple(ATOMS)) else value


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
    (tuple(ATOMS), lambda _, v, __: _exact(v)),
    ((dict, types.MappingProxyType), _Look.pairs),
    ((list, tuple, deque), _Look.items),
    ((set, frozenset), lambda _, v, __: frozenset(map(_plain, v))),
    ((bytearray, array), lambda _, v, __: bytes(v)),
    (
        (StringIO, BytesIO),
        lambda _, v, __: None if v.closed else (v.getvalue(), v.tell()),
    ),
    (
        (types.SimpleNamespace, threading.local, UserDict, UserList),
        lambda look, v, depth: look.pairs(vars(v), depth),
    ),
    ((queue.Queue, queue.SimpleQueue), lambda _, v, __: v.qsize()),
    (types.GeneratorType, lambda look, v, depth: look.frame(v.gi_frame, depth)),
    (random.SystemRandom, lambda _, v, __: Same(v)),
    (random.Random, lambda _, v, __: v.getstate()),
    (itertools.count, lambda _, v, __: repr(v)),
    (Iterator, lambda _, v, __: length_hint(v)),
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
