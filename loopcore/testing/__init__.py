"""The proving kit: doubles, laws, every order, and machines. Some of it needs Hypothesis."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from loopcore.testing import faults
from loopcore.testing.doubles import FunctionModel, ScriptedModel, ScriptedTools
from loopcore.testing.doubles_auto import AutoModel
from loopcore.testing.doubles_effects import EffectScript
from loopcore.testing.explore_search import explore
from loopcore.testing.simulate import simulate

if TYPE_CHECKING:
    from loopcore.testing.machine import loop_machine

NEED_HYPOTHESIS: Final = {"loop_machine": "loopcore.testing.machine"}
"""Imported when they are asked for: the extra `testing` brings Hypothesis."""

__all__ = [
    "AutoModel",
    "EffectScript",
    "FunctionModel",
    "ScriptedModel",
    "ScriptedTools",
    "explore",
    "faults",
    "loop_machine",
    "simulate",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401  # what the module has
    if name in NEED_HYPOTHESIS:
        return getattr(import_module(NEED_HYPOTHESIS[name]), name)
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
