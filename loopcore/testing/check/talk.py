"""What is said in a long run: everything that can happen to one, and much goes wrong."""

from collections.abc import Callable
from random import Random
from typing import Any, Final

from attrs import frozen

from loopcore.effects import CallModel, Consult, Effect, RequestApproval, RunTool, Sleep
from loopcore.inputs import Abort, Answer, FollowUp, Input, Prompt, Steer
from loopcore.messages import (
    FAULTS,
    AssistantMessage,
    Fault,
    Finish,
    ModelError,
    Text,
    ToolCall,
)
from loopcore.state import State
from loopcore.testing.check.course import Offer
from loopcore.testing.doubles.values import CannotMake, value_for
from loopcore.tools import ToolOutput, ToolSpec, spec_of

EARLY: Final = 110
LONG: Final = 290
AROUND: Final = 600
"""Of so many things that happen, those between the first two numbers keep a run going."""

MOST_CALLS: Final = 3


@frozen
class Talk:
    """What is said next: it follows from the state and a number, and is never the same.

    The first runs are short, and end in many ways; then one goes on for long.
    """

    offer: Offer

    def __call__(self, state: State, n: int) -> Input:
        """What happens to this state as the nth thing of all."""
        chance = Random(n)  # noqa: S311  # the same each time
        waiting = state.waiting
        if not waiting:
            return Prompt(f"prompt {n}")
        if chance.randrange(RARELY) == 0:
            return chance.choice((Steer(f"steer {n}"), FollowUp(f"more {n}")))
        running = any(isinstance(effect, RunTool) for effect in waiting)
        if running and not _stays(n) and chance.randrange(SELDOM) == 0:
            return Abort(f"abort {n}")
        return self._answer(waiting[chance.randrange(len(waiting))], chance, n)

    def _answer(self, effect: Effect, chance: Random, n: int) -> Answer:
        match effect:
            case CallModel():
                return self._replied(effect, chance, n, stays=_stays(n))
            case RunTool():
                return _ran(effect, chance, n)
            case RequestApproval():
                return _decided(effect, chance, n)
            case Consult():
                return self._consulted(effect, chance, n)
            case Sleep():
                return effect.done()

    def _consulted(self, effect: Consult, chance: Random, n: int) -> Answer:
        if chance.randrange(SELDOM) == 0:
            return effect.fail(f"no answer {n}")
        known = self.offer.services.get(effect.service, ({"n": n},))
        return effect.reply(known[n % len(known)])

    def _replied(
        self, effect: CallModel, chance: Random, n: int, *, stays: bool
    ) -> Answer:
        if REQUEST not in effect.id:  # a hook asks a model
            return effect.reply(f"reply {n}")
        if not stays and n % ODD < ODD - 1:
            return _odd(effect, SCENES[n // ODD % len(SCENES)], n)
        offered = effect.tools or tuple(map(spec_of, self.offer.tools))
        most = chance.randrange(1 if stays else 0, MOST_CALLS + 1)
        calls = _calls(chance.choices(offered, k=most), n) if offered else []
        if calls and chance.randrange(SELDOM) == 0:
            calls[0] = ToolCall("missing", {"n": n}, calls[0].id)
        said = [Text(f"reply {n}")] if not calls or n % 2 else []
        return effect.reply(
            AssistantMessage([*said, *calls], finish="tools" if calls else "end")
        )


def _odd(effect: CallModel, scene: tuple[Fault | Finish, bool], n: int) -> Answer:
    """A request that fails, or a reply that did not come to its end, with calls or none."""
    kind, calls = scene
    known: Any = kind
    if kind in FAULTS:
        return effect.fail(ModelError(f"error {n}", known))
    made = _calls(list(effect.tools[:1]), n) if calls else []
    return effect.reply(AssistantMessage([Text(f"reply {n}"), *made], finish=known))


CUT: Final[tuple[Finish, ...]] = ("length", "refusal", "error", "aborted")
"""How a reply ends that did not come to its end."""

SCENES: Final[tuple[tuple[Fault | Finish, bool], ...]] = (
    *((finish, True) for finish in CUT),
    *((finish, False) for finish in CUT[:2]),
    *((kind, False) for kind in FAULTS),
)
ODD: Final = 6
"""Of so many things that happen, requests go wrong in all but one; then in another way."""

REQUEST: Final = ".model."
RARELY: Final = 24
SELDOM: Final = 6
"""Once in so many times."""


def _stays(n: int) -> bool:
    """Whether the run is kept going."""
    return EARLY < n % AROUND < LONG


def _calls(tools: list[ToolSpec], n: int) -> list[ToolCall]:
    made = (_call(tool, n, f"c{n}_{place}") for place, tool in enumerate(tools))
    return [call for call in made if call]


def _call(tool: ToolSpec, n: int, call_id: str) -> ToolCall | None:
    try:
        return ToolCall(tool.name, value_for(tool.parameters, n), call_id)
    except CannotMake:
        return None


def _ran(effect: RunTool, chance: Random, n: int) -> Answer:
    """Mostly a result; now and then an error, a lost one, or one with more to it."""
    said = f"result {n}"
    made: tuple[Callable[[], Answer], ...] = (
        lambda: effect.fail(f"error {n}"),
        lambda: effect.fail(f"late {n}", "timeout"),
        lambda: effect.reply(ToolOutput(said, details={"n": n})),
    )
    which = chance.randrange(2 * SELDOM)
    return made[which]() if which < len(made) else effect.reply(said)


def _decided(effect: RequestApproval, chance: Random, n: int) -> Answer:
    """Mostly yes; now and then no, or an answer in place of the call."""
    which = chance.randrange(SELDOM)
    others: dict[int, Callable[[], Any]] = {
        0: lambda: effect.reject(f"no {n}"),
        1: lambda: effect.respond(f"instead {n}"),
        2: effect.reject,
    }
    answer: Answer = others.get(which, effect.approve)()
    return answer
