# bounded.py
from loopcore import LoopConfig
from loopcore.policies import limits, retry, sliding_window, truncate_results

from app import model, weather

config = LoopConfig(
    model=model,
    tools=[weather],
    hooks=[
        truncate_results(4_000, tail=500).for_tools("weather"),   # stored short, head and tail
        sliding_window(40, pin=1),                                # shown short; the task stays; pairs stay whole
        limits(turns=30, tokens=200_000, cost=0.50),              # a run that goes on stops, and its queues stay
        retry(4),                                                 # later each time; a Retry-After is kept
    ],
)
