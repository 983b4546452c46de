"""Ready-made rules: each is a function that makes `Hooks`."""

from loopcore.policies.compaction import compact
from loopcore.policies.ends import limits, nudge
from loopcore.policies.guard import ask_before, redact
from loopcore.policies.retrying import retry
from loopcore.policies.room import fit
from loopcore.policies.rounds import estimate
from loopcore.policies.window import sliding_window, truncate_results

__all__ = [
    "ask_before",
    "compact",
    "estimate",
    "fit",
    "limits",
    "nudge",
    "redact",
    "retry",
    "sliding_window",
    "truncate_results",
]
