# meter.py
from collections import Counter

from loopcore import CallModel, Inspector, Interpreter, Log, RunTool, ToolResultMessage, run_sync
from loopcore.events import Ended, MessageAdded, Started, TurnEnd

from app import config, model, weather

class Meter(Inspector):                            # override what you want; a failure in here never touches the run
    def __init__(self) -> None: self.seen: Counter[str] = Counter()
    def on_model_start(self, event: Started, effect: CallModel) -> None: self.seen["requests"] += 1
    def on_model_end(self, event: Ended, effect: CallModel) -> None: self.seen["replies"] += 1
    def on_tool_start(self, event: Started, effect: RunTool) -> None: self.seen[effect.spec.name] += 1
    def on_tool_end(self, event: Ended, effect: RunTool) -> None: print(effect.call.name, event.seconds)
    def on_tool_result(self, event: MessageAdded, message: ToolResultMessage) -> None: self.seen[message.outcome] += 1
    def on_turn_end(self, event: TurnEnd) -> None: self.seen["turns"] += 1

meter = Meter()
watched = Interpreter(model, weather, inspectors=[meter, Log("INFO"), Log("DEBUG", only="tools")])
run_sync(config, watched, "Umbrella in Paris?")    # the same with stream(), run_many() and replay()
