"""The contents of a request: history adapted on its way out and never in place.

The rules are those that the service states when they are broken: a model's calls come
after a user or after results; the results come at once after the calls, as many, alone in
their turn; the first turn is a user's, and so is the last; nothing is empty.

The contents of a conversation that went on begin with the same bytes (but for `GO_ON`,
where the shorter one ended in it), so that the server's prompt cache holds.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, Literal, TypeAlias

from attrs import define, evolve, field

from loopcore import (
    AssistantMessage,
    CallModel,
    Message,
    SystemMessage,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from loopcore_adapters.beginnings import Beginnings
from loopcore_adapters.call_ids import CallIds, tool_name
from loopcore_adapters.gemini.dialect import Dialect, dialect_of
from loopcore_adapters.gemini.parts import (
    Wire,
    function_response,
    model_parts,
    pictures,
    user_parts,
)
from loopcore_adapters.pieces import Pieces, Ready, written
from loopcore_adapters.stand_ins import GO_ON, INSTRUCTION, NOTHING, plain

Turn: TypeAlias = Literal["", "user", "model", "results"]
"""Whose turn it is; results are a user's turn, and alone in it."""

Piece: TypeAlias = tuple[Turn, bytes]
"""Parts of a turn."""

Made: TypeAlias = tuple[tuple[str, ...], tuple[str, ...], str]
"""The ids and the names of a reply's calls, and the model that is asked."""

CALL_ID: Final = re.compile(r"[!-~]{1,128}")
CALL_ID_LENGTH: Final = 64


def _opened(turn: Turn) -> bytes:
    role = "model" if turn == "model" else "user"
    return b'{"role":"%s","parts":[' % role.encode()


def _only_user(said: str) -> bytes:
    return _opened("user") + written({"text": said}) + b"]}"


@define
class Spoken:
    """What further messages depend on.

    Args:
        ids: the ids that are taken.
        turn: whose turn the last one is.
        instructions: what the system said before anyone spoke.
    """

    ids: CallIds
    turn: Turn = ""
    instructions: tuple[str, ...] = ()

    def place(self, turn: Turn, piece: bytes) -> bytes:
        """The piece, behind what parts it from the one before."""
        if turn == self.turn:
            return b"," + piece
        before = b"]}," if self.turn else b""
        if turn == "model" and not self.turn:
            before = _only_user(NOTHING) + b","
        self.turn = turn
        return before + _opened(turn) + piece

    @property
    def ending(self) -> bytes:
        """What makes the turns so far a whole conversation."""
        if not self.turn:
            return _only_user(NOTHING)
        return b"]}" + (b"," + _only_user(GO_ON) if self.turn == "model" else b"")


@define(eq=False)
class Conversation:
    """What one request says. `pieces` keeps the bytes of each message for further ones.

    What the system said before anyone spoke is known once the contents were asked for.
    """

    call: CallModel
    pieces: Pieces
    beginnings: Beginnings[Spoken]
    instructions: tuple[str, ...] = field(default=(), init=False)
    _tools: frozenset[str] = field(init=False)
    _dialect: Dialect = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._tools = frozenset(spec.name for spec in self.call.tools)
        self._dialect = dialect_of(self.call.model)

    def contents(self) -> Ready:
        """The turns: there is one at least."""
        key = self.call.model, self._tools
        stands: list[Spoken] = []

        def speak(messages: Iterable[Message], spoken: Spoken) -> Iterator[bytes]:
            yield from self._speak(messages, spoken)
            # A copy: who goes on with this conversation changes it.
            stands.append(evolve(spoken))

        said = self.beginnings.go_on(self.call.messages, key, _begin, speak)
        (stand,) = stands
        self.instructions = stand.instructions
        return Ready(b"[" + b"".join(said) + stand.ending + b"]")

    def _speak(self, messages: Iterable[Message], spoken: Spoken) -> Iterator[bytes]:
        rest = iter(messages)
        for message in rest:
            if isinstance(message, SystemMessage) and not spoken.turn:
                spoken.instructions = (*spoken.instructions, plain(message.parts))
                continue
            said = self._said(message, rest, spoken.ids)
            yield from (spoken.place(turn, piece) for turn, piece in said if piece)

    def _said(
        self, message: Message, rest: Iterator[Message], ids: CallIds
    ) -> Iterator[Piece]:
        if isinstance(message, AssistantMessage):
            named = tuple([ids.name(made.id) for made in message.calls])
            # `project` put the results of these calls here, one for each, in order.
            yield from self._round(message, named, islice(rest, len(named)))
        elif isinstance(message, SystemMessage):
            yield "user", self.pieces.get(message, None, _system)
        elif isinstance(message, UserMessage):
            yield "user", self.pieces.get(message, None, _user)

    def _round(
        self,
        message: AssistantMessage,
        ids: tuple[str, ...],
        results: Iterable[Message],
    ) -> Iterator[Piece]:
        """A reply, the results of its calls, and what of these has no place in them."""
        names = tuple([function_name(made, self._tools) for made in message.calls])
        ids = ids if self._dialect.ids else ("",) * len(ids)
        yield "model", self.pieces.get(message, (ids, names, self.call.model), _model)
        answers = [one for one in results if isinstance(one, ToolResultMessage)]
        for answer, call_id, name in zip(answers, ids, names, strict=True):
            made_of = call_id, name, self._dialect.nested
            yield "results", self.pieces.get(answer, made_of, _result)
        for answer in () if self._dialect.nested else answers:
            yield "user", self.pieces.get(answer, None, _pictures)


def _begin() -> Spoken:
    return Spoken(CallIds(CALL_ID, CALL_ID_LENGTH))


def function_name(call: ToolCall, tools: frozenset[str]) -> str:
    """The name as the service takes it: it begins with a letter or an underscore."""
    name = tool_name(call.name, tools)
    return f"_{name}"[:64] if name not in tools and name[0] in "-0123456789" else name


def _many(parts: Iterable[Wire]) -> bytes:
    return b",".join(map(written, parts))


def _system(message: SystemMessage, _: None) -> bytes:
    text = plain(message.parts)
    return written({"text": INSTRUCTION.format(text)}) if text.strip() else b""


def _user(message: UserMessage, _: None) -> bytes:
    return _many(user_parts(message.parts))


def _model(message: AssistantMessage, key: Made) -> bytes:
    ids, names, model = key
    calls = zip(ids, names, strict=True)
    signed = dialect_of(model).signed
    return _many(
        model_parts(message.parts, calls, own=message.model == model, signed=signed)
    )


def _result(answer: ToolResultMessage, key: tuple[str, str, bool]) -> bytes:
    call_id, name, nested = key
    return written(function_response(answer, call_id, name, nested=nested))


def _pictures(answer: ToolResultMessage, _: None) -> bytes:
    return _many(pictures(answer))
