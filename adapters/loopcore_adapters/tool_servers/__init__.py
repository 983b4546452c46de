"""Tools of servers that speak MCP, as any other tools."""

from loopcore_adapters.tool_servers.front import mcp

__all__ = ["mcp"]
