"""The input of a request: history adapted on its way out and never in place.

The items of a conversation that went on begin with the same bytes, so that the server's
prompt cache holds.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, TypeAlias

from attrs import define, field

from loopcore import (
    AssistantMessage,
    CallModel,
    Image,
    Message,
    SystemMessage,
    Text,
    ToolResultMessage,
    project,
)
from loopcore_adapters.call_ids import CallIds, tool_name
from loopcore_adapters.loose import Json
from loopcore_adapters.pieces import Pieces, written
from loopcore_adapters.responses import replay
from loopcore_adapters.responses.dialect import Dialect
from loopcore_adapters.stand_ins import SEE_BELOW, Part, plain, shown, silent

Wire: TypeAlias = dict[str, Json]

FROM_RESULT: Final = "From the result of {}:"
FROM_REPLY: Final = "From the assistant's reply:"


@define(eq=False)
class Conversation:
    """What one request says. `pieces` keeps the bytes of each message for further ones."""

    call: CallModel
    dialect: Dialect
    pieces: Pieces
    _taken: set[bytes] = field(factory=set[bytes], init=False)
    _tools: frozenset[str] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._tools = frozenset(spec.name for spec in self.call.tools)

    def items(self) -> Iterator[bytes]:
        """The bytes of each message's items; some are empty."""
        ids = CallIds(self.dialect.call_id, self.dialect.call_id_length)
        rest = iter(project(self.call.messages))
        for message in rest:
            if isinstance(message, AssistantMessage):
                names = tuple([ids.name(made.id) for made in message.calls])
                yield self._reply(message, names)
                # `project` put the results of these calls here, one for each, in order.
                yield from self._results(names, list(islice(rest, len(names))))
                yield self.pieces.get(message, FROM_REPLY, self._pictures)
            elif isinstance(message, SystemMessage):
                yield self.pieces.get(message, "system", self._system)
            else:  # a user's: `project` left no others
                yield self.pieces.get(message, "user", self._user)

    def _system(self, message: SystemMessage, _: str) -> bytes:
        said = plain(message.parts)
        return _message(self.dialect.role, [_text(said)] if said else [])

    def _user(self, message: Message, _: str) -> bytes:
        return _message("user", self._content(message.parts))

    def _reply(self, message: AssistantMessage, names: tuple[str, ...]) -> bytes:
        own = message.model == self.call.model
        called = tuple([tool_name(made.name, self._tools) for made in message.calls])
        linked = own and self._are_free(message)
        manner = replay.Manner(names, called, own=own, linked=linked)
        return self.pieces.get(message, manner, replay.items)

    def _are_free(self, message: AssistantMessage) -> bool:
        """Whether the ids of its items are theirs alone: a server takes each but once."""
        claimed = self.pieces.get(message, "claims", replay.claims).split()
        free = len({*claimed}) == len(claimed) and self._taken.isdisjoint(claimed)
        self._taken.update(claimed)
        return free

    def _results(
        self, names: tuple[str, ...], results: Iterable[Message]
    ) -> Iterator[bytes]:
        """The results, and the images that they cannot hold themselves."""
        answers = [one for one in results if isinstance(one, ToolResultMessage)]
        for name, answer in zip(names, answers, strict=True):
            yield self.pieces.get(answer, name, self._result)
        if not self.dialect.result_images:
            for answer in answers:
                yield self.pieces.get(answer, FROM_RESULT, self._pictures)

    def _result(self, answer: ToolResultMessage, name: str) -> bytes:
        return written(
            {
                "type": "function_call_output",
                "call_id": name,
                "output": self._output(answer),
            }
        )

    def _output(self, answer: ToolResultMessage) -> str | list[Wire]:
        """Plain text where there is nothing but text: many servers take nothing else."""
        pictures = self.dialect.images and _has_image(answer)
        if pictures and self.dialect.result_images:
            return self._content(answer.parts)
        texts = [part for part in answer.parts if isinstance(part, Text)]
        said = plain(texts if pictures else answer.parts)
        if said.strip():
            return said
        return SEE_BELOW if pictures else silent(answer)

    def _pictures(
        self, message: AssistantMessage | ToolResultMessage, lead: str
    ) -> bytes:
        """The images of a reply or a result, as the user shows them; nothing without."""
        images = [part for part in message.parts if isinstance(part, Image)]
        if not images:
            return b""
        name = message.name if isinstance(message, ToolResultMessage) else ""
        content = self._content([Text(lead.format(name)), *images])
        return _message("user", content)

    def _content(self, parts: Iterable[Part]) -> list[Wire]:
        seen = shown(parts, images=self.dialect.images)
        return [
            _picture(part) if isinstance(part, Image) else _text(part.text)
            for part in seen
            if isinstance(part, Image) or part.text
        ]


def _message(role: str, content: list[Wire]) -> bytes:
    """A message; nothing if it has no content, which no server takes."""
    return written({"role": role, "content": content}) if content else b""


def _text(text: str) -> Wire:
    return {"type": "input_text", "text": text}


def _picture(image: Image) -> Wire:
    url = f"data:{image.mime};base64,{image.data}"
    return {"type": "input_image", "detail": "auto", "image_url": url}


def _has_image(result: ToolResultMessage) -> bool:
    return any(isinstance(part, Image) for part in result.parts)
