"""The one driver: performs what a run wants, and gives it the answers as they arrive."""

import asyncio
import threading
from collections import deque
from collections.abc import Container, Iterator
from os import PathLike
from typing import Final, Generic, Literal, TypeAlias

from returns.result import Failure

from loopcore.config import AnyConfig, LoopConfig, T
from loopcore.effects import Effect, RunTool
from loopcore.events import Event
from loopcore.frozen import FrozenDict, evolve
from loopcore.inputs import Abort, Answer, Input
from loopcore.journal import Recorder, Recording
from loopcore.journal.recording import Move, folded, total
from loopcore.reducer import Effects, Given, RunResult, step
from loopcore.runtime.checked import checked
from loopcore.runtime.flight import Flight, Watcher
from loopcore.runtime.interpreter import Interpreter
from loopcore.runtime.slips import input_of, refuse_slips
from loopcore.runtime.tasks import ended
from loopcore.state import Rejected, State

JournalLike: TypeAlias = str | PathLike[str] | Recorder
"""Where a run is recorded: a file, or how it is written."""


class Live(Generic[T]):
    """A run that is going on. Whoever moves it closes it."""

    def __init__(
        self,
        config: LoopConfig[T],
        interpreter: Interpreter,
        state: State,
        watch: Watcher | None = None,
    ) -> None:
        interpreter.check(config)
        self.config, self.state = config, state
        self._stepping = checked(config)
        self._interpreter, self._watch = interpreter, watch
        self._recording: Recording | None = None
        self._flights: dict[str, Flight] = {}
        self._leaving: list[asyncio.Task[Answer | None]] = []
        self._not_here: set[str] = set()
        self._untold, self._telling = deque[Event](), False
        self._woken, self._closed = asyncio.Event(), False
        self._thread: int | None = None

    def begin(self, given: tuple[Given, ...], journal: JournalLike | None) -> None:
        """Take these first. If one is refused, nothing is recorded or performed."""
        state = self.state
        if journal is not None:
            recorder = journal if isinstance(journal, Recorder) else Recorder(journal)
            bare = evolve(state, inbox=None) if state.inbox else state
            self._recording = recorder.open(self.config, bare)
        try:
            self._begin(given)
        except BaseException:
            self._rest()
            raise

    def _begin(self, given: tuple[Given, ...]) -> None:
        state = self.state
        if state.inbox is not None:  # it was delivered and not stepped
            move = Move(state.inbox, *step(self._stepping, state))
            self._take((move,), state.now)
        self.give(*given)
        lost = self._recording.in_flight if self._recording else frozenset[str]()
        for answer in given_up(self.state, lost):
            self.give(answer)

    def give(self, *given: Given) -> None:
        """Record and step these at once: all of them, or none.

        Raises:
            Rejected: saying why one cannot be taken.
        """
        at = self._interpreter.now()
        moves = folded(self._stepping, self.state, map(self._input, given), at)
        if isinstance(moves, Failure):
            raise moves.failure()
        self._take(moves.unwrap(), at)

    async def move(self) -> bool:
        """Perform what is wanted until something happens; False if nothing more can."""
        self._thread = threading.get_ident()
        await self._left()
        if not self._closed:  # meanwhile
            self._start()
        if not self._flights:
            self._rest()
            return False
        await self._woken.wait()
        self.land()
        self._refuse_broken()
        self._woken.clear()
        return True

    def land(self) -> None:
        """Take the answers that have arrived; of a tie, by their place in the run."""
        for effect in self.state.waiting:
            flight = self._flights.get(effect.id)
            if flight and flight.arrived:
                del self._flights[effect.id]
                self._answer(effect, flight.task.result())

    async def close(self) -> None:
        """Take what has arrived, cancel the rest of what is in flight, and await its end."""
        self._closed = True
        try:
            self.land()
        finally:
            self._leave(list(self._flights))
            await self._end()

    async def _end(self) -> None:
        try:
            await self._left()
        finally:  # also when it is cancelled once more, to hurry it
            self._rest()

    def drop(self) -> None:
        """Cancel what is in flight, where nobody can wait."""
        for flight in self._flights.values():
            if not flight.task.get_loop().is_closed():
                flight.task.cancel()
        self._rest()

    @property
    def is_elsewhere(self) -> bool:
        """Whether it is moved in another thread."""
        return self._thread not in (None, threading.get_ident())

    @property
    def result(self) -> RunResult[T]:
        """What the run came to so far."""
        return RunResult.of(self.config, self.state)

    def _input(self, given: Given) -> Input:
        ready = input_of(given)
        return self._with_partials(ready) if isinstance(ready, Abort) else ready

    def _with_partials(self, given: Abort) -> Abort:
        """An abort keeps what had been streamed."""
        found = ((key, flight.partial()) for key, flight in self._flights.items())
        streamed = {key: message for key, message in found if message}
        return evolve(given, partials=FrozenDict({**streamed, **given.partials}))

    def _take(self, moves: tuple[Move, ...], at: float | None) -> None:
        if self._recording and moves:
            self._recording.add(moves, at)
        self._go_to(*total(self.state, moves))

    def _rest(self) -> None:
        """Nothing is under way: the journal is whole, and others may have its file.

        What is said next may be followed in another event loop.
        """
        self._woken, self._thread = asyncio.Event(), None
        if self._recording:
            self._recording.close()

    def _go_to(self, state: State, effects: Effects) -> None:
        self.state = state
        wanted = {effect.id for effect in state.waiting}
        self._leave([key for key in self._flights if key not in wanted])
        self._tell(*effects.tell)
        self._woken.set()

    def _leave(self, unwanted: list[str]) -> None:
        for key in unwanted:
            flight = self._flights.pop(key)
            flight.leave()
            self._leaving.append(flight.task)

    async def _left(self) -> None:
        """Wait until what was cancelled has ended, whoever else waits for it."""
        await ended(self._leaving)
        self._leaving = [task for task in self._leaving if not task.done()]

    def _tell(self, *events: Event) -> None:
        """Tell of these once all before them are told: whoever hears may say something."""
        self._untold.extend(events)
        if self._telling:
            return
        self._telling = True
        try:
            while self._untold:
                self._tell_one(self._untold.popleft())
        finally:
            self._telling = False

    def _tell_one(self, event: Event) -> None:
        self._interpreter.tell(event)
        if self._watch:
            self._watch(event)
            self._woken.set()

    def _start(self) -> None:
        wanted = [
            (owner, effect)
            for owner in _runs(self.state)
            for key, effect in owner.pending.items()
            if key not in self._flights and key not in self._not_here
        ]
        self._note("started", [e.id for _, e in wanted if isinstance(e, RunTool)])
        for owner, effect in wanted:
            flight = Flight(effect, owner, self._interpreter, self._tell)
            flight.task.add_done_callback(lambda _: self._woken.set())
            self._flights[effect.id] = flight

    def _note(self, what: Literal["started", "left"], ids: list[str]) -> None:
        if self._recording and ids:
            getattr(self._recording, what)(ids)

    def _refuse_broken(self) -> None:
        """Raise what was raised in the place of an answer."""
        for flight in self._flights.values():
            if flight.task.done():
                flight.task.result()

    def _answer(self, effect: Effect, answer: Answer | None) -> None:
        if answer is None:
            self._not_here.add(effect.id)
            self._note("left", [effect.id] if isinstance(effect, RunTool) else [])
            return
        try:
            self.give(answer)
        except Rejected as refused:  # it is no answer to this effect
            self.give(effect.fail(str(refused)))


def given_up(state: State, in_flight: Container[str]) -> list[Answer]:
    """What becomes of the tools that were under way when a journal was left (D82)."""
    return [
        effect.fail(LOST.format(effect.spec.name), "interrupted")
        for effect in state.waiting
        if isinstance(effect, RunTool)
        and effect.id in in_flight
        and effect.spec.on_interrupt == "report"
    ]


LOST: Final = (
    "The program stopped while {} was running, so whether it took effect is not known. "
    "Find out before you call it again."
)


def _runs(state: State) -> Iterator[State]:
    """The runs nested in this one, and itself, in the order of `State.waiting`."""
    for child in state.children:
        yield from _runs(child)
    yield state


def beginning(
    config: AnyConfig,
    interpreter: Interpreter,
    state: State | None,
    run_id: str | None,
) -> State:
    """The state to go on from: the given one, or a new one."""
    refuse_slips(config, interpreter, state, run_id)
    if state is None:
        return State.start(config, run_id=run_id or interpreter.new_run_id())
    if run_id not in (None, state.run_id):
        message = (
            f"run_id={run_id!r} names a new run, but the state given is of run "
            f"{state.run_id!r}. Leave run_id out to go on with it."
        )
        raise ValueError(message)
    return state
