"""The messages of a request: history adapted on its way out and never in place.

Those of a conversation that went on begin with the same bytes, so that the server's prompt
cache holds.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, TypeAlias

from attrs import define, evolve, field

from loopcore import (
    AssistantMessage,
    CallModel,
    Image,
    Message,
    SystemMessage,
    Thinking,
    ToolCall,
    ToolResultMessage,
)
from loopcore_adapters.beginnings import Beginnings
from loopcore_adapters.call_ids import CallIds, tool_name
from loopcore_adapters.chat.dialect import Dialect
from loopcore_adapters.loose import Json, items, members, parse
from loopcore_adapters.pictures import encoded, is_shown, mime
from loopcore_adapters.pieces import Pieces, written
from loopcore_adapters.stand_ins import (
    GO_ON,
    INSTRUCTION,
    NO_IMAGES,
    NOTHING,
    SEE_BELOW,
    Part,
    lead,
    plain,
    shown,
    silent,
)

Role: TypeAlias = str
Piece: TypeAlias = tuple[Role, bytes]
Wire: TypeAlias = dict[str, Json]

BRIDGE: Final = written({"role": "assistant", "content": "I have the results."})
NOBODY: Final = written({"role": "user", "content": NOTHING})
SYSTEM: Final = b'{"role":"system"'
"""What the bytes of the system prompt begin with."""

ENDING: Final = written({"role": "user", "content": GO_ON})


Called: TypeAlias = tuple[tuple[str, ...], bool, frozenset[str], bool]
"""The ids of a reply's calls, whether the model's own reply it is, the tools there are.

And whether the first call has to carry something of the model's.
"""


@define
class Spoken:
    """What further messages depend on.

    Args:
        ids: the ids that are taken.
        last: who spoke last.
        instructions: what the system said before anyone spoke.
    """

    ids: CallIds
    last: Role = ""
    instructions: tuple[str, ...] = ()


@define(eq=False)
class Conversation:
    """What one request says. `pieces` keeps the bytes of each message for further ones."""

    call: CallModel
    dialect: Dialect
    pieces: Pieces
    beginnings: Beginnings[Spoken]
    _tools: frozenset[str] = field(init=False)
    _stands: Spoken = field(init=False)
    _carries: bool = field(init=False)

    def __attrs_post_init__(self) -> None:
        extra, name = self.dialect.call_extra, self.call.model.partition(":")[2]
        self._carries = bool(extra and extra[0].fullmatch(name))
        self._tools = frozenset(spec.name for spec in self.call.tools)
        self._stands = self._begin()

    def messages(self, system: str) -> tuple[bytes, ...]:
        """The messages' bytes, the system prompt first; some are empty."""
        key = self.call.model, self._tools
        said = self.beginnings.go_on(self.call.messages, key, self._begin, self._speak)
        told = "\n\n".join(filter(str.strip, (system, *self._stands.instructions)))
        return (*([_system(told)] if told else []), *said, self._ending)

    @property
    def _ending(self) -> bytes:
        """What makes of the messages so far a conversation that can be gone on with."""
        if not self._stands.last:
            return NOBODY
        return ENDING if self._stands.last == "assistant" else b""

    def _begin(self) -> Spoken:
        return Spoken(CallIds(self.dialect.call_id, self.dialect.call_id_length))

    def _speak(self, messages: Iterable[Message], spoken: Spoken) -> Iterator[bytes]:
        for role, piece in self._turns(messages, spoken):
            bridged = self.dialect.ordered and (spoken.last, role) == ("tool", "user")
            yield BRIDGE if piece and bridged else b""
            yield piece
            spoken.last = role if piece else spoken.last
        # A copy: who goes on with this conversation changes it.
        self._stands = evolve(spoken)

    def _turns(self, messages: Iterable[Message], spoken: Spoken) -> Iterator[Piece]:
        rest = iter(messages)
        for message in rest:
            if isinstance(message, AssistantMessage):
                names = tuple([spoken.ids.name(made.id) for made in message.calls])
                yield "assistant", self._reply(message, names)
                # `project` put the results of these calls here, one for each, in order.
                results = list(islice(rest, len(names)))
                yield from self._results(names, results)
                yield from self._pictures(message, results)
            elif isinstance(message, SystemMessage):
                yield self._instruction(message, spoken)
            else:  # a user's: `project` left no others
                yield "user", self.pieces.get(message, None, self._user)

    def _instruction(self, message: SystemMessage, spoken: Spoken) -> Piece:
        """What the system says in mid-conversation; before it, that is its prompt's."""
        if not self.dialect.system_once:
            return "system", self.pieces.get(message, "system", _instruction)
        if spoken.last:
            return "user", self.pieces.get(message, "user", _instruction)
        spoken.instructions = (*spoken.instructions, plain(message.parts))
        return "", b""

    def _user(self, message: Message, _: None) -> bytes:
        """What a user says; nothing if that is nothing, which some servers refuse."""
        content = _content(message.parts, self.dialect)
        return written({"role": "user", "content": content}) if content else b""

    def _reply(self, message: AssistantMessage, names: tuple[str, ...]) -> bytes:
        own = message.model == self.call.model
        tools = self._tools if names else frozenset[str]()
        key = (names, own, tools, self._carries)
        return self.pieces.get(message, key, self._make_reply)

    def _make_reply(self, message: AssistantMessage, key: Called) -> bytes:
        """The assistant's message; nothing for a reply with neither text nor calls."""
        names, own, tools, carries = key
        said = message.text if message.text.strip() else None
        if not said and not names:
            return b""
        wire: Wire = {"role": "assistant", "content": said}
        wire |= _thinking(message, self.dialect, own=own)
        if names:
            wire["tool_calls"] = [
                _call(made, name, tools) | (_extra(made) if own else {})
                for made, name in zip(message.calls, names, strict=True)
            ]
        if names and carries and self.dialect.call_extra:
            wire["tool_calls"][0].setdefault(
                "extra_content", self.dialect.call_extra[1]
            )
        return written(wire)

    def _results(
        self, names: tuple[str, ...], results: Iterable[Message]
    ) -> Iterator[Piece]:
        answers = [one for one in results if isinstance(one, ToolResultMessage)]
        for name, answer in zip(names, answers, strict=True):
            yield "tool", self.pieces.get(answer, name, self._result)

    def _pictures(
        self, reply: AssistantMessage, results: list[Message]
    ) -> Iterator[Piece]:
        """The images of a reply and its results, after all of these.

        There is no place for them within, and nothing may come between.
        """
        seen = [one for one in (reply, *results) if _has_image(one)]
        if seen and self.dialect.images:
            pictures = [self.pieces.get(one, None, _pictures) for one in seen]
            yield "user", b'{"role":"user","content":[' + b",".join(pictures) + b"]}"
        elif any(isinstance(part, Image) for part in reply.parts):
            yield "user", self.pieces.get(reply, None, _left_out)

    def _result(self, answer: ToolResultMessage, name: str) -> bytes:
        text = _result_text(answer, self.dialect)
        return written({"role": "tool", "tool_call_id": name, "content": text})


