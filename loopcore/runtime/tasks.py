"""Tasks that do not outlive whoever started them."""

import asyncio
from collections.abc import Iterable
from typing import Any


async def ended(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Wait until these, which were cancelled, have ended.

    To cancel them once more would hurry those that clean up; only being cancelled
    meanwhile does that, and is passed on when all have ended. What they raise is dropped:
    nobody wants their answers any more.
    """
    pending: set[asyncio.Task[Any]] = {task for task in tasks if not task.done()}
    cancelled = False
    while pending:
        try:
            await asyncio.wait(pending)
        except asyncio.CancelledError:
            cancelled = True
            for task in pending:
                task.cancel()
        pending = {task for task in pending if not task.done()}
    for task in tasks:
        if not task.cancelled():
            task.exception()
    if cancelled:
        raise asyncio.CancelledError
