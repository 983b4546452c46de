"""What the wires cost beside the official SDKs and a bare httpx loop.

`python tests/bench/wires.py` starts one server, which all of them ask the same. Figures are
of the process's own CPU time, the best of several repetitions on one machine.
"""

import argparse
import asyncio
import gc
import json
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol

from loopcore import (
    AssistantMessage,
    CallModel,
    Message,
    Text,
    ToolCall,
    ToolResultMessage,
    ToolSpec,
    UserMessage,
)
from loopcore_adapters import connect
from loopcore_adapters.connect import WIRES
from tests.bench.wire_bare import Bare
from tests.bench.wire_bodies import ASKED, BASES, KEY, RESULT, SAID, SCHEMA
from tests.bench.wire_sdks import Sdk
from tests.bench.wire_server import DELTAS, PACED

Json = Any
SERVER: Final = Path(__file__).with_name("wire_server.py")
TURNS: Final = 200
WINDOW: Final = 20
"""How many turns at either end of a conversation are measured."""


class Contestant(Protocol):
    """Who asks the server."""

    async def read(self) -> int:
        """Ask once; how many characters of text came."""
        ...

    async def turn(self) -> None:
        """Ask, and go on with the call that came."""
        ...


class Ours:
    """`connect`, and a transcript that grows."""

    def __init__(self, wire: str, url: str) -> None:
        self.model = connect(
            "bench:m", wire=wire, base_url=url + BASES[wire], api_key=KEY
        )
        tool = ToolSpec("weather", SAID, SCHEMA)
        self.call = CallModel(
            "r.1.1.model.1", "bench:m", [UserMessage(ASKED)], "", (tool,)
        )

    async def read(self) -> int:
        told = 0

        def tell(text: str = "", **_: Json) -> None:
            nonlocal told
            told += len(text)

        await self.model.call(self.call, tell)
        return told

    async def turn(self) -> None:
        reply = await self.model.call(self.call, _ignore)
        assert isinstance(reply, AssistantMessage), reply
        self.go_on(reply)

    def go_on(self, reply: AssistantMessage) -> None:
        """The reply, and the result of its call."""
        (made,) = reply.calls
        more: list[Message] = [reply, ToolResultMessage(made.id, made.name, RESULT)]
        shown = self.call.messages.extend(more)
        self.call = CallModel(self.call.id, "bench:m", shown, "", self.call.tools)


def _ignore(*_: Json, **__: Json) -> None: ...


CONTESTANTS: Final[dict[str, Callable[[str, str], Contestant]]] = {
    "bare httpx": Bare,
    "SDK": Sdk,
    "loopcore": Ours,
}


# Measuring.


@contextmanager
def server() -> Generator[str]:
    """Where the server is, in a process of its own."""
    with subprocess.Popen(  # noqa: S603  # our own file
        [sys.executable, str(SERVER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin
        assert process.stdout
        yield process.stdout.readline().strip()
        process.stdin.close()


async def cpu(work: Callable[[], Awaitable[object]]) -> float:
    """Seconds of CPU time."""
    gc.collect()
    begun = time.process_time()
    await work()
    return time.process_time() - begun


async def per_delta(make: Callable[[], Contestant], deltas: int, times: int) -> float:
    """Microseconds for each delta of a long text."""
    one = make()
    whole = await one.read()
    assert whole >= deltas
    return min([await cpu(one.read) for _ in range(times)]) / deltas * 1e6


async def per_turn(make: Callable[[], Contestant], times: int) -> tuple[float, float]:
    """Microseconds for each turn, of the first and of the last ones."""
    first, last = list[float](), list[float]()
    for _ in range(times):
        one = make()
        await one.turn()

        async def some(turn: Callable[[], Awaitable[object]] = one.turn) -> None:
            for _ in range(WINDOW):
                await turn()

        first.append(await cpu(some))
        for _ in range(TURNS - 2 * WINDOW - 1):
            await one.turn()
        last.append(await cpu(some))
    return min(first) / WINDOW * 1e6, min(last) / WINDOW * 1e6


async def measured(url: str, wire: str, times: int) -> Iterator[str]:
    """The rows of a wire."""
    rows = {
        name: await figures(partial(make, wire), url, times)
        for name, make in CONTESTANTS.items()
    }
    return table(wire, rows)


async def figures(
    make: Callable[[str], Contestant], url: str, times: int
) -> tuple[float, ...]:
    """One contestant: microseconds a delta, a paced one, and a turn at either end."""
    burst = await per_delta(partial(make, f"{url}/burst"), DELTAS, times)
    paced = await per_delta(partial(make, f"{url}/paced"), PACED, 2)
    turns = await per_turn(partial(make, f"{url}/turn"), max(2, times // 2))
    return burst, paced, *turns


def table(wire: str, rows: dict[str, tuple[float, ...]]) -> Iterator[str]:
    """Figures, and what loopcore's are beside the others'."""
    for name, row in rows.items():
        yield f"{wire:<10} {name:<11}" + "".join(f"{figure:>15.1f}" for figure in row)
    for name in ("SDK", "bare httpx"):
        pairs = zip(rows["loopcore"], rows[name], strict=True)
        ratios = "".join(f"{mine / theirs:>15.2f}" for mine, theirs in pairs)
        yield f"{'':<10} {'/ ' + name:<11}" + ratios


def growth(wire: str) -> Iterator[str]:
    """Bytes of requests, and the time that it takes to make them, by turn."""
    encode = WIRES[wire].encoder({})
    one = Ours(wire, "http://nowhere")
    for turn in range(TURNS + 1):
        begun = time.process_time()
        request = encode(one.call)
        took = (time.process_time() - begun) * 1e6
        if turn in (1, 50, 100, TURNS):
            written = json.loads(request.body)
            begun = time.process_time()
            json.dumps(written)
            beside = (time.process_time() - begun) * 1e6
            figures = f"{len(request.body):>10,} bytes {took:>8.0f} µs"
            yield f"{wire:<10} turn {turn:>3} {figures}   json.dumps {beside:>6.0f} µs"
        call = ToolCall.parse("weather", '{"city":"Paris"}', f"call_{turn}")
        reply = AssistantMessage(
            [Text("I look."), call], model="bench:m", finish="tools"
        )
        one.go_on(reply)


async def main(wires: list[str], times: int) -> None:
    """Print all of it."""
    heads = ("µs/delta", "paced", f"µs/turn 1-{WINDOW}", f"{TURNS - WINDOW}-{TURNS}")
    say(f"{'':<22}" + "".join(f"{head:>15}" for head in heads))
    with server() as url:
        for wire in wires:
            say(*await measured(url, wire, times))
    for wire in wires:
        say(*growth(wire))


def say(*lines: str) -> None:
    """Print these."""
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wires", nargs="*", default=list(WIRES))
    parser.add_argument("--times", type=int, default=5)
    given = parser.parse_args()
    asyncio.run(main(given.wires, given.times))
