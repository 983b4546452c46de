"""The generateContent protocol of Google's Gemini models, without I/O."""

from loopcore_adapters.gemini.decode import Decoder
from loopcore_adapters.gemini.encode import Encoder, encode
from loopcore_adapters.wire import Wire, header

__all__ = ["Decoder", "Encoder", "encode", "wire"]


def wire() -> Wire:
    """The protocol."""
    return Wire(Encoder, Decoder, header("x-goog-api-key"))
