"""One step as laws see it, and what they say when it breaks them."""

from collections.abc import Callable
from typing import Any, Protocol, Self, TypeVar

from attrs import frozen

from loopcore.config import AnyConfig
from loopcore.effects import Effect
from loopcore.events import Event
from loopcore.inputs import Input
from loopcore.reducer import Effects
from loopcore.state import State
from loopcore.testing.invariants.passes import Pass

E = TypeVar("E", bound=Event)


@frozen(eq=False)
class Moment:
    """One step: what was taken, and what came of it.

    `config` is the outer configuration, `passes` what its hooks and those of nested runs
    were asked and said, `answered` the effect that an answer was for.
    """

    config: AnyConfig
    before: State
    given: Input
    after: State
    effects: Effects
    passes: tuple[Pass, ...] = ()
    answered: Effect | None = None

    def told(self, kind: type[E]) -> tuple[E, ...]:
        """The events of this kind."""
        return tuple(event for event in self.effects.tell if isinstance(event, kind))

    def run_of(self, run_id: str) -> int:
        """The number of this run: nested ones are their conversation's first."""
        return self.after.run if run_id == self.after.run_id else 1

    def place(self, event: Event) -> str:
        """Where an event belongs, as the beginning of effect ids."""
        return f"{event.run_id}.{self.run_of(event.run_id)}.{event.turn}"


class Law(Protocol):
    """What must hold at every step: sees each, and returns itself as it is afterwards.

    What it remembers is its own fields, so that runs can be forked. Its name is the first
    line of its docstring.
    """

    def see(self, moment: Moment) -> Self:
        """Look at a step.

        Raises:
            AssertionError: if it breaks the law; `hold` raises it.
        """
        ...


class Unheld(AssertionError):
    """What a law says of a step that breaks it; the step is in `Broken`."""


def hold(held: object, said: str, *about: object) -> None:
    """Say what is wrong, if this does not hold: `said` with `about` in its braces."""
    if not held:
        raise Unheld(said.format(*map(in_short, about)))


MOST = 300


def in_short(value: object) -> str:
    """A value for a sentence: no longer than one can read."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= MOST else f"{text[:MOST]}…"


class Broken(AssertionError):
    """A law that does not hold: its name, what is wrong, and at which step.

    `given` is the input after which it did not hold, `state` the state before it. `find`,
    if there is one, finds a short way there: a `Counterexample`, which `counterexample` is.
    `notes` are more lines about it.
    """

    def __init__(self, law: str, said: str, state: State, given: Input) -> None:
        super().__init__(law, said, state, given)
        self.law, self.said, self.state, self.given = law, said, state, given
        self.find: Callable[[], Any] | None = None
        self.notes: tuple[str, ...] = ()

    @property
    def counterexample(self) -> Any:  # noqa: ANN401  # it is made of what is made of this
        """The way to it; None if nobody looked for one."""
        return self.find() if self.find else None

    def __str__(self) -> str:
        said = f": {self.said}" if self.said else ""
        told = f"broken: {self.counterexample or f'{self.law}{said}'}"
        return "\n".join((told, *self.notes))


def name_of(law: object) -> str:
    """A law's name: the first line of its docstring, unless it has one."""
    named = getattr(law, "name", None)
    if isinstance(named, str):
        return named
    lines = (type(law).__doc__ or type(law).__name__).strip().splitlines()
    return lines[0].removesuffix(".")
