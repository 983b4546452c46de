# review.py
from loopcore import Interpreter, LoopConfig, run_sync
from loopcore.hooks import Hooks, TurnUpdate, TurnView
from loopcore_adapters import connect

quick = connect("local:qwen2.5-coder-0.5b")
strong = connect("anthropic:claude-sonnet-4-5")    # another wire protocol: history is adapted per request

def then_review(view: TurnView) -> TurnUpdate | None:
    if len(view.new_messages) == 2:                # the prompt and the draft
        return TurnUpdate(model=strong, inject="Review the draft above, then write the final version.")
    return None

config = LoopConfig(model=quick, hooks=[Hooks(prepare_next_turn=then_review)])
print(run_sync(config, Interpreter(quick, strong), "A release note for 2.0").output)
