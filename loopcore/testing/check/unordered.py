"""What is ordered by hashes: where a hook uses it, and which texts it orders so."""

import dis
from collections.abc import Iterable, Iterator
from types import CodeType, FunctionType
from typing import Any, Final

from loopcore.hooks.code import base, code_of
from loopcore.hooks.points import PointName
from loopcore.hooks.rule import Hooks
from loopcore.runtime.purity import is_own, named_around, reachable

SETS: Final = frozenset(("BUILD_SET", "SET_ADD", "SET_UPDATE"))
HASHED: Final = {
    "set": "a set",
    "frozenset": "a set",
    "hash": "hash(...)",
    "id": "id(...)",
}


def suspects(hook: Hooks, point: PointName) -> tuple[str, ...]:
    """Where a hook's code, and its own that it calls, uses what is ordered by hashes."""
    found = (one for code in codes(hook, point) for one in _sets_of(code))
    return tuple(dict.fromkeys(found))


def held_sets(hook: Hooks, point: PointName) -> tuple[str, ...]:
    """The sets that stand around a hook, and where it reads them."""
    found = (
        f"a set, {root} at {base(root.code.co_filename)}:{root.line}"
        for root, value in named_around(hook.functions[point])
        if isinstance(value, set | frozenset) and len(tuple[Any, ...](value)) > 1  # pyright: ignore[reportUnknownArgumentType]  # of anything
    )
    return tuple(dict.fromkeys(found))


def codes(hook: Hooks, point: PointName) -> Iterator[CodeType]:
    """The code of a hook, and of the functions of its own that it calls."""
    function = hook.functions[point]
    code = code_of(function)
    if code:
        yield code
    for value in reachable(function):
        if isinstance(value, FunctionType) and is_own(value.__code__.co_filename):
            yield value.__code__


def _sets_of(code: CodeType) -> Iterable[str]:
    for op in dis.get_instructions(code):
        said = _said_of(op)
        if said:
            line = op.positions.lineno if op.positions else code.co_firstlineno
            yield f"{said} at {base(code.co_filename)}:{line}"
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _sets_of(inner)


def _said_of(op: dis.Instruction) -> str:
    if op.opname in SETS or isinstance(op.argval, frozenset):
        return "a set"
    is_global = op.opname.startswith("LOAD_GLOBAL")
    return HASHED.get(str(op.argval), "") if is_global else ""


def texts_in_sets(hook: Hooks) -> Iterator[list[str]]:
    """The texts that a hook may put into a set, or that stand in one around it."""
    for point, function in hook.functions.items():
        for value in reachable(function):
            yield from _if_texts(value)
        for code in codes(hook, point):
            yield from _texts_of(code)


def _texts_of(code: CodeType) -> Iterator[list[str]]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _texts_of(constant)
        else:
            yield from _if_texts(constant)
    if next(iter(_sets_of(code)), ""):
        yield from _if_texts(frozenset(c for c in code.co_consts if type(c) is str))


def _if_texts(value: Any) -> Iterator[list[str]]:  # noqa: ANN401  # anything
    """The texts of a small set; a large one has another order in every process."""
    if isinstance(value, set | frozenset):
        some: frozenset[Any] = frozenset(value)  # pyright: ignore[reportUnknownArgumentType]  # of anything
        texts = [v for v in some if type(v) is str]
        if len(texts) > 1 and len(some) <= SMALL:
            yield sorted(texts)


SMALL: Final = 8
