"""`simulate`: random runs on a virtual clock, in which things go wrong."""

from loopcore.testing.simulate.simulation import Counterexample, Simulation, simulate

__all__ = ["Counterexample", "Simulation", "simulate"]
