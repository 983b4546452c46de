"""State: where a run stands. Data only; a saved one is a complete resume token."""

import hashlib
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from attrs import field, frozen
from pyrsistent import PVector

from loopcore.codec import Code, special
from loopcore.effects import CallModel, Effect, RequestApproval, RunTool, Sleep
from loopcore.events import Stop
from loopcore.frozen import (
    EMPTY,
    UNSET,
    FrozenDict,
    Json,
    Unset,
    clean,
    constructor,
    printed,
    takes,
    vector,
)
from loopcore.history import repair
from loopcore.inputs import Input, Value
from loopcore.messages import (
    NO_USAGE,
    AssistantMessage,
    Message,
    ModelError,
    ToolCall,
    ToolResultMessage,
    Usage,
    messages,
)
from loopcore.messages import (
    transcript as transcript_of,
)
from loopcore.settings import Settings, ThinkingLevel
from loopcore.tools import ToolOutput, ToolSpec
from loopcore.wording import describe, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from loopcore.config import AnyConfig
    from loopcore.saved import Loaded

Phase: TypeAlias = Literal["idle", "model", "tools", "asking", "sleeping", "stopped"]


class Rejected(Exception):
    """Why an input was refused: `kind` for programs, a sentence for people.

    The state is unchanged. Kinds: busy, empty, bad_message, nothing_to_continue,
    not_running, taken, unpaired, unstepped, wrong_kind, duplicate, stranger,
    invalid_arguments.
    """

    def __init__(self, kind: str, sentence: str) -> None:
        super().__init__(kind, sentence)
        self.kind, self.sentence = kind, sentence

    def __str__(self) -> str:
        return self.sentence

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rejected) and self.args == other.args

    def __hash__(self) -> int:
        return hash(self.args)


@constructor
@frozen(weakref_slot=False)
class Queued:
    """Messages that wait for their turn, under the key they were given."""

    messages: tuple[Message, ...]
    key: str | None = None


# A call goes Waiting -> Ready -> Asked | Running -> Settled -> Done.


@constructor
@frozen(weakref_slot=False)
class Waiting:
    """As the model wrote it."""

    call: ToolCall


@constructor
@frozen(weakref_slot=False)
class Ready:
    """A valid call that has not started.

    `question` is what a person is to be asked first, None if nobody is. `approved` when a
    person has already let it pass. `terminate` is a hook's wish, None for none.
    """

    call: ToolCall
    spec: ToolSpec
    arguments: FrozenDict[Json]
    question: str | None = None
    approved: bool = False
    terminate: bool | None = None


@constructor
@frozen(weakref_slot=False)
class Asked:
    """A person is asked, or has edited its arguments and it waits to pass again."""

    call: ToolCall
    spec: ToolSpec
    arguments: FrozenDict[Json]
    terminate: bool | None = None
    edited: FrozenDict[Json] | None = None


@constructor
@frozen(weakref_slot=False)
class Running:
    """Started. A nested run's state is its `child`."""

    call: ToolCall
    spec: ToolSpec
    arguments: FrozenDict[Json]
    terminate: bool | None = None
    child: "State | None" = None


@constructor
@frozen(weakref_slot=False)
class Settled:
    """It has an output, which hooks may still change. `ran` until after_tool_call is over."""

    call: ToolCall
    spec: ToolSpec | None
    arguments: FrozenDict[Json]
    output: ToolOutput
    ran: bool = False
    seconds: float | None = None


@constructor
@frozen(weakref_slot=False)
class Done:
    """The result as it will be stored."""

    message: ToolResultMessage
    terminate: bool = False


Slot: TypeAlias = Waiting | Ready | Asked | Running | Settled | Done


@constructor
@frozen(weakref_slot=False)
class Turn:
    """The live data of one turn.

    `number` counts from 1 in a run, `attempt` from 1 in a turn. `model` and `thinking` are
    a fallback's, for the attempts of this turn, and `by` says which hooks chose them.
    `asked` is the model of the newest request, `tools` are those it offered.
    `reply` and `error` are how its newest attempt was answered.
    The batch works on the slots from `first` up to `last` (all of them, or one at a time in
    a sequential batch), and `at` is the slot that the present stage is about. `over` once the
    turn is stored and told; `again` if a hook injected messages after it.
    """

    number: int
    attempt: int = 1
    model: str | None = None
    thinking: ThinkingLevel | Unset | None = UNSET
    by: FrozenDict[str] = EMPTY
    asked: str = ""
    tools: tuple[ToolSpec, ...] = ()
    reply: AssistantMessage | None = None
    error: ModelError | None = None
    slots: tuple[Slot, ...] = ()
    first: int = 0
    last: int = 0
    at: int = 0
    over: bool = False
    again: bool = False
    usage: Usage = NO_USAGE

    @property
    def results(self) -> tuple[ToolResultMessage, ...]:
        """The results that are ready, in source order."""
        return tuple(slot.message for slot in self.slots if isinstance(slot, Done))


@constructor
@frozen(weakref_slot=False)
class Closed:
    """How an effect ended, and at which input."""

    how: Literal["answered", "cancelled"]
    input: int
    by: str = ""


@constructor
@frozen(weakref_slot=False)
class Known:
    """What a hook needs at the present point: UNSET until it is answered."""

    hook: str
    key: str
    effect_id: str
    value: Value | Unset = UNSET


def _queue() -> PVector[Queued]:
    return vector()


