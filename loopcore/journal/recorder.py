"""`Recorder`: how a journal is written, for `journal=` or for whoever drives by hand."""

from pathlib import Path
from typing import Final, Literal, TypeAlias

from loopcore.config import AnyConfig
from loopcore.hiding import Patterns, hide_record, hider_of
from loopcore.journal.digests import Digests
from loopcore.journal.file import JournalFile
from loopcore.journal.journal import AnyPath, JournalError, header_for, parsed
from loopcore.journal.lines import Chain, Note, header_data, note_data
from loopcore.journal.recording import Recording
from loopcore.journal.trail import misfit
from loopcore.state import State

Flush: TypeAlias = Literal["input", "turn", "none"]
FLUSHES: Final = ("input", "turn", "none")


class Recorder:
    """How a journal is written: for `journal=`, where a path is not enough.

    It may serve one run after the other, if each goes on where the one before ended.

    Args:
        path: the file. One that exists is gone on with, if its last state is the run's.
        flush: when lines are given to the system: at each "input", so that a crash of the
            process loses none; at the end of each "turn"; or "none" before the end.
        fsync: wait each time until they are on the disk, so that no crash loses any.
        redact: regular expressions; what they find is not written. A replay still
            verifies where the configuration only passes such texts on, and with
            `Journal.read(path, redact=...)` where they stand in it. Names by which a run
            is steered stay: of runs, models, tools and hooks.

    Raises:
        ValueError: for another `flush`, or what is no regular expression.
    """

    def __init__(
        self,
        path: AnyPath,
        *,
        flush: Flush = "input",
        fsync: bool = False,
        redact: Patterns = (),
    ) -> None:
        if flush not in FLUSHES:
            listed = ", ".join(map(repr, FLUSHES))
            message = f"Recorder(flush=...) takes one of {listed}; it got {flush!r}"
            raise ValueError(message)
        self.path, self.flush, self.fsync = Path(path), flush, fsync
        self.hide = hider_of(redact)

    def open(self, config: AnyConfig, state: State) -> Recording:
        """Begin to record a run that is in this state, or go on with its file.

        A run that has taken no input yet is new, and its file must be. There is none
        before the first input.

        Raises:
            FileExistsError: if a new run's file exists.
            JournalError: if the file is damaged, of another state, or being written.
        """
        if self._is_free():
            return self._new(config, state)
        if not state.inputs and not self._has_no_input(state):
            raise FileExistsError(EXISTS.format(self.path))
        return self._old(state)

    def file(self, *, new: bool) -> JournalFile:
        """The file to write to; whoever simulates a full disk gives another."""
        return JournalFile(self.path, new=new)

    def _is_free(self) -> bool:
        """Whether nothing is there, or what a process left that had written nothing."""
        path = self.path
        return not path.exists() or (path.is_file() and not path.stat().st_size)

    def _has_no_input(self, state: State) -> bool:
        """Whether it is of this run, whose process ended before its first input was whole."""
        try:
            journal = parsed(self.path.read_bytes(), str(self.path))
        except (OSError, JournalError):
            return False
        return not journal.entries and journal.run_id == state.run_id

    def _new(self, config: AnyConfig, state: State) -> Recording:
        seen = hide_record(state, self.hide) if self.hide else state
        recording = Recording(self)
        recording.write(header_data(header_for(config, seen)))
        return recording

    def _old(self, state: State) -> Recording:
        file = self.file(new=False)
        try:
            return self._after(file, state)
        except BaseException:
            file.close()
            raise

    def _after(self, file: JournalFile, state: State) -> Recording:
        text = file.text()
        journal = parsed(text, str(self.path))
        if wrong := misfit(journal, state, Digests(self.hide)):
            raise JournalError(str(self.path), 0, OTHER.format(wrong, state.run_id))
        size = len(text) - journal.torn
        file.cut(size)
        if not text[:size].endswith(b"\n"):
            file.append(b"\n")
        recording = Recording(self, file, Chain(journal.link), journal.in_flight)
        recording.write(note_data(Note(opened=True)))
        return recording


EXISTS: Final = (
    "{} exists already, and a journal is of one run. Give journal= another path, or remove "
    "it. To go on with the run that it records, replay it and give its last state: "
    "`run(config, interpreter, state=..., journal=...)`."
)
OTHER: Final = (
    "it does not end where run {1!r} stands: {0}. Give journal= a new path, or state= the "
    "last state of this file (`replay(config, journal).unwrap().result.state`)."
)
