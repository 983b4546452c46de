"""The outside of loopcore: models over wires, an embedded one, and what else acts."""

from loopcore_adapters.connect import connect

__all__ = ["connect"]