@frozen(kw_only=True, repr=False, weakref_slot=False)
class State:
    """Where a run is.

    Args:
        run_id: names the conversation; given from outside.
        run, turns: numbers of the present run and turn, from 1.
        transcript: the stored messages.
        new: the present run's own messages.
        settings: what the next request starts from.
        by: the hook that last wrote each setting that hooks wrote in this run.
        stage: "idle" outside of a run, "rest" in it, or the point where a hook's need parked.
        turn: the open turn.
        pending: every effect of this run as asked and not yet answered (nested runs keep
            their own).
        inbox: an input that was delivered and not yet stepped.
        steering, follow_ups: messages that wait for a gap, or for the end.
        requests: model requests made in this run.
        repairs: repair requests made for the present output.
        inputs: how many inputs were taken.
        closed: how the effects of the newest turn ended.
        known: answers to the needs of the present point.
        usage: tokens of this run, nested runs included.
        memos: what each hook remembers.
        now: the largest time seen, in seconds; None until one was given.
        seed: for whatever wants to look random and be repeatable.
        ending: the stop that winding up leads to.
        stop: why the run ended.
    """

    run_id: str
    seed: int = field(validator=takes(int))
    settings: Settings
    by: FrozenDict[str] = EMPTY
    transcript: PVector[Message] = field(factory=transcript_of)
    new: PVector[Message] = field(factory=transcript_of)
    run: int = 0
    turns: int = 0
    stage: str = "idle"
    turn: Turn | None = None
    pending: FrozenDict[Effect] = EMPTY
    inbox: Input | None = None
    steering: PVector[Queued] = field(factory=_queue)
    follow_ups: PVector[Queued] = field(factory=_queue)
    requests: int = 0
    repairs: int = 0
    inputs: int = 0
    closed: FrozenDict[Closed] = EMPTY
    known: tuple[Known, ...] = ()
    usage: Usage = NO_USAGE
    memos: FrozenDict[Json] = EMPTY
    now: float | None = None
    ending: Stop | None = None
    stop: Stop | None = None

    @classmethod
    def start(
        cls,
        config: "AnyConfig",
        *,
        run_id: str,
        transcript: "Iterable[Message]" = (),
        seed: int | None = None,
    ) -> "State":
        """A run that has not begun. `run_id` becomes part of every effect's id.

        Raises:
            Rejected: "unpaired", for a history in which a call has not its one result
                beside it; `repair` mends that.
            TypeError: for a run_id that is no text, or a seed that is no int.
            ValueError: for an empty one.
        """
        name = _name_of_a_run(run_id)
        history = messages(transcript)
        refuse_unpaired(history)
        return cls(
            run_id=name,
            seed=seed_of(name) if seed is None else seed,
            settings=config.settings,
            transcript=transcript_of(history),
            memos=config.memos,
        )

    def dumps(self) -> bytes:
        """The state as JSON text: a complete resume token."""
        from loopcore.saved import dumps  # noqa: PLC0415  # it needs State itself

        return dumps(self)

    @classmethod
    def loads(cls, data: bytes | str) -> "Loaded":
        """The state that was saved; for anything else, what is wrong with it and where."""
        from loopcore.saved import loads  # noqa: PLC0415  # it needs State itself

        return loads(data)

    @property
    def waiting(self) -> tuple[Effect, ...]:
        """Every effect that is wanted and has no answer, nested runs' first."""
        inner = tuple(effect for child in self.children for effect in child.waiting)
        return (*inner, *self.pending.values())

    @property
    def children(self) -> "tuple[State, ...]":
        """The nested runs of the open turn."""
        slots = self.turn.slots if self.turn else ()
        return tuple(
            slot.child for slot in slots if isinstance(slot, Running) and slot.child
        )

    @property
    def approvals(self) -> tuple[RequestApproval, ...]:
        """What a person is asked."""
        return tuple(e for e in self.waiting if isinstance(e, RequestApproval))

    @property
    def phase(self) -> Phase:
        """What the run is doing, in a word."""
        if self.stop:
            return "stopped"
        waiting = self.waiting
        for kind, phase in PHASES:
            if any(isinstance(effect, kind) for effect in waiting):
                return phase
        return "asking" if waiting else "idle"

    @property
    def place(self) -> str:
        """Where the run is, as the beginning of effect ids."""
        return f"{self.run_id}.{self.run}.{self.turns}"

    _repr_pretty_ = printed

    def __repr__(self) -> str:
        counted = f"turn {self.turns}, {len(self.transcript)} messages"
        return one_line(f"<run {self.run_id}: {describe(self)}; {counted}>")


def _pack(state: State, plain: Code) -> Json:
    from loopcore.saved import pack  # noqa: PLC0415  # it needs State itself

    return pack(state, plain)


def _unpack(data: Json, plain: Code) -> State:
    from loopcore.saved import unpack  # noqa: PLC0415  # it needs State itself

    return unpack(data, plain)


special(State, _pack, _unpack)


PHASES: Final[tuple[tuple[type[Effect], Phase], ...]] = (
    (RunTool, "tools"),
    (CallModel, "model"),
    (RequestApproval, "asking"),
    (Sleep, "sleeping"),
)


def seed_of(name: str) -> int:
    """A number below 2**48 that depends on nothing but this name."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:6], "big")


def _name_of_a_run(run_id: object) -> str:
    if not isinstance(run_id, str):
        message = f"run_id= takes text, the name of a new run; it got {run_id!r}"
        raise TypeError(message)
    if not run_id:
        message = "run_id is empty; effect ids are made of it, so it must be unique"
        raise ValueError(message)
    return clean(run_id)


def refuse_unpaired(history: tuple[Message, ...]) -> None:
    """Raise `Rejected` if a call has not its one result beside it."""
    mended = repair(history)
    if mended is history:
        return
    pairs = zip(history, mended, strict=False)
    place = next((n for n, (a, b) in enumerate(pairs) if a is not b), len(history))
    raise Rejected(
        "unpaired",
        f"The transcript is not paired at message {place}: each tool call needs its one "
        "result beside it, in order. To mend it: transcript=repair(messages).",
    )
