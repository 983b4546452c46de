"""Using a tool server in a test: a run that calls its tools, and whether it is gone."""

import asyncio
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any, Final

from loopcore import (
    Interpreter,
    LoopConfig,
    RunResult,
    ToolCall,
    ToolOutput,
    ToolResultMessage,
    run,
)
from loopcore.testing import ScriptedModel
from loopcore_adapters.tool_servers.server import ToolServer

SDK: Final = [sys.executable, "-P", str(Path(__file__).with_name("mcp_sdk.py"))]
"""The command of the server that is made with the SDK."""


@contextmanager
def over_http() -> Generator[str]:
    """The address of that server, which speaks over HTTP."""
    with Popen([*SDK, "http"], stdout=PIPE, text=True) as process:  # noqa: S603  # ours
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        try:
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.kill()


async def given(server: ToolServer, name: str, /, **arguments: Any) -> ToolOutput:
    """What a tool gives when it is called by hand."""
    return await next(t for t in server if t.spec.name == name)(arguments)


async def ran(server: ToolServer, *calls: ToolCall | list[ToolCall]) -> RunResult:
    """A run that makes these calls, one turn after another."""
    model = ScriptedModel(*calls, "Done.")
    config = LoopConfig(model=model, tools=server)
    return await run(config, Interpreter(model, *server), "Go.")


def results(result: RunResult) -> list[tuple[str, str]]:
    """Each stored result: how it ended, and what it says."""
    return [(m.outcome, m.text) for m in stored(result)]


def stored(result: RunResult) -> list[ToolResultMessage]:
    """The results of the calls, in order."""
    return [m for m in result.messages if isinstance(m, ToolResultMessage)]


async def until(holds: Callable[[], bool]) -> None:
    """Wait until this holds, for what has no event to wait for."""
    async with asyncio.timeout(10):
        while not holds():  # noqa: ASYNC110  # a process, or what the SDK hears
            await asyncio.sleep(0.01)


def alive(pid: int) -> bool:
    """Whether there is such a process. One that nobody has asked after yet is gone."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state.split()[0] != "Z"
