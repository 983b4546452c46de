"""The embedded model: llama.cpp and its weights, for which nobody needs a key."""

from loopcore_adapters.local.model import connect_local

__all__ = ["connect_local"]
