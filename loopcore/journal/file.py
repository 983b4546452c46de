"""A journal's file while it is written: locked, appended to, and never left half written."""

import os
import sys
from errno import EEXIST
from pathlib import Path
from typing import Final

from loopcore.journal.journal import JournalError
from loopcore.journal.private import private

_FAR: Final = 2**40
"""Where the lock lies on Windows: beyond any byte that is written."""

BUSY: Final = (
    "somebody else writes to it. A journal has one writer: wait until the other run is "
    "over, or give journal= another path."
)
GONE: Final = (
    "somebody removed it while it was written, so nothing more would be kept. Give journal= "
    "a path that stays."
)
TAKEN: Final = "A journal is of one run, and there is one"


class JournalFile:
    """A file to which only this object writes; the lock ends with the process at the latest.

    Args:
        path: where it is.
        new: whether it must not hold anything yet; else it must exist. One that is made is
            its owner's alone.

    Raises:
        FileExistsError: for a new one that holds something.
        JournalError: if somebody else writes to it.
    """

    def __init__(self, path: Path, *, new: bool) -> None:
        self.path, self._process = path, os.getpid()
        if new:
            path.parent.mkdir(parents=True, exist_ok=True)
        opener = private if new else None
        self._file = open(path, "r+b", buffering=0, opener=opener)  # noqa: SIM115  # close() does
        try:
            self._hold(new=new)
        except BaseException:
            self._file.close()
            raise

    def _hold(self, *, new: bool) -> None:
        file = self._file.fileno()
        try:
            _lock(file)
        except OSError:
            raise JournalError(str(self.path), 0, BUSY) from None
        if not self._has_name():  # its writer has just removed it
            raise JournalError(str(self.path), 0, BUSY)
        self.size = self._file.seek(0, os.SEEK_END)
        if new and self.size:
            raise FileExistsError(EEXIST, TAKEN, str(self.path))

    def _has_name(self) -> bool:
        return os.fstat(self._file.fileno()).st_nlink > 0

    def text(self) -> bytes:
        """All that is in it."""
        self._file.seek(0)
        return self._file.readall()

    def cut(self, size: int) -> None:
        """Leave out what stands behind so many bytes."""
        self._file.truncate(size)
        self.size = size

    def append(self, text: bytes, *, sync: bool = False) -> None:
        """Write this at the end and, if asked, wait until it is on the disk.

        Raises:
            OSError: if that fails, naming the file. Then nothing of it is in there, and a
                file that would hold nothing is removed: it would be in the way of another
                try.
            JournalError: if the file has no name any more.
        """
        try:
            if not self._has_name():
                raise JournalError(str(self.path), 0, GONE)  # noqa: TRY301  # as a full disk
            self._write(text)
            if sync:
                self._sync()
        except BaseException as problem:
            self._take_back()
            if isinstance(problem, OSError):
                problem.filename = str(self.path)  # which writing does not name
            raise
        self.size += len(text)

    def close(self) -> None:
        """Let others have the file. One that holds nothing is removed."""
        if self._file.closed:
            return
        if not self.size:
            self._remove()
        if os.getpid() == self._process:  # a fork of it has no say in this
            _unlock(self._file.fileno())
        self._file.close()

    def _remove(self) -> None:
        if self._has_name():  # else what has it now is somebody else's
            self.path.unlink(missing_ok=True)

    def _write(self, text: bytes) -> None:
        self._file.seek(self.size)
        rest = memoryview(text)
        while rest:
            rest = rest[self._file.write(rest) or 0 :]

    def _sync(self) -> None:
        os.fsync(self._file.fileno())
        if not self.size:
            _sync_folder(self.path.parent)

    def _take_back(self) -> None:
        if self.size:
            self._file.truncate(self.size)
        else:
            self._remove()
            self._file.close()


if sys.platform == "win32":
    import msvcrt

    def _sync_folder(folder: Path) -> None:
        """Names of files are written with them there."""

    def _lock(file: int) -> None:
        """Hold the file, or raise OSError."""
        os.lseek(file, _FAR, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

    def _unlock(file: int) -> None:
        """The system does, as the file is closed: nobody else has it open."""

else:
    import fcntl

    def _sync_folder(folder: Path) -> None:
        """Have the names in it on the disk: a file without one is lost."""
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)

    def _lock(file: int) -> None:
        """Hold the file, or raise OSError."""
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _unlock(file: int) -> None:
        """Let it go at once: what was forked meanwhile has the file open, too."""
        fcntl.flock(file, fcntl.LOCK_UN)
