# policy.py
from loopcore.hooks import Block, Hooks, Need, ToolCallView
from returns.result import Success

def allowed(view: ToolCallView) -> Block | Need | None:
    match view.answers.get("verdict"):
        case Success({"allow": True}):
            return None
        case None:
            return Need.service("verdict", "policy", {"tool": view.tool})
        case _:
            return Block("the policy server says no")

guard = Hooks(before_tool_call=allowed)
# and the one who acts:  Interpreter(model, weather, services={"policy": ask_the_server})
