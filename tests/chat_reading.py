"""Reading Chat Completions responses, and what the pieces that are told add up to."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Final

from attrs import define, field

from loopcore import (
    AssistantMessage,
    CallModel,
    Image,
    ModelError,
    Text,
    Thinking,
    ToolCall,
    UserMessage,
)
from loopcore_adapters.chat import Decoder
from loopcore_adapters.loose import Json

MODEL: Final = "test:model"
CALL: Final = CallModel("r1.1.1.model.1", MODEL, [UserMessage("hi")])

Sum = tuple[str, str, str, str]
"""The text, the thinking, the name and the arguments of a part."""


@define
class Told:
    """A `Tell` that adds up."""

    parts: dict[int, list[str]] = field(factory=dict[int, list[str]])

    def __call__(
        self,
        text: str = "",
        *,
        part: int = 0,
        thinking: str = "",
        name: str = "",
        arguments: str = "",
        progress: Json = None,
    ) -> None:
        assert progress is None
        assert text or thinking or name or arguments
        sums = self.parts.setdefault(part, ["", "", "", ""])
        for place, more in enumerate((text, thinking, name, arguments)):
            sums[place] += more

    def sums(self) -> dict[int, Sum]:
        return {part: (a, b, c, d) for part, (a, b, c, d) in self.parts.items()}


def sums_of(message: AssistantMessage | None) -> dict[int, Sum]:
    """What must have been told of this message; nothing of a part without content."""
    parts = enumerate(message.parts if message else ())
    found = {place: _sum(part) for place, part in parts}
    return {place: found[place] for place in found if any(found[place])}


def _sum(part: object) -> Sum:
    match part:
        case Text(text):
            return text, "", "", ""
        case Thinking(text):
            return "", text, "", ""
        case ToolCall():
            return "", "", part.name, part.raw or ""
        case Image():
            return "", "", "", ""
        case _:
            raise AssertionError(part)


def feed(
    reads: Iterable[bytes], fault: ModelError | None = None
) -> AssistantMessage | ModelError:
    """The result of these reads, checked against what was told."""
    told = Told()
    decoder = Decoder(CALL, told)
    for data in reads:
        if decoder.feed(data):
            break
    result = decoder.finish(fault)
    whole = result.partial if isinstance(result, ModelError) else result
    assert told.sums() == sums_of(whole)
    return result


def cut(body: bytes, places: Iterable[int]) -> list[bytes]:
    """The body in pieces."""
    return [body[a:b] for a, b in pairwise((0, *sorted(places), len(body)))]


def result(
    *body: bytes, fault: ModelError | None = None
) -> AssistantMessage | ModelError:
    """The result of this body, which is the same whole and byte by byte."""
    whole = b"".join(body)
    found = feed([whole], fault)
    assert found == feed(cut(whole, range(1, len(whole))), fault)
    return found


def reply(*body: bytes) -> AssistantMessage:
    """The reply that this body is."""
    found = result(*body)
    assert isinstance(found, AssistantMessage), found
    return found


def error(*body: bytes, fault: ModelError | None = None) -> ModelError:
    """The fault that this body is."""
    found = result(*body, fault=fault)
    assert isinstance(found, ModelError), found
    return found


def calls(*body: bytes) -> list[tuple[str, dict[str, Json]]]:
    """The calls of the reply that this body is; none of them malformed."""
    found = reply(*body)
    assert all(not call.malformed for call in found.calls)
    assert found.finish == "tools"
    return [(call.name, dict(call.arguments)) for call in found.calls]


def ids(*body: bytes) -> list[str]:
    """The ids of the calls of the reply that this body is."""
    return [call.id for call in reply(*body).calls]
