"""Journals: a run recorded, and what a fold makes of it without performing anything."""

from loopcore.journal.divergence import Divergence
from loopcore.journal.folding import Step
from loopcore.journal.fork import Refolded, fork, refold
from loopcore.journal.journal import Journal, JournalError, TornLine
from loopcore.journal.lines import Entry, Note
from loopcore.journal.recorder import Recorder
from loopcore.journal.recording import Recording
from loopcore.journal.replay import Replay, replay

__all__ = [
    "Divergence",
    "Entry",
    "Journal",
    "JournalError",
    "Note",
    "Recorder",
    "Recording",
    "Refolded",
    "Replay",
    "Step",
    "TornLine",
    "fork",
    "refold",
    "replay",
]
