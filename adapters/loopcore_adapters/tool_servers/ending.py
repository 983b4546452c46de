"""Waiting for what must not be left behind."""

import asyncio
from typing import Any


async def ended(task: "asyncio.Task[Any]", patience: float) -> None:
    """Wait until it has ended; after so many seconds, cancel it.

    Being cancelled meanwhile changes nothing and is passed on when it has ended.
    """
    cancelled = False
    while not task.done():
        try:
            await _ended_or_cancelled(task, patience)
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        raise asyncio.CancelledError


async def _ended_or_cancelled(task: "asyncio.Task[Any]", patience: float) -> None:
    done, _ = await asyncio.wait({task}, timeout=patience)
    if not done:
        task.cancel()
