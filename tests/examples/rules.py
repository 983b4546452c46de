# rules.py
from loopcore.hooks import Block, Hooks, ToolCallUpdate, ToolCallView, ToolResultUpdate, ToolResultView

def no_deletes(view: ToolCallView) -> Block | None:
    if view.tool == "delete_file":
        return Block("file deletion is disabled in this session")   # the model reads this text
    return None

def soften(view: ToolResultView) -> ToolResultUpdate | None:
    """A slow page is not a failure. Everything not named here stays as the tool left it."""
    if view.outcome == "timeout":
        return ToolResultUpdate(content="No answer in time; carry on without it.", is_error=False)
    return None

def at_most(times: int) -> Hooks:
    """Let each tool run a given number of times per conversation."""

    def count(view: ToolCallView) -> ToolCallUpdate | Block:
        used = view.memo.get(view.tool, 0)
        if used == times:
            return Block(f"{view.tool} was already used {times} times")
        return ToolCallUpdate(memo={**view.memo, view.tool: used + 1})

    return Hooks("at_most", memo={}, before_tool_call=count)   # memo: what it remembers at the start

rules = [Hooks(before_tool_call=no_deletes), Hooks(after_tool_call=soften).for_tools("fetch"), at_most(3)]

assert ToolResultUpdate(is_error=False) | ToolResultUpdate(details=None) == ToolResultUpdate(
    is_error=False, details=None)              # `|` is the merge: the right side wins, field by field
