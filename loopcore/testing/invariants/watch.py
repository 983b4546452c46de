"""A run under the eyes of laws: every step is taken twice, and seen by each of them."""

from collections.abc import Iterable
from typing import Any, Final, TypeAlias, cast

from attrs import field, frozen
from returns.result import Failure, Success

from loopcore.config import AnyConfig
from loopcore.effects import Effect
from loopcore.frozen import evolve
from loopcore.inputs import Answer, Input
from loopcore.reducer import Effects, Given, deliver, step
from loopcore.state import Rejected, State
from loopcore.testing.differences import differences
from loopcore.testing.invariants.asked import Chains, Memories, Requests
from loopcore.testing.invariants.ends import Ends, Outputs, Retries
from loopcore.testing.invariants.gates import Gates, OneByOne
from loopcore.testing.invariants.kept import Aborted, Paired, Queues
from loopcore.testing.invariants.mistakes import told
from loopcore.testing.invariants.moment import Broken, Law, Moment, name_of
from loopcore.testing.invariants.passes import passes
from loopcore.testing.invariants.results import Results
from loopcore.testing.invariants.shown import Views
from loopcore.testing.invariants.spies import Watched
from loopcore.testing.invariants.told import Balance, Counted, Tokens, Waiting

LAWS: Final[tuple[Law, ...]] = (
    *(Waiting(), Balance(), Paired(), Gates(), Aborted(), Queues(), Chains()),
    *(Requests(), Results(), OneByOne(), Ends(), Retries(), Outputs(), Memories()),
    *(Tokens(), Counted(), Views()),
)
"""What must hold at every step of every run, as laws that have seen nothing yet."""

Taken: TypeAlias = "Success[Watch] | Failure[Rejected]"


@frozen(eq=False)
class Watch:
    """A state under a configuration, and laws that have seen all that led to it.

    It cannot change, so a fork of it is itself. `seen` is the newest step.
    """

    config: Watched
    state: State
    laws: tuple[Law, ...] = field(default=LAWS, repr=False)
    seen: Moment | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls, config: AnyConfig, *laws: Law, run_id: str, transcript: Iterable[Any] = ()
    ) -> "Watch":
        """A run that has not begun, under these laws; without any, under `LAWS`."""
        state = State.start(config, run_id=run_id, transcript=transcript)
        return cls(Watched.of(config), state, laws or LAWS)

    def take(self, given: Given, *, at: float | None = None) -> Taken:
        """The run after this input, or why it was refused.

        Raises:
            Broken: if a law does not hold, naming it.
        """
        placed = deliver(self.state, given, at=at)
        if isinstance(placed, Failure):
            return placed
        ready: State = placed.unwrap()
        moment = self._step(ready)
        laws = tuple(look(law, moment) for law in self.laws)
        return Success(evolve(self, state=moment.after, laws=laws, seen=moment))

    def moved(self, state: State) -> "Watch":
        """The same under a state that is equal, such as one that was saved and loaded."""
        return evolve(self, state=state)

    def _step(self, ready: State) -> Moment:
        given = _inbox(ready)
        try:
            after, effects, said = self.config.step(ready)
            again = step(self.config.plain, ready)
        except Exception as error:
            raise Broken(TOTAL, f"{error!r}", self.state, given) from error
        self._same(ready, (after, effects), again)
        return Moment(
            self.config.plain,
            self.state,
            given,
            after,
            effects,
            tuple(passes(said, effects)),
            _answered(self.state, given),
        )

    def _same(
        self, ready: State, one: tuple[State, Effects], other: tuple[State, Effects]
    ) -> None:
        """With a hook more that says nothing, a step is the same."""
        if one == other:
            return
        third = step(self.config.plain, ready)
        law, pair = (NO_OP, (one, other)) if third == other else (PURE, (other, third))
        raise Broken(law, _difference(*pair) + IMPURE, self.state, _inbox(ready))


TOTAL: Final = "a step is total: no input makes it raise"
PURE: Final = "1: a step, taken twice, does the same and asks the same"
NO_OP: Final = "6: a hook that says nothing changes nothing"
IMPURE: Final = (
    "; what a hook says has to follow from its view alone (check_hooks names what it "
    "reads)"
)


def _inbox(ready: State) -> Input:
    assert ready.inbox is not None  # noqa: S101  # the door put it there
    return ready.inbox


def _answered(state: State, given: Input) -> Effect | None:
    if not isinstance(given, Answer):
        return None
    return next((e for e in state.waiting if e.id == given.effect_id), None)


def look(law: Law, moment: Moment) -> Law:
    """The law after this step.

    Raises:
        Broken: if it does not hold.
    """
    try:
        after: Any = law.see(moment)
        if hasattr(after, "see"):
            return cast("Law", after)
        said = NO_LAW.format(after)
    except Exception as error:
        said = told(error, "the law")
        raise Broken(name_of(law), said, moment.before, moment.given) from error
    raise Broken(name_of(law), said, moment.before, moment.given)


NO_LAW: Final = (
    "its see() returned {}; return the law as it is afterwards: `return self`"
)


def _difference(one: tuple[State, Effects], other: tuple[State, Effects]) -> str:
    """The first field in which two steps differ."""
    found = next(differences(one, other), None)
    return found.line("first", "then") if found else "the two differ"
