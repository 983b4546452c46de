"""Redacted journals: what is nowhere in them, what stays, and what still verifies."""

from pathlib import Path
from typing import Any

import pytest
from returns.result import Failure, Success

from loopcore import (
    Interpreter,
    LoopConfig,
    Prompt,
    ToolCall,
    ToolSpec,
    run_sync,
    tool,
)
from loopcore.frozen import freeze_object
from loopcore.hiding import hide_record, hider, hider_of
from loopcore.journal import Journal, Recorder, backtest, diff, fork, replay, shrink
from loopcore.testing import ScriptedModel

SECRET = "hunter2"  # noqa: S105  # it opens nothing


@tool
def weather(city: str) -> str:
    """Say the weather."""
    return f"{city}: 17 °C"


SPEC = ToolSpec(
    "open_door",
    f"Say {SECRET} to it.",
    {
        "type": "object",
        "properties": {
            "description": {"type": "string", "description": f"such as {SECRET}"},
            "word": {"enum": [SECRET, "please"], "default": SECRET},
            "times": {"type": "integer", "maximum": 1000},
        },
    },
    elsewhere=True,
)
CONFIG = LoopConfig(
    model="test:script", tools=[weather], system=f"The word is {SECRET}."
)


def recorded(path: Path, redact: Any) -> LoopConfig:
    """A run whose configuration has the secret, as have tools that a prompt brings."""
    model = ScriptedModel(ToolCall("weather", {"city": SECRET}, "c1"), SECRET, "Done.")
    journal, interpreter = Recorder(path, redact=redact), Interpreter(model, weather)
    state = run_sync(CONFIG, interpreter, SECRET, run_id="r1", journal=journal).state
    more = Prompt("Go on", tools=[SPEC])
    run_sync(CONFIG, interpreter, more, state=state, journal=journal).unwrap()
    return CONFIG


def test_what_a_configuration_and_its_tools_say_is_nowhere_either(
    tmp_path: Path,
) -> None:
    path = tmp_path / "r.jsonl"

    recorded(path, SECRET)

    assert SECRET not in path.read_text(encoding="utf-8")


def test_a_configuration_with_the_secret_verifies_if_it_is_hidden_there_too(
    tmp_path: Path,
) -> None:
    """Architecture 10: the digests are of the redacted form on both sides."""
    path = tmp_path / "r.jsonl"
    config = recorded(path, SECRET)

    assert isinstance(replay(config, Journal.read(path).unwrap()), Failure)
    journal = Journal.read(path, redact=SECRET).unwrap()

    assert isinstance(replay(config, journal), Success)
    assert isinstance(fork(config, journal, run_id="r2", turn=1), Success)
    assert backtest([journal], old=config, new=config).same == (str(path),)
    assert diff(config, journal, journal).is_same


def test_what_is_made_of_a_redacted_journal_has_no_secret(tmp_path: Path) -> None:
    """What is folded again has the configuration's own texts."""
    path, small = tmp_path / "r.jsonl", tmp_path / "small.jsonl"
    config = recorded(path, SECRET)
    journal = Journal.read(path, redact=SECRET).unwrap()

    shrink(config, journal, lambda again: bool(again.steps)).write(small)

    assert SECRET not in small.read_text(encoding="utf-8")


def test_a_tool_keeps_its_name_and_its_rules() -> None:
    """A schema must stay one, whatever a pattern finds in it."""
    hide = hider_of([SECRET, r"\d{3,}", "string|object|integer", "open|word|parallel"])
    assert hide is not None

    hidden = hide_record(SPEC, hide)

    gone = "[redacted]"
    properties = {
        "description": {"type": "string", "description": f"such as {gone}"},
        "word": {"enum": [gone, "please"], "default": gone},
        "times": {"type": "integer", "maximum": 1000},
    }
    assert hidden.parameters == freeze_object(
        {"type": "object", "properties": properties}
    )
    assert hidden == ToolSpec(
        "open_door", f"Say {gone} to it.", hidden.parameters, elsewhere=True
    )


@pytest.mark.parametrize("patterns", [[r"\w+"], [SECRET, "[a-z]+"], [r"[^ ]+"], ["e"]])
def test_what_is_hidden_already_stays_as_it_is(patterns: list[str]) -> None:
    """Records pass through more than once."""
    hide = hider("redact", patterns, "[redacted]")

    once = hide(f"say {SECRET}, then [redacted]")

    assert hide(once) == once


@pytest.mark.parametrize("pattern", [r"[a-z]+", r"\d+", ".", r"\w{4,}", '"', r"[\[{]"])
def test_a_pattern_that_finds_nearly_everything_is_recorded_and_read(
    tmp_path: Path, pattern: str
) -> None:
    path = tmp_path / "r.jsonl"

    recorded(path, pattern)

    assert len(Journal.read(path).unwrap().entries) == 6
