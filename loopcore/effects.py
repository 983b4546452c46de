"""Effects: what a run wants. Each gets exactly one answer, which it builds itself."""

from typing import Any, Final, TypeAlias, TypeGuard

from attrs import field, frozen
from pyrsistent import PVector

from loopcore.frozen import (
    EMPTY,
    FrozenDict,
    Json,
    NotJson,
    a,
    constructor,
    dump_json,
    freeze,
    freeze_object,
)
from loopcore.inputs import (
    Answer,
    Approve,
    Edit,
    Reject,
    Respond,
    ServiceError,
)
from loopcore.messages import (
    PARTS,
    AssistantMessage,
    Message,
    ModelError,
    Outcome,
    Part,
    ToolCall,
    transcript,
)
from loopcore.settings import ThinkingLevel
from loopcore.shapes import unshaped
from loopcore.tools import ToolOutput, ToolSpec


@constructor
@frozen(weakref_slot=False)
class CallModel:
    """Ask a model. Answered by an `AssistantMessage` or a `ModelError`.

    `messages` are shown as they are; what goes over a wire is `project` of them. `output`
    is the JSON Schema that the reply is to fit, if the run wants one. `by` names the hook
    that last wrote a field of this request.
    """

    id: str
    model: str
    messages: PVector[Message] = field(converter=transcript)
    system: str = ""
    tools: tuple[ToolSpec, ...] = ()
    thinking: ThinkingLevel | None = field(default=None, kw_only=True)
    options: FrozenDict[Json] = field(
        default=EMPTY, converter=freeze_object, kw_only=True
    )
    output: FrozenDict[Json] | None = field(default=None, kw_only=True)
    by: FrozenDict[str] = field(default=EMPTY, kw_only=True)

    def reply(self, message: AssistantMessage | str) -> Answer:
        """The model replied; text is a plain reply.

        Raises:
            TypeError: for anything else; parts go into an `AssistantMessage`.
        """
        if isinstance(message, str):
            message = AssistantMessage(message, model=self.model)
        _refuse_other(message, VALUES[CallModel], NO_REPLY)
        return Answer(self.id, message)

    def fail(self, error: ModelError | str) -> Answer:
        """The model gave no reply.

        Raises:
            TypeError: for anything else, such as an exception.
        """
        if isinstance(error, str):
            error = ModelError(error, "raised")
        _refuse_other(error, (ModelError,), NO_ERROR)
        return Answer(self.id, error)


@constructor
@frozen(weakref_slot=False)
class RunTool:
    """Run a tool. Answered by a `ToolOutput`.

    `call` is what the model wrote, `arguments` what was validated. The id is stable under
    replay and arrival order: it is the idempotency key for what the tool does.
    """

    id: str
    call: ToolCall
    spec: ToolSpec
    arguments: FrozenDict[Json]

    def reply(self, output: object = "") -> Answer:
        """The tool gave this: a `ToolOutput`, text, parts, or JSON (shown as text)."""
        return Answer(self.id, output_of(output))

    def fail(self, text: str, outcome: Outcome = "error") -> Answer:
        """The tool failed; the model reads this text.

        Raises:
            TypeError: for what is no text, such as an exception.
        """
        _refuse_other(text, (str,), NO_TEXT)
        return Answer(self.id, ToolOutput(text, outcome=outcome))


@constructor
@frozen(weakref_slot=False)
class RequestApproval:
    """Ask a person. Answered by `Approve`, `Edit`, `Reject` or `Respond`."""

    id: str
    call: ToolCall
    spec: ToolSpec
    arguments: FrozenDict[Json]
    question: str = ""

    def approve(self) -> Answer:
        """Run it."""
        return Answer(self.id, Approve())

    def edit(self, **changed: Any) -> Answer:  # noqa: ANN401  # any JSON
        """Run it with these arguments changed; the others stay."""
        return Answer(self.id, Edit({**self.arguments, **changed}))

    def reject(self, reason: str = "") -> Answer:
        """Do not run it; the model reads the reason."""
        return Answer(self.id, Reject(reason))

    def respond(self, output: object) -> Answer:
        """Do not run it: this is what it gives."""
        return Answer(self.id, Respond(output_of(output)))

    def fail(self, text: str) -> Answer:
        """Nobody could decide: the same as a reject."""
        return self.reject(text)


