"""The tools of a server are tools like any others, whatever the server does."""

import asyncio
import json
import math
import signal
import sys
from collections.abc import Generator
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any, Final

import pytest

from loopcore import (
    Image,
    Interpreter,
    RunTool,
    Tell,
    Text,
    ToolCall,
    ToolOutput,
    ToolSpec,
)
from loopcore.frozen import freeze_object
from loopcore_adapters import mcp
from loopcore_adapters.tool_servers.connection import Connection
from loopcore_adapters.tool_servers.ending import ended
from loopcore_adapters.tool_servers.target import Target
from tests.chat_server import Answer as ChatAnswer
from tests.chat_server import chat_server, cuts, says_json
from tests.chat_server import says as whole
from tests.leaks import alone
from tests.mcp_raw import HELLO, says, scripted, text, tool
from tests.mcp_sessions import Sessions, sessions
from tests.mcp_using import SDK, alive, given, over_http, ran, results, stored, until

LOST: Final = "it is not known whether the call was carried out"
AGAIN: Final = "There is a new one; the server may remember nothing."
GONE: Final = "there is no new one yet. Go on without its tools."


@pytest.fixture(scope="module")
def address() -> Generator[str]:
    """Where the SDK's server speaks over HTTP."""
    with over_http() as url:
        yield url


# What is offered.


def test_a_tool_is_offered_as_the_server_lists_it() -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    listed = tool("weather.now", description="The weather.", inputSchema=schema)

    async def main() -> list[ToolSpec]:
        async with mcp(*scripted(listed), prefix="sky_", timeout=5) as sky:
            return [tool.spec for tool in sky]

    wanted = ToolSpec(
        "sky_weather_now", "The weather.", freeze_object(schema), timeout=5
    )
    assert [wanted] == alone(main())


def test_a_tool_without_a_description_is_told_by_its_title_or_its_name() -> None:
    async def main() -> list[str]:
        listed = [tool("a", title="The first"), tool("b")]
        async with mcp(*scripted(*listed)) as server:
            return [tool.spec.description for tool in server]

    assert ["The first", "b"] == alone(main())


def test_a_list_may_have_pages_and_repeat_itself() -> None:
    first = {"result": {"tools": [tool("a"), tool("b")], "nextCursor": "more"}}
    more = {"result": {"tools": [tool("b"), tool("c")]}}
    command = scripted(tools__list=first, tools__list_more=more)

    async def main() -> str:
        async with mcp(*command) as server:
            return repr(server)

    assert alone(main()).endswith(": a, b, c>")


def test_a_server_without_tools_has_none() -> None:
    missing = {"error": {"code": -32601, "message": "no such method"}}

    async def main() -> tuple[int, str]:
        async with mcp(*scripted(tools__list=missing)) as server:
            return len(server), repr(server)

    count, shown = alone(main())
    assert 0 == count
    assert shown.endswith(": no tools>")


def test_a_tool_that_only_runs_as_a_task_of_the_server_is_left_out() -> None:
    listed = [tool("a", execution={"taskSupport": "required"}), tool("b")]

    async def main() -> list[str]:
        async with mcp(*scripted(*listed)) as server:
            return [tool.spec.name for tool in server[:]]

    assert ["b"] == alone(main())


def test_what_a_server_says_of_itself_can_be_had() -> None:
    async def main() -> str:
        async with mcp(*scripted()) as server:
            return server.instructions

    assert "Be gentle." == alone(main())


# Calls.


def test_arguments_may_have_any_names() -> None:
    arguments = {"self": 1, "context": [2], "arguments": {"a-b": None}, "tool": "x"}
    command = scripted(tool("echo"), tools__call={"repeat": True})

    async def main() -> Any:
        async with mcp(*command) as server:
            return results(await ran(server, ToolCall("echo", arguments)))

    [(outcome, said)] = alone(main())
    assert ("ok", arguments) == (outcome, json.loads(said))


def test_a_tool_may_be_called_by_hand() -> None:
    command = scripted(tool("echo"), tools__call={"repeat": True})

    async def main() -> ToolOutput:
        async with mcp(*command) as server:
            return await server[0]({"a": 1})

    assert ToolOutput('{"a": 1}') == alone(main())


def test_an_error_of_the_protocol_is_an_outcome_with_its_message() -> None:
    error = {"error": {"code": -32602, "message": "there is no city 'Atlantis'"}}

    async def main() -> Any:
        async with mcp(*scripted(tool("weather"), tools__call=error)) as sky:
            return results(await ran(sky, ToolCall("weather")))

    assert [("error", "there is no city 'Atlantis'")] == alone(main())


