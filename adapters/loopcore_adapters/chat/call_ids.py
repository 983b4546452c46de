"""Call ids for the wire: each call of a request has its own, whatever history says."""

import re
from hashlib import sha256
from typing import Final

from attrs import define, field

_FOREIGN: Final = re.compile(r"[^A-Za-z0-9_-]")
_DIGEST: Final = 8


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
