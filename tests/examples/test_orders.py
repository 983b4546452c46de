# test_orders.py
from loopcore import Abort, AssistantMessage, State, Steer, ToolCall, ToolResultMessage
from loopcore.testing import explore

from block import config                                    # the one that blocks delete_file

def in_pairs(state: State) -> bool:
    asked = [c.id for m in state.transcript if isinstance(m, AssistantMessage) for c in m.calls]
    told = [m.call_id for m in state.transcript if isinstance(m, ToolResultMessage)]
    return told == (asked if state.stop else asked[: len(told)])

def test_every_call_is_answered_once_whatever_comes_first() -> None:
    found = explore(
        config, "go",
        replies=[[ToolCall("fetch", {"url": "u"}, id="a"), ToolCall("delete_file", {"path": "p"}, id="b")], "done"],
        tools={"fetch": ["ok", TimeoutError()]},            # each may end in any of these ways, in any order
        also=[Steer("hurry"), Abort()],                     # and these may arrive at any moment
        check=in_pairs,
    )
    assert found.counterexample is None, found              # prints the shortest failing order
