"""Messages by number, and which of them a request shows otherwise than they are stored."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from attrs import define, field

from loopcore import AssistantMessage, Message, ToolResultMessage

UNKNOWN: Final = -1
NEAR: Final = 64
"""How far a rewritten message is looked for around its place."""

ALIKE: Final = 0.3
"""Which part of the shorter of two texts must be the same at their ends."""

ENOUGH: Final = 8
"""How many characters must be; fewer say nothing."""


@define
class Variant:
    """A message that a hook made for requests: of which other one, and which hook."""

    of: int
    by: str


@define
class Known:
    """The messages of one run and the runs nested in it.

    A stored message has a number of its own, though another one may be equal to it.
    """

    messages: list[Message] = field(factory=list[Message])
    variants: dict[int, Variant] = field(factory=dict[int, Variant])
    _by_identity: dict[int, int] = field(factory=dict[int, int])
    _by_value: dict[Message, list[int]] = field(factory=dict[Message, list[int]])

    def number(self, message: Message) -> int:
        """The number of a message; a new one if it was never seen."""
        known = self._by_identity.get(id(message))
        return self._new(message) if known is None else known

    def numbers(self, messages: Iterable[Message]) -> list[int]:
        """The numbers of stored messages."""
        return [self.number(message) for message in messages]

    def shown(
        self, messages: Iterable[Message], base: Sequence[int], hook: str
    ) -> list[int]:
        """The numbers of what a hook shows in place of the messages of `base`.

        One that the hook made is its variant of the one in whose place it stands, if there
        is such a one.
        """
        listed, found = list(messages), list[int]()
        for message in listed:
            found.append(self._found(message, found[-1] if found else UNKNOWN))
        if UNKNOWN in found:
            self._adopt(listed, found, base, hook)
        return found

    def root(self, number: int) -> int:
        """The stored message that this one is made of; itself if of none."""
        while (variant := self.variants.get(number)) and variant.of != UNKNOWN:
            number = variant.of
        return number

    def writers(self, number: int) -> tuple[str, ...]:
        """The hooks that rewrote it, the first one first."""
        found: list[str] = []
        while (variant := self.variants.get(number)) is not None:
            found.append(variant.by)
            number = variant.of
        return tuple(reversed(found))

    def equal(self, number: int) -> int:
        """The first message that is equal to this one."""
        return self._by_value[self.messages[number]][0]

    def _new(self, message: Message) -> int:
        number = self._by_identity[id(message)] = len(self.messages)
        self.messages.append(message)
        self._by_value.setdefault(message, []).append(number)
        return number

    def _found(self, message: Message, after: int) -> int:
        known = self._by_identity.get(id(message))
        if known is not None:
            return known
        equal = self._by_value.get(message, [])
        return next((n for n in equal if n > after), equal[-1] if equal else UNKNOWN)

    def _adopt(
        self,
        listed: list[Message],
        found: list[int],
        base: Sequence[int],
        hook: str,
    ) -> None:
        """Give numbers to messages that are new, and find what each is a variant of."""
        places = {number: place for place, number in enumerate(base)}
        for first, last, low, high in _gaps(found, places, len(base)):
            new = listed[first:last]
            left = [n for n in _near(base, low, high) if n not in found]
            for message, of in zip(new, self._originals(new, left), strict=True):
                number = found[first] = self._new(message)
                self.variants[number] = Variant(of, hook)
                first += 1  # noqa: PLW2901  # the next of this gap

    def _originals(self, new: list[Message], left: list[int]) -> Iterator[int]:
        """For each new message the one that it stands for."""
        one_each = [type(m) for m in new] == [type(self.messages[n]) for n in left]
        rest = iter(left)
        for message in new:
            if one_each:
                yield next(rest)
                continue
            of = next((n for n in left if _like(self.messages[n], message)), UNKNOWN)
            left = [n for n in left if n != of]
            yield of


def _gaps(
    found: list[int], places: dict[int, int], end: int
) -> Iterator[tuple[int, int, int, int]]:
    """Runs of unknown messages: from, to; and between which places of the base."""
    first, low = 0, 0
    for n, number in enumerate([*found, UNKNOWN]):
        if number == UNKNOWN and n < len(found):
            continue
        high = places.get(number, end)
        if first < n:
            yield first, n, low, high
        first, low = n + 1, places.get(number, low - 1) + 1


def _near(base: Sequence[int], low: int, high: int) -> list[int]:
    if high - low <= 2 * NEAR:
        return list(base[low:high])
    return [*base[low : low + NEAR], *base[high - NEAR : high]]


def _like(one: Message, other: Message) -> bool:
    """Whether one may well be made of the other."""
    match one, other:
        case ToolResultMessage(call_id=a), ToolResultMessage(call_id=b):
            return a == b
        case AssistantMessage(calls=a), AssistantMessage(calls=b) if a:
            return a == b
        case _:
            return type(one) is type(other) and _share(one.text, other.text)


def _share(one: str, other: str) -> bool:
    """Whether two texts begin and end much alike."""
    shorter = min(len(one), len(other))
    ahead = _ahead(one, other, shorter)
    behind = _ahead(one[::-1], other[::-1], shorter - ahead)
    return ahead + behind >= max(ALIKE * shorter, ENOUGH)


def _ahead(one: str, other: str, most: int) -> int:
    return next((n for n in range(most) if one[n] != other[n]), most)
