"""A journal's file while it is written: locked, appended to, and never left half written."""

import os
import sys
from pathlib import Path
from typing import Final

from loopcore.journal.journal import JournalError

_FAR: Final = 2**40
"""Where the lock lies on Windows: beyond any byte that is written."""

BUSY: Final = (
    "somebody else writes to it. A journal has one writer: wait until the other run is "
    "over, or give journal= another path."
)


class JournalFile:
    """A file to which only this object writes; the lock ends with the process at the latest.

    Args:
        path: where it is.
        new: whether it must not exist yet; else it must.

    Raises:
        FileExistsError: for a new one that exists.
        JournalError: if somebody else writes to it.
    """

    def __init__(self, path: Path, *, new: bool) -> None:
        self.path = path
        if new:
            path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("x+b" if new else "r+b", buffering=0)
        try:
            _lock(self._file.fileno())
        except OSError:
            self._file.close()
            raise JournalError(str(path), 0, BUSY) from None
        self.size = self._file.seek(0, os.SEEK_END)

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
            OSError: if that fails. Then nothing of it is in the file, and a file that
                would hold nothing is removed: it would be in the way of another try.
        """
        try:
            self._write(text)
            if sync:
                os.fsync(self._file.fileno())
        except BaseException:
            self._take_back()
            raise
        self.size += len(text)

    def close(self) -> None:
        """Let others have the file."""
        self._file.close()

    def _write(self, text: bytes) -> None:
        self._file.seek(self.size)
        rest = memoryview(text)
        while rest:
            rest = rest[self._file.write(rest) or 0 :]

    def _take_back(self) -> None:
        if self.size:
            self._file.truncate(self.size)
        else:
            self.path.unlink(missing_ok=True)
            self._file.close()


if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> None:
        """Hold the file, or raise OSError."""
        os.lseek(file, _FAR, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: int) -> None:
        """Hold the file, or raise OSError."""
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
