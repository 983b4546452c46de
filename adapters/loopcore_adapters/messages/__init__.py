"""The Messages protocol of Anthropic and of all who speak it too, without I/O."""

from functools import partial

from loopcore_adapters.messages.decode import Decoder
from loopcore_adapters.messages.dialect import Dialect, dialect_of
from loopcore_adapters.messages.encode import Encoder, encode
from loopcore_adapters.wire import Wire, header

__all__ = ["Decoder", "Dialect", "Encoder", "dialect_of", "encode", "wire"]


def wire(dialect: Dialect | None = None) -> Wire:
    """The protocol as models of this dialect speak it; else each as its name says."""
    decode = partial(Decoder, dialect=dialect)
    return Wire(partial(Encoder, dialect), decode, header("x-api-key"))
