"""Updates: what a hook may change at each point, and how two of them become one."""

from typing import Any, Final, Self

import attrs
from attrs import field, frozen
from pyrsistent import PVector

from loopcore.events import Stop
from loopcore.frozen import (
    UNSET,
    FrozenDict,
    Json,
    Unset,
    cleaned_or_unset,
    constructor,
    evolve,
    freeze,
    one_of,
    takes,
    vector,
)
from loopcore.hooks.merge import (
    Allow,
    Ask,
    Block,
    Rule,
    Verdict,
    any_stop,
    both,
    give_up,
    later,
    strictest,
)
from loopcore.messages import (
    AssistantMessage,
    Message,
    Part,
    messages,
    parts,
)
from loopcore.settings import (
    THINKING,
    ThinkingLevel,
    model_or_unset,
    object_or_unset,
    specs_or_unset,
)
from loopcore.tools import ToolSpec


@frozen(weakref_slot=False)
class Update:
    """What a hook changes. `a | b` merges two: field by field, by the rule of each."""

    memo: Json = field(default=UNSET, kw_only=True)

    def __or__(self, other: Self) -> Self:
        if type(self) is not type(other):
            return NotImplemented
        merged = {
            name: rule(getattr(self, name), getattr(other, name))
            for name, rule in rules(type(self)).items()
        }
        return evolve(self, **merged)

    @property
    def written(self) -> tuple[str, ...]:
        """The fields that it writes."""
        return tuple([n for n in rules(type(self)) if getattr(self, n) is not UNSET])


_RULES: Final[dict[type, dict[str, Rule]]] = {}


def rules(update: type[Update]) -> dict[str, Rule]:
    """The merge rule of each field."""
    found = _RULES.get(update)
    if found is None:
        found = {f.name: f.metadata.get("rule", later) for f in attrs.fields(update)}
        _RULES[update] = found
    return found


def _parts(value: Any) -> Any:  # noqa: ANN401  # content or UNSET
    return UNSET if value is UNSET else parts(value)


def _details(value: Any) -> Any:  # noqa: ANN401  # JSON or UNSET
    return UNSET if value is UNSET else freeze(value)


def _inject(value: Any) -> Any:  # noqa: ANN401  # what is said, or UNSET
    return UNSET if value is UNSET else messages(value)


FOREVER: Final = 1e9


def _delay(update: object, field_of: "attrs.Attribute[Any]", value: Any) -> None:  # noqa: ANN401  # seconds or UNSET
    """Seconds to wait: a number that is finite and not negative."""
    takes(int, float)(update, field_of, value)
    if value is not UNSET and not 0 <= value <= FOREVER:
        span = f"seconds from 0 to {FOREVER:.0f}"
        message = f"RetryUpdate(delay=...) takes {span}; it got {value}"
        raise ValueError(message)


def _as_vector(value: Any) -> Any:  # noqa: ANN401  # messages or UNSET
    return UNSET if value is UNSET else vector(messages(value))


@constructor
@frozen(weakref_slot=False)
class ContextUpdate(Update):
    """This request only; nothing is stored. Bare: messages."""

    messages: PVector[Message] | Unset = field(default=UNSET, converter=_as_vector)
    model: str | Unset = field(default=UNSET, converter=model_or_unset, kw_only=True)
    system: str | Unset = field(
        default=UNSET, kw_only=True, converter=cleaned_or_unset, validator=takes(str)
    )
    tools: tuple[ToolSpec, ...] | Unset = field(
        default=UNSET, converter=specs_or_unset, kw_only=True
    )
    thinking: ThinkingLevel | Unset | None = field(
        default=UNSET, kw_only=True, validator=one_of(*THINKING)
    )
    options: FrozenDict[Json] | Unset = field(
        default=UNSET, converter=object_or_unset, kw_only=True
    )
    stop: bool | str | Stop | Unset = field(
        default=UNSET,
        kw_only=True,
        metadata={"rule": any_stop},
        validator=takes(bool, str, Stop),
    )


@constructor
@frozen(weakref_slot=False)
class ReplyUpdate(Update):
    """Store this instead. Bare: a message."""

    message: AssistantMessage | Unset = field(
        default=UNSET, validator=takes(AssistantMessage)
    )


@constructor
@frozen(weakref_slot=False)
class RetryUpdate(Update):
    """Try again: whether, after how many seconds, and with what."""

    retry: bool | Unset = field(
        default=UNSET, metadata={"rule": give_up}, validator=takes(bool)
    )
    delay: float | Unset = field(default=UNSET, kw_only=True, validator=_delay)
    model: str | Unset = field(default=UNSET, converter=model_or_unset, kw_only=True)
    thinking: ThinkingLevel | Unset | None = field(
        default=UNSET, kw_only=True, validator=one_of(*THINKING)
    )


@constructor
@frozen(weakref_slot=False)
class RawCallUpdate(Update):
    """Mend a call's name or arguments."""

    name: str | Unset = field(
        default=UNSET, kw_only=True, converter=cleaned_or_unset, validator=takes(str)
    )
    arguments: FrozenDict[Json] | Unset = field(
        default=UNSET, converter=object_or_unset, kw_only=True
    )


@constructor
@frozen(weakref_slot=False)
class ToolCallUpdate(Update):
    """May it run, and with what (validated again). Bare: a verdict."""

    decision: Verdict | Unset = field(
        default=UNSET,
        metadata={"rule": strictest},
        validator=takes(Allow, Ask, Block),
    )
    arguments: FrozenDict[Json] | Unset = field(
        default=UNSET, converter=object_or_unset, kw_only=True
    )
    terminate: bool | Unset = field(default=UNSET, kw_only=True, validator=takes(bool))


@constructor
@frozen(weakref_slot=False)
class ToolResultUpdate(Update):
    """Replace these fields of it. `is_error` writes an outcome: False "ok", True "error"."""

    content: tuple[Part, ...] | Unset = field(default=UNSET, converter=_parts)
    details: Json = field(default=UNSET, converter=_details, kw_only=True)
    is_error: bool | Unset = field(default=UNSET, kw_only=True, validator=takes(bool))
    terminate: bool | Unset = field(default=UNSET, kw_only=True, validator=takes(bool))


@constructor
@frozen(weakref_slot=False)
class TurnUpdate(Update):
    """What the next turn starts from.

    `inject` makes a next turn; `transcript` is the only way to rewrite what is stored.
    """

    inject: tuple[Message, ...] | Unset = field(
        default=UNSET, converter=_inject, metadata={"rule": both}
    )
    model: str | Unset = field(default=UNSET, converter=model_or_unset, kw_only=True)
    thinking: ThinkingLevel | Unset | None = field(
        default=UNSET, kw_only=True, validator=one_of(*THINKING)
    )
    system: str | Unset = field(
        default=UNSET, kw_only=True, converter=cleaned_or_unset, validator=takes(str)
    )
    tools: tuple[ToolSpec, ...] | Unset = field(
        default=UNSET, converter=specs_or_unset, kw_only=True
    )
    transcript: PVector[Message] | Unset = field(
        default=UNSET, converter=_as_vector, kw_only=True
    )


@constructor
@frozen(weakref_slot=False)
class StopUpdate(Update):
    """End the run here. Bare: True, the reason, or a Stop."""

    stop: bool | str | Stop | Unset = field(
        default=UNSET,
        metadata={"rule": any_stop},
        validator=takes(bool, str, Stop),
    )
