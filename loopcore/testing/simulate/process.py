"""A process that keeps a simulated run in memory, and looks at what it is given."""

from typing import Final

from attrs import define, evolve
from returns.result import Failure

from loopcore.inputs import Input
from loopcore.reducer import Effects, advance
from loopcore.state import Rejected, State
from loopcore.testing.invariants import Broken, Unfailing, Watch
from loopcore.testing.invariants.checks import Checked
from loopcore.testing.invariants.failing import unfailing
from loopcore.testing.invariants.moment import Unheld, name_of
from loopcore.testing.invariants.watch import TOTAL
from loopcore.testing.simulate.plan import Plan

RUN_ID: Final = "r"


def first_state(plan: Plan) -> State:
    """The state with which a run of this plan begins."""
    seed = int(plan.draw("state") * 2**48)
    return State.start(plan.config, run_id=RUN_ID, seed=seed)


@define(eq=False)
class Memory:
    """A process that keeps its run in memory, and never ends."""

    plan: Plan
    state: State
    watch: Watch | None

    @classmethod
    def of(cls, plan: Plan) -> "Memory":
        """A run that has not begun."""
        state = first_state(plan)
        laws = plan.watching
        if not laws:
            return cls(plan, state, None)
        watch = Watch.of(plan.config, *laws, run_id=RUN_ID)
        return cls(plan, state, evolve(watch, state=state))

    def take(self, given: Input, at: float) -> Rejected | None:
        """Take an input, or say why not.

        Raises:
            Broken: if a law does not hold.
        """
        if self.watch is not None:
            return self._watched(self.watch, given, at)
        try:
            moved = advance(self.plan.config, self.state, given, at=at)
        except Exception as error:
            raise Broken(TOTAL, repr(error), self.state, given) from error
        if isinstance(moved, Failure):
            return moved.failure()
        self._accept(given, *moved.unwrap())
        return None

    def go(self, given: Input, at: float, after: State, effects: Effects) -> None:
        """An input was taken elsewhere, and this is what came of it."""
        if self.watch is None:
            self._accept(given, after, effects)
        else:
            self._watched(self.watch, given, at)

    def back(self, state: State) -> None:
        """Go on from an equal state."""
        self.state = state
        self.watch = self.watch and evolve(self.watch, state=state)

    def close(self) -> None:
        """There is nothing to let go of."""

    def started(self, *effect_ids: str) -> None:
        """Nobody notes it."""

    def left(self, *effect_ids: str) -> None:
        """Nor this."""

    def _accept(self, given: Input, after: State, effects: Effects) -> None:
        before, self.state = self.state, after
        self._unfailing(before, given, effects)
        for law in self.plan.checks:
            _check(law, before, given, after)

    def _unfailing(self, before: State, given: Input, effects: Effects) -> None:
        if self.plan.hooks_may_fail:
            return
        try:
            unfailing(effects.tell)
        except Unheld as problem:
            raise Broken(FAILS, str(problem), before, given) from problem

    def _watched(self, watch: Watch, given: Input, at: float) -> Rejected | None:
        taken = watch.take(given, at=at)
        if isinstance(taken, Failure):
            return taken.failure()
        self.watch = taken.unwrap()
        self.state = self.watch.state
        return None


FAILS: Final = name_of(Unfailing())


def _check(law: Checked, before: State, given: Input, after: State) -> None:
    try:
        law.look(after)
    except Unheld as problem:
        raise Broken(law.name, str(problem), before, given) from problem
