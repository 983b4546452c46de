"""What may be answered to an effect: by turn, by tool, by service, and by people."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

from attrs import frozen

from loopcore.effects import (
    CallModel,
    Consult,
    Effect,
    RequestApproval,
    RunTool,
    Sleep,
)
from loopcore.hooks.rule import EDITED
from loopcore.inputs import Answer, Input
from loopcore.messages import AssistantMessage
from loopcore.reducer import Given
from loopcore.reducer.door import input_of
from loopcore.runtime.outcome import output_of_fault, spoken
from loopcore.state import Running, State
from loopcore.testing.doubles.scripted import Reply, reply_of
from loopcore.testing.invariants.mistakes import named

Decide: TypeAlias = Callable[[RequestApproval], Answer]
"""How a person may decide: `RequestApproval.approve`, or a function of one's own."""

BOTH: Final[tuple[Decide, ...]] = (RequestApproval.approve, RequestApproval.reject)

Outcomes: TypeAlias = Mapping[str, Iterable[Any]]


class Unsaid(AssertionError):
    """Something is wanted, and nobody said what may come of it."""


@frozen(eq=False)
class Choices:
    """What may come of each effect."""

    replies: tuple[Reply, ...]
    tools: Mapping[str, tuple[Any, ...]]
    services: Mapping[str, tuple[Any, ...]]
    decisions: tuple[Decide, ...]

    @classmethod
    def among(
        cls,
        replies: Iterable[Reply],
        tools: Outcomes,
        services: Outcomes,
        decisions: Iterable[Decide],
    ) -> "Choices":
        """Choices among these.

        Raises:
            TypeError: for what is no list where one is wanted, such as a text.
            ValueError: for a list with nothing in it: then nothing would be proved.
        """
        return cls(
            some("replies", replies, "what the model says"),
            _by_name("tools", tools, "what a call may return, or an exception"),
            _by_name("services", services, "what it may give, or an exception"),
            some("decisions", decisions, "such as RequestApproval.approve"),
        )

    def of(self, state: State, effect: Effect) -> list[Answer]:
        """Every answer that this effect may get.

        Raises:
            Unsaid: if nobody says one, or a function that should say it fails.
        """
        try:
            return self._of(state, effect)
        except Unsaid:
            raise
        except Exception as error:
            raise unsaid(effect, error) from error

    def _of(self, state: State, effect: Effect) -> list[Answer]:
        match effect:
            case CallModel():
                return [_replied(effect, said) for said in self.said(state, effect)]
            case RunTool():
                found = _named("tools", self.tools, effect.spec.name)
                return [_ran(effect, outcome) for outcome in found]
            case RequestApproval():
                return [decide(effect) for decide in self.decisions]
            case Consult():
                found = _named("services", self.services, effect.service)
                return [_consulted(effect, value) for value in found]
            case Sleep():
                return [effect.done()]

    def said(self, state: State, effect: CallModel) -> tuple[Reply, ...]:
        """What a model may say: to the run, to a nested run, or to a hook."""
        tool, run = owner(state, effect.id)
        place = effect.id.removeprefix(f"{run.run_id}.").split(".")
        if len(place) != OWN or place[2] != "model":
            return _named("services", self.services, _hook(place))
        if tool is not None:
            return _named("tools", self.tools, tool)
        return (self.reply(run.requests - 1),)

    def reply(self, n: int) -> Reply:
        """A run's nth reply: the last is said again, but once it calls tools "done"."""
        if n < len(self.replies):
            return self.replies[n]
        last = self.replies[-1] if self.replies else DONE
        return DONE if not callable(last) and _calls(last) else last


def unsaid(effect: Effect, error: Exception) -> Unsaid:
    """What should say what may come of this has failed."""
    return Unsaid(f"what may come of {effect.id} cannot be had: {named(error)}")


OWN: Final = 4
"""The parts of a request's id after its run's: run, turn, "model", attempt."""
DONE: Final = "done"


def listed(name: str, given: Any) -> tuple[Any, ...]:  # noqa: ANN401  # whatever is given
    """These, refused if it is one text: its letters are meant by nobody.

    Raises:
        TypeError: saying what to write.
    """
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        message = f"{name}= takes a list; write {name}=[{given!r}]"
        raise TypeError(message)
    return tuple[Any, ...](given)  # pyright: ignore[reportUnknownArgumentType]  # of anything


def some(name: str, given: Iterable[Any], what: str) -> tuple[Any, ...]:
    """These, at least one: with none there is no way to go, and nothing is proved.

    Raises:
        ValueError: saying what to give.
    """
    found = listed(name, given)
    if not found:
        message = (
            f"{name}= has nothing in it, so nothing could happen; give {what}. (What yields "
            "its items once is empty the second time: give a list.)"
        )
        raise ValueError(message)
    return found


def _by_name(
    name: str,
    given: Any,  # noqa: ANN401  # whatever is given
    what: str,
) -> dict[str, tuple[Any, ...]]:
    if not isinstance(given, Mapping):
        message = f"{name}= takes a dict of lists, by name; it got {given!r:.80}"
        raise TypeError(message)
    lists: Outcomes = given  # pyright: ignore[reportUnknownVariableType]  # some mapping
    return {key: some(f"{name}[{key!r}]", found, what) for key, found in lists.items()}


def begun_by(name: str, given: Iterable[Given]) -> tuple[Input, ...]:
    """What a run is given first: something, or it never begins.

    Raises:
        ValueError: saying what to give.
    """
    found = tuple(map(input_of, given))
    if not found:
        message = (
            f"{name}() is given no input, so no run begins; give a prompt: {name}(config, "
            '"Hello.", ...)'
        )
        raise ValueError(message)
    return found


def _calls(said: Any) -> bool:  # noqa: ANN401  # what a model says
    reply = reply_of(said, "")
    return isinstance(reply, AssistantMessage) and bool(reply.calls)


def owner(state: State, effect_id: str) -> tuple[str | None, State]:
    """The run that an effect is of, and the tool that it is a nested run of."""
    for slot in state.turn.slots if state.turn else ():
        if not isinstance(slot, Running) or slot.child is None:
            continue
        if effect_id.startswith(f"{slot.child.run_id}."):
            tool, run = owner(slot.child, effect_id)
            return tool or slot.spec.name, run
    return None, state


def _hook(place: list[str]) -> str:
    """The hook that needs a model: run, turn, point, n, its name, its key."""
    _, _, _, _, *rest = place
    return rest[1] if rest[0] == EDITED else rest[0]


def _named(
    what: str, outcomes: Mapping[str, tuple[Any, ...]], name: str
) -> tuple[Any, ...]:
    if name in outcomes:
        return outcomes[name]
    message = f"{name!r} is asked here; {what}= does not say what may come of it"
    raise Unsaid(message)


def _replied(effect: CallModel, said: Reply) -> Answer:
    reply = reply_of(said(effect) if callable(said) else said, effect.model)
    if isinstance(reply, AssistantMessage):
        return effect.reply(reply)
    return effect.fail(reply)


def _ran(effect: RunTool, outcome: Any) -> Answer:  # noqa: ANN401  # whatever it gives
    """What it gives, or raises, or a function of the call gives."""
    if isinstance(outcome, BaseException):
        return effect.reply(output_of_fault(outcome))
    return effect.reply(outcome(effect) if callable(outcome) else outcome)


def _consulted(effect: Consult, value: Any) -> Answer:  # noqa: ANN401  # any JSON
    if isinstance(value, BaseException):
        return effect.fail(spoken(value))
    return effect.reply(value(effect) if callable(value) else value)
