"""The search for the smallest updates of which something does not hold."""

from collections.abc import Callable
from typing import Any, Final

from hypothesis import given, settings
from hypothesis.errors import Flaky, HypothesisException

from loopcore.testing.check.checking import SETTINGS
from loopcore.testing.strategies.plain import Drawn

FICKLE: Final = (
    "merging the same updates again comes to something else: what `|` says has to follow "
    "from both alone"
)


class Unmade(Exception):
    """No values can be made up."""


class _Failed(Exception):
    """What is tried does not hold."""


class _Raised(Exception):
    """What is tried raised this, and not what makes up the values."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


def failure(among: Drawn[Any], hold: Callable[[Any], str], examples: int) -> str:
    """The simplest failure among these; empty if there is none.

    Args:
        among: what is tried.
        hold: says how one fails; empty if it does not.
        examples: how many are tried.

    Raises:
        Unmade: saying why there is nothing to try.
        Exception: whatever `hold` raises.
    """

    @settings(SETTINGS, max_examples=examples)
    @given(among)
    def look(found: Any) -> None:  # noqa: ANN401  # updates
        said = _asked(hold, found)
        if said:
            raise _Failed(said)

    try:
        look()
    except _Failed as failed:
        return str(failed)
    except _Raised as raised:
        raise raised.error from None
    except Flaky:
        return FICKLE
    except Exception as problem:  # noqa: BLE001  # a class may raise when one is made
        raise Unmade(_why(problem)) from None
    return ""


def _asked(hold: Callable[[Any], str], found: Any) -> str:  # noqa: ANN401  # updates
    try:
        return hold(found)
    except Exception as error:
        raise _Raised(error) from error


def _why(problem: Exception) -> str:
    known = isinstance(problem, HypothesisException)
    return f"{problem!s:.200}" if known else f"{problem!r:.200}"
