"""What the ready-made rules remember, where a record hides texts that it was made of."""

from pathlib import Path
from typing import Final

import pytest
from returns.result import Success

from loopcore import Given, Interpreter, LoopConfig, ToolCall, run_sync, tool
from loopcore.hooks import Hooks
from loopcore.journal import Journal, Recorder, replay
from loopcore.policies import ask_before, compact, limits
from loopcore.testing import ScriptedModel
from loopcore.testing.doubles.scripted import Reply

SECRET: Final = "hunter2"  # noqa: S105  # it opens nothing
LONG: Final = "x" * 200


@tool
def look(city: str, more: str = "") -> str:
    """Look."""
    return f"{city} is fine{more}"


@tool
def fails(city: str, more: str = "") -> str:
    """Fail."""
    raise ValueError(city + more)


@tool
def pay(city: str) -> str:
    """Pay."""
    return city


def again(name: str, *more: ToolCall) -> list[ToolCall]:
    """A reply that calls this tool with the secret, as the one before it did."""
    return [ToolCall(name, {"city": SECRET, "more": LONG}, name), *more]


ASKED: Final = ToolCall("pay", {"city": "Paris"}, "pay")
SUMMED: Final[tuple[Reply, ...]] = (again("look"), again("look"), "SUM", "done")
FAILED: Final[tuple[Reply, ...]] = (again("fails"), again("fails", ASKED))

CASES: Final = {
    "compact": (compact(4, keep=2), SUMMED, ("more", "SUM 2", "done")),
    "limits": (limits(repeats=3), FAILED, (again("fails"), "done")),
}


@pytest.mark.parametrize("redact", [SECRET, "ter2"])
@pytest.mark.parametrize("name", CASES)
def test_a_run_that_goes_on_in_a_record_without_its_secrets_replays(
    name: str, redact: str, tmp_path: Path
) -> None:
    """Architecture 10: what was remembered is hidden there as what it is about."""
    rule, before, after = CASES[name]
    config, path = _config(rule), tmp_path / "more.jsonl"
    state = run_sync(config, _speaking(before), "Look", run_id="r").state
    answers = [effect.approve() for effect in state.approvals]

    given: list[Given] = [*answers] or ["More"]  # the run waits, or is over
    interpreter, journal = _speaking(after), Recorder(path, redact=redact)
    result = run_sync(config, interpreter, *given, state=state, journal=journal)

    assert result.stop is not None
    assert isinstance(replay(config, Journal.read(path).unwrap()), Success)


def _config(rule: Hooks) -> LoopConfig:
    hooks = [rule, ask_before(pay)]
    return LoopConfig(model="test:script", tools=[look, fails, pay], hooks=hooks)


def _speaking(replies: tuple[Reply, ...]) -> Interpreter:
    return Interpreter(ScriptedModel(*replies), look, fails, pay)
