"""Tasks that are ended do not outlive whoever started them."""

import asyncio

import pytest

from loopcore.runtime.tasks import ended
from tests.leaks import alone


def test_tasks_are_awaited_and_what_they_raise_is_dropped() -> None:
    async def stubborn() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            raise OSError("late") from None

    async def main() -> bool:
        task = asyncio.create_task(stubborn())
        await asyncio.sleep(0)
        task.cancel()
        await ended([task])
        return task.done()

    assert alone(main())


def test_being_cancelled_meanwhile_hurries_them_and_is_passed_on() -> None:
    cancelled: list[str] = []
    once = asyncio.Event()

    async def slow() -> None:
        for how in ("once", "twice"):
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.append(how)
                once.set()

    async def main() -> None:
        task = asyncio.create_task(slow())
        await asyncio.sleep(0)
        task.cancel()
        ending = asyncio.create_task(ended([task]))
        await once.wait()
        ending.cancel()
        await ending

    with pytest.raises(asyncio.CancelledError):
        alone(main())

    assert cancelled == ["once", "twice"]


def test_tasks_that_were_cancelled_are_not_hurried() -> None:
    cancelled: list[str] = []

    async def slow() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.append("once")
            for _ in range(5):
                await asyncio.sleep(0)
            cancelled.append("over")

    async def main() -> None:
        task = asyncio.create_task(slow())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.sleep(0)
        await ended([task])

    alone(main())
    assert cancelled == ["once", "over"]
