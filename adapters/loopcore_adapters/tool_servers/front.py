"""`mcp`: a server's tools, by its command or its address."""

import os
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from importlib.util import find_spec

from loopcore_adapters.tool_servers.server import ToolServer, serving
from loopcore_adapters.tool_servers.target import Target, problem_of


def mcp(
    *command: str | os.PathLike[str],
    url: str | None = None,
    prefix: str = "",
    env: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    timeout: float | None = 60,
    start_timeout: float = 60,
) -> AbstractAsyncContextManager[ToolServer]:
    """The tools of an MCP server: a sequence of them, inside `async with`.

    A command is started here and ended with the block; an address is spoken to over
    streamable HTTP. Both the protocol of 2026-07-28 and those with an `initialize` are
    spoken. Give the tools to a configuration and to an interpreter, like any others:

        async with mcp("uvx", "mcp-server-git", prefix="git_") as git:
            config = LoopConfig(model=model, tools=[weather, *git])
            interpreter = Interpreter(model, weather, *git)

    What a server gives becomes a `ToolOutput`: text and pictures as they are, resources
    as text, structured content as `details`. A server that fails, ends, or is late is an
    outcome that the model reads, and the run goes on; one that ended is started again.

    A server may change its tools while a run goes on. To offer what it has at each
    request, give the configuration `hooks=[git.hook]` and wrap the interpreter in
    `git.around`, before any other wrap:

        interpreter = Interpreter(model, weather, *git).wrap(git.around)

    What a server says of a tool's harmlessness is its own word and changes nothing; to
    ask a person first, use `loopcore.policies.ask_before`.

    Args:
        command: the program and its arguments, each a word of its own.
        url: where the server is, if it is not started here.
        prefix: what the names of its tools begin with, to tell servers apart. Characters
            that no model service takes become `_`, and longer names than 64 are cut.
        env: what the command finds in its environment besides PATH, HOME and the like,
            which is all that it inherits.
        headers: sent with each request to an address.
        timeout: seconds that a call may take (`ToolSpec.timeout`); None waits.
        start_timeout: seconds until the server must have named its tools.

    Raises:
        ValueError: saying what to give instead.
        ConnectionError: on entering, if the server cannot be started or reached.
    """
    target = Target(
        tuple(os.fspath(word) for word in command),
        url,
        prefix,
        dict(env or {}),
        dict(headers or {}),
        timeout,
        start_timeout,
    )
    problem = problem_of(target)
    if problem:
        message = f"{target}: {problem}"
        raise ValueError(message)
    if find_spec("mcp") is None:
        message = f'{target} needs the MCP SDK: `pip install "loopcore[mcp]"`.'
        raise ValueError(message)
    return serving(target)
