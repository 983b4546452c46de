"""A simulated run as data: what it is, who answers, and what goes wrong."""

from collections.abc import Iterable
from typing import Final, TypeVar

from attrs import frozen

from loopcore.config import AnyConfig
from loopcore.frozen import evolve
from loopcore.inputs import Input
from loopcore.testing.explore.choices import Choices
from loopcore.testing.faults import Crash, Fault, FullDisk, draw
from loopcore.testing.invariants import Law, Unfailing
from loopcore.testing.invariants.checks import Checked

F = TypeVar("F", bound=Fault)


LATEST: Final = 12
"""The latest moment at which something happens beside."""


@frozen
class Beside:
    """An input that happens beside, after so many others, or else at the end."""

    moment: int
    given: Input


@frozen(eq=False)
class Plan:
    """All that decides how a simulated run goes.

    `without` names faults that do not happen though their chance would have it; in a
    `calm` run everything takes a second.
    """

    config: AnyConfig
    given: tuple[Input, ...]
    choices: Choices
    beside: tuple[Beside, ...]
    faults: tuple[Fault, ...]
    laws: tuple[Law, ...]
    checks: tuple[Checked, ...]
    watched: float
    seed: object
    hooks_may_fail: bool = False
    without: frozenset[str] = frozenset()
    calm: bool = False

    @property
    def recorded(self) -> bool:
        """Whether it needs a journal, for something to go wrong with it."""
        return any(isinstance(fault, Crash | FullDisk) for fault in self.faults)

    @property
    def watching(self) -> tuple[Law, ...]:
        """The laws that see its steps: all of them in a share of the runs."""
        if self.laws and draw(self.seed, "watched") < self.watched:
            ours = () if self.hooks_may_fail else (Unfailing(),)
            return (*self.laws, *ours, *self.checks)
        return ()

    def draw(self, *names: object) -> float:
        """A number from 0 to 1: the same for the same names, whatever else happens."""
        return draw(self.seed, *names)

    def at_moments(self, given: Iterable[Input]) -> "Plan":
        """The plan with these happening beside, at moments that its seed decides."""
        drawn = (
            Beside(int(self.draw("beside", n) * LATEST), one)
            for n, one in enumerate(given)
        )
        return evolve(self, beside=tuple(sorted(drawn, key=lambda one: one.moment)))

    def hit(self, kind: type[F], where: str) -> F | None:
        """The fault of this kind, if it happens here."""
        for fault in self.faults:
            if isinstance(fault, kind) and self._happens(fault, where):
                return fault
        return None

    def _happens(self, fault: Fault, where: str) -> bool:
        name = named(type(fault), where)
        return self.draw(name) < fault.chance and name not in self.without


def named(kind: type[Fault], where: str) -> str:
    """What a fault is called that happens there."""
    return f"{kind.__name__} {where}"
