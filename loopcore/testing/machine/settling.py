"""What answers a run until it rests, without a word of it drawn."""

from collections import Counter
from typing import Final

from attrs import define, field

from loopcore.effects import CallModel, Consult, Effect
from loopcore.inputs import Answer
from loopcore.messages import AssistantMessage, ToolCall
from loopcore.testing.doubles.auto import arguments_for
from loopcore.testing.doubles.values import CannotMake
from loopcore.testing.machine.moves import DONE, Reaction
from loopcore.tools import ToolSpec

PLAIN: Final = Reaction()
"""What makes the least trouble."""


@define(eq=False)
class Settling:
    """Answers that let a run end if it ends at all, the plainest first.

    A model says "done"; asked again, it calls a tool, each in its turn, and says "done"
    after each. A service says nothing, and yes whenever it is asked again. All else is
    let through. `asked` counts what each run asked of a model, and what each service was asked.
    """

    asked: Counter[str] = field(factory=Counter[str])

    def answer(self, effect: Effect) -> Answer:
        """The answer to this effect."""
        match effect:
            case CallModel():
                n = self._times(effect.id.rsplit(".", PLACE)[0])
                said = _called(effect.tools, n // 2) if n % 2 else DONE
                return Reaction(said=said).answer(effect)
            case Consult():
                value = True if self._times(effect.service) else None
                return Reaction(value=value).answer(effect)
            case _:
                return PLAIN.answer(effect)

    def _times(self, asked: str) -> int:
        """How often this was asked before."""
        self.asked[asked] += 1
        return self.asked[asked] - 1


PLACE: Final = 4
"""The parts of a request's id after its run's: run, turn, "model", attempt."""


def _called(tools: tuple[ToolSpec, ...], n: int) -> AssistantMessage:
    """A call of the nth tool with arguments that fit; "done" if there is none."""
    if not tools:
        return DONE
    spec = tools[n % len(tools)]
    try:
        arguments = arguments_for(spec, n)
    except CannotMake:
        return DONE
    return AssistantMessage((ToolCall(spec.name, arguments, "c1"),), finish="tools")
