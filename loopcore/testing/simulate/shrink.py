"""A simulated run that breaks a law, made smaller: fewer faults, a shorter script."""

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

from attrs import evolve

from loopcore.messages import AssistantMessage, ToolCall
from loopcore.testing.doubles.scripted import Reply
from loopcore.testing.explore.choices import DONE
from loopcore.testing.simulate.plan import Plan
from loopcore.testing.simulate.run import Ended

MOST: Final = 4_000
"""How much may happen, in all the smaller runs that are tried."""

Play: TypeAlias = Callable[[Plan], Ended]


def smallest(plan: Plan, ended: Ended, play: Play) -> tuple[Plan, Ended]:
    """The smallest plan found that breaks the same law, and how its run ends."""
    left = MOST
    candidates = _smaller(plan, ended)
    while left > 0:
        candidate = next(candidates, None)
        if candidate is None:
            break
        found = play(candidate)
        left -= len(found.happened) + 1
        if _law(found) == _law(ended):
            plan, ended = candidate, found
            candidates = _smaller(plan, ended)
    return plan, ended


def _law(ended: Ended) -> str:
    return ended.broken.law if ended.broken else ""


def _smaller(plan: Plan, ended: Ended) -> Iterator[Plan]:
    """Plans with less in them, those with the least first."""
    yield from _fewer_faults(plan, ended.faults)
    yield from _fewer_beside(plan)
    yield from _shorter(plan)
    yield from _fewer_outcomes(plan)
    if len(plan.given) > 1:
        yield evolve(plan, given=plan.given[:-1])
    if not plan.calm:
        yield evolve(plan, calm=True)


def _fewer_faults(plan: Plan, faults: tuple[str, ...]) -> Iterator[Plan]:
    """Without all of them, without half of them, without each."""
    size = len(faults)
    while size:
        for start in range(0, len(faults), size):
            without = plan.without | {*faults[start : start + size]}
            yield evolve(plan, without=without)
        size //= 2


def _fewer_beside(plan: Plan) -> Iterator[Plan]:
    """Fewer of these, or earlier."""
    for n, one in enumerate(plan.beside):
        before, after = plan.beside[:n], plan.beside[n + 1 :]
        yield evolve(plan, beside=(*before, *after))
        moments = {0, one.moment // 2, one.moment - 1}
        for moment in sorted(m for m in moments if 0 <= m < one.moment):
            earlier = evolve(one, moment=moment)
            yield evolve(plan, beside=(*before, earlier, *after))


def _shorter(plan: Plan) -> Iterator[Plan]:
    """With less of the script; what is said for want of a reply is said only if it was."""
    wanting = _is_wanting(plan)
    yield from (p for p in _cut(plan) if wanting or not _is_wanting(p))


def _is_wanting(plan: Plan) -> bool:
    """Whether "done" is said at the end of its script, which nobody gave."""
    replies = plan.choices.replies
    return plan.choices.reply(len(replies)) is DONE


def _cut(plan: Plan) -> Iterator[Plan]:
    """Fewer replies from the end, then from the middle, then fewer parts of each."""
    replies = plan.choices.replies
    for n in range(len(replies)):
        yield _with_replies(plan, *replies[:n])
    for n in range(len(replies) - 1):
        yield _with_replies(plan, *replies[:n], replies[-1])
    for n, reply in enumerate(replies):
        before, after = replies[:n], replies[n + 1 :]
        yield _with_replies(plan, *before, *after)
        for less in _fewer_parts(reply):
            yield _with_replies(plan, *before, less, *after)


def _with_replies(plan: Plan, *replies: Reply) -> Plan:
    return evolve(plan, choices=evolve(plan.choices, replies=replies))


def _fewer_parts(reply: Any) -> Iterator[Reply]:  # noqa: ANN401  # what a model says
    """A reply of several parts, without each of them."""
    whole = isinstance(reply, AssistantMessage)
    parts = tuple[Any, ...](reply.parts if whole else _listed(reply))
    if len(parts) < 2:  # noqa: PLR2004  # of one part nothing can be left out
        return
    for n in range(len(parts)):
        rest = (*parts[:n], *parts[n + 1 :])
        if not whole:
            yield rest
        elif reply.calls == tuple(p for p in rest if isinstance(p, ToolCall)) or any(
            isinstance(part, ToolCall) for part in rest
        ):
            yield evolve(reply, content=rest)


def _listed(reply: Any) -> tuple[Any, ...]:  # noqa: ANN401  # as above
    return tuple(reply) if isinstance(reply, list | tuple) else (reply,)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]  # of anything


def _fewer_outcomes(plan: Plan) -> Iterator[Plan]:
    """Tools that can only end in one way."""
    tools = plan.choices.tools
    for name, outcomes in tools.items():
        for outcome in outcomes if len(outcomes) > 1 else ():
            fewer = {**tools, name: (outcome,)}
            yield evolve(plan, choices=evolve(plan.choices, tools=fewer))
