"""What happens to a run in a machine, as data that does not depend on where the run is.

So a failing program stays one when lines are taken from it, and shrinks well.
"""

from collections.abc import Iterator
from typing import Any, Final

from attrs import frozen
from hypothesis import strategies as st

from loopcore.config import AnyConfig, Nested
from loopcore.effects import CallModel, Consult, Effect, RequestApproval, RunTool, Sleep
from loopcore.frozen import EMPTY, FrozenDict, Json, constructor
from loopcore.inputs import Answer
from loopcore.messages import AssistantMessage, ModelError, Text, ToolCall, Usage
from loopcore.testing.strategies.plain import Drawn, jsons
from loopcore.testing.strategies.speech import errors, outcomes, replies
from loopcore.testing.strategies.tooling import arguments
from loopcore.tools import ToolOutput, ToolSpec, spec_of

DONE: Final = AssistantMessage("done")
OK: Final = ToolOutput("ok")


@constructor
@frozen
class Reaction:
    """What comes of an effect, whichever it is: a reply, an output, a decision, a value.

    Of several that wait, it is the nth; a decision is approve, reject, respond, or the
    arguments of an edit.
    """

    n: int = 0
    said: AssistantMessage | ModelError = DONE
    output: ToolOutput = OK
    decision: str | FrozenDict[Json] = "approve"
    value: Json = None

    def answer(self, effect: Effect) -> Answer:
        """The answer to this effect."""
        match effect:
            case CallModel():
                return replied(effect, self.said)
            case RunTool():
                return effect.reply(self.output)
            case RequestApproval():
                return decided(effect, self.decision)
            case Consult():
                return effect.reply(self.value)
            case Sleep():
                return effect.done()


def replied(asked: CallModel, said: AssistantMessage | ModelError) -> Answer:
    """A model replied, or did not."""
    return asked.fail(said) if isinstance(said, ModelError) else asked.reply(said)


def decided(asked: RequestApproval, how: str | FrozenDict[Json]) -> Answer:
    """A person's decision; an edit may turn out not to fit."""
    match how:
        case "approve":
            return asked.approve()
        case "reject":
            return asked.reject("never")
        case "respond":
            return asked.respond("by hand")
        case _:
            changed: Any = how
            return asked.edit(**changed)


PLACES: Final = st.integers(0, 3)
"""Which of several."""
DECISIONS: Final[tuple[str, ...]] = ("approve", "reject", "respond")


def reactions(tools: tuple[ToolSpec, ...]) -> Drawn[Reaction]:
    """What may come of an effect where these tools are offered."""
    edits: Drawn[Any] = st.one_of(*map(arguments, tools)) if tools else st.just(EMPTY)
    said = replies(*tools, odd=True)
    return st.builds(
        Reaction,
        PLACES,
        st.one_of(said, said, said, errors()),
        outcomes(),
        st.sampled_from(DECISIONS) | edits,
        jsons(),
    )


def tools_of(config: AnyConfig) -> Iterator[ToolSpec]:
    """Every tool that runs of this configuration are offered, those inside too."""
    for tool in config.tools:
        yield spec_of(tool)
        if isinstance(tool, Nested):
            yield from tools_of(tool.config)


HALF: Final = AssistantMessage("half", usage=Usage(0, 1))
PARTIALS: Final = st.sampled_from(
    (
        None,
        HALF,
        AssistantMessage((Text("half"), ToolCall("look", {}, "c1")), usage=Usage(2, 1)),
    )
)
"""What models may have streamed when a run is aborted."""

TIMES: Final = st.sampled_from((None, None, 1.0, 5.0))
STRANGERS: Final = st.sampled_from(("", "r", "r.999.1.run.0", "x.1.1.run.0"))
"""Ids that nothing has."""
