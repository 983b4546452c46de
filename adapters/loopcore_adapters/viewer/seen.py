"""A timeline as it is looked at, point by point: what a page tells of all points at once."""

from attrs import field, frozen

from loopcore import CallModel, Message
from loopcore.events import TurnEnd
from loopcore_adapters.viewer.known import Known
from loopcore_adapters.viewer.marks import Mark, marks
from loopcore_adapters.viewer.requests import is_own, passed
from loopcore_adapters.viewer.speech import Shaping, raw
from loopcore_adapters.viewer.timeline import Point, Timeline, Wrote


@frozen
class Shown:
    """The newest request of a run at some point, and what it shows of its transcript.

    Args:
        request: the request.
        marks: what became of each stored message.
        total: how many messages it shows.
    """

    request: CallModel
    marks: tuple[Mark, ...]
    total: int


@frozen
class Seen:
    """A timeline, and who had a hand in each message of it."""

    timeline: Timeline
    known: Known = field(factory=Known)
    shaping: Shaping = field(init=False)

    def __attrs_post_init__(self) -> None:
        shaping = Shaping(self.known)
        for point in self.timeline.points:
            shaping.follow(point)
        object.__setattr__(self, "shaping", shaping)

    def shaped(self, message: Message) -> list[Wrote]:
        """What hooks wrote of a stored message, in order."""
        return self.shaping.of.get(self.known.number(message), [])

    def outcome_before(self, message: Message) -> str:
        """A result's outcome before hooks changed it; empty if that is not known."""
        return str(getattr(raw(self.shaped(message)), "outcome", ""))

    def turns(self) -> list[int]:
        """The points at which turns of the run itself ended."""
        run_id = self.timeline.run_id
        return [
            point.number
            for point in self.timeline.points
            if any(
                isinstance(event, TurnEnd) and event.run_id == run_id
                for event in point.effects.tell
            )
        ]

    def shown(self, at: int) -> Shown | None:
        """The newest request up to and with this point; None if there was none yet."""
        for point in reversed(self.timeline.points[: at + 1]):
            request = self._request(point)
            if request is not None:
                return self._shown(point, request)
        return None

    def _request(self, point: Point) -> CallModel | None:
        """The request that the run itself made at this point."""
        state = point.state
        found = (
            effect
            for effect in point.effects.perform
            if isinstance(effect, CallModel) and effect.id in state.pending
        )
        return next((effect for effect in found if is_own(point, effect)), None)

    def _shown(self, point: Point, request: CallModel) -> Shown:
        stored = self.known.numbers(point.state.transcript)
        lists = passed(self.known, point, request, stored)
        found = tuple(marks(self.known, stored, lists))
        return Shown(request, found, len(request.messages))
