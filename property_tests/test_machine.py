"""A whole configuration as a state machine: whatever happens, in whatever order.

Every watcher sees every step. A failure is printed as the program that leads to it.
"""

from typing import Any, Final, TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    rule,
)

from loopcore import (
    Abort,
    Answer,
    AssistantMessage,
    CallModel,
    Consult,
    Continue,
    Effect,
    FollowUp,
    ModelError,
    Prompt,
    Rejected,
    RequestApproval,
    RunTool,
    Sleep,
    State,
    Steer,
    ToolOutput,
    Withdraw,
    advance,
)
from property_tests.batches import OneByOne
from property_tests.catalogue import PARTIALS
from property_tests.ends import Ends, Retries
from property_tests.laws import Aborted, Balance, Paired, Queues, Tokens, Waiting
from property_tests.programs import DECISIONS, Script, Setup, decide
from property_tests.results import Results
from property_tests.strategies import answers, outputs, scripts, setups
from property_tests.verdicts import Chains, Gates, Memories, Requests
from property_tests.world import World

WATCHERS: Final = (
    *(Aborted, Balance, Chains, Ends, Gates, Memories, OneByOne, Paired, Queues),
    *(Requests, Results, Retries, Tokens, Waiting),
)
KINDS: Final = {
    *("busy", "empty", "bad_message", "nothing_to_continue", "not_running", "taken"),
    *("unstepped", "wrong_kind", "duplicate", "stranger", "invalid_arguments"),
}
places: Final = st.integers(0, 3)
keys: Final = st.sampled_from((None, "a", "b"))
times: Final = st.sampled_from((None, None, 1.0, 5.0))


E = TypeVar("E", bound=Effect)
EFFECTS: Final[Any] = (CallModel, RunTool, RequestApproval, Consult, Sleep)


def waiting(world: World, kind: type[E], n: int) -> list[E]:
    """The nth effect of this kind that waits, if there is one."""
    found = [e for e in world.state.waiting if isinstance(e, kind)]
    return [found[n % len(found)]] if found else []


