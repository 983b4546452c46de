"""Many small runs, alike but for what they fetch: for pictures and measurements."""

from typing import Final

import attrs

from loopcore import (
    Answer,
    AssistantMessage,
    LoopConfig,
    Prompt,
    State,
    ToolCall,
    ToolOutput,
    ToolSpec,
)
from loopcore.hooks import Block, Hooks, ToolCallView
from loopcore.journal import Backtest, Journal, backtest
from loopcore.policies import limits

FETCH: Final = ToolSpec("fetch", "Read a page.", {"type": "object"})
CONFIG: Final = LoopConfig(model="test:many", tools=[FETCH])
HOSTS: Final = ("docs.example", "shop.example", "news.example", "wiki.example")


def https_only(view: ToolCallView) -> Block | None:
    """Let nothing be fetched in the open."""
    return Block("use https") if view.arguments["url"].startswith("http:") else None


STRICTER: Final = attrs.evolve(
    CONFIG, hooks=[Hooks(before_tool_call=https_only), limits(turns=6)]
)


def lived(n: int) -> Journal:
    """The run of this number: some fetch an open page, some go on for long."""
    run_id = f"run-{n:04}"
    start = State.start(CONFIG, run_id=run_id)
    luck = start.seed
    turns = 2 + luck % 4 + 5 * (luck % 29 == 0)
    happened: list[Prompt | Answer] = [Prompt("Find it out.")]
    for turn in range(1, turns + 1):
        scheme = "http" if luck % 23 == turn else "https"
        url = f"{scheme}://{HOSTS[(n + turn) % len(HOSTS)]}/{n}/{turn}"
        call = ToolCall("fetch", {"url": url}, f"c{turn}")
        reply = AssistantMessage([call], model=CONFIG.model, finish="tools")
        happened.append(Answer(f"{run_id}.1.{turn}.model.1", reply))
        happened.append(
            Answer(f"{run_id}.1.{turn}.run.0", ToolOutput(f"The page {url}."))
        )
    last = AssistantMessage("Here it is.", model=CONFIG.model)
    happened.append(Answer(f"{run_id}.1.{turns + 1}.model.1", last))
    return attrs.evolve(
        Journal.of(CONFIG, start, happened).unwrap(), path=f"{run_id}.jsonl"
    )


def tried(count: int) -> Backtest:
    """What the stricter configuration would have done in so many of them."""
    return backtest(map(lived, range(count)), old=CONFIG, new=STRICTER, workers=1)
