"""Rounds: the pieces into which a history may be cut without parting a call from its result."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, TypeAlias

from loopcore.messages import (
    AssistantMessage,
    CustomMessage,
    Image,
    Message,
    Part,
    SystemMessage,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)

Round: TypeAlias = tuple[int, ...]
"""The places of messages that belong together: a reply with its results, or one message."""

CHARACTERS_A_TOKEN: Final = 4
TOKENS_A_MESSAGE: Final = 4
TOKENS_AN_IMAGE: Final = 1_000

Count: TypeAlias = Callable[[Message], int]


def rounds(messages: Iterable[Message], first: int = 0) -> Iterator[Round]:
    """The rounds of a history, in order; results join the reply that asked for them.

    `first` is the place of the first of these messages.
    """
    places: list[int] = []
    asked: frozenset[str] = frozenset()
    for place, message in enumerate(messages, first):
        joins = isinstance(message, ToolResultMessage) and message.call_id in asked
        if places and not joins:
            yield tuple(places)
            places = []
        if isinstance(message, AssistantMessage):
            asked = frozenset(call.id for call in message.calls)
        elif not joins:
            asked = frozenset()
        places.append(place)
    if places:
        yield tuple(places)


def newest_first(messages: Sequence[Message]) -> Iterator[Round]:
    """The rounds of a history, from its end: no further back than is asked for."""
    end = len(messages)
    for start in range(end - 1, -1, -1):
        if start and isinstance(messages[start], ToolResultMessage):
            continue  # only other messages are known to begin a round
        yield from reversed(tuple(rounds(messages[start:end], start)))
        end = start


def estimate(message: Message) -> int:
    """About how many tokens a message is: a count that is always there.

    >>> estimate(UserMessage("What is the weather in Paris?"))
    12
    """
    if isinstance(message, CustomMessage):
        return 0
    return TOKENS_A_MESSAGE + sum(map(_part, message.parts))


def _part(part: Part) -> int:
    match part:
        case Image():
            return TOKENS_AN_IMAGE
        case ToolCall():
            return _length(part.name) + _length(part.text)
        case _:
            return _length(part.text)


def _length(text: str) -> int:
    """Tokens of a text: fewer characters a token where letters are not Latin."""
    size = len(text) if text.isascii() else (len(text.encode()) + len(text)) // 2
    return -(-size // CHARACTERS_A_TOKEN)


def pinned(messages: Iterable[Message], tasks: int) -> frozenset[int]:
    """The places of system messages and of the first `tasks` user messages."""
    said = tuple(messages)
    system = (n for n, m in enumerate(said) if isinstance(m, SystemMessage))
    users = (n for n, m in enumerate(said) if isinstance(m, UserMessage))
    return frozenset((*system, *islice(users, max(tasks, 0))))
