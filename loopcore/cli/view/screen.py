"""The view of a journal in a terminal: one screen, as a function of where one looks."""

import time
from collections.abc import Iterable, Iterator
from typing import Final

from attrs import frozen
from rich.text import Text

from loopcore.cli.harmless import harmless, one_line
from loopcore.cli.view.text import (
    Row,
    body_lines,
    diff_lines,
    memory_text,
    row_line,
    step_lines,
)
from loopcore_adapters.viewer import Point, Seen, counted, told

NARROWEST: Final = 60
LOWEST: Final = 12
NAME: Final = 9
"""The column in which values begin."""

FRAME: Final = 5
"""Lines of a screen that are no pane's."""

KEYS: Final = (
    "←/→ input  t turn  ↑/↓ message  h hooks  d diff with previous  f fork here  "
    "e explain  ? help  q quit"
)
EPOCH: Final = 1e8
"""Times from here on are those of a clock."""


@frozen
class Look:
    """Where one looks.

    Args:
        at: at which input.
        message: at which message, from 1; None for the newest.
        hooks, diff: whether hooks are told in detail, and what the input changed.
        page: a text that is read instead of the transcript, and its name.
        note: a word at the end.
    """

    at: int
    message: int | None = None
    hooks: bool = False
    diff: bool = False
    page: tuple[str, str] | None = None
    note: str = ""


def screen(seen: Seen, look: Look, width: int, height: int) -> Text:
    """The screen, of just so many columns and lines; at least 60 and 12."""
    wide, high = max(width, NARROWEST), max(height, LOWEST)
    left = (wide - 3) * 11 // 20
    panes = left, wide - 3 - left
    point = seen.timeline.points[look.at]
    body = _body(seen, look, panes, high - FRAME)
    lines = [
        _top(seen, point, wide),
        _slider(seen, point, wide),
        _middle(look, panes),
        *body,
        _shown(seen, look, point, panes),
        _bottom(look, wide),
    ]
    return Text("\n").join(lines)


def chosen(seen: Seen, look: Look) -> int:
    """The message that is looked at, from 1; 0 if there is none."""
    count = len(seen.timeline.points[look.at].state.transcript)
    return (
        count if look.message is None else max(min(look.message, count), min(count, 1))
    )


def _top(seen: Seen, point: Point, width: int) -> Text:
    last = seen.timeline.last
    name = f" {one_line(seen.timeline.run_id)} · {counted(last, 'input')} "
    turns = seen.timeline.points[-1].state.turns
    told = [f"turn {point.state.turns} of {turns}", _clock(point)]
    return _line("┌", name, " · ".join(filter(None, told)), "┐", width)


def _clock(point: Point) -> str:
    at = point.entry.at if point.entry else None
    if at is None:
        return ""
    return time.strftime("%H:%M:%S", time.localtime(at)) if at > EPOCH else f"{at:g} s"


def _line(
    start: str, left: str, right: str, end: str, width: int, fill: str = "─"
) -> Text:
    """A line of the frame, with words at both of its ends."""
    inner = width - 2
    tail = f" {right} " if right else ""
    head = Text(left, style="bold")
    head.truncate(max(inner - len(tail) - 1, 0), overflow="ellipsis")
    gap = max(inner - head.cell_len - Text(tail).cell_len, 0)
    made = Text(start) + head + Text(fill * gap) + Text(tail)
    return _fitted(made, width - 1) + Text(end)


def _slider(seen: Seen, point: Point, width: int) -> Text:
    last = seen.timeline.last
    said = f"input {point.number} of {last}"
    if point.input is not None:
        said += f" · {told(point.input, point.before)}"
    room = width // 2 - 8
    track = Text(f" ◀ {_track(seen, point.number, room)} ▶  {one_line(said)}")
    return Text("│") + _fitted(track, width - 2) + Text("│")


