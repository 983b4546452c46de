"""What journals cost: `python tests/bench/journals.py`.

Prints how many inputs are replayed in a second, how many bytes a turn takes and how that
grows, what a fork costs beside the length of the run, and how long a backtest of many
journals takes on this machine. Times are of the process itself, but for the backtest's.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from attrs import evolve

from loopcore import (
    Answer,
    Interpreter,
    LoopConfig,
    Model,
    State,
    Tool,
    ToolCall,
    ToolSpec,
    run_sync,
)
from loopcore import AssistantMessage as Reply
from loopcore.hooks import Block, Hooks
from loopcore.journal import Entry, Journal, backtest, fork, replay
from loopcore.policies import limits, sliding_window, truncate_results

SPEC: Final = ToolSpec("noop", "Does nothing.", {"type": "object"})
TURNS: Final = (10, 100, 1_000, 5_000)
RULED: Final = 1_000
"""So many turns at most with policies: a window looks for system messages each time."""


def say(line: str) -> None:
    """Print this at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def quiet() -> str:
    """A tool that does nothing."""
    return "nothing was done, as agreed"


def reply_after(turns: int) -> Model:
    """A model that calls the tool in so many turns, and then stops."""

    async def call(request: Any, _: Any) -> Reply:
        turn = int(request.id.split(".")[-3])
        if turn > turns:
            return Reply("done")
        return Reply([ToolCall("noop", {}, f"c{turn}")], finish="tools")

    return Model("test:bench", call)


def config(*hooks: Hooks) -> LoopConfig:
    return LoopConfig(model="test:bench", tools=[SPEC], hooks=hooks)


def recorded(path: Path, turns: int, *hooks: Hooks, run_id: str = "r") -> Journal:
    """A run of so many turns, in this file."""
    interpreter = Interpreter(reply_after(turns), Tool(SPEC, quiet))
    run_sync(config(*hooks), interpreter, "go", run_id=run_id, journal=path)
    return Journal.read(path).unwrap()


def best(work: Callable[[], object], times: int = 3) -> float:
    """The shortest time of several, in seconds of this process."""
    taken: list[float] = []
    for _ in range(times):
        began = time.process_time()
        work()
        taken.append(time.process_time() - began)
    return min(taken)


def sizes(folder: Path) -> None:
    """Replays and bytes, by the length of the run."""
    say(
        f"{'turns':>6} {'replay/s':>9} {'read/s':>9} {'bytes/turn':>11}   with three policies"
    )
    for turns in TURNS:
        path = folder / f"{turns}.jsonl"
        journal = recorded(path, turns)
        inputs = len(journal.entries)
        fold = best(lambda: replay(config(), journal))  # noqa: B023  # called at once
        read = best(lambda: Journal.read(path))  # noqa: B023  # called at once
        plain = f"{turns:>6} {inputs / fold:>9,.0f} {inputs / read:>9,.0f}"
        per = f"{path.stat().st_size / turns:>11,.0f}"
        say(
            f"{plain} {per}   {ruled(folder, turns) if turns <= RULED else ''}".rstrip()
        )


def ruled(folder: Path, turns: int) -> str:
    """The same with three policies."""
    hooks = sliding_window(20), truncate_results(1_000), limits(turns=10_000)
    path = folder / f"{turns}-ruled.jsonl"
    journal = recorded(path, turns, *hooks)
    took = best(lambda: replay(config(*hooks), journal))
    return f"{len(journal.entries) / took:,.0f}/s, {path.stat().st_size / turns:,.0f}"


def forks(folder: Path) -> None:
    """A fork at the start of what was folded, and what going on costs."""
    journal = recorded(folder / "fork.jsonl", 1_000)
    states = [step.state for step in replay(config(), journal).unwrap().steps]
    took = best(lambda: [evolve(state, run_id="other") for state in states])
    whole = best(lambda: fork(config(), journal, turn=900, run_id="other"))
    say(f"a fork of a state: {took / len(states) * 1e6:.1f} µs")
    say(f"fork(turn=900) of 1,000 turns: {whole * 1e3:.0f} ms (it folds 1,800 inputs)")


def many(folder: Path, count: int) -> None:
    """A backtest of many journals of 20 inputs."""
    journal = recorded(folder / "one.jsonl", 9)
    files = [folder / "many" / f"{n}.jsonl" for n in range(count)]
    for n, file in enumerate(files):
        renamed(journal, f"r{n}").write(file)

    def every_third(view: Any) -> Block | None:
        return Block("no") if view.state.seed % 3 == 0 else None

    new = config(Hooks(before_tool_call=every_third))
    began = time.perf_counter()
    report = backtest(files, old=config(), new=new)
    took = time.perf_counter() - began
    rate = f"{count * 20 / took:,.0f} inputs/s by each of two configurations"
    say(f"{report!r}: {took:.1f} s, {rate}")


def renamed(journal: Journal, run_id: str) -> Journal:
    """The same run under another name, of which its ids are made."""
    state = State.start(config(), run_id=run_id)
    happened = [_renamed(one, journal.run_id, run_id) for one in journal.entries]
    return Journal.of(config(), state, happened).unwrap()


def _renamed(entry: Entry, old: str, new: str) -> Entry:
    if not isinstance(entry.input, Answer):
        return entry
    effect_id = f"{new}{entry.input.effect_id.removeprefix(old)}"
    return evolve(entry, input=evolve(entry.input, effect_id=effect_id))


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--journals", type=int, default=10_000)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sizes(folder)
        forks(folder)
        many(folder, parser.parse_args().journals)


if __name__ == "__main__":
    main()
