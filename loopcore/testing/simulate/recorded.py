"""A process that records a simulated run, and may end at any write to its journal."""

import contextlib
import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

from attrs import define, field
from returns.result import Failure

from loopcore.inputs import Abort, Input
from loopcore.journal import JournalError, Recorder, Recording, replay
from loopcore.journal.file import JournalFile
from loopcore.journal.journal import parsed
from loopcore.journal.replay import Replayed
from loopcore.state import Rejected, State
from loopcore.testing.differences import differences
from loopcore.testing.faults import Crash, FullDisk
from loopcore.testing.invariants import Broken
from loopcore.testing.simulate.plan import Plan, named
from loopcore.testing.simulate.process import Memory

T = TypeVar("T")


class Died(Exception):
    """The process ended: why, after how many seconds another one may go on.

    `fault` is the name of what ended it; `whole` if what it last wrote is all there.
    """

    def __init__(
        self, why: str, down: float, fault: str, *, whole: bool = False
    ) -> None:
        super().__init__(why, down, fault, whole)
        self.why, self.down, self.fault, self.whole = why, down, fault, whole


@define(eq=False)
class Recorded:
    """A process that records its run, and may end at each write.

    `memory` is what the journal has to give back: it takes what was written whole.
    """

    plan: Plan
    path: Path
    memory: Memory
    writes: int = 0
    newest: Input = field(factory=Abort)
    disk: "Disk" = field(init=False)
    recording: Recording = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.disk = Disk(self.path)
        self.recording = self.disk.open(self.plan.config, self.state)

    @property
    def state(self) -> State:
        """Where the run stands."""
        return self.memory.state

    def take(self, given: Input, at: float) -> Rejected | None:
        """Record an input and take it, or say why not.

        Raises:
            Died: if the process ends meanwhile.
        """
        self.newest, size = given, self._size()
        config, state = self.plan.config, self.state
        moved = self._writing(
            lambda: self.recording.advance(config, state, given, at=at)
        )
        if isinstance(moved, Failure):
            return moved.failure()
        died = self._dying(size)
        if died is None or died.whole:
            self.memory.go(given, at, *moved.unwrap())
        if died:
            raise died
        return None

    def started(self, *effect_ids: str) -> None:
        """Note that these are about to be performed."""
        self._note(lambda: self.recording.started(effect_ids))

    def left(self, *effect_ids: str) -> None:
        """Note that these are performed by somebody else."""
        self._note(lambda: self.recording.left(effect_ids))

    def _note(self, write: Callable[[], None]) -> None:
        size = self._size()
        self._writing(write)
        died = self._dying(size)
        if died:
            raise died

    def resume(self) -> frozenset[str]:
        """Another process goes on from the journal: the ids of what was under way.

        Raises:
            Broken: if the journal does not give back what was written to it.
        """
        self.disk.room = None
        try:
            journal = parsed(self._text(), str(self.path))
        except JournalError as problem:
            self._hold(not self.state.inputs, str(problem))
        else:
            self._go_back(replay(self.plan.config, journal))
        if not self.state.inputs:  # nothing of it is known, so it begins anew
            self.path.unlink(missing_ok=True)
        try:
            self.recording = self.disk.open(self.plan.config, self.state)
        except JournalError as problem:
            raise self._broken(str(problem)) from problem
        return self.recording.in_flight

    def close(self) -> None:
        """Let go of the file, as the end of a process does."""
        with contextlib.suppress(OSError):
            self.recording.close()

    def _go_back(self, replayed: Replayed[Any]) -> None:
        if isinstance(replayed, Failure):
            raise self._broken(str(replayed.failure()))
        state = replayed.unwrap().result.state
        if state != self.state:
            wrong = next(differences(self.state, state), None)
            raise self._broken(wrong.line("before", "replayed") if wrong else OTHER)
        self.memory.back(state)

    def _writing(self, write: Callable[[], T]) -> T:
        """Do this; if there is no room for it, nothing of it may be in the file."""
        self.writes += 1
        full = self.plan.hit(FullDisk, self._place)
        if full is None:
            return write()
        before = self._text()
        self.disk.room = int(self.plan.draw("room", self._place) * ROOM)
        try:
            done = write()
        except OSError as problem:
            self.close()
            self._hold(self._text() == before, "a part of it was left in the file")
            why = f"no room on the disk {self._place}"
            raise Died(why, full.down, named(FullDisk, self._place)) from problem
        self.disk.room = None
        return done

    def _dying(self, size: int) -> "Died | None":
        """Whether the process ends at what was just written, and how much of it is there."""
        written = self._size() - size
        crash = self.plan.hit(Crash, self._place) if written else None
        if crash is None:
            return None
        share = self.plan.draw("kept", self._place) * 3 - 1
        kept = int(min(max(share, 0), 1) * written)
        self.close()
        os.truncate(self.path, size + kept)
        why = CRASHED.format(self._place, kept, written)
        name = named(Crash, self._place)
        return Died(why, crash.down, name, whole=kept == written)

    @property
    def _place(self) -> str:
        return f"at write {self.writes}"

    def _size(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    def _text(self) -> bytes:
        return self.path.read_bytes() if self.path.exists() else b""

    def _hold(self, held: object, said: str) -> None:
        if not held:
            raise self._broken(said)

    def _broken(self, said: str) -> Broken:
        return Broken(GIVES_BACK, said, self.state, self.newest)


ROOM: Final = 300
CRASHED: Final = "crash {}, of which {} of {} bytes are there"
OTHER: Final = "it gives back another state"
GIVES_BACK: Final = "2: a journal gives back the run that was written to it"


class Disk(Recorder):
    """A recorder on a disk that may be full: `room` is how many bytes still fit."""

    room: int | None = None

    def file(self, *, new: bool) -> JournalFile:
        """A file on this disk."""
        return _File(self, new=new)


class _File(JournalFile):
    def __init__(self, disk: Disk, *, new: bool) -> None:
        self._disk = disk
        super().__init__(disk.path, new=new)

    def _write(self, text: bytes) -> None:
        room = self._disk.room
        if room is None:
            super()._write(text)
            return
        super()._write(text[:room])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
