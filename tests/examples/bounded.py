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
        limits(turns=30, cost=0.50),                              # cost: stops at once where no price is known
        retry(4),                                                 # later each time; a Retry-After is kept
    ],
)
