"""Trying a failed model call again."""

import hashlib
import math
from collections.abc import Iterable
from typing import Final

from loopcore.hooks import ErrorView, Hooks, RetryUpdate
from loopcore.messages import Fault
from loopcore.policies.given import refuse_negative, refuse_unless_whole
from loopcore.settings import ModelLike, model_id
from loopcore.state import State

ELSEWHERE: Final[frozenset[Fault]] = frozenset(
    ("auth", "no_such_model", "bad_response", "raised", "context_overflow")
)
"""Faults that will not pass here, but may not happen on another model."""


def retry(
    attempts: int = 4,
    *,
    delay: float = 1.0,
    factor: float = 2.0,
    longest: float = 60.0,
    fallback: ModelLike | Iterable[ModelLike] = (),
) -> Hooks:
    """Try a failed model call again, later each time, then on the next model.

    Each model gets so many attempts. The pause before attempt n of a model is
    `delay * factor ** (n - 2)` seconds, at most `longest`, and half of it is spread by the
    run's seed, so that many runs do not come back at once and a replay waits as long. A
    service that names its own pause gets it; one that is longer than `longest` counts as
    this model's last attempt. Only faults that may pass are tried again on the same model.

    Raises:
        ValueError: for fewer than one attempt or a negative time.
    """
    refuse_unless_whole("retry", 1, attempts=attempts)
    times = {"delay": delay, "factor": factor, "longest": longest}
    refuse_negative("retry", times)
    given = fallback if isinstance(fallback, Iterable) else (fallback,)
    models = tuple(map(model_id, (given,) if isinstance(given, str) else given))

    def again(view: ErrorView) -> RetryUpdate | None:
        used, begun = _place(view)
        pause = _pause(view, view.attempt - begun, delay, factor)
        wait = max(min(pause, longest), view.error.retry_after or 0.0)
        last = view.attempt - begun + 1 >= attempts
        if view.error.retryable and not last and wait <= longest:
            return RetryUpdate(retry=True, delay=wait)
        if used < len(models) and (
            view.error.retryable or view.error.kind in ELSEWHERE
        ):
            memo = (_turn(view.state), used + 1, view.attempt + 1)
            return RetryUpdate(retry=True, delay=0.0, model=models[used], memo=memo)
        return None

    return Hooks("retry", memo=("", 0, 1), on_model_error=again)


def _power(factor: float, times: int) -> float:
    try:
        return float(factor) ** times
    except OverflowError:
        return math.inf


def _turn(state: State) -> str:
    return f"{state.run}.{state.turns}"


def _place(view: ErrorView) -> tuple[int, int]:
    """How many fallbacks this turn has used, and the attempt the present model began at."""
    turn, used, begun = view.memo
    return (used, begun) if turn == _turn(view.state) else (0, 1)


def _pause(view: ErrorView, failed_before: int, delay: float, factor: float) -> float:
    whole = delay * _power(factor, failed_before)
    spread = _share(f"{view.state.seed}.{_turn(view.state)}.{view.attempt}")
    return whole * (1 + spread) / 2


def _share(name: str) -> float:
    """A number from 0 to 1 that depends on nothing but this name."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:6], "big") / 2**48