@pytest.mark.parametrize(
    "answer",
    [{"result": {"content": [{"type": "smell"}]}}, {"result": {"content": "text"}}],
)
def test_an_answer_that_breaks_the_rules_is_an_outcome(answer: Any) -> None:
    async def main() -> Any:
        async with mcp(*scripted(tool("odd"), tools__call=answer)) as server:
            return results(await ran(server, ToolCall("odd")))

    [(outcome, said)] = alone(main())
    assert "error" == outcome
    assert said.startswith("The server's answer was not one that MCP allows: ")
    assert "\n" not in said


def test_structured_content_that_its_own_schema_refuses_is_an_outcome() -> None:
    wanted = {"type": "object", "required": ["sum"]}
    command = scripted(
        tool("add", outputSchema=wanted), tools__call=says(structuredContent={})
    )

    async def main() -> Any:
        async with mcp(*command) as server:
            return results(await ran(server, ToolCall("add")))

    [(outcome, said)] = alone(main())
    assert "error" == outcome
    assert "not one that MCP allows: RuntimeError: Invalid structured content" in said


def test_a_call_that_is_late_is_an_outcome_and_the_server_goes_on() -> None:
    command = scripted(
        tool("sleep"),
        tool("echo"),
        tools__call_sleep={"silence": True},
        tools__call_echo={"repeat": True},
    )

    async def main() -> Any:
        async with mcp(*command, timeout=0.2) as server:
            return results(await ran(server, ToolCall("sleep"), ToolCall("echo")))

    assert [
        (
            "timeout",
            "sleep timed out after 0.2 s. What it had started may still be running.",
        ),
        ("ok", "{}"),
    ] == alone(main())


def test_a_tool_that_is_called_after_the_block_says_so() -> None:
    async def main() -> ToolOutput:
        async with mcp(*scripted(tool("echo"))) as server:
            kept = server[0]
        return await kept({})

    output = alone(main())
    assert "error" == output.outcome
    assert output.text.startswith("This tool can only be called inside its `async with")


def test_a_tool_that_is_called_in_another_event_loop_says_so() -> None:
    async def main() -> ToolOutput:
        async with mcp(*scripted(tool("echo"))) as server:
            return await asyncio.to_thread(lambda: asyncio.run(given(server, "echo")))

    output = alone(main())
    assert "error" == output.outcome
    assert "in its event loop" in output.text


# Servers that end.


def test_a_server_that_ends_in_mid_call_is_an_outcome_and_is_started_again() -> None:
    command = scripted(
        tool("die"),
        tool("echo"),
        tools__call_die={"exit": 3},
        tools__call_echo={"repeat": True},
    )

    async def main() -> Any:
        async with mcp(*command, prefix="odd_") as server:
            calls = ToolCall("odd_die"), ToolCall("odd_echo"), ToolCall("odd_echo")
            return await ran(server, *calls)

    result = alone(main())
    lost, again, echo = results(result)
    assert ("error", True) == (lost[0], LOST in lost[1])
    assert ("error", True) == (again[0], AGAIN in again[1])
    assert ("ok", "{}") == echo
    why = {"why": "it ended; it last said: I have had enough."}
    assert why == stored(result)[0].details


def test_calls_at_once_share_one_new_server(tmp_path: Path) -> None:
    count = tmp_path / "count"
    command = scripted(tool("die"), tools__call_die={"exit": 3})
    counted = ["sh", "-c", f'echo >> "{count}"; exec "$@"', "sh", *command]

    async def main() -> Any:
        async with mcp(*counted) as server:
            await ran(server, ToolCall("die"))
            at_once = [ToolCall("die", id=f"c{n}") for n in range(3)]
            return results(await ran(server, at_once))

    assert [AGAIN in said for _, said in alone(main())] == [True] * 3
    assert "\n\n" == count.read_text()


def test_a_server_that_cannot_be_started_again_is_an_outcome(tmp_path: Path) -> None:
    once = tmp_path / "once"
    once.touch()
    command = scripted(tool("die"), tools__call_die={"exit": 3})
    only_once = ["sh", "-c", f'rm "{once}" && exec "$@"', "sh", *command]

    async def main() -> Any:
        async with mcp(*only_once) as server:
            return results(await ran(server, *[ToolCall("die")] * 3))

    assert [LOST, GONE, GONE] == [
        next(word for word in (LOST, GONE) if word in said) for _, said in alone(main())
    ]


