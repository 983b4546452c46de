"""The README shows code that runs: its blocks are the examples, to the letter."""

import asyncio
import importlib
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from loopcore import (
    Interpreter,
    LoopConfig,
    ToolCall,
    ToolResultMessage,
    run_sync,
    tool,
)
from loopcore.testing import ScriptedModel
from tests import standing_in

ROOT: Final = Path(__file__).parent.parent
EXAMPLES: Final = ROOT / "tests" / "examples"
README: Final = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS: Final = dict(
    re.findall(r"```python\n# (\w+\.py)\n(.*?)```", README, flags=re.DOTALL)
)


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_of_the_readme_is_an_example(name: str) -> None:
    shown = f"# {name}\n{BLOCKS[name]}"

    assert (EXAMPLES / name).read_text(encoding="utf-8") == shown


def test_every_block_of_the_readme_is_named_or_the_idea_itself() -> None:
    unnamed = re.findall(r"```python\n(?!# \w+\.py\n)(.*?)```", README, flags=re.DOTALL)

    assert 1 == len(unnamed)
    assert "state, effects = step(config, state)" in unnamed[0]


def test_links_and_pictures_of_the_readme_are_there() -> None:
    prose = re.sub(r"```.*?```", "", README, flags=re.DOTALL)
    targets = re.findall(r"\]\((?!http)([^)#]+)\)", prose)

    assert targets
    assert [] == [target for target in targets if not (ROOT / target).exists()]


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Any]]:
    """Import an example with models that need nothing."""
    monkeypatch.syspath_prepend(EXAMPLES)
    monkeypatch.setitem(sys.modules, "loopcore_adapters", standing_in)
    yield importlib.import_module
    for file in EXAMPLES.glob("*.py"):
        sys.modules.pop(file.stem, None)


@tool
def fetch(url: str) -> str:
    """Read a page."""
    raise TimeoutError(url)


@tool
def delete_file(path: str) -> str:
    """Delete a file."""
    return f"deleted {path}"


def test_the_rules_of_the_readme_block_count_and_soften(
    load: Callable[[str], Any],
) -> None:
    rules = load("rules").rules
    calls = [ToolCall("fetch", {"url": "u"}, f"c{n}") for n in range(4)]
    model = ScriptedModel([*calls, ToolCall("delete_file", {"path": "p"}, "d")], "done")
    config = LoopConfig(model=model, tools=[fetch, delete_file], hooks=rules)

    result = run_sync(config, Interpreter(model, fetch, delete_file), "go")

    results = [m for m in result.messages if isinstance(m, ToolResultMessage)]
    stored = {m.call_id: (m.outcome, m.text) for m in results}
    assert ("blocked", "fetch was already used 3 times") == stored["c3"]
    assert ("blocked", "file deletion is disabled in this session") == stored["d"]
    assert ("ok", "No answer in time; carry on without it.") == stored["c0"]


@pytest.mark.parametrize(("allow", "outcome"), [(True, "ok"), (False, "blocked")])
def test_the_policy_of_the_readme_asks_its_service(
    load: Callable[[str], Any], *, allow: bool, outcome: str
) -> None:
    asked: list[object] = []

    async def policy(data: object) -> dict[str, bool]:
        await asyncio.sleep(0)
        asked.append(data)
        return {"allow": allow}

    model = ScriptedModel(ToolCall("delete_file", {"path": "p"}, "d"), "done")
    guard = load("policy").guard
    config = LoopConfig(model=model, tools=[delete_file], hooks=[guard])
    interpreter = Interpreter(model, delete_file, services={"policy": policy})

    result = run_sync(config, interpreter, "go")

    (stored,) = [m for m in result.messages if isinstance(m, ToolResultMessage)]
    assert outcome == stored.outcome
    assert [{"tool": "delete_file"}] == asked


def test_the_window_of_the_readme_makes_a_configuration(
    load: Callable[[str], Any],
) -> None:
    names = [hook.name for hook in load("bounded").config.hooks]

    assert ["truncate_results", "sliding_window", "limits", "retry"] == names
