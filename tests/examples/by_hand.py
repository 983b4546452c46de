# by_hand.py
import time

from loopcore import Answer, CallModel, Effect, RequestApproval, RunResult, RunTool, Sleep, State, advance
from my_llm import complete
from my_tools import TOOLS

from app import config

def answer(effect: Effect) -> Answer:
    match effect:
        case CallModel(): return effect.reply(complete(effect.messages))
        case RunTool(): return effect.reply(TOOLS[effect.call.name](**effect.arguments))
        case RequestApproval(): return effect.approve()
        case Sleep(): time.sleep(effect.seconds); return effect.done()
        case _: return effect.fail("there are no services here")

state, effects = advance(config, State.start(config, run_id="r1"), "Umbrella in Paris?").unwrap()
while state.waiting:                               # your scheduler: any order, any thread, any machine
    state, effects = advance(config, state, answer(state.waiting[0])).unwrap()
print(RunResult.of(config, state).output)
