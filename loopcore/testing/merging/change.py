"""Whether a value is as it was, of whatever class it is."""

import types
from collections.abc import Iterable
from copy import deepcopy
from typing import Any, Final, TypeAlias

Seen: TypeAlias = dict[int, tuple[int, object]]
"""What has been looked at, by identity: its number, and itself, so that it stays."""

PLAIN: Final = (bool, int, float, complex, str, bytes, type(None))
ALONE: Final = (type, types.FunctionType, types.BuiltinFunctionType)
"""What has no copies."""

PROTOCOL: Final = 4


def changed(was: Any, now: Any) -> bool:  # noqa: ANN401  # any value
    """Whether `now` differs from `was`, which is an earlier copy of it.

    Where no copy equals what it is a copy of, as of an exception, what both hold decides.
    """
    if was is now or was == now:
        return False
    return bool(deepcopy(now) == now) or _held(was, {}) != _held(now, {})


def _held(value: Any, seen: Seen) -> object:  # noqa: ANN401  # as above
    """What a value holds, as something in which copies are equal."""
    kind = _class(value)
    if kind in PLAIN:
        return kind, repr(value)
    if id(value) in seen:
        return seen[id(value)][0]
    seen[id(value)] = len(seen), value
    if issubclass(_class(value), set | frozenset):
        return kind, sorted(repr(_held(item, {})) for item in value)
    made = _made(value)
    return made if made is None else (kind, [_held(part, seen) for part in made])


def _made(value: Any) -> list[Any] | None:  # noqa: ANN401  # as above
    """What the value would be pickled as; None for what says nothing of itself."""
    kind = _class(value)
    if issubclass(kind, list | tuple):
        return list(value)
    if issubclass(kind, dict):
        return [part for item in value.items() for part in item]
    if issubclass(kind, ALONE):
        return [id(value)]
    try:
        reduced = value.__reduce_ex__(PROTOCOL)
    except Exception:  # noqa: BLE001  # locks and the like
        return None
    if isinstance(reduced, str):
        return [reduced]
    _, arguments, *rest = reduced
    return [arguments, *(list(p) if _is_rest(n, p) else p for n, p in enumerate(rest))]


def _is_rest(place: int, part: object) -> bool:
    """Whether it goes through the items of a list or a dict, after the state."""
    return place > 0 and isinstance(part, Iterable)


def _class(value: Any) -> Any:  # noqa: ANN401  # checkers need not guess of what it is
    return value.__class__
