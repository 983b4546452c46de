"""Messages and their parts: what a transcript holds.

A transcript is history. What a model is shown of it is `project`, made for each request.
"""

import sys
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, TypeAlias, TypeVar, get_args

from attrs import Attribute, field, frozen
from pyrsistent import PVector

from loopcore.frozen import (
    EMPTY,
    FrozenDict,
    Json,
    a,
    clean,
    clean_if_any,
    cleaned,
    constructor,
    dump_json,
    finite,
    freeze,
    freeze_object,
    one_of,
    parse_json,
    takes,
    vector,
)

One = TypeVar("One")
N = TypeVar("N", int, float)

Finish: TypeAlias = Literal["end", "tools", "length", "refusal", "error", "aborted"]
"""How a reply ended; the last two are failed replies."""

Outcome: TypeAlias = Literal[
    "ok",
    "error",
    "raised",
    "timeout",
    "cancelled",
    "blocked",
    "rejected",
    "unknown_tool",
    "invalid_arguments",
    "truncated",
    "interrupted",
]
"""How a tool call ended. All but "ok" are errors."""

Fault: TypeAlias = Literal[
    "network",
    "timeout",
    "cut_stream",
    "rate_limit",
    "overloaded",
    "server",
    "auth",
    "bad_request",
    "context_overflow",
    "content_filter",
    "no_such_model",
    "bad_response",
    "raised",
]
"""Why a model gave no reply."""

FINISHES: Final = get_args(Finish)
OUTCOMES: Final = get_args(Outcome)
FAULTS: Final = get_args(Fault)

RETRYABLE: Final[frozenset[Fault]] = frozenset(
    ("network", "timeout", "cut_stream", "rate_limit", "overloaded", "server")
)
"""The kinds of fault that may pass by themselves."""

FAILED: Final[frozenset[Finish]] = frozenset(("error", "aborted"))
"""The finishes of a failed reply: stored, never shown to a model."""


@constructor
@frozen
class Text:
    """Plain text. `signature` is a provider's own token, kept verbatim."""

    text: str = field(converter=clean)
    signature: str | None = field(default=None, kw_only=True, converter=clean_if_any)


@constructor
@frozen
class Image:
    """A picture: `data` in base64, `mime` its media type, such as "image/png"."""

    data: str = field(converter=cleaned, validator=takes(str))
    mime: str = field(converter=cleaned, validator=takes(str))


@constructor
@frozen
class Thinking:
    """A model's reasoning. A redacted one has its payload in `signature`."""

    text: str = field(converter=clean)
    signature: str | None = field(default=None, converter=clean_if_any)
    redacted: bool = field(default=False, validator=takes(bool))


@constructor
@frozen
class ToolCall:
    """A model asks for a tool.

    `raw` is the argument text as the model wrote it, if it came as text. If that is not a
    JSON object, `malformed` says why and `arguments` is empty: history stays honest, and
    every wire can still send something valid.
    """

    name: str = field(converter=clean)
    arguments: FrozenDict[Json] = field(default=EMPTY, converter=freeze_object)
    id: str = field(default="", converter=clean)
    raw: str | None = field(default=None, kw_only=True, converter=clean_if_any)
    malformed: str = field(default="", kw_only=True, converter=clean)
    signature: str | None = field(default=None, kw_only=True, converter=clean_if_any)

    @classmethod
    def parse(cls, name: str, text: str, id: str = "") -> "ToolCall":  # noqa: A002
        """A call whose arguments are text; blank text means no arguments.

        >>> ToolCall.parse("add", '{"a": 1}', "c1").arguments
        {'a': 1}
        >>> ToolCall.parse("add", '[1', "c1").malformed
        "Expecting ',' delimiter: line 1 column 3 (char 2)"
        """
        text = clean(text)
        try:
            arguments = freeze_object(parse_json(text) if text.strip() else EMPTY)
        except (ValueError, TypeError) as problem:
            return cls(name, id=id, raw=text, malformed=str(problem))
        return cls(name, arguments, id, raw=text)

    @property
    def text(self) -> str:
        """The arguments as JSON text: the model's own if it is valid."""
        if self.raw and self.raw.strip() and not self.malformed:
            return self.raw
        return dump_json(self.arguments)


