"""A process is killed (kill -9) at every moment of a run, and another one goes on (D82)."""

import json
import multiprocessing
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Literal

import pytest

from loopcore import (
    Answer,
    Effect,
    Event,
    Inspector,
    Interpreter,
    LoopConfig,
    Perform,
    RunResult,
    RunTool,
    State,
    Tell,
    ToolCall,
    ToolContext,
    ToolResultMessage,
    run_sync,
    tool,
)
from loopcore.journal import Journal, Recorder, replay
from loopcore.testing import FunctionModel

MODES: Final = ("report", "retry")
CHARGES: Final = [("pay", {"cents": 1}, "c1"), ("pay", {"cents": 2}, "c2")]
FORK: Final = multiprocessing.get_context("fork")


class Moments(Inspector):
    """Counts what happens, and kills the process at one of it."""

    def __init__(self, fatal: int) -> None:
        self.left = fatal

    def pass_by(self) -> None:
        """A moment, which may be the last."""
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self.left -= 1

    def on_event(self, event: Event) -> None:  # noqa: ARG002  # any is a moment
        self.pass_by()


def reply(request: Any) -> Any:
    """Two payments, one after the other, then a word: by what is shown, as models do."""
    results = [m for m in request.messages if isinstance(m, ToolResultMessage)]
    if len(results) < len(CHARGES):
        name, arguments, call_id = CHARGES[len(results)]
        return ToolCall(name, arguments, call_id)
    return "Done."


def app(
    folder: Path, mode: Literal["report", "retry"], moments: Moments
) -> tuple[LoopConfig, Interpreter]:
    @tool(on_interrupt=mode)
    def pay(cents: int, context: ToolContext) -> str:
        """Pay."""
        moments.pass_by()
        with (folder / "charges").open("a") as file:
            file.write(json.dumps([context.effect_id, cents]) + "\n")
        moments.pass_by()
        return f"paid {cents}"

    async def around(effect: Effect, tell: Tell, inner: Perform) -> Answer | None:
        answer = await inner(effect, tell)
        moments.pass_by()
        return answer

    model = FunctionModel(reply)
    config = LoopConfig(model=model, tools=[pay])
    return config, Interpreter(model, pay, inspectors=[moments]).wrap(around)


def go(folder: Path, mode: Any, fatal: int = -1, **how: Any) -> RunResult:
    """Begin the run, or go on with it."""
    moments = Moments(fatal)
    config, interpreter = app(folder, mode, moments)
    path = folder / "r.jsonl"
    journal = Recorder(path, **how)
    if not path.exists():
        return run_sync(config, interpreter, "Pay!", run_id="r", journal=journal)
    state = replay(config, Journal.read(path).unwrap()).unwrap().result.state
    return run_sync(config, interpreter, state=state, journal=journal)


def killed(work: Callable[..., Any], *args: Any, **how: Any) -> bool:
    """Whether this was killed, in a process of its own."""
    process = FORK.Process(target=work, args=args, kwargs=how)
    process.start()
    process.join()
    assert process.exitcode in (0, -signal.SIGKILL)
    return process.exitcode != 0


def charged(folder: Path) -> list[tuple[str, int]]:
    """What was paid, and under which key."""
    file = folder / "charges"
    lines = file.read_text().splitlines() if file.exists() else []
    return [(key, cents) for key, cents in map(json.loads, lines)]


def outcomes(result: RunResult) -> list[str]:
    return [
        message.outcome
        for message in result.state.transcript
        if isinstance(message, ToolResultMessage)
    ]


def test_a_run_that_is_not_killed_pays_twice(tmp_path: Path) -> None:
    assert go(tmp_path, "report").output == "Done."
    assert [cents for _, cents in charged(tmp_path)] == [1, 2]


@pytest.mark.parametrize("mode", MODES)
def test_wherever_a_process_is_killed_another_goes_on(
    tmp_path: Path, mode: Literal["report", "retry"]
) -> None:
    """D82: nothing is lost, nothing is charged twice, and a retry has its first key."""
    fatal, told = 0, set[str]()
    while killed(go, folder_of(tmp_path, fatal), mode, fatal):
        told |= set(gone_on(folder_of(tmp_path, fatal), mode))
        fatal += 1

    assert fatal > 20
    assert told == ({"ok", "interrupted"} if mode == "report" else {"ok"})


def folder_of(above: Path, number: int) -> Path:
    """A folder for the run that is killed at this moment."""
    folder = above / str(number)
    folder.mkdir(exist_ok=True)
    return folder


def gone_on(folder: Path, mode: Literal["report", "retry"]) -> list[str]:
    """How the calls of a killed run ended once it was gone on with, if all is right."""
    result = go(folder, mode)
    paid, ended = charged(folder), outcomes(result)
    assert (result.output, len(ended)) == ("Done.", len(CHARGES))
    keys = ("r.1.1.run.0", "r.1.2.run.0")
    assert dict(paid).keys() <= set(keys)
    for key, outcome in zip(keys, ended, strict=True):
        times = [one for one, _ in paid].count(key)
        assert (
            times == 1 or (outcome == "interrupted" and times == 0) or mode == "retry"
        )
        assert times >= 1 or outcome == "interrupted"
    config, _ = app(folder, mode, Moments(-1))
    assert replay(config, _read(folder)).unwrap().result.state == result.state
    return ended


def _read(folder: Path) -> Journal:
    return Journal.read(folder / "r.jsonl").unwrap()


@pytest.mark.parametrize("mode", MODES)
def test_a_process_may_be_killed_again_and_again(
    tmp_path: Path, mode: Literal["report", "retry"]
) -> None:
    """Each one gets a little further than the one before."""
    times = 0
    while killed(go, tmp_path, mode, 7):
        times += 1
        assert times < 30

    result = go(tmp_path, mode)

    assert (result.output, times > 1) == ("Done.", True)
    assert len({key for key, _ in charged(tmp_path)}) <= len(CHARGES)


def test_a_state_that_is_given_without_its_journal_has_nothing_under_way(
    tmp_path: Path,
) -> None:
    """D82: without a note, a pending tool is simply performed."""
    fatal, state = 0, None
    config, interpreter = app(tmp_path, "report", Moments(-1))
    while not state or not is_paying(state):
        folder = folder_of(tmp_path, fatal)
        assert killed(go, folder, "report", fatal)
        if (folder / "r.jsonl").exists():
            state = replay(config, _read(folder)).unwrap().result.state
        fatal += 1

    result = run_sync(config, interpreter, state=state)

    assert (result.output, outcomes(result)) == ("Done.", ["ok", "ok"])


def is_paying(state: State) -> bool:
    return any(isinstance(effect, RunTool) for effect in state.waiting)
