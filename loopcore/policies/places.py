"""Where what is shown stands in what is stored, when other rules have been at work on it."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import groupby, islice, takewhile
from typing import TypeAlias

from loopcore.hooks import ContextView
from loopcore.messages import (
    AssistantMessage,
    Message,
    ToolResultMessage,
    UserMessage,
)
from loopcore.policies.rounds import pinned

Place: TypeAlias = int | None
Key: TypeAlias = Callable[[Message], Hashable]


def places(shown: Sequence[Message], stored: Sequence[Message]) -> list[Place]:
    """The place in the transcript of each message that is shown; None for one that was added.

    A message that was changed is known by its calls, or by standing between two that are
    known as close to each other as they are stored.
    """
    if shown is stored:
        return list(range(len(stored)))
    found: list[Place] = [None] * len(shown)
    _match(id, shown, stored, found)
    if None in found:
        _match(_calls, shown, stored, found)
        _fill(shown, stored, found)
    return found


def kept(view: ContextView, tasks: int) -> frozenset[int]:
    """Which of what is shown always stays, if any task is to.

    These are system messages, the first user messages, and what this run was asked; of a
    prompt that is a whole history, its beginning and its end.
    """
    stays = pinned(view.messages, tasks)
    if tasks < 1:
        return stays
    stored = view.transcript
    first = islice(_users(stored, 0), tasks)
    prompt = tuple(_prompt(stored, view.state.new))
    wanted = frozenset((*first, *prompt[:tasks], *prompt[-tasks:]))
    return stays | _shown_of(wanted, view)


def _shown_of(wanted: frozenset[int], view: ContextView) -> set[int]:
    """Where these stored messages are shown: mostly as they are, which is soon seen."""
    same = {id(view.transcript[place]) for place in wanted}
    found = {n for n, message in enumerate(view.messages) if id(message) in same}
    if len(found) == len(same) and {id(view.messages[n]) for n in found} == same:
        return found
    shown = places(view.messages, view.transcript)
    return {n for n, place in enumerate(shown) if place in wanted}


def _users(messages: Iterable[Message], first: int) -> Iterator[int]:
    """The places of user messages; `first` is the place of the first message."""
    numbered = enumerate(messages, first)
    return (n for n, message in numbered if isinstance(message, UserMessage))


def _prompt(stored: Sequence[Message], new: Sequence[Message]) -> Iterator[int]:
    """Where this run's prompt is; in one that just goes on, where the last one is."""
    start = max(len(stored) - len(new), 0)
    size = len(list(takewhile(_is_asked, new)))
    if size:
        return _users(stored[start : start + size], start)
    before = (n for n in reversed(range(start)) if isinstance(stored[n], UserMessage))
    return islice(before, 1)


def _is_asked(message: Message) -> bool:
    return not isinstance(message, AssistantMessage | ToolResultMessage)


def _match(
    key: Key, shown: Sequence[Message], stored: Sequence[Message], found: list[Place]
) -> None:
    """Of several that are alike, the last are shown; if more are shown, the last were added."""
    spots = _alike(key, stored, set(found))
    wanted = _alike(
        key, shown, {n for n, place in enumerate(found) if place is not None}
    )
    for name, numbers in wanted.items():
        there = spots.get(name, [])
        pairs = zip(numbers[: len(there)], there[-len(numbers) :], strict=True)
        for number, place in pairs:
            found[number] = place


def _alike(
    key: Key, messages: Sequence[Message], known: AbstractSet[Place]
) -> dict[Hashable, list[int]]:
    """The numbers of messages that are not known yet and have this key in common."""
    alike: defaultdict[Hashable, list[int]] = defaultdict(list)
    for number, message in enumerate(messages):
        name = None if number in known else key(message)
        if name is not None:
            alike[name].append(number)
    return alike


def _calls(message: Message) -> Hashable:
    match message:
        case AssistantMessage(calls=calls) if calls:
            return tuple(call.id for call in calls)
        case ToolResultMessage():
            return message.call_id
        case _:
            return None


def _fill(
    shown: Sequence[Message], stored: Sequence[Message], found: list[Place]
) -> None:
    """Whatever there are as many of between two places as are stored there."""
    taken = frozenset(found)
    runs = groupby(range(len(found)), lambda number: found[number] is None)
    for run in [list(numbers) for unknown, numbers in runs if unknown]:
        first, end = run[0], run[-1] + 1
        before = found[first - 1] if first else -1
        after = found[end] if end < len(found) else len(stored)
        if before is None or after is None or after - before - 1 != len(run):
            continue
        between = range(before + 1, after)
        kinds = [type(stored[place]) for place in between]
        if taken.isdisjoint(between) and kinds == [type(shown[n]) for n in run]:
            found[first:end] = between
