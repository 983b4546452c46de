"""Marks of a configuration: digests by which two of them can be told apart.

They are hints. A journal is true of any configuration under which it replays.
"""

import functools
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from types import CodeType, FunctionType, MethodType
from typing import Any, Final, TypeAlias

import attrs

from loopcore.codec import to_json
from loopcore.config import AnyConfig, Nested
from loopcore.frozen import UNSET, FrozenDict, Json
from loopcore.hooks import Hooks
from loopcore.hooks.code import code_of
from loopcore.journal.digests import digest_of

PLAIN: Final = (str, int, float, bool, type(None), bytes)

DEEP: Final = 9
"""How deep is looked into what functions hold: it may hold itself."""

MOST: Final = 100
"""How many items of a list are looked at: a rule may hold a large one."""

Held: TypeAlias = Any
"""Whatever a function holds."""

SLOTTED: Final[Any] = tuple
"""The state of an object that has slots: its dict and theirs."""


def config_digest(config: AnyConfig) -> str:
    """A digest of everything in a configuration that is data."""
    return digest_of(_told(config))


def _told(config: AnyConfig) -> Json:
    wanted = config.wanted
    return [
        to_json(config.settings),
        [hook.name for hook in config.hooks],
        [_told(tool.config) for tool in config.tools if isinstance(tool, Nested)],
        wanted.schema if wanted else None,
        [config.optional, config.repairs, config.parallel],
        [config.steering, config.follow_ups],
    ]


def hook_digests(config: AnyConfig) -> FrozenDict[str]:
    """A digest of each hook's code, by its name."""
    return FrozenDict((hook.name, hook_digest(hook)) for hook in config.hooks)


def hook_digest(hook: Hooks) -> str:
    """A digest of a hook's functions: their code, and the plain values that they hold."""
    told = {point: _function(f) for point, f in hook.functions.items()}
    return digest_of([told, sorted(hook.tools or ()), hook.fail_closed])


def _function(function: Held, deep: int = DEEP) -> Json:
    """The code of a function, a partial or an object that is called, and what it holds."""
    code = code_of(function)
    told = _code(code) if isinstance(code, CodeType) else _kind(function)
    return [told, [_held(value, deep - 1) for value in _values(function)]]


def _values(function: Held) -> Iterator[Held]:
    match function:
        case FunctionType():
            yield from map(_cell, function.__closure__ or ())
            yield from filter(None, (function.__defaults__, function.__kwdefaults__))
        case MethodType():
            yield from (function.__func__, _fields(function.__self__))
        case functools.partial():
            yield from (function.func, function.args, function.keywords)
        case _:
            yield from (type(function), _fields(function))


def _cell(cell: Held) -> Held:
    try:
        return cell.cell_contents
    except ValueError:  # it holds nothing yet
        return UNSET


def _fields(record: object) -> dict[str, Held]:
    """All that an object holds, without asking its own class."""
    state: Any = object.__getstate__(record)
    parts: Iterable[Any] = state if isinstance(state, SLOTTED) else (state,)
    return {name: value for part in parts if part for name, value in part.items()}


def _held(value: Held, deep: int) -> Json:
    if isinstance(value, PLAIN):
        return repr(value)
    if isinstance(value, type):
        return value.__qualname__
    if deep <= 0:
        return _kind(value)
    if callable(value):
        return _function(value, deep)
    return [_kind(value), [_held(item, deep - 1) for item in _items(value)]]


def _items(value: Held) -> list[Held]:
    """What is in a list or a record, in an order that is the same in every process."""
    for kinds, listed in LISTED.items():
        if isinstance(value, kinds):
            return listed(value)
    return [_fields(value)] if attrs.has(value.__class__) else []


LISTED: Final[dict[tuple[type, ...], Callable[[Any], list[Held]]]] = {
    (tuple, list): lambda value: list(islice(value, MOST)),
    (set, frozenset): lambda value: sorted(str(_held(v, 1)) for v in value)[:MOST],
    (dict,): lambda value: sorted(islice(value.items(), MOST), key=_key),
}


def _key(item: tuple[object, Held]) -> str:
    return str(_held(item[0], 1))


def _kind(value: object) -> str:
    return type(value).__qualname__


def _code(code: CodeType) -> Json:
    """Byte code and constants. Where a function stands in its file does not count."""
    consts = [_const(const) for const in code.co_consts]
    return [code.co_code.hex(), list(code.co_names), consts]


def _const(value: object) -> Json:
    if isinstance(value, CodeType):
        return _code(value)
    if isinstance(value, frozenset):  # its own order is by the hash seed
        return sorted(map(repr, value))  # pyright: ignore[reportUnknownArgumentType]
    return repr(value)
