"""Digests: 16 characters that stand for a value, so that a journal need not repeat it."""

import json
from hashlib import blake2b
from typing import Any, Final, TypeAlias

from loopcore.codec import to_json
from loopcore.frozen import UNSET, Json, clean
from loopcore.hiding import Hide, hide_record
from loopcore.messages import Message

SIZE: Final = 8
"""Bytes of a digest: two values of one run that share one are not to be expected."""

Kind: TypeAlias = Any
"""What a value is declared as; None for its own class."""

_dump: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def digest_of(value: Json) -> str:
    """The digest of JSON; the order of keys counts, as models are shown it.

    >>> digest_of({"a": 1})
    '1f8c00645b7df6ce'
    """
    text = clean(_dump(value)).encode()
    return blake2b(text, digest_size=SIZE).hexdigest()


class Digests:
    """Digests of what a run shows and asks, each made once.

    `hide` is applied first, so that a journal says nothing about what is hidden in it.
    What has a digest is held, since it is known again by its identity. With `remember`,
    it is found again by its digest too.
    """

    def __init__(self, hide: Hide | None = None, *, remember: bool = False) -> None:
        self._hide = hide
        self._known: dict[int, tuple[object, str]] = {}
        self._values: dict[str, Any] | None = {} if remember else None

    def __call__(self, message: Message) -> str:
        """A message's digest."""
        known = self._known.get(id(message))
        if known:
            return known[1]
        return self._keep(message, self.of(message, Message))

    def kept(self, value: object, kind: Kind = Any) -> str:
        """The digest of a value that comes again, such as the tools of a request."""
        known = self._known.get(id(value))
        return known[1] if known else self._keep(value, self.of(value, kind))

    def of(self, value: object, kind: Kind = Any) -> str:
        """The digest of what is declared as this kind, by default JSON."""
        digest = digest_of(self.shown(value, kind))
        if self._values is not None:
            self._values[digest] = value
        return digest

    def value(self, digest: object) -> Any:  # noqa: ANN401  # any record
        """What has this digest; `UNSET` if that is not remembered."""
        return (self._values or {}).get(str(digest), UNSET)

    def shown(self, value: object, kind: Kind = None) -> Json:
        """Its JSON form, without what is hidden; by default as its own class."""
        return to_json(hide_record(value, self._hide) if self._hide else value, kind)

    def _keep(self, value: object, digest: str) -> str:
        self._known[id(value)] = value, digest
        return digest
