"""What every wire protocol is to the transport: a request to send, a decoder to feed."""

from collections.abc import Callable, Mapping
from typing import Final, Protocol, TypeAlias

from attrs import frozen

from loopcore import AssistantMessage, CallModel, ModelError, Tell
from loopcore_adapters.loose import Json

HEADERS: Final[Mapping[str, str]] = {
    "content-type": "application/json",
    "accept": "text/event-stream, application/json",
}
"""Those of every request: what is asked for as a stream may come in one piece."""


@frozen
class HttpRequest:
    """A request without the server's address and without its key."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class Decoder(Protocol):
    """Reads one response: `feed` it bytes until it says True, then `finish` it."""

    def feed(self, data: bytes) -> bool:
        """Take these bytes; True once nothing more need be read."""
        ...

    def finish(self, fault: ModelError | None = None) -> AssistantMessage | ModelError:
        """The one result. `fault` is what broke the connection, if something did."""
        ...


Encode: TypeAlias = Callable[[CallModel], HttpRequest]
Decode: TypeAlias = Callable[[CallModel, Tell], Decoder]
Options: TypeAlias = Mapping[str, Json]
"""Fields that go into the body of each request as they are."""

Sign: TypeAlias = Callable[[str], Mapping[str, str]]
"""The headers that carry a key."""


def bearer(key: str) -> Mapping[str, str]:
    """The key as most servers want it.

    >>> bearer("k")
    {'authorization': 'Bearer k'}
    """
    return {"authorization": f"Bearer {key}"}


def header(name: str) -> Sign:
    """The key alone in a header of this name, in lower case.

    >>> header("x-api-key")("k")
    {'x-api-key': 'k'}
    """
    return lambda key: {name: key}


@frozen
class Wire:
    """A protocol, in one server's dialect.

    Args:
        encoder: makes what encodes requests that have these options. Each connected model
            has one of its own, which may keep what it made (see `pieces`).
        decode: makes what reads one response.
        sign: gives the headers that carry a key.
    """

    encoder: Callable[[Options], Encode]
    decode: Decode
    sign: Sign = bearer
