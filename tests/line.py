"""A line to 127.0.0.1 that another process opens, and that breaks when it ends."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from attrs import define, field


@define
class Line:
    """Where it is; whether somebody `came`, and whether they are `gone`."""

    port: int
    came: asyncio.Event = field(factory=asyncio.Event)
    gone: asyncio.Event = field(factory=asyncio.Event)


@asynccontextmanager
async def line() -> AsyncGenerator[Line]:
    """A line that can be called while the block lasts. It never says anything."""

    async def called(reader: asyncio.StreamReader, out: asyncio.StreamWriter) -> None:
        made.came.set()
        await reader.read()
        out.close()
        made.gone.set()

    server = await asyncio.start_server(called, "127.0.0.1", 0)
    made = Line(server.sockets[0].getsockname()[1])
    async with server:
        yield made
