# block.py
from loopcore import Interpreter, LoopConfig, tool
from loopcore.hooks import Block, Hooks, ToolCallView

from app import model

@tool
def delete_file(path: str) -> str:
    """Delete a file."""
    raise NotImplementedError  # it is blocked: to reach this is the fault
@tool
def fetch(url: str) -> str:
    """Read a page."""
    raise NotImplementedError  # called, and fails: the model is told so, and the run goes on

def no_deletes(view: ToolCallView) -> Block | None:
    if view.call.name == "delete_file":
        return Block("file deletion is disabled in this session")   # the model reads this text
    return None

config = LoopConfig(model=model, tools=[fetch, delete_file], hooks=[Hooks(before_tool_call=no_deletes)])
interpreter = Interpreter(model, fetch, delete_file)
