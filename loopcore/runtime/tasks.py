"""Tasks that do not outlive whoever started them."""

import asyncio
from collections.abc import Iterable
from typing import Any


async def end(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel these, and wait until all have ended.

    Being cancelled meanwhile hurries them, by cancelling them once more, and is passed on
    when all have ended. What they raise is dropped: nobody wants their answers any more.
    """
    pending, cancelled = {task for task in tasks if not task.done()}, False
    while pending:
        for task in pending:
            task.cancel()
        try:
            await asyncio.wait(pending)
        except asyncio.CancelledError:
            cancelled = True
        pending = {task for task in pending if not task.done()}
    for task in tasks:
        if not task.cancelled():
            task.exception()
    if cancelled:
        raise asyncio.CancelledError
