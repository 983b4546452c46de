"""Leading a run to a point: what is given to it so that its hooks are asked there."""

from collections.abc import Callable
from typing import Any, Final

from attrs import define
from hypothesis import strategies as st

from loopcore.effects import CallModel, Effect, RequestApproval
from loopcore.hooks.points import PointName
from loopcore.inputs import Answer
from loopcore.messages import ToolCall
from loopcore.testing.strategies.answering import answers, edits, prompts
from loopcore.testing.strategies.history import renumber
from loopcore.testing.strategies.plain import Drawn
from loopcore.testing.strategies.speech import errors, replies
from loopcore.testing.strategies.walking import Walk

LED: Final = 16
"""How many inputs a run is led by, at most."""

VISITS: Final = st.sampled_from((1, 1, 1, 2, 3))
"""How often it is led to its point, if it can be."""


@define(eq=False)
class Steps:
    """Inputs, one after the other, each at its time."""

    draw: st.DrawFn
    walk: Walk
    clock: float | None = None
    answering: Callable[[Effect], Drawn[Answer]] = answers

    def __call__(self, given: Any) -> bool:  # noqa: ANN401  # an input
        """Give this; False if it was refused."""
        n = len(self.walk.taken)
        return self.walk.give(given, None if self.clock is None else n * self.clock)

    def lead(self, point: PointName, visits: int, seen: Callable[[], int]) -> None:
        """Give what leads to a point so often, as `seen` counts."""
        for _ in range(LED):
            left = visits - seen()
            if left <= 0:
                return
            waiting = self.walk.state.waiting
            leads = self._leading(point, waiting[0], left) if waiting else prompts()
            self(self.draw(leads))

    def _leading(self, point: PointName, effect: Effect, left: int) -> Drawn[Answer]:
        """Answers to this effect that bring a run to a point."""
        if isinstance(effect, CallModel) and ".model." in effect.id:
            if point == "on_model_error":
                return errors().map(effect.fail)
            return _reply(effect, *REPLIES.get(point, (left == 1, left - 1)))
        if isinstance(effect, RequestApproval) and point in PASSED:
            return PASSED[point](effect)
        return self.answering(effect)


def _reply(effect: CallModel, odd: bool, least: int) -> Drawn[Answer]:  # noqa: FBT001
    least = min(least, 1) if effect.tools or odd else 0
    used = sum(isinstance(part, ToolCall) for m in effect.messages for part in m.parts)
    made = replies(*effect.tools, odd=odd, least=least)
    kept = made.filter(lambda reply: not reply.failed)
    return kept.map(lambda reply: effect.reply(renumber(reply, used)))


PASSED: Final[dict[PointName, Callable[[RequestApproval], Drawn[Answer]]]] = {
    "after_tool_call": lambda effect: st.just(effect.approve()),
    "before_tool_call": edits,
}
"""What a person decides, so that a call comes to a point."""

REPLIES: Final[dict[PointName, tuple[bool, int]]] = {
    "prepare_tool_call": (True, 1),
    "before_tool_call": (False, 1),
    "after_tool_call": (False, 1),
    "after_tool_result": (True, 1),
}
"""Whether replies may be odd, and how many calls they have at least."""
