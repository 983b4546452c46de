# tomorrow.py
from pathlib import Path

from loopcore import State, run_sync

from today import config, interpreter

state = State.loads(Path("invoice-1812.json").read_bytes()).unwrap()
answers = [
    ask.approve() if ask.arguments["cents"] <= 5_000 else ask.reject("over the limit, ask Ada")
    for ask in state.approvals                     # also: ask.edit(cents=100), ask.respond("paid by hand")
]
result = run_sync(config, interpreter, *answers, state=state)
print(result.output)
