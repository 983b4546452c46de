"""`explore`: every order in which things can happen."""

from loopcore.testing.explore.found import Counterexample, Exploration
from loopcore.testing.explore.limits import Endless
from loopcore.testing.explore.search import explore

__all__ = ["Counterexample", "Endless", "Exploration", "explore"]
