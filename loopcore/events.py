"""Events: what an inspector or a stream is told. About the run, or about one effect.

All but deltas come from `step`, so they are the same in a run, a stream, by hand and in a
replay. `at` is the run's time, None where nobody gave one.
"""

from typing import Any, Final, Protocol, TypeAlias

from attrs import field, frozen

from loopcore.effects import Effect
from loopcore.frozen import Json, clean, clean_if_any, constructor, one_of
from loopcore.inputs import Value
from loopcore.messages import AssistantMessage, Message, ToolResultMessage, Usage

__all__ = [
    "REASONS",
    "Delta",
    "Ended",
    "Event",
    "HookWrote",
    "MessageAdded",
    "RunEnd",
    "RunStart",
    "Started",
    "Stop",
    "Tell",
    "TurnEnd",
]

REASONS: Final = (
    "done",
    "terminated",
    "hook",
    "limit",
    "aborted",
    "model_error",
    "hook_error",
    "output_error",
    "forked",
)


@constructor
@frozen(weakref_slot=False)
class Stop:
    """Why a run ended. A hook may give `Stop("limit", ...)`.

    `reason` is one of `REASONS`; `hook` and `point` say who ended it, where a hook did.
    """

    reason: str = field(validator=one_of(*REASONS))
    detail: str = field(default="", converter=clean)
    hook: str | None = field(default=None, kw_only=True, converter=clean_if_any)
    point: str | None = field(default=None, kw_only=True, converter=clean_if_any)
    error: str | None = field(default=None, kw_only=True, converter=clean_if_any)

    def __str__(self) -> str:
        who = (
            f" (hook {self.hook!r})"
            if self.hook and self.hook not in self.detail
            else ""
        )
        return f"{self.reason}{': ' if self.detail else ''}{self.detail}{who}"


@constructor
@frozen(kw_only=True, weakref_slot=False)
class RunStart:
    """A run began, with these messages."""

    run_id: str
    turn: int
    at: float | None
    messages: tuple[Message, ...]


@constructor
@frozen(kw_only=True, weakref_slot=False)
class MessageAdded:
    """A message was stored; a batch's results are stored together."""

    run_id: str
    turn: int
    at: float | None
    message: Message


@constructor
@frozen(kw_only=True, weakref_slot=False)
class TurnEnd:
    """A turn is over: its reply (None if there was none), results and usage."""

    run_id: str
    turn: int
    at: float | None
    message: AssistantMessage | None
    results: tuple[ToolResultMessage, ...]
    usage: Usage


@constructor
@frozen(kw_only=True, weakref_slot=False)
class HookWrote:
    """A hook's update was taken.

    `n` tells one passage of the point from another in its turn, as effect ids do: it is
    the call's place, or the attempt at a request, else "0".
    """

    run_id: str
    turn: int
    at: float | None
    hook: str
    point: str
    update: Any
    n: str = "0"


@constructor
@frozen(kw_only=True, weakref_slot=False)
class RunEnd:
    """A run is over."""

    run_id: str
    turn: int
    at: float | None
    stop: Stop
    usage: Usage


@frozen(weakref_slot=False)
class Started:
    """An effect is wanted."""

    effect: Effect
    run_id: str = field(kw_only=True)
    turn: int = field(kw_only=True)
    at: float | None = field(kw_only=True)


@frozen(weakref_slot=False)
class Delta:
    """A piece of an answer on its way. `part` is the place in the reply, from 0.

    Exactly the fields that grew are set; `progress` is a running tool's own word.
    """

    effect_id: str
    part: int = field(default=0, kw_only=True)
    text: str = field(default="", kw_only=True)
    thinking: str = field(default="", kw_only=True)
    name: str = field(default="", kw_only=True)
    arguments: str = field(default="", kw_only=True)
    progress: Json = field(default=None, kw_only=True)
    run_id: str = field(kw_only=True)
    turn: int = field(kw_only=True)
    at: float | None = field(kw_only=True)


@frozen(weakref_slot=False)
class Ended:
    """An effect got its answer, or was cancelled (then `value` is None)."""

    effect: Effect
    value: Value = None
    seconds: float | None = None
    cancelled: bool = field(default=False, kw_only=True)
    run_id: str = field(kw_only=True)
    turn: int = field(kw_only=True)
    at: float | None = field(kw_only=True)


Event: TypeAlias = (
    RunStart | MessageAdded | TurnEnd | HookWrote | RunEnd | Started | Delta | Ended
)


class Tell(Protocol):
    """How an adapter reports what it is getting: pieces of text, not events."""

    def __call__(
        self,
        text: str = "",
        *,
        part: int = 0,
        thinking: str = "",
        name: str = "",
        arguments: str = "",
        progress: Json = None,
    ) -> None: ...
