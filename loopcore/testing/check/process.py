"""Processes that hash texts by another seed: started once, and asked many times."""

import atexit
import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from threading import Timer
from typing import Any, Final

from loopcore.testing.elsewhere import ORDER, receive, send

MOST_SECONDS: Final = 60
MOMENT: Final = 2
"""Seconds that a process has to end in, once nobody asks it any more."""

COMMAND: Final = "from loopcore.testing.elsewhere import main; main()"


class Process:
    """Another Python, whose hash seed is this."""

    def __init__(self, seed: str) -> None:
        environment = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        }
        self.process = subprocess.Popen(  # noqa: S603  # this very Python
            [sys.executable, "-c", COMMAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        self._late = Timer(MOST_SECONDS, self.process.kill)
        self._owes = False  # what an interrupt leaves so would answer the next question
        atexit.register(self.close)

    @property
    def is_running(self) -> bool:
        """Whether it can be asked."""
        return self.process.poll() is None and not self._owes

    def ask(self, packed: bytes) -> Any:  # noqa: ANN401  # JSON
        """What is said there, or a text that tells why nothing is."""
        return self.tell(packed) or self.hear()

    def tell(self, packed: bytes) -> str:
        """Ask it, and do not wait; why it cannot be asked, if it cannot."""
        if self._owes:
            return self._told_end()
        self._owes = True
        self._late = Timer(MOST_SECONDS, self.process.kill)
        self._late.daemon = True
        self._late.start()
        try:
            send(self._pipe("stdin"), packed)
        except (OSError, ValueError):  # the last: it was closed
            return self._ended()
        return ""

    def hear(self) -> Any:  # noqa: ANN401  # JSON
        """What it says to what it was asked."""
        try:
            found: Any = json.loads(receive(self._pipe("stdout")))
        except (EOFError, OSError, ValueError):
            return self._ended()
        self._owes = False
        self._late.cancel()
        if isinstance(found, str):
            return f"the hooks cannot be asked in another process: {found}"
        return found

    def _pipe(self, name: str) -> Any:  # noqa: ANN401  # it was made with both
        return getattr(self.process, name)

    def _ended(self) -> str:
        self._owes = False  # it ends by itself, and its status says how
        return self._told_end()

    def _told_end(self) -> str:
        return f"another process was asked about the hooks, and ended ({self.close()})"

    def close(self) -> int:
        """End it; how it ended. It has a moment for that, and then is killed."""
        atexit.unregister(self.close)
        self._late.cancel()
        if self._owes:  # closing would send what it may never read
            self.process.kill()
        for name in ("stdin", "stdout"):
            with contextlib.suppress(OSError):  # it has ended before that
                self._pipe(name).close()
        try:
            return self.process.wait(MOMENT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


_started: Final[dict[tuple[str, int], Process]] = {}
"""By the seed and by the process that started it: a fork has its own."""


def process_of(seed: str) -> Process:
    """The process of this seed; another one if that has ended."""
    found = _started.get((seed, os.getpid()))
    if found is None or not found.is_running:
        if found is not None:
            found.close()
        found = _started[seed, os.getpid()] = Process(seed)
    return found


ALWAYS: Final = ("1", "2")
SEEDS: Final = (*ALWAYS, "3", "4")
MORE: Final = tuple(str(seed) for seed in range(5, 21))


def processes_for(
    texts: Iterable[list[str]], seeds: tuple[str, ...] = SEEDS
) -> list[Process]:
    """Processes that do not all order these texts alike, each list of them, in a set.

    Two texts have the same order in half of all processes: where all that are there agree
    about some, one more is started, whose seed is another.
    """
    found = [process_of(seed) for seed in seeds]
    asked = [list(one) for one in dict.fromkeys(map(tuple, texts))]
    if not asked:
        return found
    orders = [_orders(one, asked) for one in found]
    for seed in MORE:
        agreed = [n for n in range(len(asked)) if len({one[n] for one in orders}) == 1]
        if not agreed:
            break
        more = process_of(seed)
        order = _orders(more, asked)
        if any(order[n] != orders[0][n] for n in agreed):
            found, orders = [*found, more], [*orders, order]
    return found


def _orders(process: Process, texts: list[list[str]]) -> list[tuple[str, ...]]:
    said = process.ask(ORDER + json.dumps(texts).encode())
    if isinstance(said, str):  # it ended: what is asked of it next says so
        return [()] * len(texts)
    return [tuple(one) for one in said]
