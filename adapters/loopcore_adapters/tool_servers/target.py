"""Which server is meant, and how it is reached. Data."""

import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import Final

from attrs import field, frozen

from loopcore_adapters.addresses import is_address, names_somebody
from loopcore_adapters.tool_servers.names import FOREIGN, LONGEST, marked

SECRET: Final = re.compile(r"(?<=//)[^/?#]*@|(?<=[^:/])[/?#].*", re.DOTALL)
HEADER: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
HEADER_VALUE: Final = re.compile(r"[\t -~]*")


class Lost(Exception):
    """The connection ended during a call; the message says how, for people."""


class Forgotten(Exception):
    """The server knows the session no more, so it did nothing of a call."""


@frozen
class Target:
    """A server: a command that is started here, or an address.

    Neither its environment nor its headers are ever printed: keys are kept in them.

    Args:
        command: the words of a command that speaks over its standard input and output.
        url: an address that speaks over HTTP.
        prefix: what the names of its tools begin with.
        env: what the command finds in its environment, besides the usual.
        headers: sent with each request.
        timeout: seconds that a call may take; None waits.
        start: seconds that it may take until its tools are known.
    """

    command: tuple[str, ...] = ()
    url: str | None = field(default=None, repr=False)
    prefix: str = ""
    env: Mapping[str, str] = field(factory=dict[str, str], repr=False)
    headers: Mapping[str, str] = field(factory=dict[str, str], repr=False)
    timeout: float | None = 60
    start: float = 60

    def __str__(self) -> str:
        if self.url is None:
            return f"mcp({', '.join(map(repr, self.command))})"
        return f"mcp(url='{_shown(self.url)}')"

    @property
    def name(self) -> str:
        """What models are told that it is called: nothing that may be secret."""
        own = self.prefix.strip("_-")
        return own or (_shown(self.url) if self.url else _program(self.command))

    @property
    def service(self) -> str:
        """What hooks call it: the same in every process, and another for any other."""
        own = self.prefix.strip("_-")
        return f"mcp:{own or marked(self.name, repr((self.command, self.url)))}"


def _shown(url: str) -> str:
    """The address up to its path: keys are in those, too."""
    return SECRET.sub("", url)


def _program(command: tuple[str, ...]) -> str:
    """The program, and what it runs if it is one that runs others."""
    program, *rest = command
    what = next((word for word in rest if not word.startswith("-")), "")
    return " ".join(filter(None, (PurePath(program).name, PurePath(what).name)))


def problem_of(target: Target) -> str:
    """Why no server can be reached so; empty if one can."""
    checks = (_unreachable, _unnamed, _impatient, _misplaced)
    return next(filter(None, (check(target) for check in checks)), "")


def _unreachable(target: Target) -> str:
    if bool(target.command) == (target.url is not None):
        return "give a command, as in mcp('uvx', 'mcp-server-git'), or url=; not both."
    if target.url is not None:
        return _no_address(target.url)
    if not target.command[0]:
        return "the command's first word is empty; it names the program."
    return ""


def _no_address(url: str) -> str:
    if not is_address(url):
        return "url= is no address; write 'https://host/mcp'."
    if names_somebody(url):
        return "url= holds a name or a password; pass headers=."
    return ""


def _unnamed(target: Target) -> str:
    """Why tools cannot be called so."""
    prefix = target.prefix
    if FOREIGN.search(prefix):
        return f"prefix={prefix!r}: names of tools have letters, digits, _ and - only."
    if len(prefix) > LONGEST // 2:
        return f"prefix={prefix!r} leaves too little of the {LONGEST} characters of a name."
    return ""


def _impatient(target: Target) -> str:
    if target.timeout is not None and not target.timeout > 0:
        return f"timeout={target.timeout!r}; give seconds above 0, or None to wait."
    if not target.start > 0:
        return f"start_timeout={target.start!r}; give seconds above 0."
    return ""


def _misplaced(target: Target) -> str:
    if target.command and target.headers:
        return "headers= go with url=; a command is given env=."
    if target.url is not None and target.env:
        return "env= goes with a command; an address is given headers=."
    for name, value in target.headers.items():
        if not HEADER.fullmatch(name) or not HEADER_VALUE.fullmatch(value):
            return f"headers[{name!r}] has a character that no header has."
    return ""
