"""A tool server that others wrote, of the older protocol: npm's server-everything.

It is installed once, into pytest's cache. Node.js and npm must be there.
"""

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Generator
from pathlib import Path
from typing import Any, Final

import pytest

from loopcore import (
    Image,
    Interpreter,
    LoopConfig,
    RunResult,
    ToolCall,
    ToolOutput,
    stream,
)
from loopcore.events import Delta
from loopcore.testing import ScriptedModel
from loopcore_adapters import mcp
from tests.leaks import alone
from tests.mcp_using import alive, given, ran, results, stored

pytestmark = pytest.mark.real

PACKAGE: Final = "@modelcontextprotocol/server-everything"
VERSION: Final = "2026.8.31"


@pytest.fixture(scope="module")
def program(request: pytest.FixtureRequest) -> list[str]:
    """The command of that server, but for how it is to be spoken to."""
    folder = request.config.cache.mkdir(f"server-everything-{VERSION}")
    script = Path(folder, "node_modules", PACKAGE, "dist", "index.js")
    node, npm = shutil.which("node"), shutil.which("npm")
    assert node, "these tests need Node.js"
    assert npm, "these tests need npm"
    if not script.is_file():
        install = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder)]
        subprocess.run([*install, f"{PACKAGE}@{VERSION}"], check=True)  # noqa: S603  # npm
    return [node, str(script)]


@pytest.fixture(scope="module")
def address(program: list[str]) -> Generator[str]:
    """Where it speaks over HTTP."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    with subprocess.Popen(  # noqa: S603  # the server that is tested
        [*program, "streamableHttp"],
        env={**os.environ, "PORT": port},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        while "listening" not in process.stderr.readline():
            assert process.poll() is None
        try:
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.kill()


@pytest.fixture(params=["process", "http"])
def reached(request: pytest.FixtureRequest) -> dict[str, Any]:
    """How it is reached: what `mcp` is given."""
    if request.param == "http":
        return {"url": request.getfixturevalue("address")}
    return {"command": [*request.getfixturevalue("program"), "stdio"]}


def everything(*, command: list[str] | None = None, url: str | None = None) -> Any:
    return mcp(*command or (), url=url, prefix="all_")


def test_its_tools_are_called(reached: dict[str, Any]) -> None:
    calls = [
        ToolCall("all_echo", {"message": "hi"}, "c1"),
        ToolCall("all_get-structured-content", {"location": "Chicago"}, "c2"),
        ToolCall("all_get-tiny-image", {}, "c3"),
        ToolCall("all_get-resource-links", {"count": 1}, "c4"),
        ToolCall("all_get-sum", {"a": 1}, "c5"),
    ]

    async def main() -> RunResult:
        async with everything(**reached) as server:
            return await ran(server, calls)

    result = alone(main())
    echo, weather, picture, link, refused = stored(result)
    assert "Echo: hi" == echo.text
    assert {"temperature", "conditions", "humidity"} == weather.details.keys()
    assert ["image/png"] == [p.mime for p in picture.parts if isinstance(p, Image)]
    assert "[resource demo://resource/dynamic/" in link.text
    assert "invalid_arguments" == refused.outcome


def test_what_it_refuses_is_an_outcome(reached: dict[str, Any]) -> None:
    async def main() -> ToolOutput:
        async with everything(**reached) as server:
            return await given(server, "all_get-sum", a="one")

    output = alone(main())
    assert "error" == output.outcome
    assert "Invalid arguments for tool get-sum" in output.text


def test_it_is_killed_in_mid_call_and_the_run_goes_on(
    program: list[str], tmp_path: Path
) -> None:
    pids = tmp_path / "pids"
    noted = ["sh", "-c", f'echo $$ >> "{pids}"; exec "$@"', "sh", *program, "stdio"]
    long = ToolCall(
        "all_trigger-long-running-operation", {"duration": 60, "steps": 600}
    )
    echo = ToolCall("all_echo", {"message": "hi"})
    model = ScriptedModel(long, echo, echo, "Done.")

    async def main() -> RunResult:
        async with mcp(*noted, prefix="all_") as server:
            config = LoopConfig(model=model, tools=server)
            async with stream(config, Interpreter(model, *server), "Go.") as running:
                killed = False
                async for event in running:
                    if isinstance(event, Delta) and event.progress and not killed:
                        killed = True
                        os.kill(int(pids.read_text()), signal.SIGKILL)
            return running.result

    result = alone(main())
    assert "done" == str(result.stop)
    lost, again, echoed = results(result)
    assert "was lost during this call" in lost[1]
    assert "There is a new one" in again[1]
    assert ("ok", "Echo: hi") == echoed
    assert [False, False] == [alive(int(pid)) for pid in pids.read_text().split()]
