"""The search for the smallest updates of which something does not hold."""

from collections.abc import Callable
from typing import Any, Final

from hypothesis import given, reject, settings
from hypothesis.errors import Flaky, HypothesisException, Unsatisfiable

from loopcore.testing.check.checking import SETTINGS
from loopcore.testing.strategies.plain import Drawn

FICKLE: Final = (
    "merging the same updates again comes to something else: what `|` says has to follow "
    "from both alone"
)


class Unmade(Exception):
    """No values can be made up."""


class Overflown(OverflowError):
    """What is merged is too large for its type."""


class _Failed(Exception):
    """What is tried does not hold."""


class _Raised(Exception):
    """What is tried raised this, and not what makes up the values."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


def failure(among: Drawn[Any], hold: Callable[[Any], str], examples: int) -> str:
    """The simplest failure among these; empty if there is none.

    What is too large for its type is left out, unless everything is.

    Args:
        among: what is tried.
        hold: says how one fails; empty if it does not.
        examples: how many are tried.

    Raises:
        Unmade: saying why there is nothing to try.
        Exception: whatever `hold` raises.
    """
    overflown: list[OverflowError] = []

    @settings(SETTINGS, max_examples=examples)
    @given(among)
    def look(found: Any) -> None:  # noqa: ANN401  # updates
        said = _asked(hold, found, overflown)
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
    except Unsatisfiable as problem:
        return _too_large(overflown, problem)
    except Exception as problem:  # noqa: BLE001  # a class may raise when one is made
        raise Unmade(_why(problem)) from None
    return ""


def _asked(
    hold: Callable[[Any], str],
    found: Any,  # noqa: ANN401  # updates
    overflown: list[OverflowError],
) -> str:
    try:
        return hold(found)
    except OverflowError as error:
        overflown.append(error)
        reject()
    except Exception as error:
        raise _Raised(error) from error


def _too_large(overflown: list[OverflowError], problem: Exception) -> str:
    """What is said where nothing could be tried."""
    if not overflown:
        raise Unmade(_why(problem)) from None
    if isinstance(overflown[0], Overflown):
        return str(overflown[0])
    raise overflown[0]


def _why(problem: Exception) -> str:
    known = isinstance(problem, HypothesisException)
    return f"{problem!s:.200}" if known else f"{problem!r:.200}"