def test_a_block_that_is_left_while_a_server_starts_again_leaves_none(
    tmp_path: Path,
) -> None:
    pids = tmp_path / "pids"
    command = scripted(tool("die"), tools__call_die={"exit": 3})
    noted = ["sh", "-c", f'echo $$ >> "{pids}"; exec "$@"', "sh", *command]

    async def main() -> str:
        async with mcp(*noted) as server:
            await server[0]({})
            starting = asyncio.ensure_future(server[0]({}))
            await until(lambda: len(pids.read_text().split()) > 1)
        return (await starting).text

    assert alone(main())
    assert not any(alive(int(pid)) for pid in pids.read_text().split())


# Servers that do not start.


def unstarted(*command: str, **options: Any) -> str:
    """Why there is no server."""

    async def main() -> None:
        async with mcp(*command, **options):
            raise AssertionError

    with pytest.raises(ConnectionError) as caught:
        alone(main())
    return str(caught.value)


def test_a_program_that_is_not_there_is_named() -> None:
    assert unstarted("no-such-program", "x") == (
        "mcp('no-such-program', 'x'): there is no program 'no-such-program'. Install it "
        "or give its full path; each argument is a word of its own."
    )


def test_a_server_that_ends_at_once_is_quoted() -> None:
    command = scripted(initialize={"exit": 1})

    assert unstarted(*command).endswith(": it ended; it last said: I have had enough.")


def test_a_server_that_ends_without_a_word_is_told_of() -> None:
    assert unstarted("true") == "mcp('true'): it ended"


def test_a_server_that_says_nothing_is_given_up() -> None:
    command = scripted(tools__list={"silence": True})

    why = unstarted(*command, start_timeout=0.5)

    assert why.endswith(": it did not name its tools within 0.5 s")


def test_a_server_that_refuses_to_list_its_tools_is_told_of() -> None:
    error = {"error": {"code": -32603, "message": "the list is lost"}}

    assert unstarted(*scripted(tools__list=error)).endswith(
        ": MCPError: the list is lost"
    )


def test_an_address_where_nobody_is_is_told_of() -> None:
    why = unstarted(url="http://127.0.0.1:9/mcp")

    assert why.startswith("mcp(url='http://127.0.0.1:9'): ConnectError: ")


def test_what_an_environment_holds_reaches_the_server() -> None:
    command = ["sh", "-c", 'exec "$PYTHON" "$@"', "sh", *scripted(tool("a"))[1:]]

    async def main() -> list[str]:
        async with mcp(*command, env={"PYTHON": sys.executable}) as server:
            return [tool.spec.name for tool in server]

    assert ["a"] == alone(main())


# Beginning and ending.


