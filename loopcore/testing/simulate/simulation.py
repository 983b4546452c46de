"""Random runs on a virtual clock, in which things go wrong: each comes of its seed."""

import functools
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Final

from attrs import frozen

from loopcore.config import AnyConfig
from loopcore.effects import CallModel
from loopcore.frozen import EMPTY, FrozenDict, counted, evolve
from loopcore.inputs import Input
from loopcore.journal import Entry, Journal
from loopcore.messages import AssistantMessage
from loopcore.reducer import Given
from loopcore.reducer.door import input_of
from loopcore.state import State
from loopcore.testing.configured import configured
from loopcore.testing.differences import clipped
from loopcore.testing.doubles.auto import AutoModel
from loopcore.testing.doubles.scripted import Reply
from loopcore.testing.explore.choices import (
    BOTH,
    DONE,
    Choices,
    Decide,
    Outcomes,
    Unsaid,
    begun_by,
    listed,
    some,
)
from loopcore.testing.explore.found import by_reason, journal_of
from loopcore.testing.explore.known import refuse_unknown
from loopcore.testing.faults import Fault
from loopcore.testing.faults import listed as faults_of
from loopcore.testing.invariants import LAWS, Check, Law, laws_of
from loopcore.testing.invariants.checks import Checked
from loopcore.testing.simulate.plan import Plan
from loopcore.testing.simulate.process import first_state
from loopcore.testing.simulate.run import Ended, Happened, simulated
from loopcore.testing.simulate.shrink import smallest

WATCHED: Final = 0.1
"""The share of runs that all laws see: they make a run four times as slow."""

HOUR: Final = 3600


def simulate(  # noqa: PLR0913  # each is a kind of thing that can happen
    config: AnyConfig,
    *given: Given,
    replies: Iterable[Reply] | AutoModel,
    tools: Outcomes = EMPTY,
    seeds: Iterable[object],
    faults: Iterable[Fault] = (),
    check: Check | Law | None = None,
    also: Iterable[Given] = (),
    services: Outcomes = EMPTY,
    decisions: Iterable[Decide] = BOTH,
    laws: Iterable[Law] = LAWS,
    watched: float = WATCHED,
    hooks_may_fail: bool = False,
) -> "Simulation":
    """A random run for each seed, on a virtual clock; the first that breaks a law, made small.

    Answers take seconds, people hours; none are really waited for. The order in which they
    arrive, what comes of each call and what goes wrong depend on the seed and on nothing
    else.

    Args:
        config: what the run is. Nothing is performed.
        given: what it is given first, such as a prompt.
        replies: what the model says, request by request; the last is said again, but if it
            calls tools "done" is said instead. A request that failed by a fault gets its
            reply when it is made again. An `AutoModel` makes other calls for each seed.
        tools: for each tool, what may come of a call: what it returns, an exception that
            it raises, or a function of the `RunTool`; each is as likely. For a nested run:
            the replies of its model.
        seeds: numbers or texts; each is a run.
        faults: what may go wrong, each with its chance: see `loopcore.testing.faults`.
            A crash or a full disk needs a journal: there is a real one for each run, in a
            temporary folder.
        check: a function of a state; False, a text that says why, or an AssertionError
            says that it is broken. It sees every state. Or a law.
        also: what happens beside, each once, at a moment that the seed decides.
        services: for each service that hooks consult, what it may give: JSON or an
            exception; and for each hook that asks a model, the replies.
        decisions: how a person may decide: functions of the `RequestApproval`.
        laws, watched: what must hold at every step, of this share of the runs.
        hooks_may_fail: whether a hook may fail, closed or not. Else that is a broken law, in
            every run: it ends runs, and what would have come after it is not seen.

    Returns:
        What was seen; `.counterexample` is the first seed's run in which something is
        broken, made as small as could be found, or None.

    Raises:
        Rejected: if what is given first is refused.
        ValueError: for outcomes of a tool that there is not, for a list with nothing in it,
            and without an input or a seed.
    """
    extra = laws_of(check)
    others = tuple(law for law in extra if not isinstance(law, Checked))
    beside = tuple(map(input_of, listed("also", also)))
    first = begun_by("simulate", given)
    auto = replies if isinstance(replies, AutoModel) else None
    script: Iterable[Reply] = (DONE,) if isinstance(replies, AutoModel) else replies
    choices = Choices.among(script, tools, services, decisions)
    refuse_unknown(configured("simulate()", config), (*first, *beside), choices.tools)
    drawn = some("seeds", seeds, "numbers or texts, such as seeds=range(100)")
    plan = Plan(
        config,
        first,
        choices,
        (),
        faults_of(faults),
        (*laws, *others),
        tuple(law for law in extra if isinstance(law, Checked)),
        1.0 if others else watched,
        seed=0,
        hooks_may_fail=hooks_may_fail,
    )
    with tempfile.TemporaryDirectory(prefix="loopcore-") as folder:
        plans = (_seeded(plan, seed, auto).at_moments(beside) for seed in drawn)
        return _all(plans, Path(folder) / "run.jsonl")


