"""The world of a simulated run: what answers its effects, after how long, and how it fails."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar, assert_never

from attrs import define, field, frozen

from loopcore.effects import CallModel, Consult, Effect, RequestApproval, RunTool, Sleep
from loopcore.frozen import evolve
from loopcore.inputs import Answer
from loopcore.messages import AssistantMessage, ModelError, Part, Text, Thinking
from loopcore.runtime.running import LATE
from loopcore.state import State
from loopcore.testing.doubles.effects import answer_to
from loopcore.testing.doubles.scripted import Reply, reply_of
from loopcore.testing.explore.choices import Unsaid, unsaid
from loopcore.testing.faults import CutStream, Duplicate, Late, RateLimit, SlowTool
from loopcore.testing.simulate.plan import Plan, named

T = TypeVar("T")

SECONDS: Final[dict[type[Effect], tuple[float, float]]] = {
    CallModel: (0.5, 60.0),
    RunTool: (0.02, 60.0),
    RequestApproval: (2.0, 30_000.0),
    Consult: (0.05, 10.0),
}
"""How long each takes, at least and at most; every order of magnitude is as likely."""

REFUSED: Final = 0.1
"""How long it takes to be told of a rate limit."""


@frozen
class Performed:
    """An answer on its way: after how many seconds it is there, and what went wrong.

    A `late` one arrives even if it is no longer wanted; `again` seconds after it the same
    one arrives once more.
    """

    answer: Answer
    seconds: float
    faults: tuple[str, ...] = ()
    late: bool = False
    again: float | None = None


@define(eq=False)
class Outside:
    """What answers. It remembers which reply each request got, and how many a run had."""

    plan: Plan
    numbers: dict[str, int] = field(factory=dict[str, int])
    said: Counter[int] = field(factory=Counter[int])

    def perform(self, state: State, effect: Effect, now: float) -> Performed:
        """The answer to this effect of a run that is in this state.

        Raises:
            Unsaid: if nobody says what it is, or a function that should say it fails.
        """
        try:
            performed = self._performed(state, effect, now)
        except Unsaid:
            raise
        except Exception as error:
            raise unsaid(effect, error) from error
        seconds = performed.seconds
        answer = evolve(performed.answer, seconds=seconds)
        late = self.plan.hit(Late, effect.id)
        again = self.plan.hit(Duplicate, effect.id)
        faults = list(performed.faults)
        if late:
            faults.append(named(Late, effect.id))
            seconds += late.seconds * self.plan.draw("late", effect.id)
        if again:
            faults.append(named(Duplicate, effect.id))
        pause = self._seconds(effect, "again") if again else None
        return Performed(answer, seconds, tuple(faults), late is not None, pause)

    def partial(self, state: State, effect: CallModel) -> AssistantMessage | None:
        """What a model has streamed when it is stopped in the middle."""
        reply = self._reply(state, effect)
        return _half(reply) if isinstance(reply, AssistantMessage) else None

    def _performed(self, state: State, effect: Effect, now: float) -> Performed:
        match effect:
            case CallModel():
                return self._called(state, effect)
            case RunTool():
                return self._ran(effect)
            case RequestApproval():
                said = self._one(self.plan.choices.decisions, effect)
                return Performed(answer_to(effect, said), self._seconds(effect))
            case Consult():
                services = self.plan.choices.services
                said = self._one(among(services, "services", effect.service), effect)
                return Performed(answer_to(effect, said), self._seconds(effect))
            case Sleep():
                left = effect.seconds if effect.until is None else effect.until - now
                return Performed(effect.done(), max(0.0, left))
            case _:
                assert_never(effect)

    def _called(self, state: State, effect: CallModel) -> Performed:
        limit = self.plan.hit(RateLimit, effect.id)
        if limit:
            error = ModelError(
                BUSY, "rate_limit", retry_after=limit.retry_after, status=429
            )
            return Performed(
                Answer(effect.id, error), REFUSED, (named(RateLimit, effect.id),)
            )
        reply = self._reply(state, effect)
        seconds = self._seconds(effect)
        if self.plan.hit(CutStream, effect.id) and isinstance(reply, AssistantMessage):
            error = ModelError(CUT, "cut_stream", partial=_half(reply))
            return Performed(
                Answer(effect.id, error), seconds / 2, (named(CutStream, effect.id),)
            )
        return Performed(Answer(effect.id, reply), seconds)

    def _reply(self, state: State, effect: CallModel) -> AssistantMessage | ModelError:
        said = self._said(state, effect)
        value: Any = said(effect) if callable(said) else said
        return reply_of(value, effect.model)

    def _said(self, state: State, effect: CallModel) -> Reply:
        """A run's next reply; the same one for a request that is made again."""
        if not effect.id.startswith(f"{state.place}.model."):
            return self._one(self.plan.choices.said(state, effect), effect)
        if effect.id not in self.numbers:
            self.numbers[effect.id] = self.said[state.run]
            self.said[state.run] += 1
        return self.plan.choices.reply(self.numbers[effect.id])

    def _ran(self, effect: RunTool) -> Performed:
        slow = self.plan.hit(SlowTool, effect.id)
        seconds = self._seconds(effect) + (slow.seconds if slow else 0)
        faults = (named(SlowTool, effect.id),) if slow else ()
        most = effect.spec.timeout
        if most is not None and seconds > most:
            late = effect.fail(LATE.format(effect.spec.name, most), "timeout")
            return Performed(late, most, faults)
        tools = self.plan.choices.tools
        outcome = self._one(among(tools, "tools", effect.spec.name), effect)
        return Performed(answer_to(effect, outcome), seconds, faults)

    def _one(self, options: Sequence[T], effect: Effect) -> T:
        """One of several, by chance."""
        if len(options) == 1:
            return options[0]
        return options[int(self.plan.draw("one", effect.id) * len(options))]

    def _seconds(self, effect: Effect, what: str = "seconds") -> float:
        if self.plan.calm:
            return 1.0
        least, most = SECONDS.get(type(effect), (1.0, 100.0))
        share = self.plan.draw(what, effect.id)
        return round(least * math.exp(math.log(most / least) * share), 3)


def among(known: Mapping[str, Sequence[T]], what: str, name: str) -> Sequence[T]:
    """What may come of this.

    Raises:
        Unsaid: if nobody said it.
    """
    if known.get(name):
        return known[name]
    message = f"{name!r} is asked here; {what}= does not say what may come of it"
    raise Unsaid(message)


BUSY: Final = "too many requests"
CUT: Final = "the stream broke off"


def _half(reply: AssistantMessage) -> AssistantMessage | None:
    """What had come of a reply when it broke off: whole parts, and half a text."""
    parts = list[Part]()
    for part in reply.parts[: (len(reply.parts) + 1) // 2]:
        match part:
            case Text(text=text):
                parts.append(Text(text[: len(text) // 2]))
            case Thinking(text=text):
                parts.append(Thinking(text[: len(text) // 2]))
            case _:
                break
    if not parts:
        return None
    return evolve(reply, content=tuple(parts), finish="aborted")
