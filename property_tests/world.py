"""A run that is driven by hand, and watched: every step is shown to some laws."""

from collections.abc import Iterable
from typing import Any, Final

import attrs
from attrs import define, field, frozen
from pyrsistent import pvector
from returns.result import Failure

from loopcore import (
    Abort,
    Continue,
    Effect,
    Effects,
    FollowUp,
    Input,
    LoopConfig,
    Prompt,
    Rejected,
    State,
    Steer,
    UserMessage,
    Withdraw,
)
from loopcore.testing.invariants import Law, Moment, Watch, hold
from property_tests.catalogue import PARTIALS, WRONG
from property_tests.programs import Move, Program, Script, Setup

BAD: Final = frozenset(
    (point, id(value)) for point, values in WRONG.items() for value in values
)


@frozen
class Refused:
    """What no hook may return is its failure, whatever the rules of its point say."""

    def see(self, moment: Moment) -> "Refused":
        for one in moment.passes:
            last = one.said[-1]
            wrong = (last.point, id(last.value)) in BAD
            hold(not wrong or one.end == "fault", "{} was taken", last.value)
        return self


RUN_ID: Final = "r"
MOST: Final = 40


@define(eq=False)
class World:
    """A state under a configuration, with everything that happened to it.

    `at` is the time of what is given without one; `reload` saves and loads the state
    before each input.
    """

    watch: Watch
    first: State
    taken: list[tuple[Input, float | None]] = field(
        factory=list[tuple[Input, float | None]]
    )
    gave: list[Effects] = field(factory=list[Effects])
    asked: dict[str, Effect] = field(factory=dict[str, Effect])
    said: int = 0
    at: float | None = None
    reload: bool = False

    @classmethod
    def of(cls, setup: Setup, *laws: Law) -> "World":
        """A run that has not begun."""
        return cls.under(setup.config(), *laws)

    @classmethod
    def under(cls, config: LoopConfig, *laws: Law) -> "World":
        """A run of this configuration that has not begun."""
        watch = Watch.of(config, Refused(), *laws, run_id=RUN_ID)
        return cls(watch, watch.state)

    @property
    def state(self) -> State:
        """Where it is."""
        return self.watch.state

    @property
    def config(self) -> LoopConfig:
        """What it is a run of."""
        return self.watch.config.plain

    def fork(self) -> "World":
        """The same so far; what follows is its own."""
        return World(
            self.watch,
            self.first,
            [*self.taken],
            [*self.gave],
            dict(self.asked),
            self.said,
            self.at,
            self.reload,
        )

    def give(self, given: Input, *, at: float | None = None) -> Rejected | None:
        """Deliver and step, under the eyes of the laws; the refusal if it is refused."""
        at = self.at if at is None else at
        if self.reload:
            loaded = State.loads(self.state.dumps()).unwrap()
            self.watch = self.watch.moved(loaded)
        taken = self.watch.take(given, at=at)
        if isinstance(taken, Failure):
            return taken.failure()
        self.watch = taken.unwrap()
        assert self.watch.seen is not None
        effects = self.watch.seen.effects
        self.taken.append((given, at))
        self.gave.append(effects)
        self.asked.update((effect.id, effect) for effect in effects.perform)
        return None

    def fresh(self, what: str) -> str:
        """A text that nobody said before."""
        self.said += 1
        return f"{what} {self.said}"

    def settle(self, script: Script, *, backwards: bool = False) -> None:
        """Answer whatever it waits for, oldest or newest first, until it rests for good."""
        for _ in range(MOST):
            waiting = self.state.waiting
            if not waiting:
                return
            self.answer(script, waiting[-1 if backwards else 0])
        if self.state.stage != "idle":
            self.give(Abort("it goes on and on"))

    def answer(self, script: Script, effect: Effect) -> None:
        """Answer this as the script says; a decision that is refused becomes a reject."""
        if self.give(script.answer(effect)):
            self.give(effect.fail("refused"))


def partials(state: State, n: int) -> dict[str, Any]:
    """What the model effects of a state may have streamed."""
    streamed = PARTIALS[n % len(PARTIALS)]
    return {e.id: streamed for e in state.waiting} if streamed else {}


def play(world: World, script: Script, move: Move) -> None:
    """Make this move, if it can be made now."""
    waiting = world.state.waiting
    match move.kind:
        case "answer" if waiting:
            world.answer(script, waiting[move.n % len(waiting)])
        case "again" if world.asked:
            effects = tuple(world.asked.values())
            world.give(script.answer(effects[move.n % len(effects)]))
        case "prompt" | "answer" | "again":
            world.give(_prompt(world, move.n))
        case _:
            world.give(given(world, move))


def _prompt(world: World, n: int) -> Prompt:
    said = world.fresh("prompt")
    return Prompt(said, model="test:asked", thinking="high") if n == 1 else Prompt(said)


def given(world: World, move: Move) -> Input:
    """The input that this move is; keys repeat, texts do not."""
    key = (None, "a", "b", "a")[move.n % 4]
    match move.kind:
        case "steer":
            return Steer(pvector([UserMessage(world.fresh("steer"))]), key)
        case "follow_up":
            return FollowUp(world.fresh("follow"), key)
        case "withdraw":
            return Withdraw(key)
        case "continue":
            return Continue(model="test:went") if move.n == 1 else Continue()
        case _:
            return Abort("enough", partials=partials(world.state, move.n))


def run(program: Program, *laws: Law, reload: bool = False) -> World:
    """Play a program from its prompt to its end, under these laws."""
    world = World.of(program.setup, *laws)
    world.reload = reload
    world.give(Prompt("begin"))
    return go_on(world, program.script, program.moves)


def go_on(world: World, script: Script, moves: Iterable[Move]) -> World:
    """Make these moves, then answer everything until it rests."""
    for move in moves:
        play(world, script, move)
    world.settle(script)
    return world


def order_aside(state: State) -> dict[str, Any]:
    """A state, less what tells in which order it was given what it was given."""
    fields = attrs.fields(State)
    kept = (f.name for f in fields if f.name not in ("inputs", "closed"))
    return {name: getattr(state, name) for name in kept}
