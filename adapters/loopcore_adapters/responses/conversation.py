"""The input of a request: history adapted on its way out and never in place.

The items of a conversation that went on begin with the same bytes, so that the server's
prompt cache holds.
"""

import re
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
)
from loopcore_adapters.beginnings import Beginnings
from loopcore_adapters.call_ids import CallIds, tool_name
from loopcore_adapters.loose import Json
from loopcore_adapters.pictures import encoded, is_shown, mime
from loopcore_adapters.pieces import Pieces, written
from loopcore_adapters.responses import replay
from loopcore_adapters.responses.dialect import Dialect
from loopcore_adapters.stand_ins import (
    GO_ON,
    INSTRUCTION,
    NOTHING,
    SEE_BELOW,
    Part,
    lead,
    plain,
    shown,
    silent,
)

Wire: TypeAlias = dict[str, Json]

PICTURES: Final = re.compile(r"image/(png|jpeg|gif|webp)")
"""What the protocol's inventor takes, by its guide to images."""

HEARD: Final = (b'{"role":', b'{"type":"function_call_output"')
"""What the bytes of all that a model hears begin with, and those of its replies do not."""


@define
class Spoken:
    """What further items depend on.

    Args:
        ids: the ids of calls that are taken.
        items: those of items.
        begun: whether anyone spoke.
        instructions: what the system said before.
    """

    ids: CallIds
    items: set[bytes] = field(factory=set[bytes])
    begun: bool = False
    instructions: tuple[str, ...] = ()


@define(eq=False)
class Conversation:
    """What one request says. `pieces` keeps the bytes of each message for further ones.

    What the system said before anyone spoke is known once the items were asked for.
    """

    call: CallModel
    dialect: Dialect
    pieces: Pieces
    beginnings: Beginnings[Spoken]
    instructions: tuple[str, ...] = field(default=(), init=False)
    _tools: frozenset[str] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._tools = frozenset(spec.name for spec in self.call.tools)

    def items(self) -> tuple[bytes, ...]:
        """The bytes of each message's items; some are empty. A model never speaks last."""
        key = self.call.model, self._tools
        said = self.beginnings.go_on(self.call.messages, key, self._begin, self._speak)
        last = next(filter(None, reversed(said)), b"")
        if last.startswith(HEARD):
            return said
        return (*said, _message("user", [_text(GO_ON if last else NOTHING)]))

    def _begin(self) -> Spoken:
        return Spoken(CallIds(self.dialect.call_id, self.dialect.call_id_length))

    def _speak(self, messages: Iterable[Message], spoken: Spoken) -> Iterator[bytes]:
        for piece in self._said(messages, spoken):
            spoken.begun = spoken.begun or bool(piece)
            yield piece
        self.instructions = spoken.instructions

    def _said(self, messages: Iterable[Message], spoken: Spoken) -> Iterator[bytes]:
        rest = iter(messages)
        for message in rest:
            if isinstance(message, AssistantMessage):
                names = tuple([spoken.ids.name(made.id) for made in message.calls])
                yield self._reply(message, names, spoken)
                # `project` put the results of these calls here, one for each, in order.
                results = list(islice(rest, len(names)))
                yield from self._results(names, results)
                yield self._pictures(message, results)
            elif isinstance(message, SystemMessage):
                yield self._instruction(message, spoken)
            else:  # a user's: `project` left no others
                yield self.pieces.get(message, "user", self._user)

    def _instruction(self, message: SystemMessage, spoken: Spoken) -> bytes:
        if spoken.begun or self.dialect.role != "user":
            return self.pieces.get(message, "system", self._system)
        spoken.instructions = (*spoken.instructions, plain(message.parts))
        return b""

    def _system(self, message: SystemMessage, _: str) -> bytes:
        said = plain(message.parts)
        role = self.dialect.role
        tagged = INSTRUCTION.format(said) if role == "user" else said
        return _message(role, [_text(tagged)] if said.strip() else [])

    def _user(self, message: Message, _: str) -> bytes:
        return _message("user", self._content(message.parts))

    def _reply(
        self, message: AssistantMessage, names: tuple[str, ...], spoken: Spoken
    ) -> bytes:
        own = message.model == self.call.model
        called = tuple([tool_name(made.name, self._tools) for made in message.calls])
        linked = own and self._are_free(message, spoken)
        manner = replay.Manner(names, called, own=own, linked=linked)
        return self.pieces.get(message, manner, replay.items)

    def _are_free(self, message: AssistantMessage, spoken: Spoken) -> bool:
        """Whether the ids of its items are theirs alone: a server takes each but once."""
        claimed = self.pieces.get(message, "claims", replay.claims).split()
        free = len({*claimed}) == len(claimed) and spoken.items.isdisjoint(claimed)
        spoken.items.update(claimed)
        return free

    def _results(
        self, names: tuple[str, ...], results: Iterable[Message]
    ) -> Iterator[bytes]:
        answers = [one for one in results if isinstance(one, ToolResultMessage)]
        for name, answer in zip(names, answers, strict=True):
            yield self.pieces.get(answer, name, self._result)

    def _result(self, answer: ToolResultMessage, name: str) -> bytes:
        said = self._output(answer)
        wire = {"type": "function_call_output", "call_id": name, "output": said}
        return written(wire)

    def _output(self, answer: ToolResultMessage) -> str | list[Wire]:
        """Plain text where there is nothing but text: many servers take nothing else."""
        pictures = self.dialect.images and _has_image(answer)
        if pictures and self.dialect.result_images:
            return self._content(answer.parts)
        rest = (p for p in answer.parts if not (pictures and _is_picture(p)))
        said = plain(rest)
        if said.strip():
            return said
        return SEE_BELOW if pictures else silent(answer)

    def _pictures(self, reply: AssistantMessage, results: Iterable[Message]) -> bytes:
        """The images that a reply, or its results, cannot hold: shown after all of these."""
        apart = self.dialect.images and not self.dialect.result_images
        found = [one for one in (reply, *(results if apart else ())) if _has_image(one)]
        seen = [self.pieces.get(one, None, self._seen) for one in found]
        return b'{"role":"user","content":[%b]}' % b",".join(seen) if seen else b""

    def _seen(self, message: Message, _: None) -> bytes:
        images = [part for part in message.parts if _is_picture(part)]
        return b",".join(map(written, self._content([Text(lead(message)), *images])))

    def _content(self, parts: Iterable[Part]) -> list[Wire]:
        return [
            _picture(part) if isinstance(part, Image) else _text(part.text)
            for part in shown(parts, images=self.dialect.images, media=PICTURES)
            if isinstance(part, Image) or part.text.strip()
        ]


def _message(role: str, content: list[Wire]) -> bytes:
    """A message; nothing if it has no content, which no server takes."""
    return written({"role": role, "content": content}) if content else b""


def _text(text: str) -> Wire:
    return {"type": "input_text", "text": text}


def _picture(image: Image) -> Wire:
    url = f"data:{mime(image)};base64,{encoded(image)}"
    return {"type": "input_image", "detail": "auto", "image_url": url}


def _has_image(message: Message) -> bool:
    return any(map(_is_picture, message.parts))


def _is_picture(part: Part) -> bool:
    return isinstance(part, Image) and is_shown(part, PICTURES)
