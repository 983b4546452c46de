"""How the vectors are made: random walks, of which each new kind of step is kept."""

from collections.abc import Hashable, Iterator
from typing import Any, Final

from attrs import define, evolve, field, fields, frozen
from returns.result import Failure, Success

from loopcore.events import Event, HookWrote, MessageAdded
from loopcore.frozen import FrozenDict, freeze_object
from loopcore.inputs import (
    Abort,
    Answer,
    Continue,
    Edit,
    FollowUp,
    Input,
    Prompt,
    Steer,
    Withdraw,
)
from loopcore.messages import AssistantMessage
from loopcore.reducer import Effects, advance
from loopcore.state import Rejected, State
from loopcore.testing.doubles.scripted import Reply
from loopcore.testing.explore.choices import Choices
from loopcore.testing.faults import CutStream, Duplicate, Late, RateLimit, SlowTool
from loopcore.testing.simulate.plan import Plan
from loopcore.testing.simulate.process import Memory
from loopcore.testing.simulate.run import SimulatedRun
from loopcore.testing.vectors.file import Vector, Vectors
from loopcore.testing.vectors.form import digest_of, digests_of, effects_of, worded
from loopcore.testing.vectors.walks import WALKS
from loopcore.testing.vectors.words import TOOLS, Walk
from loopcore.tools import ToolOutput

SEEDS: Final = range(7)
"""The seeds of the walks with each script; in the first one nothing goes wrong."""

FAULTS: Final = (RateLimit(0.15), CutStream(0.1), SlowTool(), Duplicate(), Late(0.2))

EARLIER: Final = 100.0
"""How far a clock is set back, now and then."""

WRONG: Final[tuple[Input, ...]] = (
    Prompt("now?"),
    Prompt(()),
    Continue(),
    Steer(()),
    FollowUp((AssistantMessage("I said that."),)),
    Withdraw("nothing"),
    Abort("nothing runs"),
    Answer("r.1.1.run.9", ToolOutput("stray")),
    Answer("r.1.1.model.1", ToolOutput("wrong")),
    Answer("r.1.1.run.0", AssistantMessage("wrong")),
    Answer("r.1.1.ask.0", Edit({"x": "many"})),
    Answer("r.1.1.ask.0", None),
)
"""Inputs that most states refuse."""


@frozen(eq=False)
class Taken:
    """A step that was taken: what it was given, and what came of it."""

    before: State
    given: Input
    at: float
    came: Success[tuple[State, Effects]] | Failure[Rejected]

    def kind(self) -> Hashable:
        """What is new about it, if nothing before it was like it."""
        value: object = self.given.value if isinstance(self.given, Answer) else None
        what = (type(self.given).__name__, type(value).__name__, _way(value))
        if self.before.now is not None and self.at < self.before.now:
            return "earlier", type(self.given)
        if isinstance(self.came, Failure):
            return what, self.came.failure().kind, self.before.phase
        after, effects = self.came.unwrap()
        return (
            what,
            tuple(n for n in FIELDS if getattr(after, n) != getattr(self.before, n)),
            tuple(type(effect) for effect in effects.perform),
            bool(effects.cancel),
            frozenset(map(_said, effects.tell)),
            after.stop and after.stop.reason,
        )

    def vector(self, id: str, config: str) -> Vector:  # noqa: A002  # what it is
        """It as a vector."""
        bare = Vector(id, config, self.before, self.given, self.at)
        if isinstance(self.came, Failure):
            return evolve(bare, refused=self.came.failure().kind)
        return evolve(bare, **told(self.before, *self.came.unwrap()))


FIELDS: Final = tuple(f.name for f in fields(State) if f.name != "inputs")


def _said(event: Event) -> Hashable:
    """What is new about an event."""
    match event:
        case HookWrote():
            return event.hook, event.point
        case MessageAdded():
            return type(event.message).__name__, _way(event.message)
        case _:
            return type(event).__name__


def _way(value: object) -> str:
    """How an answer ends what it answers."""
    words = (getattr(value, name, "") for name in ("finish", "outcome", "kind"))
    return next(filter(None, words), "")


def made() -> Vectors:
    """The vectors, made anew."""
    steps: list[Vector] = []
    refused = set[Hashable]()
    for name, walk in WALKS.items():
        new = enumerate(_new(walk, refused), 1)
        steps += [taken.vector(f"{name} {n}", name) for n, taken in new]
    return Vectors({name: walk.form for name, walk in WALKS.items()}, tuple(steps))


def _new(walk: Walk, refused: set[Hashable]) -> Iterator[Taken]:
    """The first step of each kind; of a refusal, the first in all walks."""
    seen = set[Hashable]()
    for taken in _all(walk):
        known = refused if isinstance(taken.came, Failure) else seen
        if taken.kind() not in known:
            known.add(taken.kind())
            yield taken


def told(before: State, after: State, effects: Effects) -> dict[str, Any]:
    """What came of a step, in the form of a vector."""
    then, now = digests_of(before), digests_of(after)
    names = sorted(then.keys() | now.keys())
    changed = {n: now.get(n, "") for n in names if now.get(n) != then.get(n)}
    return {
        "digest": digest_of(now),
        "changed": FrozenDict(changed),
        "effects": freeze_object(worded(effects_of(effects))),
    }


def _all(walk: Walk) -> Iterator[Taken]:
    for script in walk.scripts:
        for seed in SEEDS:
            yield from walked(walk, script, seed)


def walked(walk: Walk, script: tuple[Reply, ...], seed: int) -> list[Taken]:
    """The steps of a run, and now and then something that it refused."""
    tools = {**TOOLS, **walk.tools}
    plan = Plan(
        walk.form.config(),
        walk.given,
        Choices.among(script, tools, walk.services, walk.decisions),
        (),
        FAULTS if seed else (),
        (),
        (),
        0.0,
        seed,
        hooks_may_fail=True,
    )
    process = Noted(plan, Memory.of(plan).state, None)
    SimulatedRun(plan.at_moments(walk.beside if seed else ()), process).go()
    return process.noted


@define(eq=False)
class Noted(Memory):
    """A process that notes what it takes, and what it would refuse."""

    noted: list[Taken] = field(factory=list[Taken])

    def take(self, given: Input, at: float) -> Rejected | None:
        """Take an input, or say why not."""
        wrong = WRONG[int(self.plan.draw("wrong", len(self.noted)) * len(WRONG))]
        for one, when in ((wrong, at), (given, at), (given, at - EARLIER)):
            came = advance(self.plan.config, self.state, one, at=when)
            if one is given or isinstance(came, Failure):
                self.noted.append(Taken(self.state, one, when, came))
        return super().take(given, at)
