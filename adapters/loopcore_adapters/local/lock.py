"""One at a time, over all processes of a machine."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Final

PATIENCE: Final = 0.1
"""How many seconds pass between two tries."""


@asynccontextmanager
async def alone(path: Path, waiting: Callable[[], None]) -> AsyncGenerator[None]:
    """Hold this lock; `waiting` is called once if somebody else has it.

    It is a lock of SQLite's, since that is the same on every system, and no lock is left
    behind by a process that was killed.
    """
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as lock:
        await _take(lock, waiting)
        yield


async def _take(lock: sqlite3.Connection, waiting: Callable[[], None]) -> None:
    if _taken(lock):
        return
    waiting()
    while not _taken(lock):  # noqa: ASYNC110  # nobody tells other processes
        await asyncio.sleep(PATIENCE)


def _taken(lock: sqlite3.Connection) -> bool:
    try:
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as problem:
        if problem.sqlite_errorcode == sqlite3.SQLITE_BUSY:
            return False
        raise
    return True
