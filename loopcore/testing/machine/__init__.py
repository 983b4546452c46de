"""`loop_machine`: whatever may happen to a run, as a Hypothesis test case."""

from loopcore.testing.machine.rules import loop_machine

__all__ = ["loop_machine"]
