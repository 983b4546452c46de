"""Rules for a run: pure functions of what they see, merged field by field."""

from loopcore.frozen import UNSET
from loopcore.hooks.fold import Applied, apply
from loopcore.hooks.merge import Allow, Ask, Block
from loopcore.hooks.points import (
    ContextUpdate,
    ContextView,
    ErrorView,
    RawCallUpdate,
    RawCallView,
    ReplyUpdate,
    ReplyView,
    RetryUpdate,
    StopUpdate,
    ToolCallUpdate,
    ToolCallView,
    ToolResultUpdate,
    ToolResultView,
    TurnUpdate,
    TurnView,
)
from loopcore.hooks.rule import Hooks, Need

__all__ = [
    "UNSET",
    "Allow",
    "Applied",
    "Ask",
    "Block",
    "ContextUpdate",
    "ContextView",
    "ErrorView",
    "Hooks",
    "Need",
    "RawCallUpdate",
    "RawCallView",
    "ReplyUpdate",
    "ReplyView",
    "RetryUpdate",
    "StopUpdate",
    "ToolCallUpdate",
    "ToolCallView",
    "ToolResultUpdate",
    "ToolResultView",
    "TurnUpdate",
    "TurnView",
    "apply",
]