def _system(said: str) -> bytes:
    return written({"role": "system", "content": said})


def _instruction(message: SystemMessage, role: Role) -> bytes:
    """What the system says; it is tagged where a user's message has to say it."""
    said = plain(message.parts)
    if not said.strip():
        return b""
    tagged = INSTRUCTION.format(said) if role == "user" else said
    return written({"role": role, "content": tagged})


def _content(parts: Iterable[Part], dialect: Dialect) -> str | list[Wire]:
    """Plain text where there is nothing but text: many servers take nothing else."""
    seen = shown(parts)
    if not dialect.images or not any(isinstance(part, Image) for part in seen):
        said = plain(seen)
        return said if said.strip() else ""
    seen = [part for part in seen if isinstance(part, Image) or part.text.strip()]
    return [_picture(p) if isinstance(p, Image) else _text(p.text) for p in seen]


def _text(text: str) -> Wire:
    return {"type": "text", "text": text}


def _picture(image: Image) -> Wire:
    url = f"data:{mime(image)};base64,{encoded(image)}"
    return {"type": "image_url", "image_url": {"url": url}}


def _call(call: ToolCall, name: str, tools: frozenset[str]) -> Wire:
    function = {"name": tool_name(call.name, tools), "arguments": call.text}
    return {"id": name, "type": "function", "function": function}


def _extra(call: ToolCall) -> Wire:
    """What the provider attached to the call, to go back as it came."""
    return {"extra_content": extra} if (extra := members(_signed(call))) else {}


def _signed(part: ToolCall | Thinking) -> Json:
    try:
        return parse(part.signature or "null")
    except ValueError:
        return None


def _thinking(message: AssistantMessage, dialect: Dialect, *, own: bool) -> Wire:
    """The model's own thinking, as its server wants it back."""
    thought = [part for part in message.parts if isinstance(part, Thinking) and own]
    text = "".join(part.text for part in thought)
    match dialect.thinking:
        case "":
            return {}
        case "reasoning_details":
            details = [one for part in thought for one in items(_signed(part))]
            return {"reasoning_details": details} if details else {}
        case "content":
            thinking = {"type": "thinking", "thinking": [_text(text)]}
            said = [_text(message.text)] if message.text.strip() else []
            return {"content": [thinking, *said]} if text else {}
        case field:
            needed = dialect.thinking_needed
            wanted = needed == "always" or message.calls
            return {field: text} if wanted and (text or needed) else {}


def _result_text(result: ToolResultMessage, dialect: Dialect) -> str:
    text = plain(
        p
        for p in result.parts
        if not (dialect.images and isinstance(p, Image) and is_shown(p))
    )
    if text.strip():
        return text
    return SEE_BELOW if _has_image(result) else silent(result)


def _has_image(message: Message) -> bool:
    return any(isinstance(part, Image) and is_shown(part) for part in message.parts)


def _pictures(message: Message, _: None) -> bytes:
    seen = shown(message.parts)
    images = [_picture(part) for part in seen if isinstance(part, Image)]
    return b",".join(map(written, [_text(lead(message)), *images]))


def _left_out(reply: AssistantMessage, _: None) -> bytes:
    return written({"role": "user", "content": f"{lead(reply)}\n{NO_IMAGES}"})


def marked(messages: tuple[bytes, ...]) -> Iterator[bytes]:
    """The messages, with marks up to where the server is to keep what it read."""
    last = max(place for place, one in enumerate(messages) if one)
    for place, one in enumerate(messages):
        prompt = place == 0 and one.startswith(SYSTEM)
        yield _mark(one) if prompt or place == last else one


def _mark(message: bytes) -> bytes:
    wire = members(parse(message or b"null"))
    content = wire.get("content")
    parts = [_text(content)] if isinstance(content, str) else list(items(content))
    if not parts or wire["role"] == "assistant":
        return message
    parts[-1] = {**parts[-1], "cache_control": {"type": "ephemeral"}}
    return written({**wire, "content": parts})
