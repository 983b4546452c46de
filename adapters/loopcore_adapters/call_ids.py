"""Ids and names of calls for the wire, whatever history says: taken, and told apart."""

import re
from collections.abc import Container
from hashlib import sha256
from typing import Final

from attrs import define, field

_FOREIGN: Final = re.compile(r"[^A-Za-z0-9_-]")
_DIGEST: Final = 8
LONGEST_NAME: Final = 64


def tool_name(
    name: str, offered: Container[str] = (), longest: int = LONGEST_NAME
) -> str:
    """The name, if it is a tool's or could be: a model may have invented anything.

    >>> tool_name("fs.read", {"fs.read"}), tool_name("look now!"), tool_name("")
    ('fs.read', 'look_now_', 'unknown')
    """
    if name in offered:
        return name
    return _FOREIGN.sub("_", name)[:longest] or "unknown"


@define
class CallIds:
    """Names calls in the order of the conversation.

    A name depends on earlier calls only, so a longer conversation begins with the same
    bytes. An id is kept if the server takes it and no earlier call has it; another one
    is cut, and told apart by a digest of the id and of how often it had come before.
    """

    accepted: re.Pattern[str]
    length: int
    _taken: set[str] = field(factory=set[str], init=False)
    _seen: dict[str, int] = field(factory=dict[str, int], init=False)

    def name(self, call_id: str) -> str:
        """The wire's id of the next call."""
        times = self._seen.get(call_id, 0)
        self._seen[call_id] = times + 1
        name = (
            call_id if self.accepted.fullmatch(call_id) else self._made(call_id, times)
        )
        while name in self._taken:
            times += 1
            name = self._made(call_id, times)
        self._taken.add(name)
        return name

    def _made(self, call_id: str, times: int) -> str:
        digest = sha256(f"{times}:{call_id}".encode()).hexdigest()
        if self.length <= _DIGEST * 2:
            return digest[: self.length]
        stem = _FOREIGN.sub("_", call_id.partition("|")[0]) or "call"
        return f"{stem[: self.length - _DIGEST - 1]}_{digest[:_DIGEST]}"
