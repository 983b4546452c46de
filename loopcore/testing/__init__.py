"""Doubles: models and tools that say what a test tells them to."""

from loopcore.testing.doubles import ScriptedModel, ScriptedTools

__all__ = ["ScriptedModel", "ScriptedTools"]
