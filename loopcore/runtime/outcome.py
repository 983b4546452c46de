"""What came of a call into code that is not ours."""

import asyncio
from typing import Any

from returns.result import Failure, Success

from loopcore.effects import output_of
from loopcore.tools import ToolOutput


def spoken(problem: BaseException) -> str:
    """An exception as a sentence: its type, and what it says."""
    try:
        said = str(problem)
    except Exception as worse:  # noqa: BLE001  # an exception may be unable to speak
        said = f"(its text cannot be had: {type(worse).__name__})"
    return f"{type(problem).__name__}: {said}" if said else type(problem).__name__


def shown(value: object, limit: int | None = None) -> str:
    """A value as Python writes it, cut there; its kind, if it cannot be written."""
    try:
        return repr(value)[:limit]
    except Exception as problem:  # noqa: BLE001  # it is somebody's own code
        return f"<{type(value).__name__}, whose repr raised {type(problem).__name__}>"


def cancelled_from_outside() -> bool:
    """Whether a CancelledError is meant for this task, not raised by its work."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def output_from(returned: Any) -> ToolOutput:  # noqa: ANN401  # whatever a tool returns
    """What a tool returned, as its output: a `Failure` is an error in its own words."""
    match opened(returned):
        case Success(value):
            return output_of(value)
        case Failure(BaseException() as problem):
            return ToolOutput(spoken(problem), outcome="error")
        case failed:
            return ToolOutput(output_of(failed.failure()).parts, outcome="error")


def opened(returned: Any) -> Success[Any] | Failure[Any]:  # noqa: ANN401  # anything
    """What code gave that may or may not use `Success` and `Failure`."""
    if isinstance(returned, Success | Failure):
        return returned  # pyright: ignore[reportUnknownVariableType]  # of anything
    return Success(returned)


def output_of_fault(problem: BaseException) -> ToolOutput:
    """What a tool raised, as its output."""
    match problem:
        case asyncio.CancelledError():
            return ToolOutput(spoken(problem), outcome="cancelled")
        case TimeoutError():
            return ToolOutput(spoken(problem), outcome="timeout")
        case _:
            return ToolOutput(spoken(problem), outcome="raised")
