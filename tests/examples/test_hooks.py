# test_hooks.py
from hypothesis import given
from loopcore import AssistantMessage, ToolResultMessage
from loopcore.hooks import ContextView, apply
from loopcore.policies import sliding_window
from loopcore.testing import check_hooks, strategies

window = sliding_window(4)

def test_it_is_a_hook() -> None:
    check_hooks(window)          # total, deterministic, pure, declares what it writes, survives a save and a fork

@given(strategies.views(ContextView, max_turns=10))
def test_every_shown_result_follows_its_call(view: ContextView) -> None:
    asked: set[str] = set()
    for message in apply([window], view).view.messages:     # the view as the next hook would see it
        if isinstance(message, ToolResultMessage):
            assert message.call_id in asked
        elif isinstance(message, AssistantMessage):
            asked |= {call.id for call in message.calls}
