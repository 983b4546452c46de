"""One simulated run: a virtual clock, a seeded order of arrival, and what goes wrong."""

import heapq
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

from attrs import define, evolve, field, frozen

from loopcore.effects import CallModel, Effect, RunTool
from loopcore.frozen import FrozenDict
from loopcore.history import repair
from loopcore.inputs import Abort, Answer, Input
from loopcore.runtime.live import given_up
from loopcore.state import Rejected, State
from loopcore.testing.explore.choices import Unsaid
from loopcore.testing.invariants import Broken
from loopcore.testing.invariants.sentences import ALL_IS_SAID, ANSWERS_ARE_TAKEN
from loopcore.testing.simulate.outside import Outside, Performed
from loopcore.testing.simulate.plan import Beside, Plan
from loopcore.testing.simulate.process import Memory
from loopcore.testing.simulate.recorded import Died, Recorded

Do: TypeAlias = Callable[[], None]

LONGEST: Final = 1_000
"""How many inputs a run may take before it counts as one that does not end."""

DEATHS: Final = 50
"""How often its process may end before it counts as a run that gets nowhere."""


@frozen
class Happened:
    """Something that happened: when, the input if it was one, and a word about it.

    `kept` says that the run is the fold of it: it was not refused, nor lost by a crash.
    """

    at: float
    given: Input | None = None
    word: str = ""
    kept: bool = True


@frozen(eq=False)
class Ended:
    """How a simulated run ended. `broken` is the law that does not hold, if one does not."""

    state: State
    seconds: float
    inputs: int
    faults: tuple[str, ...]
    happened: tuple[Happened, ...]
    broken: Broken | None


def simulated(plan: Plan, path: Path) -> Ended:
    """How a run of this plan ends; its journal, if it has one, is kept at this path.

    Raises:
        Rejected: if the run cannot take what it is given first.
    """
    process = _process(plan, path)
    run = SimulatedRun(plan, process)
    broken: Broken | None = None
    try:
        run.go()
    except Broken as found:
        broken = found
    finally:
        process.close()
    return run.ended(broken)


def _process(plan: Plan, path: Path) -> Memory | Recorded:
    memory = Memory.of(plan)
    if not plan.recorded:
        return memory
    path.unlink(missing_ok=True)
    return Recorded(plan, path, memory)