Part: TypeAlias = Text | Image | Thinking | ToolCall
PARTS: Final = (Text, Image, Thinking, ToolCall)


def parts(content: "str | Part | Iterable[Part]") -> tuple[Part, ...]:
    """Content as parts: text becomes one `Text`, empty text none."""
    if isinstance(content, str):
        return (Text(content),) if content else ()
    if isinstance(content, PARTS):
        return (content,)
    return all_of(content, PARTS, "content takes text or parts")


def all_of(
    given: Iterable[One], kinds: tuple[type, ...], sentence: str
) -> tuple[One, ...]:
    """These as a tuple; TypeError if it is no list, or one of it is of no such kind."""
    if not is_list(given):
        raise TypeError(_refused(sentence, kinds, f"it got {a(given)}"))
    found = tuple(given)
    for place, one in enumerate(found):
        if not isinstance(one, kinds):
            raise TypeError(_refused(sentence, kinds, f"item {place} is {a(one)}"))
    return found


def is_list(given: object) -> bool:
    """Whether it is something like a list: it iterates, and not over keys or bytes."""
    if isinstance(given, list | tuple):
        return True
    return isinstance(given, Iterable) and not isinstance(given, Mapping | bytes)


def _refused(sentence: str, kinds: tuple[type, ...], what: str) -> str:
    names = ", ".join(kind.__name__ for kind in kinds)
    return f"{sentence} ({names}); {what}"


def text_of(content: Iterable[Part]) -> str:
    """All text of these parts, nothing between."""
    return "".join(part.text for part in content if isinstance(part, Text))


@constructor
@frozen
class Usage:
    """Tokens, counted by the provider. `input` is fresh input, without the cache.

    `cost` is in the currency of the adapter's price list, None when no price is known.

    >>> Usage(3, 1) + Usage(2, 2, cost=0.5)
    Usage(5, 3, cost=0.5)
    """

    input: int = field(default=0, validator=takes(int))
    output: int = field(default=0, validator=takes(int))
    cache_read: int = field(default=0, validator=takes(int))
    cache_write: int = field(default=0, validator=takes(int))
    reasoning: int = field(default=0, validator=takes(int))
    cost: float | None = field(default=None, kw_only=True, validator=finite)

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            _add(self.input, other.input),
            _add(self.output, other.output),
            _add(self.cache_read, other.cache_read),
            _add(self.cache_write, other.cache_write),
            _add(self.reasoning, other.reasoning),
            cost=_add_if_any(self.cost, other.cost),
        )

    @property
    def total(self) -> int:
        """All tokens that went in or came out."""
        return self.input + self.output + self.cache_read + self.cache_write


def _add_if_any(one: float | None, other: float | None) -> float | None:
    return one if other is None else other if one is None else _add(one, other)


def _add(one: N, other: N) -> N | int:
    """Both, but no more than any number holds: whatever services count, runs go on."""
    total = one + other
    if abs(total) <= LARGEST:
        return total
    return LARGEST if total > 0 else -LARGEST


LARGEST: Final = int(sys.float_info.max)


NO_USAGE: Final = Usage()


@constructor
@frozen
class SystemMessage:
    """An instruction in mid-conversation; the system prompt itself is a setting."""

    parts: tuple[Part, ...] = field(converter=parts, alias="content")

    @property
    def text(self) -> str:
        """All its text."""
        return text_of(self.parts)


@constructor
@frozen
class UserMessage:
    """What a person says."""

    parts: tuple[Part, ...] = field(converter=parts, alias="content")

    @property
    def text(self) -> str:
        """All its text."""
        return text_of(self.parts)


