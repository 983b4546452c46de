"""Hooks and views as bytes for another process, where no module of the program is imported."""

import io
import sys
import weakref
from _thread import LockType
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from functools import lru_cache
from threading import RLock
from types import ModuleType
from typing import Any, Final

import cloudpickle  # type: ignore[import-untyped]  # pyright: ignore[reportMissingTypeStubs]  # it has none
from pyrsistent import PVector

from loopcore.frozen import vector
from loopcore.runtime.model import Model
from loopcore.runtime.purity import is_own
from loopcore.runtime.tool import Tool
from loopcore.testing.elsewhere import cached_of, lock_of, model_of, rlock_of, tool_of


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]  # as above
    """Takes models and tools as their data, vectors as what they hold, locks as new ones."""

    def reducer_override(self, obj: Any) -> Any:  # noqa: ANN401  # pickle's own signature
        for kinds, reduce in REDUCED:
            if isinstance(obj, kinds):
                return reduce(obj)
        otherwise: Any = super().reducer_override(obj)  # pyright: ignore[reportUnknownVariableType]  # as above
        return otherwise


CACHED: Final = type(lru_cache(len))
"""What `functools.cache` and `lru_cache` make."""

WEAK: Final = (weakref.WeakKeyDictionary, weakref.WeakValueDictionary, weakref.WeakSet)
"""What holds others as long as somebody else does: over there nobody does."""

REDUCED: Final[tuple[tuple[Any, Callable[[Any], Any]], ...]] = (
    (Model, lambda v: (model_of, (v.id,))),
    (Tool, lambda v: (tool_of, (v.spec,))),
    (CACHED, lambda v: (cached_of, (v.__wrapped__, v.cache_parameters()))),
    (PVector, lambda v: (vector, (list(v),))),
    (LockType, lambda _: (lock_of, ())),
    (type(RLock()), lambda _: (rlock_of, ())),
    (WEAK, lambda v: (type(v), ())),
)


def pack(values: Iterable[Any]) -> tuple[list[bytes | str], tuple[str, ...]]:
    """Each of these by value, or why it cannot be; and the path of what is imported."""
    with _by_value():
        return [_packed(value) for value in values], tuple(sys.path)


def _packed(value: Any) -> bytes | str:  # noqa: ANN401  # anything
    out = io.BytesIO()
    try:
        _Pickler(out).dump(value)
    except Exception as problem:  # noqa: BLE001  # whatever a hook holds on to
        return str(problem) or type(problem).__name__
    return out.getvalue()


@contextmanager
def _by_value() -> Generator[None]:
    found = (m for m in list(sys.modules.values()) if _is_of_the_program(m))
    registry: Any = cloudpickle.list_registry_pickle_by_value  # it has no types
    known = registry()  # what the program wants so stays so
    named = {module.__name__: module for module in found}
    modules = [module for name, module in named.items() if name not in known]
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
