"""Strategies for whole programs: a configuration as data, and what happens to it."""

from functools import partial
from typing import Any, Final

from attrs import field, frozen
from hypothesis import strategies as st

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
    ToolCall,
    ToolOutput,
)
from loopcore.messages import Finish, Part, Text
from property_tests.catalogue import (
    CALLS,
    CHILD,
    ERRORS,
    FOUND,
    GUARDED,
    OUTPUTS,
    TIMED,
    TOOLS,
    USAGES,
    calm,
    inner,
    wild,
)
from property_tests.table import NAMES, Entry, Plan, Said, spied

CALM: Final = tuple(entry for point in NAMES for entry in calm(point))
WILD: Final = tuple(entry for point in NAMES for entry in wild(point))
GATE: Final = "before_tool_call"
MIXED: Final = (*CALM * 2, *WILD)
ORDERLY: Final = (*CALM, *(entry for entry in WILD if entry[0] != GATE))
"""What gives the same result for every order of answers.

A gate that fails does not: an edited call passes it while others are run.
"""

TOOL_NAMES: Final = tuple(tool.name for tool in TOOLS)
NESTED: Final = (CHILD, TIMED, GUARDED)


@frozen
class Setup:
    """A configuration as data; `inside` are those of the tools that are nested runs."""

    plans: tuple[Plan, ...] = ()
    inside: tuple[tuple[str, "Setup"], ...] = ()
    tools: tuple[str, ...] = TOOL_NAMES
    parallel: bool = True
    steering: Any = "one"
    follow_ups: Any = "one"

    def config(self, heard: list[Said] | None = None) -> LoopConfig:
        """The configuration; what its hooks say goes to `heard`."""
        hooks = tuple(plan.hook() for plan in self.plans)
        nested = (inner(name, setup.config(heard)) for name, setup in self.inside)
        tools = (tool for tool in TOOLS if tool.name in self.tools)
        return LoopConfig(
            model="test:main",
            tools=(*tools, *nested),
            hooks=hooks if heard is None else spied(hooks, heard),
            parallel=self.parallel,
            steering=self.steering,
            follow_ups=self.follow_ups,
        )


def plans(pool: tuple[Entry, ...] = MIXED) -> st.SearchStrategy[tuple[Plan, ...]]:
    """Up to three hooks, each with a few entries of this pool."""
    body = st.tuples(
        st.lists(st.sampled_from(pool), min_size=1, max_size=3).map(tuple),
        st.sampled_from((False, False, True)),
        st.sampled_from((None, None, None, ("add",), ("note", CHILD))),
    )
    return st.lists(body, max_size=3).map(_named)


def _named(bodies: list[tuple[Any, bool, Any]]) -> tuple[Plan, ...]:
    return tuple(Plan(f"h{n}", *body) for n, body in enumerate(bodies))


def setups(
    pool: tuple[Entry, ...] = MIXED,
    *,
    depth: int = 1,
    names: tuple[str, ...] = NESTED,
) -> st.SearchStrategy[Setup]:
    """Configurations; up to `depth` runs stand inside one another, as tools so named."""
    inside: st.SearchStrategy[Any] = st.just(())
    if depth:
        inside = _inside(setups(pool, depth=depth - 1, names=names), names)
    return st.builds(
        Setup,
        plans(pool),
        inside,
        parallel=st.sampled_from((True, True, True, False)),
        steering=st.sampled_from(("one", "all")),
        follow_ups=st.sampled_from(("one", "all")),
    )


def _inside(
    one: st.SearchStrategy[Setup], names: tuple[str, ...]
) -> st.SearchStrategy[tuple[tuple[str, Setup], ...]]:
    some = st.tuples(st.sampled_from(names), one).map(lambda pair: (pair,))
    return st.one_of(some, one.map(partial(_under, names)))


def _under(names: tuple[str, ...], setup: Setup) -> tuple[tuple[str, Setup], ...]:
    return tuple((name, setup) for name in names)


USUAL: Final[tuple[Finish, ...]] = ("tools", "end")
UNUSUAL: Final[tuple[Finish, ...]] = ("length", "refusal", "error", "aborted")
FINISHES: Final = (*USUAL * 16, *UNUSUAL)


def reply(
    text: str, calls: tuple[ToolCall, ...], finish: Finish, usage: Any
) -> AssistantMessage:
    said: tuple[Part, ...] = (Text(text),) if text else ()
    return AssistantMessage((*said, *calls), finish=finish, usage=usage)


def replies(least: int = 0) -> st.SearchStrategy[AssistantMessage]:
    """Replies with up to three calls, of whatever kind."""
    return st.builds(
        reply,
        st.sampled_from(("", "well")),
        st.lists(st.sampled_from(CALLS), min_size=least, max_size=3).map(tuple),
        st.sampled_from(FINISHES),
        st.sampled_from(USAGES),
    )


def answers() -> st.SearchStrategy[AssistantMessage | ModelError]:
    """What a model answers: mostly calls, now and then an error."""
    asking = replies(1)
    return st.one_of(*(asking,) * 6, replies(), st.sampled_from(ERRORS))


ANSWERS: Final = answers()


def failing() -> st.SearchStrategy[AssistantMessage | ModelError]:
    """What a model answers that often fails."""
    return st.one_of(st.sampled_from(ERRORS), replies(1))


def outputs() -> st.SearchStrategy[ToolOutput]:
    """What a tool gives."""
    return st.sampled_from(OUTPUTS)


DECISIONS: Final = ("approve", "edit", "misedit", "reject", "respond")


@frozen
class Script:
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


def scripts(
    decisions: tuple[str, ...] = DECISIONS,
    said: st.SearchStrategy[AssistantMessage | ModelError] = ANSWERS,
) -> st.SearchStrategy[Script]:
    """Scripts of a few turns."""
    return st.builds(
        Script,
        st.lists(said, min_size=1, max_size=3).map(tuple),
        st.lists(outputs(), min_size=1, max_size=3).map(tuple),
        st.lists(st.sampled_from(decisions), min_size=1, max_size=2).map(tuple),
        st.sampled_from(((FOUND[0],), (FOUND[1],), FOUND)),
    )


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


def moves(
    kinds: tuple[str, ...] = KINDS, most: int = 14
) -> st.SearchStrategy[tuple[Move, ...]]:
    """What happens, in order."""
    one = st.builds(Move, st.sampled_from(kinds), st.integers(0, 3))
    return st.lists(one, min_size=min(4, most), max_size=most).map(tuple)


@frozen
class Program:
    """A whole run as data."""

    setup: Setup
    script: Script
    moves: tuple[Move, ...]


def programs(
    pool: tuple[Entry, ...] = MIXED,
    kinds: tuple[str, ...] = KINDS,
    *,
    depth: int = 1,
    script: st.SearchStrategy[Script] | None = None,
) -> st.SearchStrategy[Program]:
    """Programs: a configuration, the answers it gets, and what happens meanwhile."""
    answered = scripts() if script is None else script
    return st.builds(Program, setups(pool, depth=depth), answered, moves(kinds))
