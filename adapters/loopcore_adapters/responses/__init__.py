"""The Responses protocol of OpenAI and of those who speak it too, without I/O."""

from functools import partial

from loopcore_adapters.responses.decode import Decoder
from loopcore_adapters.responses.dialect import PLAIN, Dialect
from loopcore_adapters.responses.encode import Encoder, encode
from loopcore_adapters.wire import Wire

__all__ = ["Decoder", "Dialect", "Encoder", "encode", "wire"]


def wire(dialect: Dialect = PLAIN) -> Wire:
    """The protocol as servers of this dialect speak it."""
    return Wire(partial(Encoder, dialect), Decoder)
