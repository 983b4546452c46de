"""How many runs are simulated in a second: `python tests/bench/simulate.py`.

One process, its own processor time; every figure is the best of three. The runs are of
three sizes; what goes wrong, journals and laws cost extra, and are shown beside them.
"""

import sys
import time
from collections.abc import Iterator
from typing import Any, Final

from loopcore import LoopConfig, ToolCall, ToolSpec
from loopcore.policies import retry
from loopcore.testing import faults, simulate
from loopcore.testing.faults import Fault

ADD: Final = ToolSpec("add", "Adds.", {"properties": {"x": {"type": "integer"}}})
PAY: Final = ToolSpec("pay", "Pays.", needs_approval=True, on_interrupt="retry")
CONFIG: Final = LoopConfig(model="test:m", tools=[ADD, PAY], hooks=[retry(3)])
BATCH: Final = [ToolCall("add", {"x": 1}, "c1"), ToolCall("pay", {}, "c2")]
SIZES: Final[dict[str, list[Any]]] = {
    "one reply": ["hello"],
    "two turns, two tools, a person": [BATCH, "done"],
    "six turns": [*[BATCH] * 5, "done"],
}
OUTSIDE: Final[tuple[Fault, ...]] = (
    faults.RateLimit(),
    faults.CutStream(),
    faults.SlowTool(),
    faults.Duplicate(),
    faults.Late(),
)
WAYS: Final[dict[str, dict[str, Any]]] = {
    "no laws": {"laws": ()},
    "as by default": {},
    "faults outside": {"faults": OUTSIDE},
    "all faults, with journals": {"faults": faults.ALL},
    "every run under all laws": {"watched": 1.0},
}


def figures() -> Iterator[str]:
    """A line for each size and way."""
    yield f"{'':34}{'runs/s':>9}{'inputs/s':>10}{'hours/s':>9}"
    for size, replies in SIZES.items():
        for way, more in WAYS.items():
            yield f"{size:34}{line(replies, more)}  {way}"


def line(replies: list[Any], more: dict[str, Any]) -> str:
    """The best of three."""
    return max(once(replies, more) for _ in range(3))


def once(replies: list[Any], more: dict[str, Any]) -> str:
    """How much was simulated in a second."""
    began = time.process_time()
    found = simulate(
        CONFIG,
        "go",
        replies=replies,
        tools={"add": ["ok", TimeoutError()], "pay": ["paid"]},
        seeds=range(300),
        **more,
    )
    took = time.process_time() - began
    assert found.counterexample is None, found
    hours = found.seconds / 3600 / took
    return f"{found.runs / took:9,.0f}{found.inputs / took:10,.0f}{hours:9,.0f}"


if __name__ == "__main__":
    for told in figures():
        sys.stdout.write(f"{told}\n")
