"""Room: what is shown is kept within what a model takes."""

from collections.abc import Iterable
from typing import Final, TypeAlias

from attrs import frozen

from loopcore.frozen import evolve
from loopcore.hooks import (
    ContextUpdate,
    ContextView,
    ErrorView,
    Hooks,
    ReplyUpdate,
    ReplyView,
    RetryUpdate,
    TurnUpdate,
    TurnView,
)
from loopcore.messages import (
    AssistantMessage,
    Message,
    Text,
    ToolResultMessage,
    UserMessage,
)
from loopcore.policies.given import refuse_no_function, refuse_unless_whole
from loopcore.policies.places import Place, kept, places
from loopcore.policies.rounds import Count, estimate, newest_first, rounds
from loopcore.policies.window import cut

Memo: TypeAlias = tuple[int, ...]

FILLED: Final = 0.75
"""How full a window is once something was left out: so that is not done each time."""

LESS: Final = 0.5
"""How much of what was too much is shown instead."""

FULL: Final = 0.99
"""From how much of its window on a model had no more room."""

MARKER: Final = 80
"""How many characters say what is missing, at most."""

SHORTEST: Final = 100
"""How many tokens of a result are never cut off."""

GO_ON: Final = (
    "Your reply was cut: there was no room left for it. Part of the conversation is left "
    "out now. Go on."
)


@frozen
class Room:
    """What is left out, and why.

    Args:
        due: whether too much was shown, so that less is to be.
        cap: how many characters of a result are shown; 0 is all.
        start: from which stored message on; the task is shown besides.
        since: how many messages were stored when the last three changed.
        tried: the run in which a model was asked again.
        cut: whether the last reply was cut for want of room.
    """

    due: int = 0
    cap: int = 0
    start: int = 0
    since: int = 0
    tried: int = 0
    cut: int = 0

    @property
    def memo(self) -> Memo:
        """As it is remembered."""
        return (self.due, self.cap, self.start, self.since, self.tried, self.cut)


def fit(
    window: int | None = None, *, longest: int | None = None, count: Count = estimate
) -> Hooks:
    """Show no more than fits: the longest results are cut first, then old rounds left out.

    What is stored stays whole. System messages, the first user message, what this run was
    asked and the newest round are always shown, and so is what other rules add. A model
    that says that it was shown too much is asked again with half of it; so is one that had
    no room for its reply; once in a run.

    Args:
        window: how many tokens the model takes, where that is known. They are counted by
            what the service said of the last reply, and by `count` from there on.
        longest: how many tokens a reply may have, where requests say so: one that was cut
            before had no room.
        count: the tokens of a message: an estimate unless you give a tokenizer.

    Raises:
        ValueError: for a number below 1.
    """
    refuse_unless_whole("fit", 1, window=window, longest=longest)
    refuse_no_function("fit", count=count)
    fitting = Fitting(window, longest, count)
    return Hooks(
        "fit",
        memo=Room().memo,
        transform_context=fitting.show,
        on_model_error=fitting.refused,
        after_model_call=fitting.read,
        prepare_next_turn=fitting.go_on,
    )


@frozen
class Fitting:
    """What `fit` does at each point, with what it was given."""

    window: int | None
    longest: int | None
    count: Count

    def show(self, view: ContextView) -> ContextUpdate | None:
        """Less, if what would be shown is too much; else as it was shown last."""
        said = Said.of(view)
        room = _known(Room(*view.memo), view)
        target = _target(said, room, self.window, self.count)
        if target is not None:
            less = _less(said, room, target, self.count)
            less = evolve(less, due=0, since=len(view.transcript))
            return ContextUpdate(_shown(said, less), memo=less.memo)
        shown = _shown(said, room)
        return None if shown == said.messages else ContextUpdate(shown)

    def refused(self, view: ErrorView) -> RetryUpdate | None:
        """Once more, with less."""
        room = Room(*view.memo)
        if view.error.kind != "context_overflow" or room.tried == view.state.run:
            return None
        again = evolve(room, due=1, tried=view.state.run)
        return RetryUpdate(retry=True, memo=again.memo)

    def read(self, view: ReplyView) -> ReplyUpdate | None:
        """What a reply says of the room that there was."""
        room = Room(*view.memo)
        short = _had_no_room(view.message, self.window, self.longest)
        over = short or _over(view.message, self.window)
        if not over or room.tried == view.state.run:
            return None
        again = evolve(room, due=1, tried=view.state.run, cut=int(short))
        return ReplyUpdate(memo=again.memo)

    def go_on(self, view: TurnView) -> TurnUpdate | None:
        """A turn more for a reply that had no room."""
        room = Room(*view.memo)
        if not room.cut:
            return None
        say = () if view.goes_on else (UserMessage(GO_ON),)
        return TurnUpdate(say, memo=evolve(room, cut=0).memo)


