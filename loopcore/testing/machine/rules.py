"""A whole configuration as a Hypothesis state machine: whatever happens, in any order."""

from typing import Any, ClassVar, Final, TypeAlias

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, rule

from loopcore.config import AnyConfig, LoopConfig
from loopcore.inputs import Abort, Continue, Input, Prompt
from loopcore.messages import AssistantMessage
from loopcore.testing.configured import configured
from loopcore.testing.invariants import LAWS, Broken, Check, Law, Unfailing, laws_of
from loopcore.testing.machine.case import DRAWN, FIXED, LoopCase
from loopcore.testing.machine.moves import (
    PARTIALS,
    PLACES,
    STRANGERS,
    TIMES,
    Reaction,
    reactions,
    tools_of,
)
from loopcore.testing.machine.run import MachineRun
from loopcore.testing.strategies.answering import prompts, queued
from loopcore.testing.strategies.plain import Drawn
from loopcore.tools import ToolSpec

Configs: TypeAlias = AnyConfig | Drawn[Any]


def loop_machine(
    config: Configs,
    *checks: Check | Law,
    hooks_may_fail: bool = False,
    ends: int | None = None,
) -> type[LoopCase]:
    """A test case of a whole configuration, for unittest and pytest to run.

    Whatever may happen to a run happens, in any order: prompts, replies of every kind,
    outcomes of tools, decisions, steers, aborts, failures, answers that come too late,
    saves and loads, forks. All laws of `loopcore.testing.invariants` see every step.

    Args:
        config: what the runs are; or a strategy, for one that is drawn.
        checks: more that must hold: functions of a state, where False, a text that says
            why, or an AssertionError says that it is broken; or laws.
        hooks_may_fail: whether a hook may fail, closed or not. Else that is a broken law: it
            ends runs, and what would have come after it is not seen.
        ends: within how many answers, from anywhere, a run has to end if models say "done"
            and call each tool in turn. Else a run that goes on for long is aborted: it may
            never end, and it may end later.

    Raises:
        ValueError: if runs are to end within no answer.

    >>> TestLoop = loop_machine(LoopConfig(model="test:m"), lambda state: state.run < 9)
    """
    if ends is not None and ends < 1:
        raise ValueError(NO_ANSWER.format(ends))
    is_drawn = isinstance(config, st.SearchStrategy)
    drawn: Any = config if is_drawn else st.just(configured("loop_machine()", config))
    ours = LAWS if hooks_may_fail else (*LAWS, Unfailing())
    laws = (*ours, *laws_of(*checks))
    told = {"configs": drawn, "laws": laws, "ends": ends}
    machine: Any = type("Loop", (LoopMachine,), told)
    made: dict[str, Any] = {
        "machine": machine,
        "phases": DRAWN if is_drawn else FIXED,
        "settings": settings(deadline=None, stateful_step_count=STEPS),
    }
    case: type[LoopCase] = type("LoopCase", (LoopCase,), made)
    return case


NO_ANSWER: Final = "ends={}: runs end within at least 1 answer; or leave it out"

STEPS: Final = 40
"""How many things happen in a test, unless its `settings` say something else."""


def _configs(machine: "LoopMachine") -> Drawn[AnyConfig]:
    return machine.configs


def _reactions(machine: "LoopMachine") -> Drawn[Reaction]:
    return reactions(machine.tools)


REACTIONS: Final = st.runner().flatmap(_reactions)


class LoopMachine(RuleBasedStateMachine):
    """Runs of one configuration; each rule takes one of them and something happens to it."""

    configs: ClassVar[Drawn[AnyConfig]] = st.just(LoopConfig(model="test:m"))
    laws: ClassVar[tuple[Law, ...]] = LAWS
    broken: ClassVar[list[Broken]] = []
    ends: ClassVar[int | None] = None
    tools: tuple[ToolSpec, ...] = ()

    runs: Bundle[MachineRun] = Bundle("runs")

    @initialize(target=runs, config=st.runner().flatmap(_configs))
    def begin(self, config: AnyConfig) -> MachineRun:
        """A run begins."""
        self.tools = tuple(dict.fromkeys(tools_of(config)))
        run = MachineRun.of(config, self.laws, self.broken)
        run.give(Prompt("begin"))
        return run

    @rule(run=runs, what=REACTIONS)
    def answered(self, run: MachineRun, what: Reaction) -> None:
        """Something that it waits for is answered; if it rests, it is prompted."""
        run.react(what)

    @rule(run=runs, whats=st.lists(REACTIONS, min_size=2, max_size=8))
    def answered_more(self, run: MachineRun, whats: list[Reaction]) -> None:
        """Most of what happens are answers."""
        for what in whats:
            run.react(what)

    @rule(run=runs, given=prompts(), at=TIMES)
    def prompted(self, run: MachineRun, given: Prompt, at: float | None) -> None:
        """Somebody says something, whether it is time or not."""
        run.take(given, at)

    @rule(run=runs, given=st.one_of(queued(), queued(), st.just(Continue())), at=TIMES)
    def spoken_to(self, run: MachineRun, given: Input, at: float | None) -> None:
        """Somebody steers, follows up, takes it back, or wants it to go on."""
        run.take(given, at)

    @rule(run=runs, n=PLACES)
    def failed(self, run: MachineRun, n: int) -> None:
        """Nobody could perform it; a pause is over."""
        run.fail(n)

    @rule(run=runs, streamed=PARTIALS)
    def aborted(self, run: MachineRun, streamed: AssistantMessage | None) -> None:
        """It is stopped; what had been streamed is kept."""
        ids = [effect.id for effect in run.state.waiting] if streamed else []
        partials: Any = dict.fromkeys(ids, streamed)
        run.take(Abort("enough", partials=partials))

    @rule(run=runs, n=PLACES, effect_id=STRANGERS)
    def answered_in_vain(self, run: MachineRun, n: int, effect_id: str) -> None:
        """D15: an answer to what is over, or was never asked, or a wrong one is refused."""
        run.stranger(effect_id)
        run.again(n)
        run.mistake(n)

    @rule(target=runs, run=runs)
    def forked(self, run: MachineRun) -> MachineRun:
        """From here on there are two of it."""
        return run.fork()

    @rule(run=runs)
    def reloaded(self, run: MachineRun) -> None:
        """2, 9, 12: it is the fold of what it was given, and goes on from its saved form."""
        run.refold()
        run.reload()

    @rule(run=runs, backwards=st.booleans())
    def settled(self, run: MachineRun, *, backwards: bool) -> None:
        """A fork of it comes to an end, whoever answers first; or is aborted."""
        run.fork().settle(backwards=backwards, ends=self.ends)