def test_a_block_may_be_left_by_another_task_than_entered_it(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    command = ["sh", "-c", f'echo $$ > "{pid}"; exec "$@"', "sh", *scripted(tool("a"))]

    async def main() -> None:
        block = mcp(*command)
        server = await asyncio.create_task(block.__aenter__())
        assert ["a"] == [tool.spec.name for tool in server]
        await asyncio.create_task(block.__aexit__(None, None, None))

    alone(main())
    assert not alive(int(pid.read_text()))


def test_a_call_that_is_in_flight_when_the_block_is_left_is_an_outcome() -> None:
    command = scripted(tool("sleep"), tools__call={"silence": True})

    async def main() -> ToolOutput:
        async with mcp(*command) as server:
            call = asyncio.ensure_future(server[0]({}))
            await asyncio.sleep(0)
        return await call

    output = alone(main())
    assert "error" == output.outcome
    assert {"why": "its block was left"} == output.details


def test_who_is_cancelled_while_a_server_starts_leaves_none(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    silent = scripted(tools__list={"silence": True})
    command = ["sh", "-c", f'echo $$ > "{pid}"; exec "$@"', "sh", *silent]

    async def main() -> None:
        starting = asyncio.ensure_future(mcp(*command).__aenter__())
        await until(lambda: pid.exists() and bool(pid.read_text()))
        starting.cancel()
        await asyncio.wait({starting})
        assert starting.cancelled()

    alone(main())
    assert not alive(int(pid.read_text()))


def test_who_is_cancelled_as_a_server_is_ready_leaves_none(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    command = ["sh", "-c", f'echo $$ > "{pid}"; exec "$@"', "sh", *scripted(tool("a"))]

    async def main() -> None:
        class Watched(Connection):
            async def _until_it_ends(self) -> None:
                opening.cancel()
                await super()._until_it_ends()

        opening = asyncio.ensure_future(Watched.open(Target(tuple(command))))
        await asyncio.wait({opening})
        assert opening.cancelled()

    alone(main())
    assert not alive(int(pid.read_text()))


def test_who_is_told_of_a_tool_that_is_none_is_left_no_server(tmp_path: Path) -> None:
    """NaN is read by the SDK, and JSON has none."""
    pid = tmp_path / "pid"
    odd = scripted(tool("odd", inputSchema={"type": "object", "default": math.nan}))
    command = ["sh", "-c", f'echo $$ > "{pid}"; exec "$@"', "sh", *odd]

    async def main() -> None:
        with pytest.raises(ConnectionError, match=r"no model can be told of: .* nan"):
            await mcp(*command).__aenter__()

    alone(main())
    assert not alive(int(pid.read_text()))


def test_who_is_cancelled_while_a_server_ends_leaves_none(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    command = ["sh", "-c", f'echo $$ > "{pid}"; exec "$@"', "sh", *scripted(tool("a"))]

    async def main() -> None:
        block = mcp(*command)
        await block.__aenter__()
        ending = asyncio.ensure_future(block.__aexit__(None, None, None))
        await asyncio.sleep(0)
        ending.cancel()
        await asyncio.wait({ending})
        assert ending.cancelled()

    alone(main())
    assert not alive(int(pid.read_text()))


def test_a_session_that_does_not_end_by_itself_is_cancelled() -> None:
    async def main() -> bool:
        task = asyncio.ensure_future(asyncio.Event().wait())
        await ended(task, 0.01)
        return task.cancelled()

    assert alone(main())


PROGRAM: Final = """
import asyncio, sys
from loopcore_adapters import mcp

async def main():
    async with mcp(*sys.argv[1:]):
        print("ready", flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


def test_ctrl_c_ends_the_server_too(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    command = ["sh", "-c", f'echo $$ > "{pid}"; exec "$@"', "sh", *scripted(tool("a"))]

    with Popen(  # noqa: S603  # ours
        [sys.executable, "-W", "error", "-c", PROGRAM, *command],
        stdout=PIPE,
        stderr=PIPE,
        text=True,
    ) as program:
        assert program.stdout is not None
        assert "ready\n" == program.stdout.readline()
        program.send_signal(signal.SIGINT)
        said = program.communicate(timeout=30)[1]

    assert not alive(int(pid.read_text()))
    assert said.rstrip().endswith("KeyboardInterrupt")
    assert "never retrieved" not in said
    assert "destroyed" not in said


# A server that is made with the SDK, of the newest protocol.


@pytest.fixture(params=["process", "http"])
def clerk(request: pytest.FixtureRequest, address: str) -> Any:
    """How that server is reached."""
    return {"command": SDK} if request.param == "process" else {"url": address}


def reach(command: list[str] = [], **options: Any) -> Any:  # noqa: B006  # not changed
    """The server that is reached so."""
    return mcp(*command, **options)


def test_the_newest_protocol_is_spoken(clerk: Any) -> None:
    calls = [
        ToolCall("add", {"a": 1, "b": 2}, "c1"),
        ToolCall("stamp", id="c2"),
        ToolCall("fail", id="c3"),
    ]

    async def main() -> Any:
        async with reach(**clerk) as server:
            return server.instructions, await ran(server, calls)

    instructions, result = alone(main())
    assert "Ask before you file." == instructions
    added, stamped, failed = stored(result)
    assert ((Text("3"),), {"result": 3}) == (added.parts, added.details)
    assert (Image("iVBORw0KGgo=", "image/png"),) == stamped.parts
    assert ("error", "no paper left") == (failed.outcome, failed.text[-13:])


def test_who_cancels_a_call_cancels_the_work_of_the_server(clerk: Any) -> None:
    async def main() -> tuple[Any, str]:
        async with reach(**clerk) as server:
            waiting = next(tool for tool in server if tool.spec.name == "wait")
            told: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
            run_tool = RunTool("e", ToolCall("wait"), waiting.spec, freeze_object({}))
            work = Interpreter(*server).perform(run_tool, _first(told))
            call = asyncio.ensure_future(work)
            progress = await told
            call.cancel()
            await asyncio.wait({call})
            return progress, (await given(server, "was_stopped")).text

    assert ({"progress": 1, "total": 2, "message": "waiting"}, "yes") == alone(main())


def _first(told: "asyncio.Future[Any]") -> Tell:
    """Keeps the first progress."""

    def tell(text: str = "", *, progress: Any = None, **_: Any) -> None:  # noqa: ARG001  # a Tell
        told.set_result(progress)

    return tell


def test_a_server_behind_an_address_that_ends_is_an_outcome() -> None:
    async def main(url: str) -> Any:
        async with mcp(url=url) as server:
            return results(await ran(server, *[ToolCall("die")] * 3))

    with over_http() as url:
        (_, lost), *gone = alone(main(url))
    assert LOST in lost
    assert [True, True] == [GONE in said for _, said in gone]


@pytest.mark.parametrize("says_why", [True, False])
def test_a_server_that_forgot_the_session_is_asked_for_another(says_why: bool) -> None:  # noqa: FBT001
    """Most servers behind an address keep sessions, and forget them when they start anew."""

    async def main(url: str, kept: Sessions) -> Any:
        async with mcp(url=url) as server:
            before = results(await ran(server, ToolCall("count")))
            kept.forget()
            again = await ran(server, ToolCall("count"), ToolCall("count"))
            kept.forget()
            both = await ran(server, [ToolCall("count", id="1"), ToolCall("count")])
            return [before, results(again), results(both)]

    with sessions(says_why=says_why) as (url, kept):
        before, again, both = alone(main(url, kept))
    assert [("ok", "1")] == before
    assert AGAIN in again[0][1]
    assert ("ok", "2") == again[1]
    assert [True, True] == [AGAIN in said or LOST in said for _, said in both]
    assert any(AGAIN in said for _, said in both)
    assert (3, 2) == (kept.begun, kept.runs)


def test_a_list_that_cannot_be_asked_for_begins_another_session_with_the_next_call() -> (
    None
):
    async def main(url: str, kept: Sessions) -> Any:
        async with mcp(url=url) as server:
            kept.forget()
            with pytest.raises(ConnectionError, match="its tools are not known now"):
                await server.refresh()
            return results(await ran(server, ToolCall("count"), ToolCall("count")))

    with sessions() as (url, kept):
        (_, said), counted = alone(main(url, kept))
    assert AGAIN in said
    assert ("ok", "1") == counted


def test_an_answer_that_breaks_off_is_an_outcome_and_the_session_goes_on() -> None:
    """Only the stream of this one answer ended."""

    async def main() -> Any:
        listed = {"result": {"tools": [tool("echo")]}}
        begins = (
            _event({"error": {"code": -32601, "message": "no"}}),
            _event({"result": HELLO}),
        )
        goes_on = (
            says_json(None, 202),
            _event(listed),
            cuts(b""),
            _event(says(text("hi"))),
        )
        async with (
            chat_server(*begins, *goes_on) as server,
            mcp(url=server.url) as tools,
        ):
            return results(await ran(tools, ToolCall("echo"), ToolCall("echo")))

    (outcome, said), heard = alone(main())
    assert ("error", "The answer broke off (") == (outcome, said[:22])
    assert ("ok", "hi") == heard


def _event(message: Any) -> ChatAnswer:
    """A response with this as its one event."""
    data = json.dumps({"jsonrpc": "2.0", "id": 0, **message})
    return whole(f"event: message\ndata: {data}\n\n".encode())


def test_an_address_that_refuses_is_quoted() -> None:
    async def main() -> str:
        async with chat_server(*[says_json(None, 401)] * 2) as server:
            with pytest.raises(ConnectionError) as caught:
                await mcp(url=server.url).__aenter__()
        return str(caught.value)

    assert alone(main()).endswith(
        ": MCPError: Server returned an error response; it last said: HTTP 401 Said"
    )


def test_an_answer_over_http_may_be_large() -> None:
    """Pictures are."""
    large = "a" * 2**21

    async def main() -> ToolOutput:
        listed = {"result": {"tools": [tool("echo")]}}
        begins = (
            _event({"error": {"code": -32601, "message": "no"}}),
            _event({"result": HELLO}),
            says_json(None, 202),
        )
        answers = *begins, _event(listed), _event(says(text(large)))
        async with chat_server(*answers) as server, mcp(url=server.url) as tools:
            return await given(tools, "echo")

    assert ToolOutput(large) == alone(main())


def test_headers_reach_the_server() -> None:
    async def main() -> Any:
        async with chat_server() as server:
            with pytest.raises(ConnectionError):
                await mcp(url=server.url, headers={"x-key": "k"}).__aenter__()
            return {request.headers["x-key"] for request in server.requests}

    assert {"k"} == alone(main())
