"""The pages in loopcore/docs: their code runs, and no name that they promise is missing."""

import logging
import re
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, get_args

import attrs
import pytest

import loopcore
from loopcore import ModelError
from loopcore.hooks.points import POINTS
from loopcore.messages import FAULTS, Fault
from loopcore.runtime.inspect import Inspector
from loopcore.testing import check_hooks

DOCS: Final = Path(str(files("loopcore") / "docs"))
PAGES: Final = sorted(page.name for page in DOCS.glob("*.md"))
CODE: Final = re.compile(r"```python\n(.*?)```", re.DOTALL)


def text_of(page: str) -> str:
    """A page."""
    return (DOCS / page).read_text(encoding="utf-8")


def names_of(page: str) -> dict[str, Any]:
    """What the code of a page comes to, run from top to bottom."""
    level = logging.getLogger("loopcore").level
    names: dict[str, Any] = {"__name__": "page"}
    for block in CODE.finditer(text_of(page)):
        above = "\n" * text_of(page)[: block.start(1)].count("\n")
        exec(compile(above + block[1], page, "exec"), names)  # noqa: S102  # its own code
    logging.getLogger("loopcore").setLevel(level)
    return names


def test_there_are_pages() -> None:
    """They lie in the package, so that the wheel has them."""
    assert {"hooks.md", "tool_loop.md"} <= set(PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_the_code_of_a_page_runs_from_top_to_bottom(page: str) -> None:
    """Weakness 22: what is written about the loop cannot be something else than it does."""
    assert names_of(page).keys() > {"__name__"}


@pytest.mark.parametrize(("at", "keep"), [(2, 1), (4, 2), (6, 3)])
def test_the_summary_that_the_page_on_hooks_shows_parts_no_pair(
    at: int, keep: int
) -> None:
    """What is shown, and what the summary is made of, may be sent to any server."""
    rule = names_of("hooks.md")["compacting"](at, keep=keep)

    assert check_hooks(rule, examples=25).views


@pytest.mark.parametrize("page", PAGES)
def test_all_code_of_a_page_is_run(page: str) -> None:
    fences = re.findall(r"^```(\w*)", text_of(page), re.MULTILINE)

    assert {"python", ""} == set(fences)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_names_pages_that_are_there(page: str) -> None:
    assert set(re.findall(r"`(\w+\.md)`", text_of(page))) <= set(PAGES)


def test_every_point_is_on_the_page_about_hooks_with_all_that_it_may_change() -> None:
    rows = {row[0]: row for row in table_of("hooks.md", "point")}

    assert list(POINTS) == list(rows)
    for name, point in POINTS.items():
        fields = [f.name for f in attrs.fields(point.update) if f.name != "memo"]
        said = rows[name][2]
        assert said == "the same" or set(words_of(said)) >= set(fields)


def words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def table_of(page: str, head: str) -> list[list[str]]:
    """The rows of the table whose first heading begins like this."""
    lines = text_of(page).splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith(f"| {head}"))
    rows = lines[first + 2 :]
    end = next(n for n, line in enumerate([*rows, ""]) if not line.startswith("|"))
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[:end]]
    return [[row[0].strip("`"), *row[1:]] for row in cells]


LIFECYCLE: Final = """
agent.Options LoopConfig TransformContext BeforeToolCall Execute AfterToolCall PrepareNextTurn
ShouldStopAfterTurn agent.BeforeToolCallCtx block reason c.ToolCall.Name agent.AfterToolCallCtx
c.IsError agent.AfterToolCallResult Content Details IsError Terminate agent.TurnCtx
agent.TurnUpdate Context Model ThinkingLevel llm.GetModel c.NewMessages NewMessages
agent.AgentMessage compact panic ConvertToLLM delete_file nil
"""
TOOL_LOOP: Final = """
ToolLoop ToolLoopCallback ToolLoopInspector beforeLlmCall afterLlmCall afterToolResult
afterIteration ToolLoopTransformer transformBeforeLlmCall transformAfterLlmCall
transformAfterToolResult transformAfterIteration BeforeLlmCallContext AfterLlmCallContext
AfterToolResultContext AfterIterationContext BeforeToolCallContext AfterToolCallContext
context.history context.response context.resultAsString iteration tools tokenEstimate usage
toolCall result toolCallsInIteration durationMs ToolLoopLoggingInspector ToolCallInspector
beforeToolCall afterToolCall ToolCallLoggingInspector ToolResultTruncatingTransformer
SlidingWindowTransformer LogLevel TRACE DEBUG INFO logger ai.withDefaultLlm withTools
withToolLoopInspectors withToolLoopTransformers withToolCallInspectors withToolObject Tooling
PromptRunner creating fromPrompt RestaurantRecommendation.class callbackTracker
"""
"""Every name of the two documents: hooks, contexts and their fields, callbacks, samples."""


@pytest.mark.parametrize("name", (LIFECYCLE + TOOL_LOOP).split())
def test_every_name_of_both_documents_has_its_place(name: str) -> None:
    assert re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text_of("tool_loop.md"))


@pytest.mark.parametrize("page", ["hooks.md", "tool_loop.md"])
def test_what_a_page_calls_ours_is_there(page: str) -> None:
    """Weakness 22: names that were renamed are found out."""
    ours = re.findall(
        r"`((?:on|transform|after|before|prepare|should)_\w+)", text_of(page)
    )
    known = {*POINTS, *vars(Inspector)}

    assert ours
    assert set(ours) <= known


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_on_the_page_about_models_with_whether_it_may_pass(
    fault: Fault,
) -> None:
    (row,) = (
        line
        for line in text_of("models.md").splitlines()
        if line.startswith("|") and f"`{fault}`" in line.split("|")[1]
    )

    passes = ModelError("no", fault).retryable
    assert row.split("|")[3].strip() == ("yes" if passes else "no")


def test_every_event_is_on_the_page_about_loops() -> None:
    kinds = (kind.__name__ for kind in get_args(loopcore.Event))

    assert [kind for kind in kinds if kind not in text_of("tool_loop.md")] == []
