# stop_on_error.py
from loopcore.hooks import Hooks, ToolResultUpdate, ToolResultView, TurnView

def ask_to_end(view: ToolResultView) -> ToolResultUpdate | None:
    """The documents' rule: the run ends if every result of the batch asks for it."""
    return ToolResultUpdate(terminate=True) if view.is_error else None

def any_failed(view: TurnView) -> str | None:
    """The comment's intention: one failure ends the run, whatever its siblings did."""
    failed = [r.name for r in view.results if r.is_error]
    return f"failed: {', '.join(failed)}" if failed else None

all_must_fail = Hooks(after_tool_call=ask_to_end)           # stop.reason == "terminated"
one_is_enough = Hooks(should_stop_after_turn=any_failed)    # stop.reason == "hook", stop.detail == "failed: fetch"
