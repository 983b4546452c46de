"""What the commands about journals say."""

from typing import Final

from loopcore.config import AnyConfig
from loopcore.events import TurnEnd
from loopcore.frozen import counted
from loopcore.journal import Check, Divergence, Journal, Replay
from loopcore.journal.divergence import told
from loopcore.journal.fork import fitting
from loopcore.journal.tables import short

WIDE: Final = 72
"""How many characters of a value are told."""


def same(found: Replay, seconds: float) -> str:
    """A replay that is the same, in a line."""
    state = found.result.state
    effects = sum(len(step.effects.perform) for step in found.steps)
    turns = sum(
        1
        for step in found.steps
        for event in step.effects.tell
        if isinstance(event, TurnEnd) and event.run_id == state.run_id
    )
    counts = [(len(found.steps), "input"), (turns, "turn"), (effects, "effect")]
    said = [counted(n, word) for n, word in counts]
    return " · ".join(["same", *said, f"{seconds * 1000:.1f} ms"])


def diverged(config: AnyConfig, past: Journal, found: Divergence) -> str:
    """A divergence as a block: where, what, both values, who, and what still fits."""
    where = f"DIVERGED at input {found.number} of {found.inputs}"
    lines = [f"{where} · {told(found.input)} · turn {found.turn}"]
    if found.reason:
        return "\n".join([*lines, f"  {found.reason}"])
    lines.append(
        f"  {found.effect or 'the run'} {found.kind}.{found.field}".rstrip(".")
    )
    lines.append(f"    recorded   {_value(found.recorded)}")
    lines.append(f"    now        {_value(found.now)}")
    if found.hook:
        new = "   not in the recorded configuration" if found.is_new else ""
        lines.append(f"  written by   {found.hook} · {found.point}{new}")
    return "\n".join([*lines, _rest(config, past, found)])


def _value(value: object) -> str:
    return "(nothing)" if value is None else short(str(value), WIDE)


def _rest(config: AnyConfig, past: Journal, found: Divergence) -> str:
    kept, again = fitting(config, past, found.number)
    ask = f"; to be asked again first: {again}" if again else ""
    return (
        f"  {kept} of the {found.inputs - found.number} inputs after it still fit{ask}"
    )


def check_lines(found: Check) -> str:
    """What became of many journals."""
    lines = [f"{counted(len(found.journals), 'journal')} · {found.same} same"]
    return "\n".join([*lines, *(f"  {problem}" for problem in found.problems)])
