"""The proving kit on ourselves: every order of loops that use everything, and policies."""

from typing import Final
from unittest import TestCase

import pytest
from hypothesis import settings

from loopcore import LoopConfig
from loopcore.testing import check_hooks, explore, loop_machine
from loopcore.testing.invariants import Law
from property_tests.kit.loops import LOOPS, Loop
from property_tests.kit.policies import PROMISES, RULES


def hold_in_every_order(loop: Loop, *checks: Law) -> None:
    """Whatever happens in this loop, in whatever order, breaks no law."""
    (check,) = checks or (None,)
    found = explore(
        loop.config,
        "go",
        replies=loop.replies,
        tools=loop.tools,
        also=loop.also,
        check=check,
        **loop.more,
    )

    assert found.counterexample is None, str(found)


@pytest.mark.parametrize("name", LOOPS)
def test_no_order_breaks_a_law(name: str) -> None:
    """1 to 8 and 11 to 13, as far as they can be seen at a step (9: modes; 10: wires)."""
    hold_in_every_order(LOOPS[name])


@pytest.mark.parametrize("name", PROMISES)
def test_a_policy_keeps_its_promise_in_every_order(name: str) -> None:
    promise = PROMISES[name]

    hold_in_every_order(promise.loop, promise.law)


@pytest.mark.parametrize("name", RULES)
def test_a_policy_keeps_the_laws_of_hooks(name: str) -> None:
    """6, and that it is total, deterministic, pure, and keeps pairs."""
    assert check_hooks(RULES[name](), examples=60).views


FEWER: Final = max(settings().max_examples // 5, 25)
"""Each example of a machine is a run of many steps."""


def machine(config: LoopConfig) -> type[TestCase]:
    """A machine that is given fewer examples than other properties."""
    made = loop_machine(config)
    made.settings = settings(made.settings, max_examples=FEWER)
    return made


TestGates = machine(LOOPS["gates"].config)
TestInside = machine(LOOPS["nested"].config)