@frozen
class Said:
    """What the rules before this one show, where it is stored, and what always stays."""

    messages: tuple[Message, ...]
    places: tuple[Place, ...]
    kept: frozenset[int]

    @classmethod
    def of(cls, view: ContextView) -> "Said":
        """The newest round is one of the conversation: what was added comes and goes."""
        found = tuple(places(view.messages, view.transcript))
        groups = newest_first(view.messages)
        newest = (group for group in groups if any(found[n] is not None for n in group))
        stays = kept(view, 1) | frozenset(next(newest, ()))
        return cls(tuple(view.messages), found, stays)

    def goes(self, number: int, start: int) -> int | None:
        """The place of a message, if it may be left out and still is shown."""
        place = self.places[number]
        stays = number in self.kept or place is None or place < start
        return None if stays else place

    def shows(self, number: int, start: int) -> bool:
        """Whether a message is shown when the conversation is shown from there on."""
        place = self.places[number]
        return number in self.kept or place is None or place >= start


def _known(room: Room, view: ContextView) -> Room:
    """A place beyond the end of a transcript is one that was cut off."""
    cut_off = room.start > len(view.transcript)
    return evolve(room, start=0, since=0) if cut_off else room


def _over(reply: AssistantMessage, window: int | None) -> bool:
    """Whether more went in than the model takes: some services say nothing of it."""
    usage = reply.usage
    shown = usage.input + usage.cache_read + usage.cache_write
    return window is not None and shown > window


def _had_no_room(
    reply: AssistantMessage, window: int | None, longest: int | None
) -> bool:
    """Whether a reply was cut by the end of the window, not by its own limit."""
    usage = reply.usage
    if reply.finish != "length" or not usage.total:
        return False
    full = window is not None and usage.total >= window * FULL
    return full or not usage.output or (longest is not None and usage.output < longest)


def _target(said: Said, room: Room, window: int | None, count: Count) -> int | None:
    """To how many counted tokens what is shown must shrink; None if it need not."""
    counted = sum(map(count, _shown(said, room)))
    if room.due:
        return int(counted * LESS)
    size = _used(said, room, count) or counted
    if window is None or size <= window:
        return None
    return int(counted * FILLED * window / size)


def _used(said: Said, room: Room, count: Count) -> int:
    """The tokens of this conversation, going by the newest reply whose service counted them.

    Replies that came before something was left out say nothing of what is shown now.
    """
    for number in reversed(range(len(said.messages))):
        message, place = said.messages[number], said.places[number]
        if place is None or not isinstance(message, AssistantMessage):
            continue
        if place < room.since:
            return 0
        if message.usage.total:
            return message.usage.total + sum(map(count, said.messages[number + 1 :]))
    return 0


def _shown(said: Said, room: Room) -> tuple[Message, ...]:
    if not room.cap and not room.start:
        return said.messages
    numbered = enumerate(said.messages)
    shown = (m for number, m in numbered if said.shows(number, room.start))
    return tuple(_capped(m, room.cap) if room.cap else m for m in shown)


def _capped(message: Message, cap: int) -> Message:
    if not isinstance(message, ToolResultMessage) or len(message.text) <= cap:
        return message
    rest = [part for part in message.parts if not isinstance(part, Text)]
    content = (cut(message.text, cap, cap // 4, None), *rest)
    return ToolResultMessage(
        message.call_id, message.name, content, message.outcome, message.details
    )


def _less(said: Said, room: Room, target: int, count: Count) -> Room:
    """What to leave out so that no more than so many tokens are left, if it can be."""
    shown = _shown(said, room)
    results = [(m, count(m)) for m in shown if isinstance(m, ToolResultMessage)]
    level = _level((size for _, size in results), sum(map(count, shown)) - target)
    large = [len(m.text) / size for m, size in results if size > level]
    cap = max(int(level * min(large)) - MARKER, MARKER) if large else room.cap
    capped = evolve(room, cap=cap)
    return evolve(capped, start=_start(said, capped, target, count))


def _level(sizes: Iterable[int], over: int) -> int:
    """To which size the largest must be cut so that so much is saved; 0 is not at all."""
    falling = sorted(sizes, reverse=True)
    above = 0
    for number, size in enumerate(falling, 1):
        below = falling[number] if number < len(falling) else 0
        above += size
        if above - number * below >= over:
            return max((above - over) // number, SHORTEST)
    return SHORTEST if falling else 0


def _start(said: Said, room: Room, target: int, count: Count) -> int:
    """Where to begin, as early as possible; no later than with the newest round."""
    start = room.start
    capped = [_capped(m, room.cap) if room.cap else m for m in said.messages]
    sizes = [count(m) if said.shows(n, start) else 0 for n, m in enumerate(capped)]
    left = sum(sizes)
    for group in rounds(said.messages):
        if left <= target:
            break
        found = [
            (n, place) for n in group if (place := said.goes(n, start)) is not None
        ]
        left -= sum(sizes[n] for n, _ in found)
        start = max([start, *(place + 1 for _, place in found)])
    return start
