"""A session with a server, held by a task of its own.

The SDK's contexts must be left by the task that entered them, and whoever enters
`async with mcp(...)` may be another than who leaves it.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final

import anyio
from mcp import Client, MCPError
from mcp.client import IncomingMessage
from mcp.shared.dispatcher import ProgressFnT
from mcp.types import (
    CONNECTION_CLOSED,
    METHOD_NOT_FOUND,
    Implementation,
    Tool,
    ToolListChangedNotification,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from loopcore import ToolOutput
from loopcore_adapters.loose import Json
from loopcore_adapters.tool_servers.content import output_of
from loopcore_adapters.tool_servers.ending import ended
from loopcore_adapters.tool_servers.said import Said
from loopcore_adapters.tool_servers.streams import streams
from loopcore_adapters.tool_servers.target import Forgotten, Lost, Target

CLOSING: Final = 10.0
"""Seconds that a session may take to end: longer than a server is given to end itself."""

CLIENT: Final = Implementation(name="loopcore", version="0")
"""Who servers are told that they speak with; none has a use for the version."""

ENDED: Final = "it ended"
FORGOT: Final = "the server knew the session no more"
LEFT: Final = "its block was left"


class Connection:
    """One session: `open` begins it, `over` says that it has ended, whoever ended it."""

    def __init__(self, target: Target) -> None:
        self.over, self.why = False, ""
        self.tools: tuple[Tool, ...] = ()
        self.instructions = ""
        self._target, self._said = target, Said()
        self._told, self._deaf, self._forgotten = False, False, False
        self._ready, self._stop = asyncio.Event(), asyncio.Event()
        self._client = Client(
            streams(target, self._said, gone=self._gone, forgotten=self._forget),
            client_info=CLIENT,
            message_handler=self._hear,
            cache=None,
        )
        self._task = asyncio.create_task(self._hold(), name=f"session of {target}")

    @classmethod
    async def open(cls, target: Target) -> "Connection":
        """A session whose tools are known.

        Raises:
            ConnectionError: saying why there is none.
        """
        made = cls(target)
        try:
            async with asyncio.timeout(target.start):
                await made._ready.wait()
            why = made.why
        except TimeoutError:
            why = f"it did not name its tools within {target.start:g} s"
            made._gone()
        except BaseException:  # also as it becomes ready
            await made.close()
            raise
        if made.over:
            await made.close()
            message = f"{target}: {why}"
            raise ConnectionError(message)
        return made

    async def again(self) -> "Connection":
        """A new session with the same server, in place of this one.

        Raises:
            ConnectionError: saying why there is none.
        """
        await self.close()
        return await self.open(self._target)

    async def close(self) -> None:
        """End it, and wait until it has ended: no process and no task is left."""
        self._gone(LEFT)
        if not self._ready.is_set():
            self._task.cancel()
        try:
            await ended(self._task, CLOSING)
        finally:
            self._said.close()

    @property
    def changed(self) -> bool:
        """Whether `tools` may be out of date."""
        return self._told or self._deaf

    async def refresh(self) -> None:
        """Ask what tools there are now.

        Raises:
            ConnectionError: saying why it is not known.
        """
        self._told = False
        try:
            async with asyncio.timeout(self._target.start):
                self.tools = await self._list()
        except (MCPError, ValueError, TimeoutError) as problem:
            self._told = True
            self._end_if_forgotten(problem)
            message = f"{self._target}: its tools are not known now: {_said(problem)}"
            raise ConnectionError(message) from problem

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Json],
        progress: Callable[[Json], None],
    ) -> ToolOutput:
        """What a tool gives. To cancel this cancels the server's work, too.

        Raises:
            Lost: if there is no answer, since the connection ended.
            Forgotten: if the server knows the session no more.
        """
        self._said.trim()
        try:
            result = await self._client.call_tool(
                tool, dict(arguments), progress_callback=_reporting(progress)
            )
        except MCPError as problem:
            if self._end_if_forgotten(problem):
                raise Forgotten from problem
            if self.over:
                raise Lost(await self._last_words()) from problem
            return ToolOutput(_refusal(problem), outcome="error")
        except (RuntimeError, ValueError) as problem:  # the SDK's word for broken rules
            return ToolOutput(BROKEN.format(_said(problem)), outcome="error")
        return output_of(result)

    def _end_if_forgotten(self, problem: Exception) -> bool:
        """Whether an answer says that this session is over: one that is lost says nothing."""
        lost = isinstance(problem, MCPError) and problem.code == CONNECTION_CLOSED
        if not self._forgotten or lost:
            return False
        self._gone(FORGOT)
        return True

    async def _last_words(self) -> str:
        """How it ended: known once it has."""
        await asyncio.wait({self._task}, timeout=CLOSING)
        return self.why

    async def _hold(self) -> None:
        try:
            async with self._client as client, anyio.create_task_group() as tasks:
                self.tools = await self._list()
                self.instructions = client.instructions or ""
                tasks.start_soon(self._listen)
                self._ready.set()
                await self._until_it_ends()
                tasks.cancel_scope.cancel()
        except Exception as problem:  # noqa: BLE001  # whatever ended it: who asks is told
            self.why = self._reason(problem)
        finally:
            self.over = True
            self._ready.set()

    async def _until_it_ends(self) -> None:
        try:
            await self._stop.wait()
        finally:  # before the SDK tells those who wait for an answer
            self.over = True

    def _gone(self, why: str = "") -> None:
        """Whoever ended it first says why."""
        if not self.over:
            self.why = why or self._quoting(ENDED)
        self.over = True
        self._stop.set()

    def _forget(self) -> None:
        self._forgotten = True

    async def _list(self) -> tuple[Tool, ...]:
        try:
            return await self._pages()
        except MCPError as problem:
            if problem.code == METHOD_NOT_FOUND:
                return ()
            raise

    async def _pages(self) -> tuple[Tool, ...]:
        found: list[Tool] = []
        cursor: str | None = None
        while True:
            page = await self._client.list_tools(cursor=cursor)
            found += filter(_callable, page.tools)
            cursor = page.next_cursor
            if not cursor:
                return tuple(found)

    async def _hear(self, message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._told = True

    async def _listen(self) -> None:
        """Newer servers say that their tools changed only to those who listen."""
        tools = self._client.server_capabilities.tools
        newer = self._client.protocol_version in MODERN_PROTOCOL_VERSIONS
        if not newer or not tools or not tools.list_changed:
            return
        with suppress(Exception):  # whatever ends the news, the session goes on
            await self._news()
        self._deaf = True

    async def _news(self) -> None:
        async with self._client.listen(tools_list_changed=True) as news:
            self._told = True  # what changed before this nobody says again
            async for _ in news:
                self._told = True

    def _reason(self, problem: Exception) -> str:
        """Why there is no session, for people."""
        first = _leaf(problem)
        if isinstance(first, FileNotFoundError):
            return NO_PROGRAM.format(self._target.command[0])
        closed = isinstance(first, MCPError) and first.code == CONNECTION_CLOSED
        return self._quoting(ENDED if closed else _said(first))

    def _quoting(self, why: str) -> str:
        said = self._said.last()
        return f"{why}; it last said: {said}" if said else why


NO_PROGRAM: Final = (
    "there is no program {!r}. Install it or give its full path; each argument is a "
    "word of its own."
)
BROKEN: Final = "The server's answer was not one that MCP allows: {}"
BROKE_OFF: Final = (
    "The answer broke off ({}), so it is not known whether the call was carried out. Look "
    "at what was done before you repeat it."
)


def _refusal(problem: MCPError) -> str:
    """Why there is no answer though the session goes on."""
    broke_off = problem.code == CONNECTION_CLOSED
    return BROKE_OFF.format(problem.message) if broke_off else problem.message


def _reporting(tell: Callable[[Json], None]) -> ProgressFnT:
    """Tells a progress as JSON, without what the server left out."""

    async def report(progress: float, total: float | None, message: str | None) -> None:
        said = {"progress": progress, "total": total, "message": message}
        tell({name: value for name, value in said.items() if value is not None})

    return report


def _callable(tool: Tool) -> bool:
    """Whether it can be called as tools are: some only run as tasks of the server."""
    return tool.execution is None or tool.execution.task_support != "required"


def _leaf(problem: BaseException) -> BaseException:
    """What went wrong first, inside what task groups make of it."""
    inside: tuple[BaseException, ...] = getattr(problem, "exceptions", ())
    return _leaf(inside[0]) if inside else problem


def _said(problem: BaseException) -> str:
    """What went wrong, in a line."""
    lines = str(problem).splitlines()
    return f"{type(problem).__name__}: {lines[0]}" if lines else type(problem).__name__
