"""Settings: what a request starts from, as the state keeps it."""

from collections.abc import Iterable
from typing import Final, Literal, Protocol, TypeAlias

from attrs import field, frozen

from loopcore.frozen import (
    EMPTY,
    UNSET,
    FrozenDict,
    Json,
    Unset,
    clean,
    constructor,
    freeze_object,
)
from loopcore.tools import ToolLike, ToolSpec, spec_of

ThinkingLevel: TypeAlias = Literal["off", "low", "medium", "high"]
THINKING: Final = (None, "off", "low", "medium", "high")


class HasId(Protocol):
    """Whatever has a model's identity: a `Model`, for one."""

    @property
    def id(self) -> str: ...


ModelLike: TypeAlias = str | HasId


def model_id(model: ModelLike) -> str:
    """The identity of a model: the string "provider:name"."""
    found = model if isinstance(model, str) else getattr(model, "id", None)
    if isinstance(found, str) and found:
        return clean(found)
    message = f"{model!r} is no model; give connect(...) or a string 'provider:name'"
    raise TypeError(message)


def specs(tools: Iterable[ToolLike]) -> tuple[ToolSpec, ...]:
    """The data halves of these tools; of two that share a name the first, as services want.

    Source: D75.
    """
    named: dict[str, ToolSpec] = {}
    for spec in map(spec_of, tools):
        named.setdefault(spec.name, spec)
    return tuple(named.values())


def model_or_unset(model: ModelLike | Unset) -> str | Unset:
    """A model's identity, or UNSET."""
    return UNSET if isinstance(model, Unset) else model_id(model)


def specs_or_unset(tools: Iterable[ToolLike] | Unset) -> tuple[ToolSpec, ...] | Unset:
    """The data halves of these tools, or UNSET."""
    return UNSET if isinstance(tools, Unset) else specs(tools)


def object_or_unset(value: object) -> FrozenDict[Json] | Unset:
    """A frozen JSON object, or UNSET."""
    return UNSET if isinstance(value, Unset) else freeze_object(value)


@constructor
@frozen
class Settings:
    """What each request of a run starts from. Hooks and inputs change it by update."""

    model: str
    system: str = ""
    tools: tuple[ToolSpec, ...] = field(default=(), converter=specs)
    thinking: ThinkingLevel | None = None
    options: FrozenDict[Json] = field(default=EMPTY, converter=freeze_object)
