"""Reading a response over any wire: whole and byte by byte, and what is told adds up."""

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import TypeAlias

from attrs import define, evolve, field, frozen

from loopcore import (
    AssistantMessage,
    CallModel,
    Image,
    ModelError,
    Tell,
    Text,
    Thinking,
    ToolCall,
)
from loopcore_adapters.loose import Json
from loopcore_adapters.wire import Decoder

Sum: TypeAlias = tuple[str, str, str, str]
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


def cut(body: bytes, places: Iterable[int]) -> list[bytes]:
    """The body in pieces."""
    return [body[a:b] for a, b in pairwise((0, *sorted(places), len(body)))]


def unquoted(result: AssistantMessage | ModelError) -> AssistantMessage | ModelError:
    """The result without what a fault shows of the response: as much as one read brought.

    Of a stream that goes on behind its end, one read may bring more than another.
    """
    if isinstance(result, ModelError) and result.kind == "bad_response":
        return evolve(result, message=result.message.partition(": ")[0])
    return result


@frozen
class Reading:
    """Reads what answers this effect, or another one that is `asked`, over one wire."""

    decoder: Callable[[CallModel, Tell], Decoder]
    call: CallModel

    def feed(
        self,
        reads: Iterable[bytes],
        fault: ModelError | None = None,
        asked: CallModel | None = None,
    ) -> AssistantMessage | ModelError:
        """The result of these reads, checked against what was told."""
        told = Told()
        decoder = self.decoder(asked or self.call, told)
        for data in reads:
            if decoder.feed(data):
                break
        result = decoder.finish(fault)
        whole = result.partial if isinstance(result, ModelError) else result
        assert told.sums() == sums_of(whole)
        return result

    def result(
        self,
        *body: bytes,
        fault: ModelError | None = None,
        asked: CallModel | None = None,
    ) -> AssistantMessage | ModelError:
        """The result of this body, which is the same whole and byte by byte."""
        whole = b"".join(body)
        found = self.feed([whole], fault, asked)
        assert found == self.feed(cut(whole, range(1, len(whole))), fault, asked)
        return found

    def reply(self, *body: bytes, asked: CallModel | None = None) -> AssistantMessage:
        """The reply that this body is."""
        found = self.result(*body, asked=asked)
        assert isinstance(found, AssistantMessage), found
        return found

    def error(self, *body: bytes, fault: ModelError | None = None) -> ModelError:
        """The fault that this body is."""
        found = self.result(*body, fault=fault)
        assert isinstance(found, ModelError), found
        return found
