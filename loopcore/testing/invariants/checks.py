"""A user's own law of states: a function, and what it may say of them."""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from attrs import frozen

from loopcore.state import State
from loopcore.testing.invariants.mistakes import told
from loopcore.testing.invariants.moment import Law, Moment, Unheld, in_short

Check: TypeAlias = Callable[[State], object]
"""A user's own law of states: None or True, if it holds of one.

False, a text that says why, or an AssertionError says that it does not.
"""


@frozen(eq=False)
class Checked:
    """A function of states, as a law of its name."""

    check: Check
    name: str

    def see(self, moment: Moment) -> "Checked":
        """Look at a step."""
        self.look(moment.after)
        return self

    def look(self, state: State) -> None:
        """Look at a state.

        Raises:
            Unheld: if the law does not hold, or the function fails.
        """
        try:
            said = self.check(state)
        except Exception as error:
            raise Unheld(told(error, "the check")) from error
        if said is not None and said is not True:
            raise Unheld(_why(said, state))


def _why(said: object, state: State) -> str:
    if said is False:
        return in_short(f"it says no of {state!r}")
    if isinstance(said, str) and said:
        return said
    return UNCLEAR.format(in_short(said or repr(said)))


UNCLEAR: Final = (
    "it returned {}, which is no answer; return None or True if the law holds, False or "
    "a text that says why if it does not"
)


def laws_of(*given: Check | Law | None) -> tuple[Law, ...]:
    """Laws, and functions as laws.

    Raises:
        TypeError: for what is neither.
    """
    return tuple(_law(one) for one in given if one is not None)


def _law(given: Any) -> Law:  # noqa: ANN401  # a law or a function
    if isinstance(given, type):
        message = f"{given.__name__} is a class; give an instance: {given.__name__}()"
        raise TypeError(message)
    if hasattr(given, "see"):
        law: Law = given
        return law
    if not callable(given):
        raise TypeError(NO_LAW.format(in_short(given)))
    name = getattr(given, "__name__", None)
    return Checked(given, name or repr(given))


NO_LAW: Final = (
    "a check is a function of a state, or a law: a record with see(moment); it got {}"
)
