"""Whole configurations as state machines: whatever happens, in whatever order.

Every law sees every step. A failure is printed as the program that leads to it.
"""

from hypothesis import settings
from hypothesis import strategies as st

from loopcore.testing import loop_machine
from property_tests.programs import Setup
from property_tests.strategies import setups
from property_tests.world import Refused

TestLoop = loop_machine(
    st.builds(Setup.config, setups()), Refused(), hooks_may_fail=True
)
TestLoop.settings = settings(
    TestLoop.settings, max_examples=max(settings().max_examples // 3, 25)
)
