"""Trying hooks on made-up runs, and what was seen of those that keep all laws."""

from collections import Counter
from itertools import count
from typing import Any, Final
from warnings import catch_warnings, filterwarnings

from attrs import define, field, frozen
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky, HypothesisWarning

from loopcore.hooks.points import PointName
from loopcore.hooks.rule import Hooks
from loopcore.runtime.purity import Lookout
from loopcore.testing.check.asking import Asked
from loopcore.testing.check.broken import Breach, told
from loopcore.testing.check.course import Course, Offer, course, gone_over
from loopcore.testing.check.elsewhere import Sample, ask_elsewhere
from loopcore.testing.check.endless import LIMIT, NeverBack, limited
from loopcore.testing.check.fitting import Fitting
from loopcore.testing.check.long_run import long_run
from loopcore.testing.check.offered import makeable
from loopcore.testing.check.one_view import Cares, Judge
from loopcore.testing.check.together import first_at, stand_together
from loopcore.testing.strategies.listening import Heard
from loopcore.testing.telling import Progress

MADE_UP: Final = (
    " (Its tools are made up here. If it is about some, give them: "
    "`check_hooks(..., tools=[...])`.)"
)


@frozen
class CheckedHooks:
    """What was seen of hooks that kept all laws.

    `views` says at how many views each was asked, `wrote` about how many it said
    something, by hook and point; `unchecked` what could not be tried, in sentences.
    """

    views: dict[tuple[str, PointName], int]
    wrote: dict[tuple[str, PointName], int]
    unchecked: tuple[str, ...] = ()

    def __repr__(self) -> str:
        seen = (
            f"{hook} at {point} wrote to {self.wrote.get((hook, point), 0)} of {n} views"
            for (hook, point), n in self.views.items()
        )
        return f"<checked: {'; '.join((*seen, *self.unchecked))}>"


@define(eq=False)
class Check:
    """One check of some hooks."""

    hooks: tuple[Hooks, ...]
    offer: Offer
    cares: Cares | None = None
    made_up: bool = field(default=False, kw_only=True)
    views: Counter[tuple[str, PointName]] = field(
        factory=Counter[tuple[str, PointName]]
    )
    wrote: Counter[tuple[str, PointName]] = field(
        factory=Counter[tuple[str, PointName]]
    )
    samples: list[Sample] = field(factory=list[Sample])
    broken: list[Breach] = field(factory=list[Breach])
    unchecked: tuple[str, ...] = ()
    seconds: float = LIMIT
    fitting: Fitting = field(factory=Fitting)
    progress: Progress = field(factory=Progress)

    @property
    def points(self) -> tuple[PointName, ...]:
        """The points of all hooks."""
        return tuple(dict.fromkeys(p for hook in self.hooks for p in hook.functions))

    @property
    def checked(self) -> CheckedHooks:
        """What was seen."""
        never = tuple(
            f"{hook.name} was never asked at {point}"
            for hook in self.hooks
            for point in hook.functions
            if not self.views[hook.name, point]
        )
        return CheckedHooks(
            dict(self.views), dict(self.wrote), (*never, *self.unchecked)
        )

    def found(self, most: int) -> Breach | None:
        """A law that is broken, in one of so many runs or in what comes after them.

        A hook that does not come back breaks one, too.
        """
        try:
            with limited(self.seconds), catch_warnings():
                filterwarnings("ignore", LONG_REPR, HypothesisWarning)
                return self.examples(most) or self.rest()
        except NeverBack as found:
            return found.broken
        finally:
            self.progress.over()

    def _tell(self, what: str) -> None:
        """Say how far it is: a slow hook takes long, and nothing else is seen of it."""
        views = sum(self.views.values())
        self.progress.say(f"check_hooks: {what}, {views:,} views so far")

    def examples(self, most: int) -> Breach | None:
        """The simplest way in which one of so many runs breaks a law, if one does."""

        runs = count(1)

        @seed(SEED)
        @settings(SETTINGS, max_examples=most)
        @given(st.data())
        def look(data: st.DataObject) -> None:
            draw: Any = data.draw
            self._tell(f"{next(runs):,} short runs, of at least {most:,}")
            self._look(draw, draw(st.sampled_from(self.points)))

        try:
            with makeable(self.offer.tools):
                look()
        except Breach as found:
            return told(found)
        except Flaky:  # it depends on something that even the same run does not repeat
            if not self.broken:
                raise
            return told(min(self.broken, key=lambda one: len(str(one))))
        return None

    def _look(self, draw: st.DrawFn, point: PointName) -> None:
        found = course(draw, self.hooks, point, self.offer)
        try:
            for heard in tuple(found.ear.heard):
                self._judge(heard, found)
            gone_over(found)
        except Breach as problem:
            problem.program = found.program
            self.broken.append(problem)
            raise

    def _judge(self, heard: Heard, run: Course) -> None:
        hook, point, view = heard.hook, heard.point, heard.view
        self._note(heard, self._judging.judge(heard), run)
        if len(self.hooks) > 1 and hook is first_at(self.hooks, point):
            stand_together(self.hooks, point, view)

    def _note(self, heard: Heard, asked: Asked, run: Course | None = None) -> None:
        hook, point = heard.hook, heard.point
        self.views[hook.name, point] += 1
        self.wrote[hook.name, point] += bool(asked.said)
        self.samples.append(Sample(hook, point, heard.view, asked.said, run))
        if not self.made_up:
            self.fitting.note(heard, asked)

    @property
    def _judging(self) -> Judge:
        return Judge(self.cares, MADE_UP if self.made_up else "")

    def rest(self) -> Breach | None:
        """What a long run and another process show, once all examples are fine."""
        self._tell("a long run")
        try:
            for heard, asked in long_run(self.hooks, self.offer, self._judging):
                self._note(heard, asked)
            unfit = self.fitting.breach()
            if unfit:
                return unfit
            self._tell("in other processes")
            others = ask_elsewhere(self.samples[::-1])
        except Breach as found:
            return told(found)
        blind = Lookout(len).is_blind
        self.unchecked = (*others, BLIND) if blind else others
        return None


BLIND: Final = "a profiler is running, so it is not seen which files hooks read"

LONG_REPR: Final = "Generating overly large repr"
"""Hypothesis warns so of what it prints for itself; the runs are made up here."""

SEED: Final = 0
"""Else the runs would be others whenever a line of this file is."""

SETTINGS: Final = settings(
    database=None,
    deadline=None,
    derandomize=True,
    phases=(Phase.generate, Phase.shrink),
    print_blob=False,
    report_multiple_bugs=False,
    suppress_health_check=(
        HealthCheck.data_too_large,
        HealthCheck.filter_too_much,
        HealthCheck.large_base_example,
        HealthCheck.nested_given,
        HealthCheck.too_slow,
    ),
)
"""The same runs each time, so that a check does not come and go."""
