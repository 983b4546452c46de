"""A run in a machine: watched by laws, refused what does not fit, and forked."""

import functools
from collections.abc import Callable
from typing import Concatenate, Final, ParamSpec

from attrs import define, evolve, field
from returns.result import Failure

from loopcore.config import AnyConfig
from loopcore.effects import Effect, RunTool
from loopcore.inputs import Abort, Answer, Input, Prompt
from loopcore.messages import AssistantMessage
from loopcore.reducer import advance
from loopcore.state import Rejected, State
from loopcore.testing.explore.found import Counterexample
from loopcore.testing.invariants import Broken, Coded, Law, Watch, hold
from loopcore.testing.invariants.moment import Unheld
from loopcore.testing.invariants.sentences import ANSWERS_ARE_TAKEN
from loopcore.testing.invariants.watch import look
from loopcore.testing.machine.moves import Reaction
from loopcore.testing.machine.settling import PLAIN, Settling
from loopcore.testing.machine.shrink import Act, Way, shortest
from loopcore.testing.strategies.history import renumber
from loopcore.tools import ToolOutput

RUN_ID: Final = "r"
MOST: Final = 50
"""After how many answers a run that goes on is aborted, unless it is said when it ends."""

KINDS: Final = {
    *("busy", "empty", "bad_message", "nothing_to_continue", "not_running", "taken"),
    *("unstepped", "wrong_kind", "duplicate", "stranger", "invalid_arguments"),
}

DOOR: Final = "a refusal says why, and changes nothing"
LATE: Final = "D15: an answer to what does not wait is refused, and told why"
CLOCK: Final = "D17: time does not go back"
FOLD: Final = (
    "2, 9: a state is the fold of what it was given, however often it was saved"
)
FICKLE: Final = (
    "; a hook that says other things from time to time does this (check_hooks names it)"
)
UNFOLDED: Final = "it is {}, not {}" + FICKLE
REFUSED: Final = "it was taken, and is {}" + FICKLE
SETTLES: Final = "11: what is answered everything it asks comes to an end"
ENDLESS: Final = (
    'after {0} answers more (ends={0}) it is {1}; models said "done", and called each tool '
    "in turn"
)
STUCK: Final = "it asks nothing of anybody, and is {}"
STOPS: Final = "5: an abort ends a run"


P = ParamSpec("P")


def done_to(
    method: Callable[Concatenate["MachineRun", P], None],
) -> Callable[Concatenate["MachineRun", P], None]:
    """Something done to a run: what it shows to be broken is told with the way to it.

    It depends on nothing but where the run is, so that it can be done at the end of a
    shorter way too.
    """

    @functools.wraps(method)
    def done(run: "MachineRun", /, *args: P.args, **named: P.kwargs) -> None:
        way = run.taken
        try:
            method(run, *args, **named)
        except Broken as broken:
            run.blame(broken, way, lambda other: method(other, *args, **named))
            raise

    return done


