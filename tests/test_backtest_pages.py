"""A backtest as pages."""

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import attrs
import pytest

from loopcore import Interpreter, LoopConfig, ToolCall, run_sync, tool
from loopcore.hooks import Block, Hooks, ToolCallView
from loopcore.journal import Backtest, backtest
from loopcore.testing import ScriptedModel
from loopcore_adapters.viewer import index, write_pages

HOSTILE = "<script>alert(1)</script>\"'&\u202e"


@tool
def fetch(url: str) -> str:
    """Read a page."""
    return f"the page {url}"


def http_only(view: ToolCallView) -> Block | None:
    return Block(HOSTILE) if "http:" in view.arguments["url"] else None


CONFIG = LoopConfig(model="test:script", tools=[fetch])
STRICT = attrs.evolve(CONFIG, hooks=[Hooks(before_tool_call=http_only)])


class Tags(HTMLParser):
    """Every tag of a page, with its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, Any]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def of(self, tag: str) -> list[dict[str, Any]]:
        return [attributes for name, attributes in self.found if name == tag]


@pytest.fixture
def found(tmp_path: Path) -> Backtest:
    urls = {"a": "https://x", "b<i>": f"http:{HOSTILE}", "c": "http://z"}
    for name, url in urls.items():
        call = ToolCall("fetch", {"url": url}, "c1")
        interpreter = Interpreter(ScriptedModel(call, "done"), fetch)
        run_sync(
            CONFIG, interpreter, "Go!", journal=tmp_path / "runs" / f"{name}.jsonl"
        )
    (tmp_path / "runs" / "d.jsonl").write_text("{}")
    files = sorted((tmp_path / "runs").glob("*.jsonl"))
    return backtest(files, old=CONFIG, new=STRICT)


def cells(text: str) -> list[str]:
    """The kinds of the cells that stand for journals."""
    tags = [attributes for _, attributes in Tags(text).found]
    return [a["class"].split()[1] for a in tags if a.get("role") == "listitem"]


def test_each_journal_is_a_cell_in_the_colour_of_its_hook(found: Backtest) -> None:
    assert cells(index(found, {})) == ["same", "c0", "c0", "broken"]


def test_what_changes_is_a_row(found: Backtest) -> None:
    rows = Tags(index(found, {})).of("tr")

    assert len(rows) == 1 + len(found.changed)


def test_a_page_holds_nothing_but_text(found: Backtest) -> None:
    text = index(found, {})
    tags = Tags(text)

    assert tags.of("script") == []
    assert "default-src 'none'" in tags.of("meta")[1]["content"]
    assert all(not name.startswith("on") for _, a in tags.found for name in a)
    assert "<script>" not in text


def test_journals_that_change_have_pages(found: Backtest, tmp_path: Path) -> None:
    first = write_pages(found, STRICT, tmp_path / "out")

    links = [a["href"] for a in Tags(first.read_text("utf-8")).of("a")]
    assert sorted(set(links)) == ["0000.html", "0001.html"]
    assert sorted(p.name for p in first.parent.iterdir()) == [
        "0000.html",
        "0001.html",
        "index.html",
    ]
    with pytest.raises(FileExistsError):
        write_pages(found, STRICT, tmp_path / "out")
