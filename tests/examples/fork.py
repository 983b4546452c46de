# fork.py
from loopcore import Continue, Interpreter, run_sync
from loopcore.journal import Journal, fork
from loopcore_adapters import connect

from app import config, model, weather

strong = connect("anthropic:claude-sonnet-4-5")
past = Journal.read("runs/r1.jsonl").unwrap()
state = fork(config, past, turn=1, run_id="r1-strong").unwrap()   # after turn 1; shares its memory with the past
result = run_sync(config, Interpreter(model, strong, weather), Continue(model=strong),
                  state=state, journal="runs/r1-strong.jsonl")
print(result.output)
