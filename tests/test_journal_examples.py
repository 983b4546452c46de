"""The journal examples that users are shown, run as they stand: api 1.16 to 1.18."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from loopcore import Interpreter, ToolCall, run_sync, tool
from loopcore.journal import Journal
from loopcore.testing import ScriptedModel
from tests import standing_in
from tests.examples_folder import EXAMPLES, NAMES

WEATHER = ToolCall("weather", {"city": "Paris"}, "c1")


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    """Import an example in a folder of its own, with models that need nothing."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(EXAMPLES)
    monkeypatch.setitem(sys.modules, "loopcore_adapters", standing_in)
    yield importlib.import_module
    for name in NAMES:
        sys.modules.pop(name, None)


def test_a_run_is_recorded_and_replayed(
    load: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """Api 1.16."""
    load("record")

    assert capsys.readouterr().out == (
        f"4 steps, the same to the byte: {standing_in.ANSWER}\n"
    )
    assert Journal.read("runs/r1.jsonl").unwrap().run_id == "r1"


def test_the_recorded_run_is_forked_after_its_first_turn(
    load: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """Api 1.17."""
    app = load("app")
    model = ScriptedModel(WEATHER, "No.", id=app.model.id)
    interpreter = Interpreter(model, app.weather)
    journal = "runs/r1.jsonl"
    run_sync(app.config, interpreter, "Umbrella?", run_id="r1", journal=journal)

    result = load("fork").result

    assert capsys.readouterr().out == f"{standing_in.ANSWER}\n"
    assert len(result.state.transcript) == 4
    assert result.state.transcript[-1].model == "anthropic:claude-sonnet-4-5"
    assert Journal.read("runs/r1-strong.jsonl").unwrap().run_id == "r1-strong"


def test_a_rule_is_tried_on_recorded_runs(
    load: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """Api 1.18."""
    block = load("block")

    @tool
    def fetch(url: str) -> str:
        """Read a page."""
        return f"the page {url}"

    for name, url in (("a", "https://x"), ("b", "http://y")):
        call = ToolCall("fetch", {"url": url}, "c1")
        model = ScriptedModel(call, "Done.", id=block.config.model)
        interpreter = Interpreter(model, fetch, block.delete_file)
        run_sync(block.config, interpreter, "Go!", journal=f"runs/{name}.jsonl")

    report = load("backtest").report

    assert [change.new for change in report.changed] == ["blocked: 'use https'"]
    assert capsys.readouterr().out.splitlines()[-1] == "runs/b.jsonl 1 https_only"
