"""Tool calls that arrive in fragments, each server cutting and naming them its own way."""

from typing import Final

from attrs import define, evolve, field, frozen

from loopcore import ToolCall
from loopcore_adapters.flow import Flow, mend
from loopcore_adapters.loose import Json, as_text, dump, members, text, whole

EMPTY: Final = ("", "{", "{}")


@frozen
class Fragment:
    """One entry of `tool_calls`. Empty text is the same as no text."""

    index: int | None = None
    id: str = ""
    name: str = ""
    arguments: str = ""
    extra: str = ""


def fragment(entry: Json) -> Fragment:
    """The entry, read loosely: arguments may be an object, the function may be bare.

    A custom tool has free text for arguments.
    """
    top = members(entry)
    function = members(top.get("function")) or members(top.get("custom")) or top
    extra = members(top.get("extra_content"))
    return Fragment(
        whole(top.get("index")),
        mend(text(top.get("id"))),
        mend(text(function.get("name"))),
        as_text(function.get("arguments", function.get("input"))),
        dump(extra) if extra else "",
    )


@define
class Brackets:
    """Whether JSON text that comes in pieces is whole. Each piece is looked at once."""

    pieces: list[str] = field(factory=list[str], init=False)
    _open: int = field(default=0, init=False)
    _begun: bool = field(default=False, init=False)
    _quoted: bool = field(default=False, init=False)
    _escaped: bool = field(default=False, init=False)

    @property
    def closed(self) -> bool:
        """Whether all that was opened is closed, and something was."""
        for char in "".join(self.pieces):
            self._step(char)
        self.pieces.clear()
        return self._begun and not self._open and not self._quoted

    def _step(self, char: str) -> None:
        if self._escaped:
            self._escaped = False
        elif self._quoted:
            self._escaped, self._quoted = char == "\\", char != '"'
        elif char == '"':
            self._quoted = True
        elif char in "{[":
            self._open, self._begun = self._open + 1, True
        elif char in "}]":
            self._open -= 1


@define
class CallDraft:
    """A call on its way. What `add` and `end` give adds up to its name and arguments.

    Arguments wait for the name, and until they are more than the empty object: that is
    what servers write who know the arguments only later.
    """

    part: int
    id: str = ""
    name: str = ""
    extra: str = ""
    _flow: Flow = field(factory=Flow, init=False)
    _waiting: list[str] = field(factory=list[str], init=False)
    _core: str = field(default="", init=False)
    _brackets: Brackets = field(factory=Brackets, init=False)

    def add(self, more: Fragment) -> tuple[str, str]:
        """What is new of the name, and of the arguments."""
        self.id = self.id or more.id
        self.extra = more.extra or self.extra
        name = "" if more.name == self.name else more.name
        self.name += name
        return name, self._grow(more.arguments)

    def _grow(self, more: str) -> str:
        solid = "".join(more.split())
        if self._core == "{}" and solid:
            self._waiting, self._core = [], ""
            self._brackets = Brackets()
        self._core = (self._core + solid[:3])[:3]
        self._brackets.pieces.append(more)
        self._waiting.append(more)
        return "" if self._core in EMPTY or not self.name else self._release()

    def _release(self) -> str:
        ready, self._waiting = "".join(self._waiting), []
        return self._flow.add(ready)

    def end(self) -> str:
        """The rest of the arguments."""
        return self._release() + self._flow.end()

    def goes_on(self, more: Fragment) -> bool:
        """Whether this fragment is of this call, not the first of another.

        Servers give each call one index, or an id, or neither, and may repeat the name.
        """
        if more.id and self.id and more.id != self.id:
            return False
        if not more.name or not self.name:
            return True
        renamed = more.name != self.name
        if renamed and more.id and not self.id:
            return False
        return not (renamed or more.arguments.strip()) or not self._brackets.closed

    def call(self, call_id: str) -> ToolCall:
        """The call as far as it came, under this id."""
        made = ToolCall.parse(self.name, self._flow.text, call_id)
        return evolve(made, signature=self.extra) if self.extra else made


@define
class Calls:
    """Finds the call that a fragment goes on with: by index, by id, else the last one."""

    _last: CallDraft | None = field(default=None, init=False)
    _by_index: dict[int, CallDraft] = field(factory=dict[int, CallDraft], init=False)
    _by_id: dict[str, CallDraft] = field(factory=dict[str, CallDraft], init=False)

    def of(self, more: Fragment) -> CallDraft | None:
        """The call that this fragment is of; None if it is the first of another."""
        found = self._candidate(more)
        return found if found and found.goes_on(more) else None

    def open(self, call: CallDraft, index: int | None) -> None:
        """Further fragments may be of this call."""
        self._last = call
        if index is not None:
            self._by_index[index] = call

    def know(self, call: CallDraft) -> None:
        """A call may have got its id: of several that share one, the last counts."""
        known = self._by_id.get(call.id)
        if call.id and (known is None or known.part < call.part):
            self._by_id[call.id] = call

    def _candidate(self, more: Fragment) -> CallDraft | None:
        if more.index in self._by_index:
            return self._by_index[more.index]
        same = self._by_id.get(more.id)
        if more.index is None:
            return same or self._last
        return None if more.name else same
