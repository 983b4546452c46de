"""The SDK's streams to a server, which tell when the server is gone."""

from collections.abc import AsyncGenerator, AsyncIterable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeAlias

import anyio
import httpx2
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from loopcore_adapters.tool_servers.said import Said
from loopcore_adapters.tool_servers.target import Target

Incoming: TypeAlias = SessionMessage | Exception
Streams: TypeAlias = tuple[MemoryObjectReceiveStream[Incoming], Any]
"""What comes in and what goes out; the SDK does not export the type of the latter."""


@asynccontextmanager
async def streams(
    target: Target, said: Said, gone: Callable[[], None]
) -> AsyncGenerator[Streams]:
    """The streams; `gone` is called, before anybody else knows, when nothing comes any more."""
    into, out = anyio.create_memory_object_stream[Incoming]()
    async with (
        into,
        out,
        _http(target) if target.url is not None else _process(target, said) as (
            read,
            write,
        ),
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(_pass_on, read, into, gone)
        yield out, write
        tasks.cancel_scope.cancel()


async def _pass_on(
    read: AsyncIterable[Incoming],
    into: MemoryObjectSendStream[Incoming],
    gone: Callable[[], None],
) -> None:
    async for item in read:
        await into.send(item)
    gone()
    into.close()


def _process(target: Target, said: Said) -> AbstractAsyncContextManager[Any]:
    program, *rest = target.command
    parameters = StdioServerParameters(command=program, args=rest, env=dict(target.env))
    return stdio_client(parameters, errlog=said.file)


@asynccontextmanager
async def _http(target: Target) -> AsyncGenerator[Any]:
    # Nothing may come for as long as a call may take, which others see to.
    timeout = httpx2.Timeout(30, read=None)
    async with (
        httpx2.AsyncClient(headers=dict(target.headers), timeout=timeout) as http,
        streamable_http_client(target.url or "", http_client=http) as found,
    ):
        yield found
