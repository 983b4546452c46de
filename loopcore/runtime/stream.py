"""Watch a run while it goes on, and say something to it."""

from collections import deque
from types import TracebackType
from typing import Generic, Self

from loopcore.config import LoopConfig, T
from loopcore.events import Event
from loopcore.inputs import Abort
from loopcore.reducer import Given, RunResult
from loopcore.runtime.interpreter import Interpreter
from loopcore.runtime.live import JournalLike, Live, beginning
from loopcore.state import State


class Stream(Generic[T]):
    """A run that goes on while its events are asked for, one after the other.

    As an async context manager it may be left early: what is in flight is then cancelled
    and awaited. To be cancelled while it is waited for ends it in the same way.
    """

    def __init__(self, live: Live[T], events: deque[Event]) -> None:
        self._live, self._events = live, events
        self._over = self._closed = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        while not self._events:
            if self._closed or not await self._moved():
                self._over = True
                raise StopAsyncIteration
        return self._events.popleft()

    async def _moved(self) -> bool:
        try:
            return await self._live.move()
        except BaseException:
            await self._close()
            raise

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._close()

    async def _close(self) -> None:
        self._over = self._closed = True
        try:
            await self._live.close()
        finally:
            self._events.clear()

    def __del__(self) -> None:
        self._live.drop()

    def send(self, *given: Given) -> None:
        """Give these to the run; they are taken at once, all or none.

        An abort keeps what models had streamed, and each answer that has arrived, be it
        that nobody asked for events since. One that comes when the run has just stopped is
        too late to matter, and no mistake.

        Raises:
            Rejected: saying why one cannot be taken.
            RuntimeError: if the stream was left, or goes on in another thread.
        """
        if self._closed:
            raise RuntimeError(LEFT)
        if self._live.is_elsewhere:
            raise RuntimeError(ELSEWHERE)
        if any(isinstance(one, Abort) for one in given):
            self._live.land()
        if self.state.stop:
            given = tuple(one for one in given if not isinstance(one, Abort))
        self._live.give(*given)
        self._over = False

    @property
    def state(self) -> State:
        """Where the run is."""
        return self._live.state

    @property
    def result(self) -> RunResult[T]:
        """What the run came to.

        Raises:
            RuntimeError: while it goes on.
        """
        if not self._over:
            raise RuntimeError(GOES_ON)
        return self._live.result


LEFT = (
    "This stream was left, so nobody performs anything any more. Go on with "
    "`run(config, interpreter, ..., state=stream.state)`."
)
ELSEWHERE = (
    "This stream goes on in another thread, such as that of whoever called a tool that is no "
    "`async def`. Write `loop.call_soon_threadsafe(stream.send, ...)`, where `loop` is the "
    "event loop in which the stream is read."
)
GOES_ON = (
    "The run still goes on: iterate to its end (`async for event in stream`) before "
    "asking for its result. `stream.state` is where it is."
)


def stream(
    config: LoopConfig[T],
    interpreter: Interpreter,
    *given: Given,
    state: State | None = None,
    run_id: str | None = None,
    journal: JournalLike | None = None,
) -> Stream[T]:
    """`run`, as an asynchronous iterator of events. What is given is taken at once.

    Raises:
        Rejected: if the run cannot take what is given.
        TypeError: for what a run cannot be given, saying what to write.
        ValueError: if the interpreter lacks what the configuration offers.
    """
    events = deque[Event]()
    start = beginning(config, interpreter, state, run_id)
    live = Live(config, interpreter, start, events.append)
    live.begin(given, journal)
    return Stream(live, events)
