"""The Messages protocol of Anthropic and of all who speak it too, without I/O."""

from loopcore_adapters.messages.decode import Decoder
from loopcore_adapters.messages.dialect import Dialect, dialect_of

__all__ = ["Decoder", "Dialect", "dialect_of"]
