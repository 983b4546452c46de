"""`explore`: every order in which things can happen."""

from loopcore.testing.explore.found import Counterexample, Exploration
from loopcore.testing.explore.search import Endless, explore

__all__ = ["Counterexample", "Endless", "Exploration", "explore"]
