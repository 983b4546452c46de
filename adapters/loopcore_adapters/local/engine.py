"""llama.cpp in a child process, started at the first call and shared by all that follow.

Not in this process itself: while llama.cpp loads a model it holds the interpreter's lock,
so every event loop would stand still; its faults end a process; and a server that is torn
down while it speaks takes half a minute or ends in a crash.
"""

import asyncio
import atexit
import json
import secrets
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final

from attrs import asdict, define, field, frozen

PATIENCE: Final = 0.05
"""How many seconds pass between two looks at whether somebody else has started it."""

LEAVING: Final = 5.0
"""How many seconds the child has to end by itself."""

SERVE: Final = Path(__file__).with_name("serve.py")


class NotStarted(Exception):
    """llama.cpp did not start; the message says why, for people."""


@frozen
class Setup:
    """What is loaded, and how. Models of one setup share one engine.

    Args:
        path: the file of weights.
        template: a Jinja chat template; empty is the one in the file.
        context: how many tokens a request and its reply may have.
        threads: on how many threads it computes.
    """

    path: str
    template: str = field(default="", repr=False)
    context: int = 8192
    threads: int = 1


@frozen(eq=False)
class Running:
    """A child process that serves, where, and the key it wants."""

    process: "subprocess.Popen[bytes]" = field(repr=False)
    url: str
    key: str = field(repr=False)


@define(eq=False)
class Engine:
    """The server of one setup: `running` starts it if it does not run."""

    setup: Setup
    _now: Running | None = field(default=None, init=False)
    _starting: threading.Lock = field(factory=threading.Lock, init=False, repr=False)

    async def running(self) -> Running:
        """The server, ready for requests. Any event loop of any thread may ask.

        Raises:
            NotStarted: with what llama.cpp said.
        """
        # An asyncio lock would belong to one event loop.
        while not self._starting.acquire(blocking=False):  # noqa: ASYNC110
            await asyncio.sleep(PATIENCE)
        try:
            if self._now is None or self._now.process.poll() is not None:
                self.stop()
                self._now = await _start(self.setup)
            return self._now
        finally:
            self._starting.release()

    def stop(self, patience: float = LEAVING) -> None:
        """End the child process, if there is one. The next call starts another."""
        if self._now is not None:
            _end(self._now.process, patience)
            self._now = None


_ENGINES: Final[dict[Setup, Engine]] = {}


def engine(setup: Setup) -> Engine:
    """The engine of this setup, one in each process."""
    return _ENGINES.setdefault(setup, Engine(setup))


@atexit.register
def stop_all() -> None:
    """End every child process of every engine."""
    for one in tuple(_ENGINES.values()):
        one.stop()


async def _start(setup: Setup) -> Running:
    key = secrets.token_hex()
    order = {**asdict(setup), "key": key, "import_from": sys.path}
    with tempfile.TemporaryFile() as errors:
        process = _spawn(errors)
        try:
            answer = await asyncio.to_thread(_ask, process, order)
        except BaseException:
            _kill(process)
            raise
        if not answer:
            _kill(process)
            raise NotStarted(_why(setup, process, errors))
    return Running(process, json.loads(answer)["url"], key)


def _spawn(errors: IO[bytes]) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(  # noqa: S603  # our own file, our own interpreter
        # Without -P its own folder would come first where it imports from.
        [sys.executable, "-P", str(SERVE)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        bufsize=0,
    )


def _ask(process: "subprocess.Popen[bytes]", order: dict[str, Any]) -> bytes:
    """Its answer, empty if it ended without one."""
    with suppress(BrokenPipeError):
        _pipe(process.stdin).write(json.dumps(order).encode() + b"\n")
    return _pipe(process.stdout).readline()


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None  # noqa: S101  # `_spawn` asks for pipes
    return pipe


def _end(process: "subprocess.Popen[bytes]", patience: float) -> None:
    """Let it end by itself: it does once its standard input is closed."""
    with process:
        _pipe(process.stdin).close()
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()


def _kill(process: "subprocess.Popen[bytes]") -> None:
    with process:
        process.kill()


def _why(setup: Setup, process: "subprocess.Popen[bytes]", errors: IO[bytes]) -> str:
    errors.seek(0)
    lines = errors.read().decode(errors="replace").strip().splitlines()
    said = " ".join(line.strip() for line in lines[-3:])
    if not Path(setup.path).is_file():
        return f"There is no file {setup.path!r}."
    return (
        f"llama.cpp could not load {setup.path!r}: {said or 'it said nothing'} "
        f"(exit code {process.returncode})."
    )
