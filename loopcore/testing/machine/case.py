"""A machine as a test case: it plays, and tells what it finds once, as short as it can."""

from typing import Any, ClassVar, Final
from unittest import TestCase

import attrs
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis import settings as Settings  # noqa: N812  # a test case has settings
from hypothesis.errors import Flaky
from hypothesis.stateful import run_state_machine_as_test

from loopcore.config import AnyConfig
from loopcore.testing.invariants import Broken

FIXED: Final = (Phase.explicit, Phase.reuse, Phase.generate)
"""What happened is made short without Hypothesis, which takes much longer for it."""
DRAWN: Final = (*FIXED, Phase.shrink)
SLOW: Final = (HealthCheck.too_slow, HealthCheck.data_too_large)


class LoopCase(TestCase):
    """A test case whose `settings` are Hypothesis's: how many examples, how many steps."""

    settings: ClassVar[Settings]
    machine: ClassVar[Any]
    phases: ClassVar[tuple[Phase, ...]] = FIXED

    def runTest(self) -> None:  # noqa: N802  # as unittest names it
        """Whatever may happen happens, and every law holds.

        Raises:
            Broken: with the shortest way to it.
        """
        __tracebackhide__ = True
        found = self._found()
        if found is None:
            return
        way = found.counterexample  # it is looked for here, and not while it is printed
        if Phase.shrink in self.phases:
            found.notes = (*found.notes, f"What was drawn: {_fields(way.config)}")
        try:
            raise found.with_traceback(None) from None
        finally:
            del found  # or it would be shown a second time, as what a failed test holds

    runTest.is_hypothesis_test = True  # type: ignore[attr-defined]  # pyright: ignore[reportFunctionMemberAccess]  # as Hypothesis marks its own

    def _found(self) -> Broken | None:
        seen: list[Broken] = []
        self.machine.broken = seen
        try:
            run_state_machine_as_test(
                self.machine, settings=quiet(self.settings, self.phases)
            )
        except Broken as found:
            return alone(found)
        except Flaky:
            if not seen:
                raise
            return by_chance(seen)
        return None


def quiet(given: Settings, phases: tuple[Phase, ...]) -> Settings:
    """These settings, less what would print another account of what is found."""
    normal = given.verbosity is Verbosity.normal
    return Settings(
        given,
        deadline=None,
        phases=[phase for phase in given.phases if phase in phases],
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=(*given.suppress_health_check, *SLOW),
        verbosity=Verbosity.quiet if normal else given.verbosity,
    )


def alone(found: Broken) -> Broken:
    """What is broken, without what looking for it has left on it."""
    found.__notes__ = []
    return found


def _fields(config: AnyConfig) -> str:
    """What a configuration has that is not so by default."""
    kind: type[Any] = config.__class__
    given = [one for one in attrs.fields(kind) if one.init]
    told = ((one.alias, getattr(config, one.name), one.default) for one in given)
    changed = (f"{name}={value!r}" for name, value, usual in told if value != usual)
    return f"{kind.__name__}({', '.join(changed)})"


def by_chance(found: list[Broken]) -> Broken:
    """What was broken, if it is not when the same is done again: the least that was told."""
    first = min(found, key=lambda one: len(one.said))
    first.notes = (*first.notes, BY_CHANCE)
    return alone(first)


BY_CHANCE: Final = (
    "It was so once, and not when the same was done again: what a hook or a check says does "
    "not follow from what it sees. (check_hooks looks for what it reads.)"
)
