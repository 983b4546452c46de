"""The outside of loopcore: models over wires, an embedded one, and what else acts."""

from loopcore_adapters.connect import connect
from loopcore_adapters.costs import priced
from loopcore_adapters.counting import tokenizer
from loopcore_adapters.tool_servers import mcp
from loopcore_adapters.transport import Timeouts

__all__ = ["Timeouts", "connect", "mcp", "priced", "tokenizer"]
