"""What came of a run, in a line."""

from loopcore import RequestApproval, RunResult, RunTool, Usage
from loopcore.cli.show import Ending
from loopcore.frozen import counted


def summary(ending: Ending) -> str:
    """How it ended, what it took, and how to go on.

    >>> usage_line(Usage(412, 38))
    '412 tokens in, 38 out'
    """
    result = ending.result
    if result.stop is None:
        return " · ".join(_paused(ending))
    said = [result.stop.reason, counted(result.state.turns, "turn")]
    if result.usage.total:
        said.append(usage_line(result.usage))
    said.append(f"{ending.seconds:.1f} s")
    if ending.saved:
        said.append(f"saved to {ending.saved}")
    return " · ".join(said)


def _paused(ending: Ending) -> list[str]:
    said = ["paused", *_waiting(ending.result)]
    if ending.saved:
        said.append(f"saved to {ending.saved}")
    if ending.go_on:
        said.append(f"go on with:  {ending.go_on}")
    return said


def _waiting(result: RunResult) -> list[str]:
    """What it waits for besides approvals, which are shown with their calls."""
    names = [
        effect.spec.name if isinstance(effect, RunTool) else effect.id
        for effect in result.waiting
        if not isinstance(effect, RequestApproval)
    ]
    return [f"waiting for {', '.join(names)}"] if names else []


def usage_line(usage: Usage) -> str:
    """The tokens, and what they cost if that is known."""
    fed = usage.input + usage.cache_read + usage.cache_write
    cost = "" if usage.cost is None else f", cost {usage.cost:.4f}"
    return f"{fed} tokens in, {usage.output} out{cost}"