def _track(seen: Seen, at: int, room: int) -> str:
    """The slider: where turns ended, and where it stands."""
    cells = ["━"] * room
    last = max(seen.timeline.last, 1)
    for turn in seen.turns():
        cells[turn * (room - 1) // last] = "●"
    cells[at * (room - 1) // last] = "◉"
    return "".join(cells)


def _middle(look: Look, panes: tuple[int, int]) -> Text:
    left = look.page[0] if look.page else "transcript"
    right = f"changed by input {look.at}" if look.diff else "this step"
    return _divider("├", one_line(left), "┬", right, panes)


def _divider(
    start: str, left: str, joint: str, right: str, panes: tuple[int, int]
) -> Text:
    cells = [
        _titled(words, room) for words, room in zip((left, right), panes, strict=True)
    ]
    return Text(start) + cells[0] + Text(joint) + cells[1] + Text("┤")


def _titled(words: str, width: int) -> Text:
    """A piece of the frame that begins with these words."""
    title = Text(f" {words}", style="bold")
    title.truncate(width - 2, overflow="ellipsis")
    return title + Text(f" {'─' * (width - 1 - title.cell_len)}", style="none")


def _body(seen: Seen, look: Look, panes: tuple[int, int], height: int) -> list[Text]:
    point = seen.timeline.points[look.at]
    left = (
        _read(look.page[1], panes[0], height)
        if look.page
        else _transcript(seen, look, height)
    )
    pairs = (
        diff_lines(point) if look.diff else step_lines(seen, point, details=look.hooks)
    )
    right = _pairs(pairs, panes[1])
    bar = Text("│")
    return [
        bar + _cell(left, n, panes[0]) + bar + _cell(right, n, panes[1]) + bar
        for n in range(height)
    ]


def _cell(lines: list[Text], place: int, width: int) -> Text:
    return _fitted(lines[place] if place < len(lines) else Text(), width)


def _fitted(line: Text, width: int) -> Text:
    """A line of just this width."""
    made = line.copy()
    made.truncate(width, overflow="ellipsis", pad=True)
    return made


def _read(text: str, width: int, height: int) -> list[Text]:
    lines = [
        line for one in harmless(text).splitlines() for line in _wrapped(one, width)
    ]
    return lines[:height]


def _wrapped(line: str, width: int) -> list[Text]:
    """A line, cut into as many as it takes."""
    rest, found = Text(f" {line}"), list[Text]()
    while rest.cell_len > width:
        head = rest.copy()
        head.truncate(width, overflow="crop")
        found.append(head)
        rest = Text("   ") + rest[len(head) :]
    return [*found, rest]


def _transcript(seen: Seen, look: Look, height: int) -> list[Text]:
    """The messages up to the one that is looked at, and as many after it as fit."""
    stored = seen.timeline.points[look.at].state.transcript
    place = chosen(seen, look)
    if not place:
        return [Text(" no messages yet", style="dim")]
    shown = seen.shown(look.at)
    marks = shown.marks if shown else ()

    def line(n: int) -> Text:
        mark = marks[n - 1] if n <= len(marks) else None
        return row_line(seen, Row(n, stored[n - 1], mark, n == place))

    opened = [
        Text(f"        {one}") for one in body_lines(stored[place - 1], height // 3)
    ]
    before = max(height - 1 - len(opened), 0)
    above = [line(n) for n in range(max(1, place - before), place)]
    below = range(place + 1, len(stored) + 1)[: max(height - len(opened) - 1, 0)]
    whole = [*above, line(place), *opened, *map(line, below)]
    cut = max(len(above) + 1 + len(opened) - height, 0)
    spare = max(len(whole) - height, 0)
    first = min(max(cut, len(above) - height // 2), spare)
    return whole[first : first + height]


def _pairs(pairs: Iterable[tuple[str, str]], width: int) -> list[Text]:
    """Names and values, a value over several lines if it must be."""
    return [line for name, value in pairs for line in _pair(name, value, width)]


def _pair(name: str, value: str, width: int) -> Iterator[Text]:
    margin = " " if len(name) >= NAME else " " * (NAME - len(name))
    first = Text(f" {one_line(name)}{margin}", style="dim")
    first.append(one_line(value), style="none")
    if name == "DIVERGED":
        first.stylize("bold red")
    rest = first
    for _ in range(4):
        if rest.cell_len <= width:
            break
        head = rest.copy()
        head.truncate(width, overflow="crop")
        yield head
        rest = Text(" " * (NAME + 1)) + rest[len(head) :]
    yield rest


def _shown(seen: Seen, look: Look, point: Point, panes: tuple[int, int]) -> Text:
    shown = seen.shown(look.at)
    left = "nothing was shown to a model yet"
    if shown:
        left = f"shown to the model ({shown.total} of {len(shown.marks)})"
    memory = f"memory  {one_line(memory_text(point))}"
    return _divider("├", left, "┴", memory, panes)


def _bottom(look: Look, width: int) -> Text:
    return _line("└", f" {one_line(look.note) if look.note else KEYS} ", "", "┘", width)