@define(eq=False)
class MachineRun:
    """A run, and what happened to it.

    `ended` tells how an answer to what does not wait any more is to be refused, `broken`
    what was found in it and in all its forks.
    """

    watch: Watch
    first: Watch
    taken: Way = ()
    asked: dict[str, Effect] = field(factory=dict[str, Effect])
    ended: dict[str, str] = field(factory=dict[str, str])
    broken: list[Broken] = field(factory=list[Broken])

    @classmethod
    def of(
        cls,
        config: AnyConfig,
        laws: tuple[Law, ...],
        broken: list[Broken] | None = None,
    ) -> "MachineRun":
        """A run that has not begun."""
        watch = Watch.of(config, *laws, run_id=RUN_ID)
        return cls(watch, watch, broken=[] if broken is None else broken)

    @property
    def state(self) -> State:
        """Where it is."""
        return self.watch.state

    @property
    def config(self) -> AnyConfig:
        """What it is a run of."""
        return self.watch.config.plain

    def fork(self) -> "MachineRun":
        """The same so far; what follows is its own."""
        return evolve(self, asked=dict(self.asked), ended=dict(self.ended))

    def give(self, given: Input, at: float | None = None) -> Rejected | None:
        """Deliver and step, under the eyes of the laws; the refusal if it is refused.

        Raises:
            Broken: with the program that leads to it.
        """
        before = self.state
        try:
            taken = self.watch.take(given, at=at)
        except Broken as broken:
            self.blame(broken, (*self.taken, (given, at)))
            raise
        if isinstance(taken, Failure):
            refused: Rejected = taken.failure()
            self.hold(DOOR, given, refused.kind in KINDS, "it is {}", refused.kind)
            said = str(refused)
            self.hold(DOOR, given, said.endswith((".", ")")), "it says {}", said)
            return refused
        self.watch = taken.unwrap()
        self.taken = (*self.taken, (given, at))
        times = [time for time in (before.now, at) if time is not None]
        now = self.state.now
        wanted = max(times) if times else None
        self.hold(CLOCK, given, now == wanted, "it is {}, not {}", now, wanted)
        self._note(given)
        return None

    def _note(self, given: Input) -> None:
        """What was asked and how it ended."""
        assert self.watch.seen is not None  # noqa: S101  # a step was taken
        effects = self.watch.seen.effects
        self.asked.update((effect.id, effect) for effect in effects.perform)
        self.ended.update(dict.fromkeys(effects.cancel, "stranger"))
        if isinstance(given, Answer):
            self.ended[given.effect_id] = "duplicate"

    @done_to
    def take(self, given: Input, at: float | None = None) -> None:
        """Give it this: something that happens to it, whatever it waits for."""
        self.expect(given, at)

    def expect(self, given: Input, at: float | None = None) -> None:
        """Give it this; an answer to what waits is refused only as an edit that misfits."""
        refused = self.give(given, at)
        fine = (
            not isinstance(given, Answer)
            or refused is None
            or refused.kind == "invalid_arguments"
        )
        self.hold(ANSWERS_ARE_TAKEN, given, fine, "it was refused: {}", refused)

    @done_to
    def stranger(self, effect_id: str) -> None:
        """Answer what nobody ever asked."""
        self.refuse(Answer(effect_id, "hello"), "stranger")

    def refuse(self, given: Answer, kind: str) -> None:
        """Answer what does not wait: it is refused, in this way."""
        refused = self.give(given)
        found = refused.kind if refused else "taken"
        self.hold(LATE, given, found == kind, "it is {}, not {}", found, kind)

    @done_to
    def again(self, n: int) -> None:
        """Answer the nth of what was answered or cancelled before, the newest first."""
        if not self.ended:
            return
        gone = tuple(self.ended)[-1 - n % len(self.ended)]
        here = gone.startswith(f"{self.state.place}.")
        kind = self.ended[gone] if here else "duplicate"
        self.refuse(PLAIN.answer(self.asked[gone]), kind)

    @done_to
    def mistake(self, n: int) -> None:
        """Answer the nth of what waits with what is no answer to it."""
        for effect in self.waits(n):
            value = 3 if isinstance(effect, RunTool) else ToolOutput("?")
            self.refuse(Answer(effect.id, value), "wrong_kind")

    @done_to
    def fail(self, n: int) -> None:
        """Nobody could perform the nth of what waits; a pause is over."""
        for effect in self.waits(n):
            self.expect(effect.fail("nobody could"))

    def waits(self, n: int) -> list[Effect]:
        """The nth effect that it waits for, if there is one."""
        found = self.state.waiting
        return [found[n % len(found)]] if found else []

    @done_to
    def react(self, what: Reaction) -> None:
        """Answer what it waits for; or say something, if it waits for nothing."""
        if not self.state.waiting:
            self.expect(Prompt("again"))
        for effect in self.waits(what.n):
            self.expect(self._renumbered(what.answer(effect)))

    def _renumbered(self, given: Answer) -> Answer:
        """An answer whose calls have ids that no call before them has."""
        if not isinstance(given.value, AssistantMessage):
            return given
        replies = (m for m in self.state.transcript if isinstance(m, AssistantMessage))
        used = sum(len(m.calls) for m in replies)
        return evolve(given, value=renumber(given.value, used))

    @done_to
    def reload(self) -> None:
        """Go on from the state as it is saved and loaded."""
        if self.watch.seen:
            look(Coded(), self.watch.seen)
        loaded = State.loads(self.state.dumps()).unwrap()
        self.watch = self.watch.moved(loaded)

    @done_to
    def refold(self) -> None:
        """Hold that the state is the fold of what it was given."""
        state = self.first.state
        for given, at in self.taken:
            moved = advance(self.config, state, given, at=at)
            if isinstance(moved, Failure):
                self.hold(FOLD, given, None, REFUSED, moved.failure())
            state = moved.unwrap()[0]
        last = self.taken[-1][0]
        same = state == self.state
        self.hold(FOLD, last, same, UNFOLDED, self.state, state)

    @done_to
    def settle(self, *, backwards: bool, ends: int | None = None) -> None:
        """Answer whatever it waits for, oldest or newest first, until it rests for good.

        What goes on for long may still end, so it is aborted, and that is its end; unless
        it is said within how many answers it ends.
        """
        last = self.taken[-1][0]
        self._answer(ends or MOST, Settling(), -1 if backwards else 0)
        if self.state.waiting:
            self.hold(SETTLES, last, ends is None, ENDLESS, ends, self.state)
            self.give(Abort("it goes on"))
            aborted = self.state.stage == "idle"
            self.hold(STOPS, last, aborted, "aborted, it is {}", self.state)
        self.hold(SETTLES, last, self.state.stage == "idle", STUCK, self.state)

    def _answer(self, most: int, settling: Settling, first: int) -> None:
        """Answer so often at most, and as long as it waits for something."""
        for count in range(most):
            waiting = self.state.waiting
            if not waiting:
                return
            answer = self._renumbered(settling.answer(waiting[first]))
            self.hold(ANSWERS_ARE_TAKEN, answer, self.give(answer) is None, "{}", count)

    def hold(
        self,
        law: str,
        given: Input,
        held: object,
        said: str,
        *about: object,
    ) -> None:
        """Say that a law is broken by this input, if something does not hold."""
        try:
            hold(held, said, *about)
        except Unheld as problem:
            raise Broken(law, str(problem), self.state, given) from problem

    def blame(self, broken: Broken, way: Way, act: Act | None = None) -> None:
        """Have it told with the way that leads to it, made short when it is asked for."""
        if broken.find is None:
            first = MachineRun(self.first, self.first)
            broken.find = functools.cache(lambda: _found(first, way, act, broken))
            self.broken.append(broken)

    def __repr__(self) -> str:
        return repr(self.state)


def _found(
    first: MachineRun, way: Way, act: Act | None, broken: Broken
) -> Counterexample:
    """The shortest way found to what is broken."""
    found = shortest(first, way, act, broken)
    last = found.broken.given
    way = found.way
    if all(given != last for given, _ in way):  # it was refused, which is what is wrong
        way = (*way, (last, None))
    return Counterexample(
        broken.law,
        found.broken.said,
        tuple(given for given, _ in way),
        first.config,
        first.state,
        tuple(at for _, at in way) if any(at is not None for _, at in way) else (),
    )
