"""A run that is driven by hand, and watched: every step is shown to some watchers."""

import copy
from collections.abc import Iterable
from typing import Any, Final, Protocol, Self, TypeVar

import attrs
from attrs import define, field, frozen
from pyrsistent import pvector
from returns.result import Failure

from loopcore import (
    Abort,
    Answer,
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
    deliver,
    step,
)
from loopcore.events import Event
from loopcore.frozen import EMPTY, evolve
from property_tests.catalogue import PARTIALS
from property_tests.programs import Move, Program, Script, Setup
from property_tests.table import Said

E = TypeVar("E", bound=Event)


@frozen(eq=False)
class Moment:
    """One step: what was taken, and what came of it.

    `answered` is the effect that an answer was for; `config` the outer configuration.
    """

    config: LoopConfig
    before: State
    given: Input
    after: State
    effects: Effects
    said: tuple[Said, ...]
    answered: Effect | None

    def told(self, kind: type[E]) -> tuple[E, ...]:
        """The events of this kind."""
        return tuple(event for event in self.effects.tell if isinstance(event, kind))


class Watcher(Protocol):
    """Sees every step that was taken, and asserts what must hold."""

    def see(self, moment: Moment) -> None: ...

    def fork(self) -> Self: ...


class Forks:
    """A watcher whose memory is dicts, lists and sets of what cannot change."""

    __slots__ = ()

    def fork(self) -> Self:
        """One that has seen the same so far."""
        watcher: Any = self
        names = (f.name for f in attrs.fields(watcher.__class__))
        copied = {name: copy.copy(getattr(self, name)) for name in names}
        forked: Self = attrs.evolve(watcher, **copied)
        return forked


RUN_ID: Final = "r"
MOST: Final = 40


@define(eq=False)
class World:
    """A state under a configuration, with everything that happened to it.

    `ended` tells how an answer to what does not wait any more is to be refused. `at` is
    the time of what is given without one; `reload` saves and loads the state before each
    input.
    """

    config: LoopConfig
    state: State
    first: State
    heard: list[Said]
    watchers: list[Watcher]
    taken: list[tuple[Input, float | None]] = field(
        factory=list[tuple[Input, float | None]]
    )
    gave: list[Effects] = field(factory=list[Effects])
    asked: dict[str, Effect] = field(factory=dict[str, Effect])
    ended: dict[str, str] = field(factory=dict[str, str])
    said: int = 0
    at: float | None = None
    reload: bool = False

    @classmethod
    def of(cls, setup: Setup, *watchers: Watcher) -> "World":
        """A run that has not begun."""
        heard: list[Said] = []
        config = setup.config(heard)
        state = State.start(config, run_id=RUN_ID)
        return cls(config, state, state, heard, list(watchers))

    def fork(self) -> "World":
        """The same so far; what follows is its own."""
        return World(
            self.config,
            self.state,
            self.first,
            self.heard,
            [watcher.fork() for watcher in self.watchers],
            [*self.taken],
            [*self.gave],
            dict(self.asked),
            dict(self.ended),
            self.said,
            self.at,
            self.reload,
        )

    def give(self, given: Input, *, at: float | None = None) -> Rejected | None:
        """Deliver and step, under the eyes of the watchers; the refusal if it is refused."""
        at = self.at if at is None else at
        if self.reload:
            self.state = State.loads(self.state.dumps()).unwrap()
        placed = deliver(self.state, given, at=at)
        if isinstance(placed, Failure):
            return placed.failure()
        self.heard.clear()
        before, ready = self.state, placed.unwrap()
        self.state, effects = step(self.config, ready)
        self.taken.append((given, at))
        self.gave.append(effects)
        self._show(before, ready, effects)
        return None

    def _show(self, before: State, ready: State, effects: Effects) -> None:
        given = ready.inbox
        assert given is not None
        answered = (
            self.asked.get(given.effect_id) if isinstance(given, Answer) else None
        )
        moment = Moment(
            self.config,
            before,
            given,
            self.state,
            effects,
            tuple(self.heard),
            answered,
        )
        self.asked.update((effect.id, effect) for effect in effects.perform)
        self.ended.update(dict.fromkeys(effects.cancel, "stranger"))
        if isinstance(given, Answer):
            self.ended[given.effect_id] = "duplicate"
        for watcher in self.watchers:
            watcher.see(moment)

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


def run(program: Program, *watchers: Watcher, reload: bool = False) -> World:
    """Play a program from its prompt to its end."""
    world = World.of(program.setup, *watchers)
    world.reload = reload
    world.give(Prompt("begin"))
    return go_on(world, program.script, program.moves)


def go_on(world: World, script: Script, moves: Iterable[Move]) -> World:
    """Make these moves, then answer everything until it rests."""
    for move in moves:
        play(world, script, move)
    world.settle(script)
    return world


def order_aside(state: State) -> State:
    """A state, less what tells in which order it was given what it was given."""
    return evolve(state, inputs=0, closed=EMPTY)
