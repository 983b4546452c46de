"""A run that a person follows: driven, shown, asked about, and stopped by Ctrl-C."""

import asyncio
import signal
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from types import FrameType

from loopcore import Abort, Given, Rejected, RequestApproval, Stream
from loopcore.cli.person import Ask, decided
from loopcore.cli.show import Ending, Show


class Conversation:
    """One run after the other over one transcript, in one event loop.

    The first Ctrl-C aborts the run that goes on, and keeps what it has. A second one, while
    that takes its time, ends the program.

    Args:
        runner: the event loop.
        live: the stream of its events; it has not begun yet.
        show: who shows them.
        ask: asks the person; None where nobody is there, so that approvals wait.
    """

    def __init__(
        self, runner: asyncio.Runner, live: Stream, show: Show, ask: Ask | None
    ) -> None:
        self._runner, self.live, self._show, self.ask = runner, live, show, ask
        self._later: set[str] = set()
        self._seconds = 0.0
        self.interrupted = False

    def give(self, *given: Given) -> None:
        """Give these to the run, and follow it until it stops or has to wait.

        Raises:
            Rejected: saying why one cannot be taken.
        """
        self._later.clear()
        self._seconds, self.interrupted = 0.0, False
        self.live.send(*given)
        self._runner.run(self._follow())
        while self._decide():
            self._runner.run(self._follow())

    @property
    def ending(self) -> Ending:
        """Where it is now."""
        return Ending(self.live.result, self._seconds)

    async def _follow(self) -> None:
        began = time.perf_counter()
        try:
            await self._shown()
        except BaseException:
            async with self.live:  # what is in flight is cancelled and awaited
                raise
        self._seconds += time.perf_counter() - began

    async def _shown(self) -> None:
        with self._stoppable():
            async for event in self.live:
                self._show.event(event)

    @contextmanager
    def _stoppable(self) -> Generator[None]:
        loop = asyncio.get_running_loop()

        def stop(_number: int, _frame: FrameType | None) -> None:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            loop.call_soon_threadsafe(self._interrupted)

        before = signal.getsignal(signal.SIGINT)
        with suppress(NotImplementedError):  # on Windows
            # A signal now wakes the loop, even one that is about to wait.
            loop.add_signal_handler(signal.SIGINT, lambda: None)
        signal.signal(signal.SIGINT, stop)  # which works while a tool blocks the loop
        try:
            yield
        finally:
            with suppress(NotImplementedError):
                loop.remove_signal_handler(signal.SIGINT)
            signal.signal(signal.SIGINT, before)

    def _interrupted(self) -> None:
        self._show.interrupted()
        self._abort()

    def _abort(self) -> None:
        self.interrupted = True
        with suppress(Rejected):  # it has just come to rest
            self.live.send(Abort())

    def _decide(self) -> bool:
        """Ask about what was not put off; whether anything was decided."""
        before, ask = self.live.state, self.ask
        if ask is None:
            return False
        try:
            for effect in before.approvals:
                self._decide_on(effect, ask)
        except KeyboardInterrupt:
            self._abort()
        return self.live.state is not before

    def _decide_on(self, effect: RequestApproval, ask: Ask) -> None:
        if effect.id in self._later:
            return
        self._show.asked(effect)
        while answer := decided(effect, ask, self._show.say):
            try:
                self.live.send(answer)
            except Rejected as refused:
                self._show.say(str(refused))
            else:
                return
        self._later.add(effect.id)
