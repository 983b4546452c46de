"""What may happen to a state: answers to what it waits for, and other inputs."""

from collections.abc import Callable, Iterable
from functools import cache
from typing import TypeVar

from hypothesis import strategies as st

from loopcore.effects import CallModel, Consult, Effect, RequestApproval, RunTool, Sleep
from loopcore.frozen import Json
from loopcore.inputs import (
    Abort,
    Answer,
    Continue,
    FollowUp,
    Input,
    Prompt,
    Steer,
    Withdraw,
)
from loopcore.messages import AssistantMessage, Message
from loopcore.reducer.door import answerable
from loopcore.state import State
from loopcore.testing.strategies.history import renumber, said
from loopcore.testing.strategies.plain import Drawn, texts
from loopcore.testing.strategies.speech import errors, outcomes, replies
from loopcore.testing.strategies.tooling import arguments, outputs_of_json

T = TypeVar("T")


def answers(effect: Effect, *, odd: bool = True) -> Drawn[Answer]:
    """Answers that this effect may get: good ones, and failures of every kind.

    Args:
        effect: what is wanted, as `State.waiting` has it.
        odd: also replies as real models send them now and then.
    """
    match effect:
        case CallModel():
            made = _replied(effect, odd=odd)
            return st.one_of(made, made, made, errors().map(effect.fail))
        case RunTool():
            return outcomes().map(effect.reply)
        case RequestApproval():
            return decisions(effect)
        case Consult():
            return st.builds(effect.reply, found()) | texts(1).map(effect.fail)
        case Sleep():
            return st.just(effect.done())


def _replied(effect: CallModel, *, odd: bool) -> Drawn[Answer]:
    used = _calls(effect.messages)
    return replies(*effect.tools, odd=odd).map(
        lambda reply: effect.reply(renumber(reply, used))
    )


def _calls(messages: Iterable[Message]) -> int:
    """How many calls there were, so that the next can have ids of their own."""
    made = (len(m.calls) for m in messages if isinstance(m, AssistantMessage))
    return sum(made)


def decisions(effect: RequestApproval) -> Drawn[Answer]:
    """What a person may decide about a call."""
    return st.one_of(
        st.just(effect.approve()),
        texts().map(effect.reject),
        edits(effect),
        outcomes().map(effect.respond),
    )


def edits(effect: RequestApproval) -> Drawn[Answer]:
    """A person lets a call pass with other arguments, which fit."""
    return arguments(effect.spec).map(lambda given: effect.edit(**given))


@cache
def found() -> Drawn[Json]:
    """What a service may say: any JSON."""
    return outputs_of_json()


@cache
def prompts() -> Drawn[Prompt]:
    """What begins a run."""
    plain = texts(1).map(Prompt)
    changed = st.builds(
        Prompt,
        texts(1),
        model=st.just("test:asked"),
        system=texts(),
        thinking=st.sampled_from((None, "low")),
    )
    return st.one_of(
        plain,
        plain,
        st.builds(Prompt, st.lists(said(), min_size=1, max_size=2)),
        changed,
    )


@cache
def queued() -> Drawn[Input]:
    """What people say while a run goes on, and what they take back."""
    keys = st.sampled_from((None, "a", "b"))
    return st.one_of(
        st.builds(Steer, texts(1), keys),
        st.builds(FollowUp, texts(1), keys),
        st.builds(Withdraw, keys),
    )


def inputs(
    state: State, *, answering: Callable[[Effect], Drawn[Answer]] = answers
) -> Drawn[Input]:
    """What may happen to this state next: mostly answers, in any order of arrival.

    Everything that is drawn makes sense; a state may refuse it all the same, as it does
    a `Withdraw` when nothing is queued.

    Args:
        state: where the run is.
        answering: what an effect may be answered.
    """
    waiting = state.waiting
    if not waiting:
        rare = (st.just(Continue()),) if answerable(state) else ()
        return st.one_of(*(prompts(),) * 4, queued(), *rare)
    likely = st.one_of(*map(answering, waiting))
    return st.one_of(*(likely,) * 6, queued(), texts().map(Abort))


def orders(arriving: Iterable[T]) -> Drawn[tuple[T, ...]]:
    """The orders in which these may arrive; as they are given is the simplest."""
    return st.permutations(tuple(arriving)).map(tuple)
