"""Rules for a run: pure functions of what they see, merged field by field."""

from loopcore.frozen import UNSET, Unset
from loopcore.hooks.applied import Applied, apply
from loopcore.hooks.merge import (
    Allow,
    Ask,
    Block,
    any_stop,
    both,
    give_up,
    strictest,
)
from loopcore.hooks.rule import Hooks, Need
from loopcore.hooks.updates import (
    ContextUpdate,
    RawCallUpdate,
    ReplyUpdate,
    RetryUpdate,
    StopUpdate,
    ToolCallUpdate,
    ToolResultUpdate,
    TurnUpdate,
    Update,
)
from loopcore.hooks.views import (
    ContextView,
    ErrorView,
    RawCallView,
    ReplyView,
    ToolCallView,
    ToolResultView,
    TurnView,
)

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
    "Unset",
    "Update",
    "any_stop",
    "apply",
    "both",
    "give_up",
    "strictest",
]
