"""The command line as a test uses it: apps in a folder, and what comes of a command."""

import json
import re
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from attrs import frozen
from click.testing import CliRunner

from loopcore.cli.commands import commands

HEAD: Final = '''
import asyncio, signal
from loopcore import *
from loopcore.events import *
from loopcore.hooks import *
from loopcore.testing import ScriptedModel

@tool
def weather(city: str) -> str:
    """Today's weather in a city."""
    return f"{city}: rain"

@tool(needs_approval=True)
def transfer(to: str, cents: int) -> str:
    """Send money."""
    return f"sent {cents} to {to}"

@tool
async def interrupt() -> str:
    """Be stopped by Ctrl-C."""
    signal.raise_signal(signal.SIGINT)
    await asyncio.Event().wait()

def call(name, **arguments):
    return ToolCall(name, arguments)

def app(*replies, hooks=(), tools=(weather, transfer), **more):
    model = ScriptedModel(*replies)
    config = LoopConfig(model=model, tools=tools, hooks=hooks)
    acting = [tool for tool in tools if isinstance(tool, Tool)]
    return config, Interpreter(model, *acting, **more)
'''

PAY: Final = 'app(call("transfer", to="ACME", cents=4900), "Paid.")'
"""An app that asks before it pays."""


@frozen
class Told:
    """What a command printed, and its exit code."""

    out: str
    err: str
    code: int

    @property
    def lines(self) -> list[str]:
        """What it printed, with every run id as R and every time as 0."""
        text = re.sub(r"\b[0-9a-f]{16}\b", "R", self.out)
        text = re.sub(r"\d+\.\d+ s", "0 s", text)
        return [line.rstrip() for line in text.splitlines()]

    @property
    def json(self) -> list[dict[str, Any]]:
        """What it printed, as JSON Lines."""
        return [json.loads(line) for line in self.out.splitlines()]


class Shell:
    """A folder in which commands are given."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def app(self, line: str, name: str = "app") -> None:
        """An app: what `config, interpreter =` is."""
        self.module(f"{HEAD}\nconfig, interpreter = {line}\n", name)

    def module(self, text: str, name: str) -> None:
        """A module; one of that name that was imported is forgotten."""
        (self.folder / f"{name}.py").write_text(text)
        sys.modules.pop(name, None)

    def loopcore(self, *words: str, typed: str = "") -> Told:
        """Give a command, and type this."""
        for file in self.folder.glob("*.py"):  # each command is a program of its own
            sys.modules.pop(file.stem, None)
        result = CliRunner().invoke(commands, words, input=typed, prog_name="loopcore")
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Told(result.stdout, result.stderr, result.exit_code)


@contextmanager
def shell(folder: Path, patch: pytest.MonkeyPatch) -> Generator[Shell]:
    """A shell in this folder."""
    patch.chdir(folder)
    patch.setattr(sys, "path", list(sys.path))
    patch.setattr(
        sys, "dont_write_bytecode", True
    )  # modules are rewritten within a second
    shell = Shell(folder)
    yield shell
    for file in folder.glob("*.py"):
        sys.modules.pop(file.stem, None)
