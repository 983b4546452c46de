# rewrite.py
from loopcore.hooks import Hooks, ToolResultUpdate, ToolResultView

def soften(view: ToolResultView) -> ToolResultUpdate | None:
    """A slow page is not a failure. Everything not named here stays as the tool left it."""
    if view.outcome == "timeout":
        return ToolResultUpdate(content="No answer in time; carry on without it.", is_error=False)
    return None

def no_details(view: ToolResultView) -> ToolResultUpdate:
    return ToolResultUpdate(details=None)          # None is a value: it clears. UNSET keeps.

rules = [Hooks(after_tool_call=soften).for_tools("fetch"), Hooks(after_tool_call=no_details)]
assert ToolResultUpdate(is_error=False) | ToolResultUpdate(details=None) == ToolResultUpdate(
    is_error=False, details=None)                  # `|` is the merge: the right side wins, field by field
