# subagent.py
from loopcore import Interpreter, LoopConfig, run_sync, tool
from loopcore.policies import limits
from loopcore_adapters import connect

quick, strong = connect("local:qwen2.5-coder-0.5b"), connect("deepseek:deepseek-chat")

@tool
def search(query: str) -> str:
    """Search the handbook."""
    return "Paid leave: 30 days."

librarian = LoopConfig(model=quick, tools=[search], hooks=[limits(turns=6)], system="Answer from the handbook only.")
ask_librarian = librarian.as_tool("ask_librarian", "Answers one question about company rules.")
boss = LoopConfig(model=strong, tools=[ask_librarian])
print(run_sync(boss, Interpreter(quick, strong, search), "How much leave do I have left?").output)
