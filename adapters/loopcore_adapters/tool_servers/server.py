"""The tools of a server, and what becomes of them while a run goes on."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final, overload

from attrs import frozen

from loopcore import (
    Answer,
    Consult,
    Effect,
    Interpreter,
    Perform,
    RunTool,
    Tell,
    Tool,
    ToolContext,
    ToolOutput,
    ToolSpec,
)
from loopcore.hooks import Hooks
from loopcore_adapters.loose import Json
from loopcore_adapters.tool_servers.changes import digest, offering, told
from loopcore_adapters.tool_servers.names import named
from loopcore_adapters.tool_servers.target import Forgotten, Lost, Target

if TYPE_CHECKING:
    from loopcore_adapters.tool_servers.connection import Connection

NOBODY: Final = ToolContext("")


@frozen(repr=False)
class ServerTool(Tool[..., Awaitable[ToolOutput]]):
    """A tool of a server. By hand it is called with its arguments in one dict."""

    def bind(
        self, arguments: Mapping[str, Json], context: ToolContext
    ) -> dict[str, Any]:
        """All arguments as one: those of a server may have any names."""
        return {"arguments": arguments, "context": context}


class ToolServer(Sequence[Tool[..., Awaitable[ToolOutput]]]):
    """The tools that a server has, as far as is known. `refresh` asks anew.

    Attributes:
        instructions: what the server says to whoever uses it, for a system prompt.
        hook: a rule that offers, at each request, what the server has then. It asks
            the service that `around` is.
        changed: whether the server said that its tools changed, and nobody asked since.
    """

    def __init__(self, target: Target, connection: "Connection") -> None:
        self._target, self._connection = target, connection
        self._loop, self._starting = asyncio.get_running_loop(), asyncio.Lock()
        self._names: dict[str, str] = {}
        self._tools: tuple[ServerTool, ...] = ()
        self._closed = False
        self._adopt()
        self.hook: Hooks = offering(self._target.service, self._specs, target.timeout)

    @overload
    def __getitem__(self, place: int) -> ServerTool: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[ServerTool, ...]: ...
    def __getitem__(self, place: int | slice) -> ServerTool | tuple[ServerTool, ...]:
        return self._tools[place]

    def __len__(self) -> int:
        return len(self._tools)

    def __iter__(self) -> Iterator[ServerTool]:
        return iter(self._tools)

    def __repr__(self) -> str:
        names = ", ".join(tool.spec.name for tool in self._tools) or "no tools"
        return f"<{self._target}: {names}>"

    @property
    def instructions(self) -> str:
        return self._connection.instructions

    @property
    def changed(self) -> bool:
        return self._connection.changed

    async def refresh(self) -> None:
        """Ask the server what tools it has.

        Raises:
            ConnectionError: saying why that is not known.
        """
        await self._connection.refresh()
        self._adopt()

    async def around(self, effect: Effect, tell: Tell, inner: Perform) -> Answer | None:
        """For `Interpreter.wrap`: says what tools there are, and runs those that are new.

        Tools are new if the interpreter was not given them. It is asked first, so that
        nothing round it is passed by.
        """
        if isinstance(effect, Consult) and effect.service == self._target.service:
            return effect.reply(await self._news(effect.data))
        answer = await inner(effect, tell)
        if not isinstance(effect, RunTool) or not _unknown(answer):
            return answer
        new = next((t for t in self if t.spec.name == effect.spec.name), None)
        return answer if new is None else await Interpreter(new).perform(effect, tell)

    async def close(self) -> None:
        """End the session; whoever calls a tool after this is told so."""
        self._closed = True
        await self._connection.close()

    @property
    def _specs(self) -> list[ToolSpec]:
        return [tool.spec for tool in self]

    async def _news(self, known: Json) -> Json:
        """The list, unless it is the one that is known by this digest."""
        if self.changed:
            await self.refresh()
        now = told(self._specs)
        return None if digest(now) == known else now

    def _adopt(self) -> None:
        """Make tools of what the server has.

        Raises:
            ConnectionError: saying why that is not possible.
        """
        try:
            self._make_tools()
        except (TypeError, ValueError) as problem:
            message = (
                f"{self._target}: it has a tool that no model can be told of: {problem}"
            )
            raise ConnectionError(message) from problem

    def _make_tools(self) -> None:
        found = {tool.name: tool for tool in self._connection.tools}
        self._names = named(found, self._target.prefix, self._names)
        self._tools = tuple(
            ServerTool(
                ToolSpec(
                    self._names[name],
                    tool.description or tool.title or name,
                    tool.input_schema,
                    timeout=self._target.timeout,
                ),
                partial(self._call, name),
            )
            for name, tool in found.items()
        )

    async def _call(
        self, tool: str, arguments: Mapping[str, Json], context: ToolContext = NOBODY
    ) -> ToolOutput:
        if self._closed or asyncio.get_running_loop() is not self._loop:
            return ToolOutput(OUTSIDE, outcome="error")
        connection = self._connection
        if connection.over:
            return await self._start_again(connection)
        try:
            return await connection.call(tool, arguments, context.progress)
        except Forgotten:
            return await self._start_again(connection)
        except Lost as why:
            return self._failed(LOST, str(why))

    async def _start_again(self, dead: "Connection") -> ToolOutput:
        """A session in place of one that has ended; calls in parallel share it."""
        async with self._starting:
            problem = await self._tried(dead)
        if problem:
            return self._failed(GONE, f"{dead.why}; {problem}")
        return self._failed(AGAIN, dead.why)

    async def _tried(self, dead: "Connection") -> ConnectionError | None:
        """Why there is no other session, if there is none."""
        if self._connection is not dead:
            return None
        try:
            await self._replace(dead)
        except ConnectionError as problem:
            return problem
        return None

    async def _replace(self, dead: "Connection") -> None:
        made = await dead.again()
        if self._closed:  # meanwhile
            await made.close()
        else:
            self._connection = made
            self._adopt()

    def _failed(self, text: str, why: str) -> ToolOutput:
        """What the model reads, and why it was, for the program."""
        said = text.format(self._target.name)
        return ToolOutput(said, details={"why": why}, outcome="error")


OUTSIDE: Final = (
    "This tool can only be called inside its `async with mcp(...)`, in its event loop. Go on "
    "without it."
)
LOST: Final = (
    "The connection to the tool server {!r} was lost during this call, so it is not known "
    "whether the call was carried out. Look at what was done before you repeat it. The next "
    "call connects again; the server may remember nothing."
)
AGAIN: Final = (
    "The connection to the tool server {!r} had been lost, so this call was not carried "
    "out. There is a new one; the server may remember nothing. Call again if you still want "
    "this."
)
GONE: Final = (
    "The connection to the tool server {!r} had been lost, so this call was not carried "
    "out, and there is no new one yet. Go on without its tools."
)


def _unknown(answer: Answer | None) -> bool:
    """Whether the interpreter lacks the tool."""
    value = answer.value if answer else None
    return isinstance(value, ToolOutput) and value.outcome == "unknown_tool"


@asynccontextmanager
async def serving(target: Target) -> AsyncGenerator[ToolServer]:
    """The server's tools, as long as the block lasts."""
    # The SDK takes a second to import, which only who uses a server pays for.
    from loopcore_adapters.tool_servers.connection import Connection  # noqa: PLC0415

    connection = await Connection.open(target)
    try:
        server = ToolServer(target, connection)
    except ConnectionError:
        await connection.close()
        raise
    try:
        yield server
    finally:
        await server.close()
