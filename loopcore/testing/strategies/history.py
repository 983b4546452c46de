"""Transcripts: valid ones, and the odd ones that providers and programs leave behind."""

from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from typing import Any, Final, TypeAlias

from hypothesis import strategies as st

from loopcore.config import Nested
from loopcore.frozen import evolve
from loopcore.history import repair
from loopcore.messages import (
    AssistantMessage,
    CustomMessage,
    Message,
    ModelError,
    SystemMessage,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from loopcore.testing.strategies.plain import Drawn, parts, texts
from loopcore.testing.strategies.speech import outcomes, replies
from loopcore.testing.strategies.tooling import toolsets
from loopcore.tools import ToolLike, ToolOutput, ToolSpec, spec_of

Round: TypeAlias = tuple[Message, ...]
"""Messages that belong together: a reply with its results, or one message."""

Transcript: TypeAlias = tuple[Message, ...]


def transcripts(
    max_turns: int = 5,
    *,
    tools: Iterable[ToolLike | Nested] | None = None,
    odd: bool = False,
) -> Drawn[Transcript]:
    """Transcripts of up to so many replies.

    Each call has its one result beside it, under an id of its own: a state can begin with
    such a transcript. Odd ones need not be so: results are lost, doubled, moved or of no
    call, ids are missing or doubled, replies failed or are empty. `repair` makes them valid.

    Args:
        max_turns: how many replies at most.
        tools: whose calls there are; by default of tools that are made up.
        odd: also what real providers and programs leave behind.
    """
    if tools is None:
        return toolsets().flatmap(
            lambda made: transcripts(max_turns, tools=made, odd=odd)
        )
    return _transcripts(max_turns, tuple(spec_of(tool) for tool in tools), odd)


@lru_cache(maxsize=256)
def _transcripts(
    most: int,
    offered: tuple[ToolSpec, ...],
    odd: bool,  # noqa: FBT001
) -> Drawn[Transcript]:
    one = _rounds(offered)
    long = st.lists(one, min_size=most, max_size=most * 2)
    rounds = st.lists(one, max_size=most * 2) | long
    valid = rounds.map(lambda found: numbered(_some(found, most)))
    spoilt = _spoilt(offered, most)
    return st.one_of(valid, spoilt, spoilt) if odd else valid


@cache
def said() -> Drawn[Message]:
    """What people and programs say to a run."""
    plain = st.builds(UserMessage, texts(1))
    rare = st.one_of(
        st.builds(UserMessage, st.lists(parts(), max_size=2)),
        st.builds(SystemMessage, texts(1)),
        st.builds(CustomMessage, st.just("mark"), texts()),
    )
    return st.one_of(plain, plain, rare)


def _rounds(offered: tuple[ToolSpec, ...]) -> Drawn[Round]:
    return st.one_of(said().map(_alone), replied(offered))


def _alone(message: Message) -> Round:
    return (message,)


def replied(offered: tuple[ToolSpec, ...], *, odd: bool = False) -> Drawn[Round]:
    """A reply with the results of its calls."""
    results = st.lists(outcomes(), min_size=3, max_size=3)
    return st.builds(_answered, replies(*offered, odd=odd), _needed(results))


def _needed(results: Drawn[list[ToolOutput]]) -> Drawn[list[ToolOutput]]:
    """Mostly plain results, so that what is drawn stays small."""
    return st.just([ToolOutput("ok")]) | results


def _answered(reply: AssistantMessage, results: list[ToolOutput]) -> Round:
    outputs = (results[n % len(results)] for n in range(len(reply.calls)))
    answers = (_result(c, o) for c, o in zip(reply.calls, outputs, strict=True))
    return (reply, *answers)


def _result(call: ToolCall, output: ToolOutput) -> ToolResultMessage:
    return ToolResultMessage(
        call.id, call.name, output.parts, output.outcome, output.details
    )


def _some(rounds: list[Round], most: int) -> list[Round]:
    """No more than so many replies."""
    replies = [n for n, one in enumerate(rounds) if _is_reply(one[0])]
    return rounds[: replies[most]] if len(replies) > most else rounds


def _is_reply(message: Message) -> bool:
    return isinstance(message, AssistantMessage)


def numbered(rounds: Iterable[Round], used: int = 0) -> Transcript:
    """One after the other, each call under an id of its own."""
    found: list[Message] = []
    for one in rounds:
        found += _renumbered(one, used)
        used += len(found) and _calls(one)
    return tuple(found)


def _calls(one: Round) -> int:
    first = one[0]
    return len(first.calls) if isinstance(first, AssistantMessage) else 0


def _renumbered(one: Round, used: int) -> Iterable[Message]:
    if not _calls(one):
        return one
    first, *results = one
    assert isinstance(first, AssistantMessage)  # noqa: S101  # it has calls
    reply = renumber(first, used)
    named: Any = zip(results, reply.calls, strict=True)
    return (reply, *(evolve(result, call_id=call.id) for result, call in named))


def renumber(reply: AssistantMessage, used: int) -> AssistantMessage:
    """The reply with ids that no call had before; odd ids stay as they are.

    `used` is how many calls there were.
    """
    if not used or not _are_plain(reply.calls):
        return reply
    ids = iter(range(used + 1, used + 1 + len(reply.calls)))
    content = (
        evolve(p, id=f"c{next(ids)}") if isinstance(p, ToolCall) else p
        for p in reply.parts
    )
    return evolve(reply, content=tuple(content))


def _are_plain(calls: tuple[ToolCall, ...]) -> bool:
    return all(call.id == f"c{n}" for n, call in enumerate(calls, 1))


def _spoilt(offered: tuple[ToolSpec, ...], most: int) -> Drawn[Transcript]:
    """Rounds as odd models give them, less or more of their results."""
    odd = replied(offered, odd=True)
    rounds = st.lists(
        st.one_of(replied(offered), odd, said().map(_alone), _failed()),
        min_size=min(most, 1),
        max_size=most,
    )
    damages = st.lists(DAMAGES, min_size=1, max_size=3)
    return st.builds(_damaged, rounds.map(numbered), damages)


@cache
def _failed() -> Drawn[Round]:
    """A reply that failed half-way."""
    error = ModelError("cut", "cut_stream")
    return st.builds(
        AssistantMessage, texts(), finish=st.just("error"), error=st.just(error)
    ).map(_alone)


Damage: TypeAlias = tuple[Callable[[list[Message], int], None], int]


def _lose(found: list[Message], place: int) -> None:
    del found[place]


def _double(found: list[Message], place: int) -> None:
    found.append(found[place])


def _move(found: list[Message], place: int) -> None:
    found.append(found.pop(place))


def _stray(found: list[Message], place: int) -> None:
    found.insert(place, ToolResultMessage("nobody", "look", "stray"))


DAMAGES: Final[Drawn[Damage]] = st.tuples(
    st.sampled_from((_lose, _double, _move, _stray)), st.integers(0, 9)
)


def _damaged(whole: Transcript, damages: list[Damage]) -> Transcript:
    found = list(whole)
    for damage, place in damages:
        results = [n for n, m in enumerate(found) if isinstance(m, ToolResultMessage)]
        if results:
            damage(found, results[place % len(results)])
        else:
            _stray(found, place % (len(found) + 1))
    return tuple(found)


def is_paired(messages: Iterable[Message]) -> bool:
    """Whether each call has its one result beside it, and no result is without a call."""
    found = tuple(messages)
    return repair(found) is found
