"""The reducer: inputs in by the door, one step at a time, effects out."""

from loopcore.reducer.door import Given, deliver
from loopcore.reducer.out import Effects
from loopcore.reducer.result import NotDone, RunResult
from loopcore.reducer.step import advance, step

__all__ = ["Effects", "Given", "NotDone", "RunResult", "advance", "deliver", "step"]
