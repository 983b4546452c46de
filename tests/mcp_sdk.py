"""A tool server made with the official SDK, over standard input and output or HTTP.

`python mcp_sdk.py` speaks over the former. With the argument `http` it says its port and
then speaks over the latter.
"""

import asyncio
import os
import socket
import sys

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Image
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("clerk", instructions="Ask before you file.")
stopped = asyncio.Event()

PIXEL = bytes.fromhex("89504e470d0a1a0a")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def stamp() -> Image:
    """A picture."""
    return Image(data=PIXEL, format="png")


@server.tool()
def fail() -> str:
    """It cannot be done."""
    message = "no paper left"
    raise ToolError(message)


@server.tool()
async def wait(ctx: Context) -> str:
    """Wait until it is cancelled."""
    try:
        await ctx.report_progress(1, 2, "waiting")
        await asyncio.Event().wait()
    finally:
        stopped.set()
    return "never"


@server.tool()
async def was_stopped() -> str:
    """Wait until `wait` was cancelled."""
    await stopped.wait()
    return "yes"


@server.tool()
async def hire(ctx: Context, name: str) -> str:
    """From now on there is another tool."""
    server.add_tool(lambda: "at your service", name=name, description="Serves.")
    await ctx.notify_tools_changed()
    return "hired"


@server.tool()
async def dismiss(ctx: Context, name: str) -> str:
    """From now on there is no such tool."""
    server.remove_tool(name)
    await ctx.notify_tools_changed()
    return "dismissed"


@server.tool()
def die() -> str:
    """End at once, in mid-call."""
    os._exit(3)


def over_http() -> None:
    """Serve on a free port, which is printed."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    print(listening.getsockname()[1], flush=True)  # noqa: T201  # whoever started it reads this
    config = uvicorn.Config(server.streamable_http_app(), log_level="error")
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    if sys.argv[1:] == ["http"]:
        over_http()
    else:
        server.run()
