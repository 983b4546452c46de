# backtest.py
from pathlib import Path

import attrs
from loopcore.hooks import Block, Hooks, ToolCallView
from loopcore.journal import backtest

from block import config

def https_only(view: ToolCallView) -> Block | None:
    return Block("use https") if str(view.arguments.get("url", "")).startswith("http:") else None

stricter = attrs.evolve(config, hooks=[*config.hooks, Hooks(before_tool_call=https_only)])
report = backtest(Path("runs").glob("*.jsonl"), old=config, new=stricter)
print(report.table())                               # run, turn, what changes, which hook, and its old and new value
for change in report.changed:
    print(change.journal, change.turn, change.hook)
