"""The messages of a request: history adapted on its way out and never in place.

What one role says in a row is one message: all results of a turn first, then what else the
user said. But a reply with thinking stands alone: beside that of another, the service takes
it for changed. Those of a conversation that went on begin with the same blocks, so that the
server's prompt cache holds.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, Literal, TypeAlias

from attrs import define, evolve, field

from loopcore import (
    AssistantMessage,
    CallModel,
    Image,
    Message,
    SystemMessage,
    ToolResultMessage,
    UserMessage,
)
from loopcore_adapters.beginnings import Beginnings
from loopcore_adapters.call_ids import CallIds
from loopcore_adapters.messages import blocks
from loopcore_adapters.messages.dialect import Dialect
from loopcore_adapters.messages.thinking import keeps
from loopcore_adapters.pieces import Pieces, Ready, written
from loopcore_adapters.stand_ins import GO_ON, NOTHING

Role: TypeAlias = Literal["user", "assistant", ""]
Piece: TypeAlias = tuple[Role, bytes, bool]
"""Who says it, the bytes of the blocks, whether they answer calls."""

IDS: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
LONGEST_ID: Final = 64

CACHE: Final = b',"cache_control":{"type":"ephemeral"}}'


def marked(piece: bytes) -> bytes:
    """These blocks, the last of which tells the server to cache all up to it."""
    return piece[:-1] + CACHE


def _opened(role: Role) -> bytes:
    return b'{"role":"%s","content":[' % role.encode()


def _only_user(said: str) -> bytes:
    return _opened("user") + written(blocks.text(said)) + b"]}"


@define
class Spoken:
    """What further messages depend on.

    Args:
        ids: the ids that are taken.
        role: who spoke last.
        count: how many pieces there are.
        ends: the places of the last pieces of the user's newest two messages.
        instructions: what the system said before anyone spoke.
        thought: whether the reply whose calls are under way began with thinking; None if
            none are.
        thinks: whether any thinking is said.
        broken: whether a reply with calls has none.
    """

    ids: CallIds
    role: Role = ""
    count: int = 0
    ends: tuple[int, ...] = ()
    instructions: tuple[bytes, ...] = ()
    thought: bool | None = None
    thinks: bool = False
    broken: bool = False

    def place(self, role: Role, piece: bytes, *, answers: bool) -> bytes:
        """The piece, behind what parts it from the one before."""
        thinks = role == "assistant" and blocks.thinks(piece)
        alone = thinks and role == self.role
        goes_on = role == self.role and not alone
        before = b"," if goes_on else self._turn(role)
        if role == "user":
            others = self.ends[:-1] if goes_on else self.ends[-1:]
            self.ends = (*others, self.count)
            self.thought = self.thought if goes_on or answers else None
        elif alone or self.thought is None:
            self.thought = piece.startswith(blocks.THOUGHT)
        self.role, self.count = role, self.count + 1
        self.thinks = self.thinks or thinks
        calls = role == "assistant" and blocks.calls(piece)
        self.broken = self.broken or (calls and not thinks)
        return before + piece

    def _turn(self, role: Role) -> bytes:
        """The end of a message, and the beginning of the next."""
        if self.role:
            between = _only_user(GO_ON) + b"," if role == self.role else b""
            return b"]}," + between + _opened(role)
        before = _only_user(NOTHING) + b"," if role == "assistant" else b""
        return before + _opened(role)

    @property
    def ending(self) -> bytes:
        """What makes the messages so far an end."""
        if not self.role:
            return _only_user(NOTHING)
        return b"]}" + (b"," + _only_user(GO_ON) if self.role == "assistant" else b"")


@define(eq=False)
class Conversation:
    """What one request says. `pieces` keeps the bytes of each message for further ones.

    Where it stands is known once its messages were asked for.
    """

    call: CallModel
    dialect: Dialect
    pieces: Pieces
    beginnings: Beginnings[Spoken]
    _stands: Spoken = field(init=False)
    _tools: frozenset[str] = field(init=False)
    _keeps: bool = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._keeps = keeps(self.call, self.dialect)
        self._tools = frozenset(spec.name for spec in self.call.tools)
        self._stands = _begin()

    @property
    def instructions(self) -> tuple[bytes, ...]:
        """What the system said before anyone spoke."""
        return self._stands.instructions

    @property
    def thinks(self) -> bool:
        """Whether thinking is sent back."""
        return self._stands.thinks

    @property
    def may_think(self) -> bool:
        """Whether a model that thinks within a budget may now.

        In the middle of tool calls it must have begun with thinking.
        """
        if self.dialect.unbroken:
            return not self._stands.broken
        return self._stands.role == "assistant" or self._stands.thought is not False

    def messages(self, *, cache: bool) -> Ready:
        """The messages; `cache` marks the user's newest two."""
        key = self.call.model, self._tools, self._keeps
        said = self.beginnings.go_on(self.call.messages, key, _begin, self._speak)
        pieces = [*said, self._stands.ending]
        for place in self._stands.ends if cache else ():
            pieces[place] = marked(pieces[place])
        return Ready(b"[" + b"".join(pieces) + b"]")

    def _speak(self, messages: Iterable[Message], spoken: Spoken) -> Iterator[bytes]:
        for role, piece, answers in self._turns(messages, spoken):
            if piece and not role:
                spoken.instructions = (*spoken.instructions, piece)
            elif piece:
                yield spoken.place(role, piece, answers=answers)
        # A copy: who goes on with this conversation changes it.
        self._stands = evolve(spoken)

    def _turns(self, messages: Iterable[Message], spoken: Spoken) -> Iterator[Piece]:
        rest = iter(messages)
        for message in rest:
            if isinstance(message, AssistantMessage):
                names = tuple([spoken.ids.name(made.id) for made in message.calls])
                yield "assistant", self._reply(message, names), False
                # `project` put the results of these calls here, one for each, in order.
                answers = list(islice(rest, len(names)))
                yield from self._results(names, answers)
                yield from self._pictures([message, *answers])
            elif isinstance(message, SystemMessage):
                first = not spoken.role
                said = self.pieces.get(message, not first, blocks.instruction)
                yield "" if first else "user", said, False
            elif isinstance(message, UserMessage):
                yield "user", self.pieces.get(message, None, blocks.user), False

    def _reply(self, message: AssistantMessage, names: tuple[str, ...]) -> bytes:
        own = message.model == self.call.model and self._keeps
        called = (names, own, self._tools if names else frozenset[str]())
        return self.pieces.get(message, (called, self.dialect.signed), blocks.reply)

    def _results(
        self, names: tuple[str, ...], answers: Iterable[Message]
    ) -> Iterator[Piece]:
        for name, answer in zip(names, answers, strict=True):
            if isinstance(answer, ToolResultMessage):
                yield "user", self.pieces.get(answer, name, blocks.result), True

    def _pictures(self, said: Iterable[Message]) -> Iterator[Piece]:
        """The images that cannot stand where they were, after all results."""
        for one in said:
            if isinstance(one, AssistantMessage | ToolResultMessage) and _has_image(
                one
            ):
                yield "user", self.pieces.get(one, None, blocks.pictures), False


def _has_image(said: Message) -> bool:
    return any(isinstance(part, Image) for part in said.parts)


def _begin() -> Spoken:
    return Spoken(CallIds(IDS, LONGEST_ID))
