# memory.py
from loopcore import LoopConfig
from loopcore.hooks import Block, Hooks, ToolCallUpdate, ToolCallView

from app import model, weather

def at_most(times: int) -> Hooks:
    """Let each tool run a given number of times per conversation."""

    def count(view: ToolCallView) -> ToolCallUpdate | Block:
        used = view.memo.get(view.call.name, 0)
        if used == times:
            return Block(f"{view.call.name} was already used {times} times")
        return ToolCallUpdate(memo={**view.memo, view.call.name: used + 1})

    return Hooks("at_most", memo={}, before_tool_call=count)   # memo: what it remembers at the start

config = LoopConfig(model=model, tools=[weather], hooks=[at_most(3)])
