"""The Chat Completions protocol of OpenAI and of all who speak it too, without I/O."""

from loopcore_adapters.chat.decode import Decoder
from loopcore_adapters.chat.dialect import Dialect
from loopcore_adapters.chat.encode import encode

__all__ = ["Decoder", "Dialect", "encode"]
