"""Journals: a run recorded, and what a fold makes of it without performing anything."""

from loopcore.journal.backtest import Backtest, Finding, backtest
from loopcore.journal.chains import Check, Checked, check, verify
from loopcore.journal.change import Change
from loopcore.journal.diff import Diff, Line, diff
from loopcore.journal.divergence import Divergence
from loopcore.journal.explain import Unknown, explain
from loopcore.journal.folding import Step
from loopcore.journal.fork import Refolded, fork, refold
from loopcore.journal.journal import Journal, JournalError, TornLine
from loopcore.journal.lines import Entry, Note
from loopcore.journal.recorder import Recorder
from loopcore.journal.recording import Recording
from loopcore.journal.replay import Replay, replay
from loopcore.journal.shrink import shrink

__all__ = [
    "Backtest",
    "Change",
    "Check",
    "Checked",
    "Diff",
    "Divergence",
    "Entry",
    "Finding",
    "Journal",
    "JournalError",
    "Line",
    "Note",
    "Recorder",
    "Recording",
    "Refolded",
    "Replay",
    "Step",
    "TornLine",
    "Unknown",
    "backtest",
    "check",
    "diff",
    "explain",
    "fork",
    "refold",
    "replay",
    "shrink",
    "verify",
]
