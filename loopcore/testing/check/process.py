"""Processes that hash texts by another seed: started once, and asked many times."""

import atexit
import json
import os
import subprocess
import sys
from functools import cache
from threading import Timer
from typing import Any, Final

from loopcore.testing.elsewhere import receive, send

MOST_SECONDS: Final = 60
COMMAND: Final = "from loopcore.testing.elsewhere import main; main()"


class Process:
    """Another Python, whose hash seed is this."""

    def __init__(self, seed: str) -> None:
        environment = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        }
        self._process = subprocess.Popen(  # noqa: S603  # this very Python
            [sys.executable, "-c", COMMAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        atexit.register(self.close)

    @property
    def is_running(self) -> bool:
        """Whether it can be asked."""
        return self._process.poll() is None

    def ask(self, packed: bytes) -> list[str] | str:
        """What hooks say there, or why they say nothing."""
        asks, tells = self._process.stdin, self._process.stdout
        if asks is None or tells is None:  # it was made with both
            return "another process cannot be asked"
        late = Timer(MOST_SECONDS, self._process.kill)
        late.daemon = True
        late.start()
        try:
            send(asks, packed)
            found: Any = json.loads(receive(tells))
        except (EOFError, OSError, ValueError):  # the last: it was closed
            return (
                f"another process was asked about the hooks, and ended ({self.close()})"
            )
        finally:
            late.cancel()
        if isinstance(found, str):
            return f"the hooks cannot be asked in another process: {found}"
        said: list[str] = found
        return said

    def close(self) -> int:
        """End it; how it ended."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None and not stream.closed:
                stream.close()
        return self._process.wait()


@cache
def _started(seed: str, owner: int) -> Process:  # noqa: ARG001  # a fork has its own
    return Process(seed)


def process_of(seed: str) -> Process:
    """The process of this seed; another one if that has ended."""
    found = _started(seed, os.getpid())
    if not found.is_running:
        _started.cache_clear()
        found = _started(seed, os.getpid())
    return found
