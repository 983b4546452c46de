"""Doubles: models and tools that say what a test tells them to."""

from loopcore.testing.doubles.auto import AutoModel
from loopcore.testing.doubles.effects import EffectScript
from loopcore.testing.doubles.scripted import (
    FunctionModel,
    ScriptedModel,
    ScriptedTools,
)

__all__ = [
    "AutoModel",
    "EffectScript",
    "FunctionModel",
    "ScriptedModel",
    "ScriptedTools",
]
