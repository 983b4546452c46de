"""Tools as data: what a model is told of a tool, and what a tool gave."""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import Any, Final, Literal, Protocol, TypeAlias

from attrs import Attribute, field, frozen

from loopcore.frozen import (
    FrozenDict,
    Json,
    cleaned,
    constructor,
    finite,
    freeze,
    freeze_object,
    one_of,
    takes,
)
from loopcore.messages import OUTCOMES, Outcome, Part, parts, text_of

NO_PARAMETERS: Final = FrozenDict[Json](type="object", properties=FrozenDict())
NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
NAMES: Final = "model services take names of up to 64 letters, digits, _ and -"


def _named(spec: object, field_of: "Attribute[Any]", value: object) -> None:
    takes(str)(spec, field_of, value)
    if not value:
        message = "ToolSpec(name=...) is empty; a model calls a tool by its name"
        raise ValueError(message)


def _lasting(spec: object, field_of: "Attribute[Any]", value: float | None) -> None:
    finite(spec, field_of, value)
    if value is not None and value < 0:
        message = f"ToolSpec(timeout={value}): a timeout is not negative"
        raise ValueError(message)


@constructor
@frozen
class ToolSpec:
    """What a model is told about a tool, and how it is to be run. Data.

    Args:
        name: what the model calls.
        description: what it does, in a sentence.
        parameters: a JSON Schema of its arguments.
        execution: "sequential" makes every batch that calls it run one by one.
        timeout: seconds until it counts as timed out; None waits.
        on_interrupt: what becomes of a call that was started before a crash, where that
            was noted: "report" tells the model that the outcome is unknown, "retry" runs it
            again under the same effect id. A state alone holds no such note: whatever it
            waits for is performed.
        needs_approval: ask a person first, if no hook decides.
        elsewhere: somebody else answers, so a run pauses at it.
    """

    name: str = field(converter=cleaned, validator=_named)
    description: str = field(default="", converter=cleaned, validator=takes(str))
    parameters: FrozenDict[Json] = field(default=NO_PARAMETERS, converter=freeze_object)
    execution: Literal["parallel", "sequential"] = field(
        default="parallel", kw_only=True, validator=one_of("parallel", "sequential")
    )
    timeout: float | None = field(default=None, kw_only=True, validator=_lasting)
    on_interrupt: Literal["report", "retry"] = field(
        default="report", kw_only=True, validator=one_of("report", "retry")
    )
    needs_approval: bool = field(default=False, kw_only=True, validator=takes(bool))
    elsewhere: bool = field(default=False, kw_only=True, validator=takes(bool))


class HasSpec(Protocol):
    """Whatever has a tool's data half: a `Tool`, for one."""

    @property
    def spec(self) -> ToolSpec: ...


ToolLike: TypeAlias = ToolSpec | HasSpec


def name_of(tool: str | ToolLike) -> str:
    """The name of a tool, given by name or as the tool itself."""
    return tool if isinstance(tool, str) else spec_of(tool).name


def spec_of(tool: ToolLike) -> ToolSpec:
    """The data half of a tool."""
    spec = tool if isinstance(tool, ToolSpec) else getattr(tool, "spec", None)
    if isinstance(spec, ToolSpec):
        return spec
    instead = unopened(tool) or "Decorate the function with @tool, or give a ToolSpec."
    message = f"{tool!r} is no tool. {instead}"
    raise TypeError(message)


def unopened(given: object) -> str:
    """What to write of what has yet to be opened, such as `mcp(...)`; else nothing."""
    if not hasattr(type(given), "__aenter__"):
        return ""
    return "It has yet to be opened: `async with ... as tools:` gives a list of tools."


@constructor
@frozen
class ToolOutput:
    """What a tool gave: for the model, for the program, and how it ended.

    `details` are JSON for the program. `terminate` asks to end the run after this batch.
    """

    parts: tuple[Part, ...] = field(converter=parts, alias="content")
    details: Any = field(default=None, converter=freeze, kw_only=True)  # pyright: ignore[reportUnknownVariableType]
    terminate: bool = field(default=False, kw_only=True, validator=takes(bool))
    outcome: Outcome = field(default="ok", kw_only=True, validator=one_of(*OUTCOMES))

    @property
    def text(self) -> str:
        """All its text."""
        return text_of(self.parts)

    @property
    def is_error(self) -> bool:
        """Whether it is anything but "ok"."""
        return self.outcome != "ok"


MOST_NEAR: Final = 3
LONGEST: Final = 80
"""How much of a name is looked at: a model may have invented anything."""

WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
SHORTEST: Final = 3
"""Shorter words and names are in too many others to mean anything."""


def near(name: str, names: Iterable[str]) -> list[str]:
    """The names that may have been meant, the nearest first: three at most.

    Case and punctuation do not count. A typo is near, so is a part of a name, and a name
    that shares a word; what is much further off than the nearest is left out.

    >>> near("ragbot_vectorSearch", ["vectorSearch", "vectorQuery", "fetch"])
    ['vectorSearch']
    """
    scored = [(_likeness(name, other), other) for other in names]
    best = max((score for score, _ in scored), default=0.0)
    least = max(LEAST, best * 0.8)
    found = [pair for pair in scored if pair[0] >= least]
    found.sort(key=lambda pair: -pair[0])
    return [other for _, other in found[:MOST_NEAR]]


LEAST: Final = 0.6
PART: Final = 0.8
QUARTER: Final = 0.25


def _likeness(one: str, other: str) -> float:
    """How alike two names are, from 0 to 1."""
    a, b = _plain(one), _plain(other)
    same_letters = SequenceMatcher(None, a, b, autojunk=False).ratio()
    return max(same_letters, _shared(_words(one), _words(other)), _inside(a, b))


def _plain(name: str) -> str:
    return "".join(letter for letter in name[:LONGEST].casefold() if letter.isalnum())


def _words(name: str) -> frozenset[str]:
    found = WORD.findall(name[:LONGEST])
    return frozenset(word.casefold() for word in found if len(word) >= SHORTEST)


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    """From a quarter of all their words on, two names are alike."""
    share = len(one & other) / max(len(one | other), 1)
    return (1 + share) / 2 if share >= QUARTER else 0.0


def _inside(one: str, other: str) -> float:
    shorter, longer = sorted((one, other), key=len)
    return PART if len(shorter) >= SHORTEST and shorter in longer else 0.0
