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
    cancelled = False
    while pending := [task for task in tasks if not task.done()]:
        cancelled |= await _hurried(pending)
    for task in tasks:
        if not task.cancelled():
            task.exception()
    if cancelled:
        raise asyncio.CancelledError


async def _hurried(tasks: list[asyncio.Task[Any]]) -> bool:
    """Wait for these; whether this was cancelled meanwhile, and so they were."""
    try:
        await asyncio.wait(tasks)
    except asyncio.CancelledError:
        for task in tasks:
            task.cancel()
        return True
    return False
