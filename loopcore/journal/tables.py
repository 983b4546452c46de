"""Tables: what was found in many journals, as text and as JSON."""

from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

import attrs

from loopcore.codec import to_json
from loopcore.frozen import Json, counted
from loopcore.journal.change import Change
from loopcore.messages import Message
from loopcore.wording import one_line

if TYPE_CHECKING:
    from loopcore.journal.backtest import Backtest
    from loopcore.journal.chains import Check
    from loopcore.journal.diff import Diff

WIDE: Final = 48
"""How many characters of a cell are shown."""

HEAD: Final = ("run", "turn", "what", "old → new", "hook")


def told(found: "Backtest", most: int | None) -> str:
    """A backtest as text: the counts, then what changes, a row each."""
    counts = [
        ("same", len(found.same), ""),
        ("changed", sum(1 for one in found.findings if one.changes), _hooks(found)),
        ("stale", len(found.stale), "(not reproduced by the old configuration)"),
        ("broken", len(found.broken), "(cannot be read)"),
    ]
    lines = [_total(found)]
    lines += [
        f"  {name:<8}{count:>9,}  {note}".rstrip() for name, count, note in counts
    ]
    rows = [_row(change) for change in found.changed]
    shown = rows if most is None else rows[:most]
    if rows:
        lines += ["", *aligned([HEAD, *shown])]
    if len(rows) > len(shown):
        lines.append(f"  … {len(rows) - len(shown):,} more")
    lines += _reasons("stale", [one.summary for one in found.stale], most)
    lines += _reasons("broken", [str(one) for one in found.broken], most)
    return "\n".join(lines)


def _total(found: "Backtest") -> str:
    inputs = sum(one.inputs for one in found.findings)
    turns = sum(one.turns for one in found.findings)
    counts = (len(found.findings), "journal"), (inputs, "input"), (turns, "turn")
    said = [counted(n, word) for n, word in counts]
    return " · ".join([*said, "no model, no tool, no network"])


def _hooks(found: "Backtest") -> str:
    by = [f"{hook or '(settings)'} {count}" for hook, count in found.by_hook.items()]
    return f"by hook:  {' · '.join(by)}" if by else ""


def _reasons(name: str, reasons: list[str], most: int | None) -> list[str]:
    shown = reasons if most is None else reasons[:most]
    left = len(reasons) - len(shown)
    more = [f"  … {left:,} more"] if left else []
    return ["", name, *(f"  {reason}" for reason in shown), *more] if reasons else []


def _row(change: Change) -> Sequence[str]:
    return (
        short(PurePath(change.journal).stem, 16),
        str(change.turn),
        short(change.what, WIDE),
        f"{short(change.old, WIDE)} → {short(change.new, WIDE)}",
        change.hook,
    )


def short(text: str, most: int) -> str:
    """The text in one line of at most so many characters."""
    line = one_line(text)
    return line if len(line) <= most else f"{line[: most - 1]}…"


def aligned(rows: Sequence[Sequence[str]]) -> Iterable[str]:
    """Rows with their columns below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield f"  {'  '.join(cells)}".rstrip()


def backtest_json(found: "Backtest") -> Json:
    """A backtest as JSON: the counts, what changes, and what could not be compared."""
    return {
        "journals": len(found.findings),
        "inputs": sum(one.inputs for one in found.findings),
        "turns": sum(one.turns for one in found.findings),
        "same": len(found.same),
        "by_hook": found.by_hook,
        "changed": [attrs.asdict(change) for change in found.changed],
        "again": {one.journal: one.again for one in found.findings if one.again},
        "stale": [divergence_json(one) for one in found.stale],
        "broken": [str(one) for one in found.broken],
    }


def check_json(found: "Check") -> Json:
    """A check as JSON."""
    problems = [str(problem) for problem in found.problems]
    return {"journals": len(found.journals), "same": found.same, "problems": problems}


def diff_json(found: "Diff") -> Json:
    """A diff as JSON."""
    lines = [
        {
            "mark": line.mark,
            "a": line.a,
            "b": line.b,
            "message": to_json(line.message, Message),
        }
        for line in found.differing
    ]
    return {
        "names": list(found.names),
        "same": found.is_same,
        "common_inputs": found.common,
        "settings": [list(one) for one in found.settings],
        "stops": [str(state.stop) for state in found.ends],
        "notes": list(found.notes),
        "messages": lines,
    }


def divergence_json(found: Any) -> Json:  # noqa: ANN401  # a Divergence
    """A divergence as JSON."""
    told = {
        name: getattr(found, name)
        for name in ("journal", "number", "inputs", "turn", "effect", "kind", "field")
    }
    values = {"recorded": found.recorded, "now": found.now}
    who = {"hook": found.hook, "point": found.point, "is_new": found.is_new}
    return {**told, **values, **who, "sentence": str(found)}
