"""The same views in another process, whose hash seed is another."""

import dis
import io
import pickle
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from functools import lru_cache
from types import CodeType, ModuleType
from typing import Any, Final

import cloudpickle  # type: ignore[import-untyped]  # pyright: ignore[reportMissingTypeStubs]  # it has none
from attrs import frozen
from pyrsistent import PVector

from loopcore.frozen import vector
from loopcore.hooks.fold import code_of
from loopcore.hooks.points import PointName
from loopcore.hooks.rule import Hooks
from loopcore.runtime.model import Model
from loopcore.runtime.purity import Returned, base, is_own
from loopcore.runtime.tool import Tool
from loopcore.testing.check.asking import place
from loopcore.testing.check.broken import broken, shortened
from loopcore.testing.check.process import process_of
from loopcore.testing.elsewhere import cached_of, model_of, said_text, tool_of


@frozen(eq=False)
class Sample:
    """A hook, a view, and what the hook said about it here."""

    hook: Hooks
    point: PointName
    view: Any
    said: Returned


SEEDS: Final = ("1", "2", "3")


def ask_elsewhere(samples: list[Sample]) -> str:
    """Ask all of this in other processes; why it cannot be asked there, if it cannot.

    Raises:
        Breach: if a hook says something else there.
    """
    if not samples:
        return ""
    try:
        packed = _packed(samples)
    except Exception as problem:  # noqa: BLE001  # whatever a hook holds on to
        return f"the hooks cannot be sent to another process: {problem}"
    here = [said_text(sample.said) for sample in samples]
    sets = any(_suspects(sample.hook, sample.point) for sample in samples)
    for seed in SEEDS if sets else SEEDS[:1]:
        there = process_of(seed).ask(packed)
        if isinstance(there, str):
            return there
        for sample, one, other in zip(samples, here, there, strict=True):
            if one != other:
                raise broken("hash_seed", _other(sample, one, other), sample.view)
    return ""


def _other(sample: Sample, one: str, other: str) -> str:
    where = f"{sample.point} ({place(sample.hook, sample.point)})"
    found = _suspects(sample.hook, sample.point)
    cause = f"It uses {found[0]}. {UNORDERED}" if found else REMEMBERED
    return (
        f"Hook {sample.hook.name!r} gave two answers to the same view at {where}: "
        f"{shortened(one)}, and in another process {shortened(other)}. {cause}"
    )


UNORDERED: Final = (
    "Python orders a set of texts, and hashes them, differently in every process: sort it "
    "(`sorted(...)`), or keep a dict or a list."
)
REMEMBERED: Final = (
    "There it had seen other views before: what it remembers belongs in its memo, which is "
    "saved, forked and replayed with the run (`Hooks(..., memo=...)`, `view.memo`). Or it "
    "depends on the order of a set, which is another one in every process."
)


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]  # as above
    """Takes models and tools as their data, and vectors as what they hold."""

    def reducer_override(self, obj: Any) -> Any:  # noqa: ANN401  # pickle's own signature
        if isinstance(obj, Model):
            return model_of, (obj.id,)
        if isinstance(obj, Tool):
            return tool_of, (obj.spec,)
        if isinstance(obj, CACHED):
            return cached_of, (obj.__wrapped__, obj.cache_parameters())
        if isinstance(obj, PVector):
            return vector, (list[object](obj),)  # pyright: ignore[reportUnknownArgumentType]  # of anything
        otherwise: Any = super().reducer_override(obj)  # pyright: ignore[reportUnknownVariableType]  # as above
        return otherwise


CACHED: Final = type(lru_cache(len))
"""What `functools.cache` and `lru_cache` make."""


def _packed(samples: list[Sample]) -> bytes:
    """The hooks by value: no module of the program is imported over there."""
    out = io.BytesIO()
    with _by_value():
        asked = [(sample.hook, sample.point, sample.view) for sample in samples]
        _Pickler(out).dump(asked)
    return pickle.dumps((sys.path, out.getvalue()))


@contextmanager
def _by_value() -> Generator[None]:
    found = (m for m in list(sys.modules.values()) if _is_of_the_program(m))
    modules = list({module.__name__: module for module in found}.values())
    for module in modules:
        cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in modules:
            cloudpickle.unregister_pickle_by_value(module)


def _is_of_the_program(module: Any) -> bool:  # noqa: ANN401  # others put odd things there
    file = getattr(module, "__file__", None)
    named = isinstance(module, ModuleType) and module.__name__ != "__main__"
    return bool(named and file and is_own(str(file)) and module.__name__ in sys.modules)


def _suspects(hook: Hooks, point: PointName) -> list[str]:
    """Where a hook's code uses what is ordered by hashes, as far as its own file goes."""
    code = code_of(getattr(hook, point))
    return list(_sets_of(code)) if code else []


def _sets_of(code: CodeType) -> Iterable[str]:
    for op in dis.get_instructions(code):
        said = "a set" if op.opname in SETS else HASHED.get(str(op.argval), "")
        if said and (op.opname in SETS or op.opname.startswith("LOAD_GLOBAL")):
            line = op.positions.lineno if op.positions else code.co_firstlineno
            yield f"{said} at {base(code.co_filename)}:{line}"
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _sets_of(inner)


SETS: Final = frozenset(("BUILD_SET", "SET_ADD", "SET_UPDATE"))
HASHED: Final = {
    "set": "a set",
    "frozenset": "a set",
    "hash": "hash(...)",
    "id": "id(...)",
}
