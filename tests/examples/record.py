# record.py
from loopcore import run_sync
from loopcore.journal import Journal, replay
from returns.result import Failure, Success

from app import config, interpreter

run_sync(config, interpreter, "Umbrella in Paris?", run_id="r1", journal="runs/r1.jsonl")

past = Journal.read("runs/r1.jsonl").unwrap()
match replay(config, past):                        # no model, no tool, no network, no clock
    case Success(again):
        print(len(again.steps), "steps, the same to the byte:", again.result.output)
    case Failure(divergence):
        print(divergence)                          # Diverged at input 3 ...: messages[2]: recorded ..., now ..., by hook ...
