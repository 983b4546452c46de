"""Programs as data: a configuration, the answers it gets, and what happens meanwhile."""

from typing import Any, Final

from attrs import field, frozen

from loopcore import (
    AssistantMessage,
    CallModel,
    Consult,
    Effect,
    LoopConfig,
    ModelError,
    RequestApproval,
    RunTool,
    Sleep,
    ToolOutput,
)
from property_tests.catalogue import (
    CHILD,
    FOUND,
    GUARDED,
    OUTPUTS,
    TIMED,
    TOOLS,
    inner,
)
from property_tests.table import Plan

TOOL_NAMES: Final = tuple(tool.name for tool in TOOLS)
NESTED: Final = (CHILD, TIMED, GUARDED)


class Brief:
    """What Hypothesis prints as its repr: records of ours within it are brief there."""

    __slots__ = ()

    def _repr_pretty_(self, printer: Any, cycle: object) -> None:  # noqa: ARG002
        printer.text(repr(self))


@frozen
class Setup(Brief):
    """A configuration as data; `inside` are those of the tools that are nested runs."""

    plans: tuple[Plan, ...] = ()
    inside: tuple[tuple[str, "Setup"], ...] = ()
    tools: tuple[str, ...] = TOOL_NAMES
    parallel: bool = True
    steering: Any = "one"
    follow_ups: Any = "one"
    output: Any = None

    def config(self) -> LoopConfig:
        """The configuration."""
        nested = (inner(name, setup.config()) for name, setup in self.inside)
        tools = (tool for tool in TOOLS if tool.name in self.tools)
        return LoopConfig(
            model="test:main",
            tools=(*tools, *nested),
            hooks=tuple(plan.hook() for plan in self.plans),
            parallel=self.parallel,
            steering=self.steering,
            follow_ups=self.follow_ups,
            output=self.output,
            repairs=1,
        )


DECISIONS: Final = ("approve", "edit", "misedit", "reject", "respond")


@frozen
class Script(Brief):
    """What answers each effect: the effect's position alone decides."""

    replies: tuple[AssistantMessage | ModelError, ...] = ()
    outputs: tuple[ToolOutput, ...] = (OUTPUTS[0],)
    decisions: tuple[str, ...] = ("approve",)
    found: tuple[Any, ...] = (FOUND[0],)
    last: AssistantMessage = field(default=AssistantMessage("done"))

    def answer(self, effect: Effect) -> Any:  # an Answer
        """The answer to this effect."""
        n = _position(effect.id)
        match effect:
            case CallModel():
                return self._said(effect)
            case RunTool():
                return effect.reply(self.outputs[n % len(self.outputs)])
            case RequestApproval():
                return decide(effect, self.decisions[n % len(self.decisions)])
            case Consult():
                found = self.found[n % len(self.found)]
                return (
                    effect.fail("no answer") if found is None else effect.reply(found)
                )
            case Sleep():
                return effect.done()

    def _said(self, effect: CallModel) -> Any:  # an Answer
        """Replies by turn and attempt; when all are said, a last one."""
        numbers = _numbers(effect.id)
        n = sum(numbers[-2:]) - 2 if ".model." in effect.id else len(self.replies)
        said = self.replies[n] if n < len(self.replies) else self.last
        if isinstance(said, ModelError):
            return effect.fail(said)
        return effect.reply(said)


def decide(effect: RequestApproval, how: str) -> Any:  # an Answer
    """A person's decision, by name; an edit that cannot fit is a reject."""
    match how:
        case "approve":
            return effect.approve()
        case "edit":
            return effect.edit(x="11") if "x" in effect.arguments else effect.approve()
        case "misedit" if "x" in effect.arguments:
            return effect.edit(x=[])
        case "respond":
            return effect.respond("by hand")
        case _:
            return effect.reject("never")


def _numbers(effect_id: str) -> list[int]:
    return [int(part) for part in effect_id.split(".") if part.isdecimal()]


def _position(effect_id: str) -> int:
    return sum(_numbers(effect_id))


KINDS: Final = (
    *("answer",) * 9,
    *("steer", "follow_up") * 2,
    *("prompt", "withdraw", "continue", "abort", "again"),
)


@frozen
class Move:
    """Something happens: of this kind, `n` tells which of several."""

    kind: str
    n: int = 0


@frozen
class Program(Brief):
    """A whole run as data."""

    setup: Setup
    script: Script
    moves: tuple[Move, ...]