@constructor
@frozen(weakref_slot=False)
class Consult:
    """A hook asks a named service. Answered by JSON or a `ServiceError`."""

    id: str
    service: str
    data: Json = None

    def reply(self, value: Json) -> Answer:
        """The service gave this JSON."""
        return Answer(self.id, value)

    def fail(self, text: str) -> Answer:
        """The service gave no answer."""
        return Answer(self.id, ServiceError(text))


@constructor
@frozen(weakref_slot=False)
class Sleep:
    """Wait. `until` is the time at which it is over, if the time was known."""

    id: str
    seconds: float
    until: float | None = None

    def done(self) -> Answer:
        """The time is over."""
        return Answer(self.id, None)

    def fail(self, text: str) -> Answer:  # noqa: ARG002  # every effect can fail
        """It could not be waited for: go on now."""
        return self.done()


def _refuse_other(given: object, kinds: tuple[type, ...], sentence: str) -> None:
    if not isinstance(given, kinds):
        raise TypeError(sentence.format(a(given)))


NO_REPLY: Final = (
    "reply(...) of a CallModel takes an AssistantMessage or text; it got {}. Write "
    "`effect.reply(AssistantMessage(...))`, or `effect.fail(...)` where there is none."
)
NO_ERROR: Final = (
    "fail(...) of a CallModel takes text or a ModelError; it got {}. Write "
    "`effect.fail(str(error))`, or say of which kind it is: `ModelError(str(error), kind)`."
)
NO_TEXT: Final = (
    "fail(...) of a RunTool takes the text that the model reads; it got {}. Write "
    "`effect.fail(str(error))`."
)

Effect: TypeAlias = CallModel | RunTool | RequestApproval | Consult | Sleep

VALUES: Final[dict[type[Effect], tuple[type, ...]]] = {
    CallModel: (AssistantMessage, ModelError),
    RunTool: (ToolOutput,),
    RequestApproval: (Approve, Edit, Reject, Respond),
    Sleep: (type(None),),
}
RECORDS: Final = (
    *VALUES[CallModel],
    *VALUES[RunTool],
    *VALUES[RequestApproval],
)


def answers(effect: Effect, value: object) -> bool:
    """Whether this value is of a kind that answers the effect."""
    if isinstance(effect, Consult):
        return not isinstance(value, RECORDS)
    return isinstance(value, VALUES[type(effect)])


def call_number(effect_id: str) -> int:
    """Which call of its reply an effect is about, or a nested run, by its id.

    >>> call_number("r1.1.2.run.3")
    3
    """
    return int(effect_id.rpartition(".")[2])


def is_retry(pause_id: str) -> bool:
    """Whether a pause comes before a retry, by its id; else it is a nested run's time.

    >>> is_retry("r1.1.2.sleep.1"), is_retry("my.sleep.study.1.1.run.0")
    (True, False)
    """
    return pause_id.rpartition(".")[0].endswith(".sleep")


def output_of(value: object) -> ToolOutput:
    """What a tool returned, as its output.

    Text and parts stay; any other JSON becomes its text, and so do records (attrs,
    dataclasses, msgspec, pydantic) and lists of them. What is not JSON becomes an error that
    says which value (a program's own fault must not end a run).
    """
    match value:
        case ToolOutput():
            return value
        case None:
            return ToolOutput("")
        case str():
            return ToolOutput(value)
        case _:
            return _shown(value)


def _shown(value: object) -> ToolOutput:
    if is_content(value):
        return ToolOutput(value)
    try:
        return ToolOutput(dump_json(freeze(unshaped(value))))
    except (NotJson, TypeError, ValueError) as problem:
        text = f"The tool's output is not JSON: {problem}."
        return ToolOutput(text, outcome="error")


def is_content(value: object) -> TypeGuard[Part | tuple[Part, ...]]:
    """Whether this is a part, or a list of parts."""
    if isinstance(value, PARTS):
        return True
    if not isinstance(value, list | tuple):
        return False
    found = tuple[object, ...](value)  # pyright: ignore[reportUnknownArgumentType]
    return bool(found) and all(isinstance(part, PARTS) for part in found)
