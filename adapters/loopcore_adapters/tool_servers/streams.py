"""The SDK's streams to a server, which tell when the server is gone."""

from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any, Final, TypeAlias

import anyio
import httpx2
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from loopcore_adapters.tool_servers.said import Said
from loopcore_adapters.tool_servers.target import Target

LARGEST: Final = 2**26
"""How many bytes a tool may give over HTTP: pictures easily have more than the SDK's 2**20."""

UNKNOWN: Final = 404
SESSION: Final = "mcp-session-id"
"""What a server answers to a session that it does not know, and the header that names it."""

Hear: TypeAlias = Callable[[httpx2.Response], Awaitable[None]]
Incoming: TypeAlias = SessionMessage | Exception
Streams: TypeAlias = tuple[MemoryObjectReceiveStream[Incoming], Any]
"""What comes in and what goes out; the SDK does not export the type of the latter."""


@asynccontextmanager
async def streams(
    target: Target,
    said: Said,
    *,
    gone: Callable[[], None],
    forgotten: Callable[[], None],
) -> AsyncGenerator[Streams]:
    """The streams; the two are called before anybody else knows.

    Args:
        target: the server.
        said: keeps what it says besides.
        gone: called when nothing comes any more.
        forgotten: called when a server behind an address knows the session no more.
    """
    into, out = anyio.create_memory_object_stream[Incoming]()
    async with (
        into,
        out,
        _between(target, said, forgotten) as (read, write),
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
    with suppress(anyio.BrokenResourceError):  # the session is over, and reads no more
        async for item in read:
            await into.send(item)
    gone()
    into.close()


def _between(
    target: Target, said: Said, forgotten: Callable[[], None]
) -> AbstractAsyncContextManager[Any]:
    if target.url is None:
        return _process(target, said)

    async def hear(response: httpx2.Response) -> None:
        if response.is_error:  # of which the SDK tells neither number nor name
            said.note(f"HTTP {response.status_code} {response.reason_phrase}")
        if response.status_code == UNKNOWN and _is_call(response.request):
            forgotten()

    return _http(target.url, target, hear)


def _process(target: Target, said: Said) -> AbstractAsyncContextManager[Any]:
    program, *rest = target.command
    parameters = StdioServerParameters(command=program, args=rest, env=dict(target.env))
    return stdio_client(parameters, errlog=said.file)


def _is_call(request: httpx2.Request) -> bool:
    """Whether it says something in a session; some servers know no other requests."""
    return request.method == "POST" and SESSION in request.headers


@asynccontextmanager
async def _http(url: str, target: Target, hear: Hear) -> AsyncGenerator[Any]:
    async with (
        httpx2.AsyncClient(
            headers=dict(target.headers),
            # Nothing may come for as long as a call may take, which others see to.
            timeout=httpx2.Timeout(30, read=None),
            event_hooks={"response": [hear]},
        ) as http,
        streamable_http_client(
            url, http_client=http, max_sse_event_size=LARGEST
        ) as found,
    ):
        yield found