class Loop(RuleBasedStateMachine):
    """Runs of one configuration; each rule takes one of them and gives it an input."""

    worlds = Bundle("worlds")

    @initialize(target=worlds, setup=setups())
    def begin(self, setup: Setup) -> World:
        world = World.of(setup, *(watcher() for watcher in WATCHERS))
        world.give(Prompt("begin"))
        return world

    def give(
        self, world: World, given: Any, at: float | None = None
    ) -> Rejected | None:
        """Give it this; a refusal leaves the state as it was, and says why."""
        before = world.state
        refused = world.give(given, at=at)
        if refused:
            assert world.state is before
            assert refused.kind in KINDS
            assert str(refused).endswith((".", ")"))
        now = [n for n in (before.now, at) if n is not None]
        assert refused or world.state.now == (max(now) if now else None)
        assert world.state.inputs == before.inputs + (not refused)
        return refused

    def answer(self, world: World, given: Answer) -> None:
        """Answer what waits: refused only if it is an edit that does not fit."""
        refused = self.give(world, given)
        assert refused is None or refused.kind == "invalid_arguments"

    @rule(world=worlds, n=places, reply=answers())
    def replied(
        self, world: World, n: int, reply: AssistantMessage | ModelError
    ) -> None:
        for effect in waiting(world, CallModel, n):
            self.answer(world, Answer(effect.id, reply))

    @rule(world=worlds, n=places, output=outputs())
    def ran(self, world: World, n: int, output: ToolOutput) -> None:
        for effect in waiting(world, RunTool, n):
            self.answer(world, effect.reply(output))

    @rule(world=worlds, n=places, how=st.sampled_from(DECISIONS))
    def decided(self, world: World, n: int, how: str) -> None:
        for effect in waiting(world, RequestApproval, n):
            self.answer(world, decide(effect, how))

    @rule(world=worlds, n=places, script=scripts())
    def answered(self, world: World, n: int, script: Script) -> None:
        for effect in waiting(world, EFFECTS, n):
            self.answer(world, script.answer(effect))

    @rule(world=worlds, n=places)
    def failed(self, world: World, n: int) -> None:
        for effect in waiting(world, EFFECTS, n):
            self.answer(world, effect.fail("nobody could"))

    @rule(world=worlds, at=times, model=st.sampled_from((None, "test:asked")))
    def prompted(self, world: World, at: float | None, model: str | None) -> None:
        said = world.fresh("prompt")
        self.give(world, Prompt(said, model=model) if model else Prompt(said), at)

    @rule(world=worlds, system=st.sampled_from((None, "now so")))
    def continued(self, world: World, system: str | None) -> None:
        self.give(world, Continue(system=system) if system else Continue())

    @rule(world=worlds, key=keys, at=times)
    def steered(self, world: World, key: str | None, at: float | None) -> None:
        assert self.give(world, Steer(world.fresh("steer"), key), at) is None

    @rule(world=worlds, key=keys)
    def followed(self, world: World, key: str | None) -> None:
        assert self.give(world, FollowUp(world.fresh("follow"), key)) is None

    @rule(world=worlds, key=keys)
    def withdrawn(self, world: World, key: str | None) -> None:
        self.give(world, Withdraw(key))

    @rule(world=worlds, streamed=st.sampled_from(PARTIALS), some=st.booleans())
    def aborted(
        self,
        world: World,
        streamed: AssistantMessage | None,
        some: bool,  # noqa: FBT001
    ) -> None:
        ids = [e.id for e in world.state.waiting] if streamed and some else []
        partials: Any = dict.fromkeys(ids, streamed)
        self.give(world, Abort("enough", partials=partials))

    @rule(world=worlds, n=places, script=scripts())
    def answered_again(self, world: World, n: int, script: Script) -> None:
        """D15: an answer to what is not waiting any more is refused."""
        if world.ended:
            gone = tuple(world.ended)[-1 - n % len(world.ended)]
            refused = self.give(world, script.answer(world.asked[gone]))
            assert refused is not None
            known = gone.startswith(f"{world.state.place}.")
            assert refused.kind == (world.ended[gone] if known else "duplicate")

    @rule(
        world=worlds,
        effect_id=st.sampled_from(("", "r", "r.999.1.run.0", "x.1.1.run.0")),
    )
    def strange(self, world: World, effect_id: str) -> None:
        """D15: so is one to what was never asked."""
        refused = self.give(world, Answer(effect_id, "hello"))
        assert refused is not None
        assert refused.kind == "stranger"

    @rule(world=worlds, n=places)
    def wrong(self, world: World, n: int) -> None:
        """D15: so is one of the wrong kind."""
        for effect in waiting(world, EFFECTS, n):
            value = ToolOutput("?") if not isinstance(effect, RunTool) else 3
            refused = self.give(world, Answer(effect.id, value))
            assert refused is not None
            assert refused.kind == "wrong_kind"

    @rule(target=worlds, world=worlds)
    def forked(self, world: World) -> World:
        return world.fork()

    @rule(world=worlds)
    def reloaded(self, world: World) -> None:
        """2"""
        loaded = State.loads(world.state.dumps()).unwrap()
        assert loaded == world.state
        world.state = loaded

    @rule(world=worlds, script=scripts(), backwards=st.booleans())
    def settled(self, world: World, script: Script, *, backwards: bool) -> None:
        """It comes to an end, whoever answers first."""
        fork = world.fork()
        fork.settle(script, backwards=backwards)
        assert fork.state.stage == "idle"

    @rule(world=worlds)
    def refold(self, world: World) -> None:
        """2, 9: the state is the fold of what it was given."""
        state = world.first
        for given, at in world.taken:
            state = advance(world.config, state, given, at=at).unwrap()[0]
        assert state == world.state


TestLoop = Loop.TestCase
TestLoop.settings = settings(stateful_step_count=40)
