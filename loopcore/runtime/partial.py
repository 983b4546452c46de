"""What a model has streamed so far."""

from attrs import define, field

from loopcore.events import Delta
from loopcore.messages import AssistantMessage, Part, Text, Thinking, ToolCall


@define
class Piece:
    """One part on its way: what came of it, in order, joined only when it is asked for."""

    text: list[str] = field(factory=list[str])
    thinking: list[str] = field(factory=list[str])
    name: list[str] = field(factory=list[str])
    arguments: list[str] = field(factory=list[str])

    def add(self, delta: Delta) -> None:
        """One more piece of it."""
        self.text.append(delta.text)
        self.thinking.append(delta.thinking)
        self.name.append(delta.name)
        self.arguments.append(delta.arguments)

    def part(self, *, last: bool) -> Part | None:
        """The part so far; None for a call that is not complete."""
        text, name = "".join(self.text), "".join(self.name)
        if name:
            return _call(name, "".join(self.arguments), last=last)
        return Text(text) if text else Thinking("".join(self.thinking))


def _call(name: str, arguments: str, *, last: bool) -> ToolCall | None:
    """A call whose arguments are an object; the last one may still be at its start."""
    call = ToolCall.parse(name, arguments)
    begun = last and not arguments.strip()
    return None if begun or call.malformed else call


class Partial:
    """A reply on its way."""

    def __init__(self) -> None:
        self._pieces: dict[int, Piece] = {}

    def add(self, delta: Delta) -> None:
        """One more piece."""
        self._pieces.setdefault(delta.part, Piece()).add(delta)

    def message(self, model: str) -> AssistantMessage | None:
        """What there is: texts, thinking, and complete calls. None if there is nothing."""
        last = max(self._pieces, default=0)
        pieces = sorted(self._pieces.items())
        made = (piece.part(last=place == last) for place, piece in pieces)
        parts = [part for part in made if part is not None]
        if not parts:
            return None
        return AssistantMessage(parts, model=model, finish="aborted")