def _all(plans: Iterable[Plan], path: Path) -> "Simulation":
    tally = Tally()
    for seeded in plans:
        ended = simulated(seeded, path)
        tally.add(ended)
        if ended.broken:
            small = smallest(seeded, ended, lambda smaller: simulated(smaller, path))
            return tally.simulation(_counterexample(*small))
    return tally.simulation(None)


def _seeded(plan: Plan, seed: object, auto: AutoModel | None) -> Plan:
    if auto is None:
        return evolve(plan, seed=seed)
    model = AutoModel(f"{auto.seed}.{seed}", rounds=auto.rounds)
    says = functools.partial(_made, model)
    return evolve(plan, seed=seed, choices=evolve(plan.choices, replies=(says,)))


def _made(model: AutoModel, effect: CallModel) -> AssistantMessage:
    """What it says; what it cannot make is nothing that a model said."""
    said = model.says(effect)
    if isinstance(said, AssistantMessage):
        return said
    raise Unsaid(said.message)


class Tally:
    """What was seen so far."""

    def __init__(self) -> None:
        self.runs, self.inputs, self.seconds = 0, 0, 0.0
        self.faults, self.reasons = Counter[str](), Counter[str]()

    def add(self, ended: Ended) -> None:
        """One more run."""
        self.runs += 1
        self.inputs += ended.inputs
        self.seconds += ended.seconds
        self.faults.update(fault.split()[0] for fault in ended.faults)
        if ended.state.stop:
            self.reasons[ended.state.stop.reason] += 1

    def simulation(self, found: "BrokenRun | None") -> "Simulation":
        """All of it."""
        return Simulation(
            runs=self.runs,
            inputs=self.inputs,
            seconds=self.seconds,
            faults=FrozenDict(sorted(self.faults.items())),
            reasons=FrozenDict(sorted(self.reasons.items())),
            counterexample=found,
        )


def _counterexample(plan: Plan, ended: Ended) -> "BrokenRun":
    assert ended.broken is not None  # noqa: S101  # it was asked for what is broken
    return BrokenRun(
        ended.broken.law,
        ended.broken.said,
        plan.seed,
        ended.faults,
        ended.happened,
        repr(ended.broken.state),
        plan.config,
        first_state(plan),
    )


@frozen(repr=False)
class BrokenRun:
    """The smallest run found that breaks a law.

    Args:
        law: the name of what is broken; `said` is what is wrong.
        seed: the seed that led to it, in a run that may have been longer.
        faults: what went wrong in it, and where.
        happened: all that happened, in order, each with its time.
        before: the state before the last of it, in a line.
        config, first: where it began.
    """

    law: str
    said: str
    seed: object
    faults: tuple[str, ...]
    happened: tuple[Happened, ...]
    before: str
    config: AnyConfig
    first: State

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The inputs among what happened."""
        return tuple(one.given for one in self.happened if one.given is not None)

    @property
    def journal(self) -> Journal:
        """The run as a journal: to be kept, replayed, shrunk, explained and looked at.

        It has what was taken, not what was refused or lost, each with its time. If the last
        step raises, it ends before it.
        """
        kept = [one for one in self.happened if one.kept]
        entries = [Entry(one.given, one.at) for one in kept if one.given is not None]
        return journal_of(self.config, self.first, entries)

    def write(self, path: str | PathLike[str]) -> None:
        """Write the journal to a new file.

        Raises:
            FileExistsError: if there is such a file.
        """
        self.journal.write(path)

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """What is broken, and what leads to it."""
        yield f"{self.law}: {self.said}"
        yield (
            f"Seed {self.seed!r} leads to it (seeds=[{self.seed!r}]). As small as could be "
            f"found, with {counted(len(self.faults), 'fault')}:"
        )
        for one in self.happened:
            yield f"  {one.at:10,.1f} s  {_told(one)}"
        yield f"Before the last of them it was {self.before}."


def _told(one: Happened) -> str:
    if one.given is None:
        return one.word
    return f"{clipped(one.given)}{f'  # {one.word}' if one.word else ''}"


@frozen(repr=False)
class Simulation:
    """What simulating came to.

    Args:
        runs: how many runs there were.
        inputs: how many inputs they took.
        seconds: how much time passed in them.
        faults: how often each kind of fault happened.
        reasons: how many runs ended for each reason.
        counterexample: the smallest run found that breaks a law; None if none does.
    """

    runs: int
    inputs: int
    seconds: float
    faults: Mapping[str, int]
    reasons: Mapping[str, int]
    counterexample: BrokenRun | None

    def __repr__(self) -> str:
        if self.counterexample is None:
            return f"<{self._counted()}; nothing is broken>"
        return f"{self.counterexample!r}\n({self._counted()}.)"

    def _counted(self) -> str:
        faults = sum(self.faults.values())
        return (
            f"{counted(self.runs, 'run')}{by_reason(self.reasons)}, "
            f"{counted(self.inputs, 'input')}, "
            f"{counted(faults, 'fault')}, {self.seconds / HOUR:,.1f} simulated hours"
        )
