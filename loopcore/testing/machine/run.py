"""A run in a machine: watched by laws, refused what does not fit, and forked."""

import functools
from typing import Final, NoReturn

from attrs import define, field
from returns.result import Failure

from loopcore.config import AnyConfig
from loopcore.effects import Effect
from loopcore.frozen import evolve
from loopcore.inputs import Abort, Answer, Input, Prompt
from loopcore.messages import AssistantMessage
from loopcore.reducer import advance
from loopcore.state import Rejected, State
from loopcore.testing.explore.found import Counterexample
from loopcore.testing.invariants import Broken, Coded, Law, Moment, Watch, hold
from loopcore.testing.invariants.moment import Unheld
from loopcore.testing.invariants.sentences import ANSWERS_ARE_TAKEN
from loopcore.testing.invariants.watch import look
from loopcore.testing.machine.moves import Reaction
from loopcore.testing.machine.shrink import Way, shortest
from loopcore.testing.strategies.history import renumber

RUN_ID: Final = "r"
MOST: Final = 40
"""How many answers a run gets until it is stopped."""

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
SETTLES: Final = "11: what is answered everything it asks comes to an end"


@define(eq=False)
class MachineRun:
    """A run, and what happened to it.

    `ended` tells how an answer to what does not wait any more is to be refused.
    """

    watch: Watch
    first: Watch
    taken: Way = ()
    asked: dict[str, Effect] = field(factory=dict[str, Effect])
    ended: dict[str, str] = field(factory=dict[str, str])

    @classmethod
    def of(cls, config: AnyConfig, laws: tuple[Law, ...]) -> "MachineRun":
        """A run that has not begun."""
        watch = Watch.of(config, *laws, run_id=RUN_ID)
        return cls(watch, watch)

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
        return MachineRun(
            self.watch, self.first, self.taken, dict(self.asked), dict(self.ended)
        )

    def give(self, given: Input, at: float | None = None) -> Rejected | None:
        """Deliver and step, under the eyes of the laws; the refusal if it is refused.

        Raises:
            Broken: with the program that leads to it.
        """
        before = self.state
        try:
            taken = self.watch.take(given, at=at)
        except Broken as broken:
            self.blame(broken, given, at)
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

    def expect(self, given: Input, at: float | None = None) -> None:
        """Give it this; an answer to what waits is refused only as an edit that misfits."""
        refused = self.give(given, at)
        fine = (
            not isinstance(given, Answer)
            or refused is None
            or refused.kind == "invalid_arguments"
        )
        self.hold(ANSWERS_ARE_TAKEN, given, fine, "it was refused: {}", refused)

    def refuse(self, given: Answer, kind: str) -> None:
        """Answer what does not wait: it is refused, in this way."""
        refused = self.give(given)
        found = refused.kind if refused else "taken"
        self.hold(LATE, given, found == kind, "it is {}, not {}", found, kind)

    def again(self, n: int) -> None:
        """Answer the nth of what was answered or cancelled before, the newest first."""
        gone = tuple(self.ended)[-1 - n % len(self.ended)]
        here = gone.startswith(f"{self.state.place}.")
        kind = self.ended[gone] if here else "duplicate"
        self.refuse(PLAIN.answer(self.asked[gone]), kind)

    def waits(self, n: int) -> list[Effect]:
        """The nth effect that it waits for, if there is one."""
        found = self.state.waiting
        return [found[n % len(found)]] if found else []

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

    def reload(self) -> None:
        """Go on from the state as it is saved and loaded."""
        if self.watch.seen:
            self.look(Coded(), self.watch.seen)
        loaded = State.loads(self.state.dumps()).unwrap()
        self.watch = self.watch.moved(loaded)

    def look(self, law: Law, moment: Moment) -> None:
        """Let one more law see a step, that has seen none before."""
        try:
            look(law, moment)
        except Broken as broken:
            self.blame(broken, moment.given)

    def refold(self) -> None:
        """Hold that the state is the fold of what it was given."""
        state = self.first.state
        for given, at in self.taken:
            state = advance(self.config, state, given, at=at).unwrap()[0]
        last = self.taken[-1][0]
        self.hold(
            FOLD, last, state == self.state, "it is {}, not {}", self.state, state
        )

    def settle(self, *, backwards: bool) -> None:
        """Answer whatever it waits for, oldest or newest first, until it rests for good."""
        for _ in range(MOST):
            waiting = self.state.waiting
            if not waiting:
                break
            self.expect(PLAIN.answer(waiting[-1 if backwards else 0]))
        if self.state.stage != "idle":
            self.give(Abort("it goes on and on"))
        last = self.taken[-1][0]
        rests = self.state.stage == "idle"
        self.hold(SETTLES, last, rests, "it is {}", self.state.stage)

    def hold(
        self,
        law: str,
        given: Input,
        held: object,
        said: str,
        *about: object,
    ) -> None:
        """Blame this input, if something does not hold."""
        try:
            hold(held, said, *about)
        except Unheld as problem:
            self.blame(Broken(law, str(problem), self.state, given), given)

    def blame(self, broken: Broken, given: Input, at: float | None = None) -> NoReturn:
        """Raise it, with the program that leads to it, made short when it is printed."""
        way = (*self.taken, (given, at))
        broken.program = functools.cache(lambda: self._program(way, broken))
        raise broken

    def _program(self, way: Way, broken: Broken) -> str:
        inputs, said = shortest(self.first, way, broken)
        first = self.first.state
        found = Counterexample(broken.law, said, inputs, self.config, first)
        return "\n".join(found.lines())

    def __repr__(self) -> str:
        return repr(self.state)


PLAIN: Final = Reaction()
"""What makes the least trouble."""
