"""A server on 127.0.0.1 that speaks Chat Completions by script. It knows no loopcore.

`chat_server` runs in the test's own event loop, `serving` in a thread of its own. Both give
a `ChatServer`, with its `url` and the `requests` that came. Each answer is a function of the
connection; `says` and `cuts` make the usual ones from the bytes of the body.
"""

import asyncio
import json
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Generator,
    Iterator,
    Mapping,
)
from contextlib import asynccontextmanager, contextmanager, suppress
from threading import Thread
from typing import Any, Final, TypeAlias

from attrs import define, field, frozen

Json: TypeAlias = Any

DONE: Final = b"data: [DONE]\n\n"
STREAM: Final = "text/event-stream"


def event(value: Json) -> bytes:
    """One server-sent event with this JSON."""
    return f"data: {json.dumps(value)}\n\n".encode()


def delta(**delta: Json) -> bytes:
    """A chunk of a streamed reply."""
    return event({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})


def finish(reason: str | None) -> bytes:
    """The chunk that says how the reply ended."""
    return event({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})


def usage(prompt: int, completion: int, **more: Json) -> bytes:
    """The chunk that counts tokens."""
    counts = {"prompt_tokens": prompt, "completion_tokens": completion, **more}
    return event({"choices": [], "usage": counts})


def call(**entry: Json) -> bytes:
    """A chunk with one entry of `tool_calls`: index, id, name, arguments, as given."""
    function = {
        name: entry.pop(name) for name in ("name", "arguments") if name in entry
    }
    return delta(tool_calls=[{**entry, "function": function}])


def reply(text: str) -> bytes:
    """A whole streamed reply."""
    return delta(content=text) + finish("stop") + usage(7, 3) + DONE


@frozen
class Request:
    """What a client sent."""

    path: str
    headers: Mapping[str, str]
    body: Json


@define(eq=False)
class Connection:
    """The server's end: an answer writes its response here."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    alive: bool = True
    path: str = ""

    async def start(
        self, status: int = 200, kind: str = STREAM, **headers: str
    ) -> None:
        """The status and the headers; underscores in names stand for hyphens."""
        lines = {"content-type": kind, "transfer-encoding": "chunked"}
        lines |= {name.replace("_", "-"): value for name, value in headers.items()}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        self.writer.write(f"HTTP/1.1 {status} Said\r\n{head}\r\n".encode())
        await self.writer.drain()

    async def send(self, data: bytes) -> None:
        """A piece of the body."""
        self.writer.write(b"%x\r\n%s\r\n" % (len(data), data))
        await self.writer.drain()

    async def end(self) -> None:
        """The end of the body; the connection can be used again."""
        self.writer.write(b"0\r\n\r\n")
        await self.writer.drain()

    async def gone(self) -> None:
        """Wait until the client has closed the connection."""
        with suppress(ConnectionError):
            await self.reader.read(1)
        self.alive = False


Answer: TypeAlias = Callable[[Connection], Awaitable[None]]


def says(
    *pieces: bytes, status: int = 200, kind: str = STREAM, **headers: str
) -> Answer:
    """A whole response with this body, piece by piece."""

    async def answer(connection: Connection) -> None:
        await connection.start(status, kind, **headers)
        for piece in pieces:
            await connection.send(piece)
        await connection.end()

    return answer


def says_json(value: Json, status: int = 200, **headers: str) -> Answer:
    """A whole response with this JSON."""
    body = json.dumps(value).encode()
    return says(body, status=status, kind="application/json", **headers)


def cuts(*pieces: bytes) -> Answer:
    """A response that breaks off after these pieces."""

    async def answer(connection: Connection) -> None:
        await connection.start()
        for piece in pieces:
            await connection.send(piece)
        connection.alive = False

    return answer


@define(eq=False)
class ChatServer:
    """A running server: where it is, and what it was asked."""

    answers: Iterator[Answer]
    url: str = ""
    requests: list[Request] = field(factory=list[Request])
    connections: int = 0

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Answer the requests of one connection in turn."""
        self.connections += 1
        connection = Connection(reader, writer)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                while connection.alive:
                    self.requests.append(await _request(reader))
                    connection.path = self.requests[-1].path
                    await next(self.answers, _nothing)(connection)
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()


async def _nothing(connection: Connection) -> None:
    await says_json({"error": "the script is over"}, 418)(connection)


async def _request(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    pairs = (line.partition(": ") for line in head[1:] if line)
    headers = {name.lower(): value for name, _, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Request(head[0].split(" ")[1], headers, json.loads(body or b"null"))


@asynccontextmanager
async def chat_server(*answers: Answer) -> AsyncGenerator[ChatServer]:
    """A server in this event loop that gives these answers, one a request."""
    server = ChatServer(iter(answers))
    tasks: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.ensure_future(server.serve(reader, writer)))

    listening = await asyncio.start_server(accept, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
    try:
        yield server
    finally:
        listening.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@contextmanager
def serving(*answers: Answer) -> Generator[ChatServer]:
    """The same in a thread, for tests whose own code is not asynchronous."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever, daemon=True)
    thread.start()
    running = chat_server(*answers)

    def wait_for(step: Json) -> Json:
        return asyncio.run_coroutine_threadsafe(step, loop).result(10)

    try:
        yield wait_for(running.__aenter__())
    finally:
        wait_for(running.__aexit__(None, None, None))
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
