"""What every wire protocol is to the transport: a request to send, a decoder to feed."""

from collections.abc import Callable, Mapping
from typing import Protocol, TypeAlias

from attrs import frozen

from loopcore import AssistantMessage, CallModel, ModelError, Tell


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