def _error(reply: object, field_of: "Attribute[Any]", value: object) -> None:
    takes(ModelError, type(None))(reply, field_of, value)


@constructor
@frozen
class AssistantMessage:
    """A reply. Failed ones are stored with their `error`, and never shown to a model."""

    parts: tuple[Part, ...] = field(converter=parts, alias="content")
    model: str = field(
        default="", kw_only=True, converter=cleaned, validator=takes(str)
    )
    finish: Finish = field(default="end", kw_only=True, validator=one_of(*FINISHES))
    usage: Usage = field(default=NO_USAGE, kw_only=True, validator=takes(Usage))
    error: "ModelError | None" = field(default=None, kw_only=True, validator=_error)

    @property
    def text(self) -> str:
        """All its text, without thinking."""
        return text_of(self.parts)

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls, in order."""
        return tuple(part for part in self.parts if isinstance(part, ToolCall))

    @property
    def failed(self) -> bool:
        """Whether it is a failed reply: cut off by a fault or an abort."""
        return self.finish in FAILED


@constructor
@frozen
class ModelError:
    """Why a model gave no reply. Returned, not raised.

    `retry_after` is in seconds; `partial` what had arrived of the reply.
    """

    message: str = field(converter=clean)
    kind: Fault = field(default="network", validator=one_of(*FAULTS))
    retry_after: float | None = field(default=None, kw_only=True, validator=finite)
    status: int | None = field(
        default=None, kw_only=True, validator=takes(int, type(None))
    )
    request_id: str | None = field(default=None, kw_only=True, converter=clean_if_any)
    partial: AssistantMessage | None = field(
        default=None, kw_only=True, validator=takes(AssistantMessage, type(None))
    )

    @property
    def retryable(self) -> bool:
        """Whether this kind of fault may pass by itself."""
        return self.kind in RETRYABLE

    def __str__(self) -> str:
        status = f" {self.status}" if self.status else ""
        return f"{self.kind}{status}: {self.message}"


@constructor
@frozen
class ToolResultMessage:
    """The one result of one call. `details` are for the program, never for a model."""

    call_id: str = field(converter=clean)
    name: str = field(converter=clean)
    parts: tuple[Part, ...] = field(converter=parts, alias="content")
    outcome: Outcome = field(default="ok", validator=one_of(*OUTCOMES))
    details: Any = field(default=None, converter=freeze)  # pyright: ignore[reportUnknownVariableType]

    @property
    def text(self) -> str:
        """All its text."""
        return text_of(self.parts)

    @property
    def is_error(self) -> bool:
        """Whether it is anything but "ok"."""
        return self.outcome != "ok"


@constructor
@frozen
class CustomMessage:
    """Kept in the transcript, shown to a model only if a hook turns it into a message."""

    kind: str = field(converter=clean)
    data: Any = field(default=None, converter=freeze)  # pyright: ignore[reportUnknownVariableType]

    @property
    def parts(self) -> tuple[Part, ...]:
        """None: no model is shown it."""
        return ()

    @property
    def text(self) -> str:
        """Empty: no model is shown it."""
        return ""


Message: TypeAlias = (
    SystemMessage | UserMessage | AssistantMessage | ToolResultMessage | CustomMessage
)
MESSAGES: Final = (
    SystemMessage,
    UserMessage,
    AssistantMessage,
    ToolResultMessage,
    CustomMessage,
)
Say: TypeAlias = str | Message | Iterable[Message]


def transcript(say: Iterable[Message] = ()) -> PVector[Message]:
    """Messages as a persistent vector, the one kind that a state keeps."""
    return vector(say)


def messages(say: Say) -> tuple[Message, ...]:
    """What was said as messages: text is a `UserMessage`."""
    if isinstance(say, str):
        return (UserMessage(say),)
    if isinstance(say, MESSAGES):
        return (say,)
    return all_of(say, MESSAGES, "one says text or messages")
