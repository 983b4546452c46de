"""What must always hold of a run, as laws that see every step.

`Watch.of(config, run_id="r").take(given)` drives a run under their eyes. A law is a record
with `see(moment) -> law`: it raises if the step breaks it, and returns itself as it is
afterwards. `explore`, `simulate` and `loop_machine` use them all.
"""

from loopcore.testing.invariants.asked import Chains, Memories, Requests
from loopcore.testing.invariants.checks import Check, laws_of
from loopcore.testing.invariants.ends import Ends, Outputs, Retries
from loopcore.testing.invariants.failing import Unfailing
from loopcore.testing.invariants.gates import Gates, OneByOne
from loopcore.testing.invariants.kept import Aborted, Paired, Queues
from loopcore.testing.invariants.moment import Broken, Law, Moment, hold
from loopcore.testing.invariants.passes import Pass, Raised, Said
from loopcore.testing.invariants.results import Results
from loopcore.testing.invariants.shown import Views
from loopcore.testing.invariants.spies import Watched
from loopcore.testing.invariants.told import Balance, Coded, Counted, Tokens, Waiting
from loopcore.testing.invariants.watch import LAWS, Watch

__all__ = [
    "LAWS",
    "Aborted",
    "Balance",
    "Broken",
    "Chains",
    "Check",
    "Coded",
    "Counted",
    "Ends",
    "Gates",
    "Law",
    "Memories",
    "Moment",
    "OneByOne",
    "Outputs",
    "Paired",
    "Pass",
    "Queues",
    "Raised",
    "Requests",
    "Results",
    "Retries",
    "Said",
    "Tokens",
    "Unfailing",
    "Views",
    "Waiting",
    "Watch",
    "Watched",
    "hold",
    "laws_of",
]
