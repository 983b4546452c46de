"""A person at a terminal, as a test plays one: a real pty with a program in it."""

import contextlib
import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

PATIENCE = 20.0
"""Seconds after which what was waited for is not coming: a failure, never a pace."""


TAKE_TERMINAL = """
import fcntl, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # so that Ctrl-C is for this program
"""
MAIN = """
from loopcore.cli import main
main()
"""


class Person:
    """Reads what a program shows until something is there, and types."""

    def __init__(self, master: int, process: "subprocess.Popen[bytes]") -> None:
        self._master, self.process = master, process
        self.shown = ""
        self._read = 0

    def sees(self, pattern: str) -> str:
        """What is shown up to and with this, once it is."""
        until = time.monotonic() + PATIENCE
        while not (found := re.compile(pattern).search(self.shown, self._read)):
            assert self._more(until), f"{pattern!r} is not in {self.shown!r}"
        self._read = found.end()
        return self.shown[: found.end()]

    def answers(self, pattern: str, text: str) -> None:
        """Wait for this, then type a line."""
        self.sees(pattern)
        self.types(f"{text}\n")

    def types(self, text: str) -> None:
        """Type this; "\\x03" is Ctrl-C, "\\x04" Ctrl-D."""
        os.write(self._master, text.encode())

    def interrupts(self) -> None:
        """Ctrl-C, as the terminal sends it."""
        self.types("\x03")

    def leaves(self) -> int:
        """The program's exit code, when it has shown all it had to."""
        until = time.monotonic() + PATIENCE
        while self._more(until):
            pass
        return self.process.wait(PATIENCE)

    def _more(self, until: float) -> bool:
        ready, _, _ = select.select(
            [self._master], [], [], max(until - time.monotonic(), 0)
        )
        data = b""
        if ready:
            with contextlib.suppress(OSError):  # the other end is closed
                data = os.read(self._master, 4096)
        self.shown += data.decode(errors="replace").replace("\r\n", "\n")
        return bool(data)


@contextmanager
def at_a_terminal(*words: str, folder: Path) -> Generator[Person]:
    """A person who gives this command at a terminal, in this folder."""
    master, slave = pty.openpty()
    try:
        with _program(TAKE_TERMINAL, *words, folder=folder, end=slave) as program:
            os.close(slave)
            yield Person(master, program)
    finally:
        os.close(master)


@contextmanager
def listening(*words: str, folder: Path) -> Generator["subprocess.Popen[bytes]"]:
    """A program that was given this command, with pipes at its ends."""
    with _program("", *words, folder=folder, end=subprocess.PIPE) as program:
        yield program


@contextmanager
def _program(
    first: str, *words: str, folder: Path, end: int
) -> Generator["subprocess.Popen[bytes]"]:
    program = subprocess.Popen(  # noqa: S603  # this very program
        [sys.executable, "-c", first + MAIN, *words],
        cwd=folder,
        env={**os.environ, "TERM": "xterm", "PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=end,
        stdout=end,
        stderr=end,
        start_new_session=True,
    )
    try:
        yield program
    finally:
        program.kill()
        program.wait()
        for pipe in (program.stdin, program.stdout, program.stderr):
            if pipe:
                pipe.close()