@define(eq=False)
class SimulatedRun:
    """A run that goes on. The queue has what will happen, by its time."""

    plan: Plan
    process: Memory | Recorded
    outside: Outside = field(init=False)
    now: float = 0.0
    queue: list[tuple[float, float, int, Do]] = field(
        factory=list[tuple[float, float, int, Do]]
    )
    beside: list[Beside] = field(factory=list[Beside])
    flying: set[str] = field(factory=set[str])
    performed: Counter[str] = field(factory=Counter[str])
    faults: list[str] = field(factory=list[str])
    happened: list[Happened] = field(factory=list[Happened])
    pushed: int = 0
    lives: int = 0
    down: bool = False
    given: int = 0
    newest: Input = field(factory=Abort)

    def __attrs_post_init__(self) -> None:
        self.outside = Outside(self.plan)
        self.beside = list(self.plan.beside)

    @property
    def state(self) -> State:
        """Where it stands."""
        return self.process.state

    def ended(self, broken: Broken | None) -> Ended:
        """How it ended."""
        return Ended(
            self.state,
            self.now,
            self.state.inputs,
            tuple(self.faults),
            tuple(self.happened),
            broken,
        )

    def go(self) -> None:
        """Let everything happen, in the order of its time.

        Raises:
            Broken: if a law does not hold.
        """
        self.after(0.0, self.open)
        while self.queue or self.beside:
            if not self.queue:
                self.push_beside(self.beside[0].moment)
            self.now, _, _, do = heapq.heappop(self.queue)
            try:
                do()
            except Died as died:
                self.die(died)
            except Unsaid as problem:
                raise self.broken(ALL_IS_SAID, str(problem)) from problem
        self.hold(self.state.stage == "idle", ENDS, "nothing happens any more to {}")
        history = tuple(self.state.transcript)
        self.hold(repair(history) is history, PAIRED, "this is not so in {}")

    def open(self, lost: frozenset[str] = frozenset()) -> None:
        """A process begins: it takes what it is given, and gives up what was under way."""
        while self.given < len(self.plan.given):
            try:
                refused = self.take(self.plan.given[self.given])
            except Died as died:
                self.given += died.whole
                raise
            if refused is not None:
                raise refused
            self.given += 1
        for answer in given_up(self.state, lost):
            self.take(answer, "was under way")
        self.start()

    def start(self) -> None:
        """Perform what is wanted and not yet under way."""
        wanted = [e for e in self.state.waiting if e.id not in self.flying]
        tools = [effect for effect in wanted if isinstance(effect, RunTool)]
        if tools:
            self.process.started(*(effect.id for effect in tools))
        elsewhere = [effect.id for effect in tools if effect.spec.elsewhere]
        if elsewhere:
            self.process.left(*elsewhere)
        for effect in wanted:
            self.perform(effect)

    def perform(self, effect: Effect) -> None:
        """Have an effect performed: its answer will arrive."""
        self.flying.add(effect.id)
        self.count(effect)
        done = self.outside.perform(self.state, effect, self.now)
        self.faults += done.faults
        self.after(done.seconds, partial(self.arrive, effect, done, self.lives))
        if done.again is not None:
            again = partial(self.arrive_again, done, self.lives)
            self.after(done.seconds + done.again, again)

    def count(self, effect: Effect) -> None:
        """A tool that reports what became of it is run once."""
        if isinstance(effect, RunTool) and not effect.spec.elsewhere:
            self.performed[effect.id] += 1
            once = effect.spec.on_interrupt == "retry" or self.performed[effect.id] == 1
            self.hold(once, ONCE, f"{effect.id} was run again in {{}}")

    def arrive(self, effect: Effect, done: Performed, life: int) -> None:
        """An answer arrives; what nobody waits for has been cancelled, or is late."""
        if life != self.lives:
            return
        if any(waiting.id == effect.id for waiting in self.state.waiting):
            self.answer(effect, done)
            self.start()
        elif done.late:
            self.refuse(done.answer, "came too late")

    def arrive_again(self, done: Performed, life: int) -> None:
        """An answer arrives for the second time."""
        if life == self.lives:
            self.refuse(done.answer, "came twice")

    def answer(self, effect: Effect, done: Performed) -> None:
        """What waits takes its answer; an edit that does not fit is a refusal."""
        word = ", ".join(fault.split()[0] for fault in done.faults)
        refused = self.take(done.answer, word)
        if refused is None:
            return
        self.hold(
            refused.kind == "invalid_arguments", ANSWERS_ARE_TAKEN, f"{refused} {{}}"
        )
        self.take(effect.fail(str(refused)), "the edit does not fit")

    def refuse(self, answer: Answer, word: str) -> None:
        """An answer to what does not wait is refused, and changes nothing."""
        before = self.state
        refused = self.take(answer, word)
        self.hold(refused and self.state is before, REFUSES, f"one that {word}: {{}}")

    def take(self, given: Input, word: str = "") -> Rejected | None:
        """Give the run an input; what is to happen beside it happens next."""
        self.newest = given
        self.happened.append(Happened(self.now, given, word))
        try:
            refused = self.process.take(given, self.now)
        except Died as died:
            self.happened[-1] = Happened(self.now, given, word, died.whole)
            raise
        if refused is not None:
            told = f"{word}: refused".strip(": ")
            self.happened[-1] = Happened(self.now, given, told, kept=False)
            return refused
        inputs = self.state.inputs
        self.hold(inputs < LONGEST, ENDS, f"after {LONGEST} inputs it is {{}}")
        self.push_beside(inputs)
        return None

    def push_beside(self, until: int) -> None:
        """What happens beside, up to this moment, happens now."""
        while self.beside and self.beside[0].moment <= until:
            self.after(0.0, partial(self.happen, self.beside.pop(0)))

    def happen(self, beside: Beside) -> None:
        """Something happens beside; what a process did not keep happens again."""
        if self.down:
            self.beside.insert(0, beside)
            return
        try:
            self.take(self.with_partials(beside.given), "beside")
        except Died as died:
            if not died.whole:
                self.beside.insert(0, beside)
            raise
        self.start()

    def with_partials(self, given: Input) -> Input:
        """An abort keeps what had been streamed."""
        if not isinstance(given, Abort):
            return given
        models = (e for e in self.state.waiting if isinstance(e, CallModel))
        found = ((e.id, self.outside.partial(self.state, e)) for e in models)
        return evolve(given, partials=FrozenDict((k, p) for k, p in found if p))

    def die(self, died: Died) -> None:
        """The process ends, and all that was on its way to it is lost."""
        self.lives, self.down = self.lives + 1, True
        self.flying.clear()
        self.faults.append(died.fault)
        self.happened.append(Happened(self.now, None, died.why))
        self.hold(self.lives < DEATHS, ENDS, f"its process ended {DEATHS} times: {{}}")
        self.after(died.down * self.plan.draw("down", self.lives), self.restart)

    def restart(self) -> None:
        """Another process goes on."""
        assert isinstance(self.process, Recorded)  # noqa: S101  # no other one dies
        lost, self.down = self.process.resume(), False
        self.happened.append(Happened(self.now, None, "another process goes on"))
        self.open(lost)
        self.push_beside(self.state.inputs)

    def after(self, seconds: float, do: Do) -> None:
        """Have this happen after so many seconds; of a tie, the seed decides."""
        self.pushed += 1
        tie = self.plan.draw("tie", self.pushed)
        at = round(self.now + seconds, 3)
        heapq.heappush(self.queue, (at, tie, self.pushed, do))

    def hold(self, held: object, law: str, said: str) -> None:
        """Say that a law does not hold, if it does not; {} stands for the state."""
        if not held:
            raise self.broken(law, said.format(repr(self.state)))

    def broken(self, law: str, said: str) -> Broken:
        """A law that does not hold now."""
        return Broken(law, said, self.state, self.newest)


REFUSES: Final = "D15: an answer to what does not wait is refused, and changes nothing"
ENDS: Final = "a run ends"
PAIRED: Final = "3: every call has its one result beside it"
ONCE: Final = "D82: a tool that reports what became of it is run once"
