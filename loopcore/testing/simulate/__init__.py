"""`simulate`: random runs on a virtual clock, in which things go wrong."""

from loopcore.testing.simulate.simulation import BrokenRun, Simulation, simulate

__all__ = ["BrokenRun", "Simulation", "simulate"]
