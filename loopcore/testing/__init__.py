"""The proving kit: doubles, laws, every order, and machines. Some of it needs Hypothesis."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from loopcore.testing import faults
from loopcore.testing.doubles import FunctionModel, ScriptedModel, ScriptedTools
from loopcore.testing.doubles.auto import AutoModel
from loopcore.testing.doubles.effects import EffectScript
from loopcore.testing.explore.search import explore
from loopcore.testing.simulate import simulate

if TYPE_CHECKING:
    from loopcore.testing import strategies
    from loopcore.testing.check import check_hooks
    from loopcore.testing.laws import check_merge_laws
    from loopcore.testing.machine import loop_machine

NEED_HYPOTHESIS: Final = {
    "check_hooks": "loopcore.testing.check",
    "check_merge_laws": "loopcore.testing.laws",
    "loop_machine": "loopcore.testing.machine",
    "strategies": "loopcore.testing",
}
"""Imported when they are asked for: the extra `testing` brings Hypothesis."""

__all__ = [
    "AutoModel",
    "EffectScript",
    "FunctionModel",
    "ScriptedModel",
    "ScriptedTools",
    "check_hooks",
    "check_merge_laws",
    "explore",
    "faults",
    "loop_machine",
    "simulate",
    "strategies",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401  # what the module has
    if name in NEED_HYPOTHESIS:
        return _with_hypothesis(name, NEED_HYPOTHESIS[name])
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)


def _with_hypothesis(name: str, module: str) -> Any:  # noqa: ANN401  # as above
    try:
        if name == "strategies":
            return import_module(f"{module}.{name}")
        return getattr(import_module(module), name)
    except ModuleNotFoundError as missing:
        if missing.name not in ("hypothesis", "cloudpickle"):
            raise
        message = (
            f"loopcore.testing.{name} needs {missing.name}: "
            '`pip install "loopcore[testing]"`.'
        )
        raise ModuleNotFoundError(message, name=missing.name) from None
