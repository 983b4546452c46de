"""Lines of a view: what each pane of it says, before it is cut to its width."""

from collections.abc import Iterator
from typing import Any, Final

from attrs import frozen
from rich.text import Text

from loopcore import (
    AssistantMessage,
    CustomMessage,
    Message,
    SystemMessage,
    ToolResultMessage,
    UserMessage,
)
from loopcore.cli.harmless import harmless, one_line
from loopcore.frozen import UNSET
from loopcore_adapters.viewer import (
    Mark,
    Point,
    Seen,
    Wrote,
    differences,
    said_of,
    short,
    standing,
    told,
)

NAMES: Final[dict[type[Message], str]] = {
    SystemMessage: "system",
    UserMessage: "user",
    AssistantMessage: "assistant",
    ToolResultMessage: "result",
    CustomMessage: "custom",
}
GLYPHS: Final = {"shown": " ", "left out": "○", "rewritten": "◐"}
WIDE: Final = 400
"""How many characters of a value are told at most."""


@frozen
class Row:
    """A message in its line. `place` counts from 1; `mark` is None if nothing showed it."""

    place: int
    message: Message
    mark: Mark | None = None
    chosen: bool = False


def row_line(seen: Seen, row: Row) -> Text:
    """A message in a line: its place, what became of it, who says it, how it begins."""
    glyph = GLYPHS[row.mark.fate] if row.mark else " "
    name = NAMES.get(type(row.message), "")
    line = Text(f"{'▸' if row.chosen else ' '}{glyph}{row.place:>4} ")
    line.append(f"{name:<10}", style="bold" if row.chosen else "cyan")
    line.append(one_line(summary(seen, row.message)[:WIDE]))
    for hook in row.mark.by if row.mark else ():
        line.append(f" · {row.mark.fate if row.mark else ''} by {one_line(hook)}")
    if row.mark and row.mark.fate == "left out":
        line.stylize("dim")
    return line


def summary(seen: Seen, message: Message) -> str:
    """How a message begins; of a result how it ended, and the hooks that shaped it."""
    match message:
        case AssistantMessage(calls=calls) if calls:
            said = [f"→ {c.name} {_arguments(c.arguments)}".rstrip() for c in calls]
            return " ".join((message.text[:WIDE], *said)).lstrip()
        case ToolResultMessage():
            parts = [_outcome(seen, message), *_hooks(seen, message)]
            return " · ".join((*parts, message.text[:WIDE]))
        case CustomMessage(kind=kind):
            return kind
        case _:
            return message.text[:WIDE]


def _arguments(arguments: Any) -> str:  # noqa: ANN401  # an object
    return " ".join(f"{k}={short(repr(v), 40)}" for k, v in arguments.items())


def _outcome(seen: Seen, message: ToolResultMessage) -> str:
    before = seen.outcome_before(message)
    changed = before and before != message.outcome
    return f"{before} → {message.outcome}" if changed else message.outcome


def _hooks(seen: Seen, message: Message) -> list[str]:
    return list(dict.fromkeys(wrote.hook for wrote in seen.shaped(message)))


def body_lines(message: Message, most: int) -> list[str]:
    """The text of a message, some lines of it."""
    lines = harmless(message.text[: most * WIDE]).splitlines()
    return lines if len(lines) <= most else [*lines[: most - 1], "…"]


def step_lines(seen: Seen, point: Point, *, details: bool) -> Iterator[tuple[str, str]]:
    """What an input led to: names and values."""
    if point.input is None:
        yield "took", "nothing yet: here the record begins"
    else:
        yield "took", told(point.input, point.before)
    divergence = seen.timeline.divergence
    if divergence and divergence.number == point.number:
        yield "DIVERGED", divergence.what
    if not point.folded:
        yield "recorded", "the run goes another way before this"
        return
    yield "phase", _changed(point.before.phase, point.state.phase)
    if point.state.stop:
        yield "stop", str(point.state.stop)
    yield from _hook_lines(point, details=details)
    yield from _several("perform", [f"{e.id} {said_of(e)}" for e in _asked(point)])
    yield from _several("cancel", list(point.effects.cancel))
    yield from _several("waiting", [effect.id for effect in point.state.waiting])


def _asked(point: Point) -> tuple[Any, ...]:
    return point.effects.perform


def _changed(before: str, now: str) -> str:
    return now if before == now else f"{before} → {now}"


def _several(name: str, items: list[str]) -> Iterator[tuple[str, str]]:
    for n, item in enumerate(items or ["-"]):
        yield "" if n else name, item


def _hook_lines(point: Point, *, details: bool) -> Iterator[tuple[str, str]]:
    """Who wrote what; in detail with the values, and who was asked and wrote nothing."""
    if not details:
        said = [f"{w.hook}: {', '.join(w.fields)}" for w in point.wrote]
        yield from _several("hooks", said)
        return
    for n, wrote in enumerate(point.wrote):
        about = f" call {wrote.place}" if wrote.place >= 0 else ""
        yield "" if n else "hooks", f"{wrote.hook} at {wrote.point}{about}"
        for name, value in _fields(wrote):
            yield "", f"  {name} = {value}"
    silent = [f"{hook} at {where}" for hook, where in dict.fromkeys(point.silent)]
    yield from _several("silent", silent)


def _fields(wrote: Wrote) -> Iterator[tuple[str, str]]:
    for name, value in wrote.fields.items():
        many = name in ("messages", "transcript")
        yield name, f"{len(value)} messages" if many else value_text(value)


def value_text(value: object) -> str:
    """A value in a line."""
    return "-" if value is UNSET else short(repr(value), WIDE)


def diff_lines(point: Point) -> Iterator[tuple[str, str]]:
    """What the input changed, as old and new."""
    found = list(differences(standing(point.before), standing(point.state)))
    for path, old, new in found:
        yield f"{' / '.join(path)}:", f"{value_text(old)} → {value_text(new)}"
    if not found:
        yield "", "nothing that a state tells"


def memory_text(point: Point) -> str:
    """What hooks remember, in a line."""
    memos = point.state.memos.items()
    return " · ".join(f"{name} {_bare(value)}" for name, value in memos) or "-"


def _bare(value: object) -> str:
    return short(repr(value).replace("'", ""), WIDE)
