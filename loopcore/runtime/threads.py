"""Work that blocks, in threads of its own that never keep a program from ending."""

import asyncio
import contextvars
import inspect
import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, TypeAlias, TypeVar

from returns.result import Failure, Success

from loopcore.runtime.context import Cancelled
from loopcore.runtime.parameters import plain_function

T = TypeVar("T")
Finished: TypeAlias = Success[T] | Failure[BaseException]

GRACE: Final = 5.0
"""Seconds that a thread which was told to stop is waited for."""

LOG: Final = logging.getLogger("loopcore")


async def in_thread(
    work: Callable[[], T], name: str, told: Cancelled, grace: float = GRACE
) -> Finished[T]:
    """What this work gives or raises, in a daemon thread with the caller's context.

    A thread cannot be stopped. If this is cancelled, the work is told, waited for
    during `grace` seconds, and then left with a warning that names it.
    """
    loop = asyncio.get_running_loop()
    finished: asyncio.Future[Finished[T]] = loop.create_future()
    context = contextvars.copy_context()

    def body() -> None:
        result = context.run(_finish, work)
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(finished.set_result, result)

    threading.Thread(target=body, name=name, daemon=True).start()
    try:
        await asyncio.wait({finished})
    except asyncio.CancelledError:
        told.set()
        try:
            await asyncio.wait({finished}, timeout=grace)
        finally:  # also when it is cancelled once more, to hurry it
            if not finished.done():
                LOG.warning(LEFT, name.partition(" (")[0])  # people know no ids
        raise
    return finished.result()


LEFT: Final = (
    "%s was told to stop and still runs in its thread, which nothing can end. Long work "
    "should look at ToolContext.cancelled now and then."
)


def _finish(work: Callable[[], T]) -> Finished[T]:
    try:
        return Success(work())
    except BaseException as problem:  # noqa: BLE001  # it is raised where it is awaited
        return Failure(problem)


async def called(
    work: Callable[[], Any], name: str, told: Cancelled, grace: float = GRACE
) -> Any:  # noqa: ANN401  # whatever it returns
    """What this work returns: awaited here if it is asynchronous, else in a thread."""
    if is_async(work):
        return await work()
    match await in_thread(work, name, told, grace):
        case Success(value):
            return await value if inspect.isawaitable(value) else value
        case Failure(StopIteration() as problem):  # which no coroutine can raise
            raise RuntimeError(type(problem).__name__) from problem
        case failed:
            raise failed.failure()


def is_async(fn: Callable[..., Any]) -> bool:
    """Whether calling it gives a coroutine."""
    return any(map(inspect.iscoroutinefunction, (fn, plain_function(fn))))
