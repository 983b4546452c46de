"""Stands in for `mcp-server-git`, with one tool: a server made with the official SDK."""

from mcp.server import MCPServer

server = MCPServer("git")


@server.tool()
def log(since: str) -> str:
    """What was committed."""
    return f"Three commits since {since}."


if __name__ == "__main__":
    server.run()
