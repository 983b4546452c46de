"""Work of others, in threads or tasks that never keep a program from ending."""

import asyncio
import contextvars
import inspect
import logging
import threading
from collections.abc import Awaitable, Callable
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
        await _left(finished, name, grace)
        raise
    return finished.result()


async def _left(finished: asyncio.Future[Any], name: str, grace: float) -> None:
    """Wait for what was told to stop, and say so if it goes on."""
    try:
        await asyncio.wait({finished}, timeout=grace)
    finally:  # also when it is cancelled once more, to hurry it
        if not finished.done():
            LOG.warning(LEFT, name.partition(" (")[0])  # people know no ids


LEFT: Final = (
    "%s was told to stop and still runs in its thread, which nothing can end. Long work "
    "should look at ToolContext.cancelled now and then."
)


async def in_task(
    work: Awaitable[T], name: str, told: Cancelled, grace: float = GRACE
) -> T:
    """What this work gives or raises, in a task of its own.

    Code may swallow its cancellation. If this is cancelled, the work is too; it is waited
    for during `grace` seconds, and then left with a warning that names it.
    """
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        told.set()
        task.cancel()
        await _given_up(task, name, max(grace, LEAST))
        raise
    return task.result()


LEAST: Final = 0.05
"""Seconds that a task which was cancelled has at least: it needs some rounds to end."""


async def _given_up(task: asyncio.Future[Any], name: str, grace: float) -> None:
    """Wait for a task that was cancelled, and leave it if it does not end."""
    loop = asyncio.get_running_loop()
    end = loop.time() + grace
    while not task.done() and (left := end - loop.time()) > 0:
        try:
            await asyncio.wait({task}, timeout=left)
        except asyncio.CancelledError:  # once more, to hurry it
            task.cancel()
            end = min(end, loop.time() + LEAST)
    if task.done():
        _look_at(task)
        return
    LOG.warning(DEAF, name.partition(" (")[0])
    LEFT_ALONE.add(task)
    task.add_done_callback(_look_at)
    if isinstance(task, asyncio.Task):  # else its loop would wait for it at its end
        asyncio._unregister_task(task)  # noqa: SLF001  # documented, if meant for others


LEFT_ALONE: Final = set[asyncio.Future[Any]]()
"""Tasks that did not end when they were cancelled: a task nobody holds is lost."""

DEAF: Final = (
    "%s was cancelled and goes on all the same: it swallows asyncio.CancelledError. Code "
    "that catches it should clean up, and raise it again."
)


def _look_at(task: asyncio.Future[Any]) -> None:
    """Its outcome was seen: nobody wants it any more."""
    LEFT_ALONE.discard(task)
    if not task.cancelled():
        task.exception()


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
        return await in_task(work(), name, told, grace)
    match await in_thread(work, name, told, grace):
        case Success(value) if inspect.isawaitable(value):
            return await in_task(value, name, told, grace)
        case Success(value):
            return value
        case Failure(StopIteration() as problem):  # which no coroutine can raise
            raise RuntimeError(type(problem).__name__) from problem
        case failed:
            raise failed.failure()


def is_async(fn: Callable[..., Any]) -> bool:
    """Whether calling it gives a coroutine."""
    return any(map(inspect.iscoroutinefunction, (fn, plain_function(fn))))
