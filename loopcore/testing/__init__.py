"""Doubles: models and tools that say what a test tells them to."""

from loopcore.testing.doubles import FunctionModel, ScriptedModel, ScriptedTools
from loopcore.testing.doubles_auto import AutoModel
from loopcore.testing.doubles_effects import EffectScript
from loopcore.testing.explore_search import explore

__all__ = [
    "AutoModel",
    "EffectScript",
    "FunctionModel",
    "ScriptedModel",
    "ScriptedTools",
    "explore",
]
