"""`diff`: two runs side by side."""

from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import Final, Literal, TypeAlias

from attrs import evolve, frozen

from loopcore.config import AnyConfig
from loopcore.frozen import FrozenDict, Json
from loopcore.inputs import Answer
from loopcore.journal.digests import Digests
from loopcore.journal.folding import Refused, Step, notes_of, steps
from loopcore.journal.journal import Journal
from loopcore.journal.tables import short
from loopcore.messages import Message, ToolResultMessage, Usage
from loopcore.state import State

Mark: TypeAlias = Literal[" ", "-", "+"]
WIDE: Final = 100
COMMON: Final = {
    0: "already the first input leads elsewhere",
    1: "the first input leads to the same",
}


@frozen
class Line:
    """A message of one run or of both. `mark`: " " both, "-" the first alone, "+" the other."""

    mark: Mark
    a: int | None
    b: int | None
    message: Message


@frozen(repr=False)
class Diff:
    """Two runs side by side.

    Args:
        names: the journals'.
        common: how many inputs led to the same in both, from the start.
        lines: the messages of both, aligned.
        ends: where each run stands.
        settings: what differs in the settings: name, then both values.
        notes: where a record is not what the configuration makes of it, so that what is
            told is what comes of it now.
        whole: whether the configuration took all inputs of both.
    """

    names: tuple[str, str]
    common: int
    lines: tuple[Line, ...]
    ends: tuple[State, State]
    settings: tuple[tuple[str, str, str], ...] = ()
    notes: tuple[str, ...] = ()
    whole: bool = True

    @property
    def is_same(self) -> bool:
        """Whether both came to the same messages and the same end, and were read to it."""
        a, b = self.ends
        same_end = self.whole and a.stop == b.stop
        return same_end and not self.settings and not self.differing

    @property
    def differing(self) -> tuple[Line, ...]:
        """The messages that only one of them has."""
        return tuple(line for line in self.lines if line.mark != " ")

    @property
    def usage(self) -> tuple[Usage, Usage]:
        """What each spent."""
        return self.ends[0].usage, self.ends[1].usage

    def __str__(self) -> str:
        a, b = self.ends
        said = [f"--- {self.names[0]}  {a!r}", f"+++ {self.names[1]}  {b!r}"]
        said.append(
            COMMON.get(self.common, f"the first {self.common} inputs lead to the same")
        )
        said += [f"{name}: {x} → {y}" for name, x, y in self.settings]
        said += _hunks(self.lines)
        if a.stop != b.stop:
            said.append(f"stop: {a.stop} → {b.stop}")
        return "\n".join([*said, *self.notes])

    def __repr__(self) -> str:
        return f"<diff of {self.names[0]} and {self.names[1]}: {len(self.differing)} messages>"


def diff(config: AnyConfig, a: Journal, b: Journal) -> Diff:
    """Two recorded runs side by side: how far they are one, and what then differs.

    Both are folded by this configuration, as far as it takes their inputs.
    """
    digests = Digests()
    runs = [*steps(config, a)], [*steps(config, b)]
    folded = [[one for one in run if isinstance(one, Step)] for run in runs]
    one, other = (
        run[-1].state if run else journal.start
        for run, journal in zip(folded, (a, b), strict=True)
    )
    names = a.path or a.run_id, b.path or b.run_id
    return Diff(
        names,
        _common(*folded),
        tuple(_lines(digests, one, other)),
        (one, other),
        _settings(one, other),
        tuple(
            f"{name}: {note}"
            for name, run in zip(names, runs, strict=True)
            for note in notes_of(run)
        ),
        whole=not any(isinstance(run[-1], Refused) for run in runs if run),
    )


def _common(a: list[Step], b: list[Step]) -> int:
    """How many steps of both led to the same; times and the runs' names do not count."""
    count = 0
    for one, other in zip(a, b, strict=False):
        if _placed(one) != _placed(other):
            return count
        count += 1
    return count


def _placed(one: Step) -> tuple[object, ...]:
    """An input and what it led to; effects by their place in the run."""
    run_id, given = one.state.run_id, one.input

    def place(effect_id: str) -> str:
        return effect_id.removeprefix(f"{run_id}.")

    if isinstance(given, Answer):
        given = evolve(given, effect_id=place(given.effect_id), seconds=None)
    asks: Iterable[FrozenDict[Json]] = one.led.get("ask", ())
    timeless = ({k: v for k, v in ask.items() if k not in TIMES} for ask in asks)
    asked = [{**ask, "id": place(ask["id"])} for ask in timeless]
    cancelled = [*map(place, one.led.get("cancel", ()))]
    rest = {n: v for n, v in one.led.items() if n not in {"ask", "cancel"}}
    return given, asked, cancelled, rest


TIMES: Final = ("seconds", "until")
"""How long a pause is and when it ends: a retry's comes of the time, and of the name."""


def _lines(digests: Digests, a: State, b: State) -> list[Line]:
    ours, theirs = (list(state.transcript) for state in (a, b))
    one, other = ([digests(m) for m in side] for side in (ours, theirs))
    found: list[Line] = []
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    for tag, a1, a2, b1, b2 in matcher.get_opcodes():
        if tag == "equal":
            found += [
                Line(" ", n, m, ours[n])
                for n, m in zip(range(a1, a2), range(b1, b2), strict=True)
            ]
        else:
            found += [Line("-", n, None, ours[n]) for n in range(a1, a2)]
            found += [Line("+", None, m, theirs[m]) for m in range(b1, b2)]
    return found


def _settings(a: State, b: State) -> tuple[tuple[str, str, str], ...]:
    ours, theirs = a.settings, b.settings
    pairs = [
        ("model", ours.model, theirs.model),
        ("system", ours.system, theirs.system),
        ("thinking", str(ours.thinking), str(theirs.thinking)),
        ("tools", _names(a), _names(b)),
    ]
    return tuple((n, short(x, WIDE), short(y, WIDE)) for n, x, y in pairs if x != y)


def _names(state: State) -> str:
    return ", ".join(tool.name for tool in state.settings.tools)


AROUND: Final = 1


def _hunks(lines: tuple[Line, ...]) -> list[str]:
    """The differing messages, and one equal message on each side of them."""
    shown: list[str] = []
    left = 0
    for place, line in enumerate(lines):
        near = lines[max(0, place - AROUND) : place + AROUND + 1]
        if all(one.mark == " " for one in near):
            left += 1
            continue
        shown += [f"  … {left} equal"] if left else []
        shown.append(_line(line))
        left = 0
    return [*shown, *([f"  … {left} equal"] if left else [])]


def _line(line: Line) -> str:
    number = (line.a if line.a is not None else line.b) or 0
    return f"{line.mark} {number + 1:>4} {short(said(line.message), WIDE)}"


def said(message: Message) -> str:
    """A message in a line."""
    kind = type(message).__name__.removesuffix("Message").lower()
    text = getattr(message, "text", "")
    calls = " ".join(
        f"→ {call.name} {call.text}" for call in getattr(message, "calls", ())
    )
    if isinstance(message, ToolResultMessage):
        kind = f"result {message.name} {message.outcome}"
    return f"{kind}  {text}{' ' if text and calls else ''}{calls}"
