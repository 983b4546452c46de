"""`Journal`: a recorded run, read whole."""

import warnings
from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from attrs import field, frozen
from returns.result import Failure, Success

from loopcore.codec import DecodeError
from loopcore.config import AnyConfig
from loopcore.frozen import EMPTY, FrozenDict, a, evolve
from loopcore.hiding import Hide, Patterns, hider_of
from loopcore.inputs import Input
from loopcore.journal.digests import Digests
from loopcore.journal.ledger import Ledger
from loopcore.journal.lines import (
    Chain,
    Damaged,
    Entry,
    Header,
    Note,
    entry_data,
    header_data,
    header_of,
    line_of,
    note_data,
)
from loopcore.journal.marks import config_digest, hook_digests
from loopcore.journal.private import private
from loopcore.reducer import Given, deliver, step
from loopcore.reducer.door import input_of
from loopcore.state import Rejected, State
from loopcore.wording import one_line

AnyPath: TypeAlias = str | PathLike[str]


class JournalError(Exception):
    """Why a journal cannot be read or gone on with: `path`, `line` (from 1), a sentence."""

    def __init__(self, path: str, line: int, sentence: str) -> None:
        super().__init__(path, line, sentence)
        self.path, self.line, self.sentence = path, line, sentence

    def __str__(self) -> str:
        where = f"{self.path}, line {self.line}" if self.line else self.path
        return one_line(f"{where}: {self.sentence}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JournalError) and self.args == other.args

    def __hash__(self) -> int:
        return hash(self.args)


class TornLine(UserWarning):
    """The last line of a journal was not written whole, and is left out."""


@frozen(repr=False)
class Journal:
    """A recorded run: where it began, and what happened to it.

    Args:
        start: the state that it began with.
        entries: what happened, in order, and what each led to.
        notes: what the driver did after so many entries: `(count, note)`.
        config, hooks: digests of what it ran under, as hints: the configuration's, and
            each hook's by its name.
        path: where it was read, as it is named in errors.
        torn: how much was cut from its end, in bytes, because it was not written whole.
        link: where the chain of its lines stands at the end.
        hide: hides what is redacted, as its recorder did: what is folded is compared in
            that form.
    """

    start: State
    entries: tuple[Entry, ...] = ()
    notes: tuple[tuple[int, Note], ...] = ()
    config: str = ""
    hooks: FrozenDict[str] = EMPTY
    path: str = ""
    torn: int = 0
    link: str = ""
    hide: Hide | None = field(default=None, eq=False, kw_only=True)

    @property
    def inputs(self) -> tuple[Input, ...]:
        """What happened, in order."""
        return tuple(entry.input for entry in self.entries)

    @property
    def run_id(self) -> str:
        """The run's name."""
        return self.start.run_id

    @property
    def opened(self) -> frozenset[int]:
        """After how many entries its file was gone on with."""
        return frozenset(count for count, note in self.notes if note.opened)

    @property
    def in_flight(self) -> frozenset[str]:
        """The ids of effects that were started, whether or not they were answered."""
        found = set[str]()
        for _, note in self.notes:
            found |= {*note.started}
            found -= {*note.left}
        return frozenset(found)

    @staticmethod
    def read(
        path: AnyPath, *, redact: Patterns = ()
    ) -> "Success[Journal] | Failure[JournalError]":
        """The journal in this file. Warns of a last line that was not written whole.

        Args:
            path: the file.
            redact: what its `Recorder` was told to hide. It is needed only where that
                stands in the configuration itself, such as in its system prompt: then
                what is folded now is hidden in the same way before it is compared.

        Raises:
            ValueError: for what is no regular expression.
        """
        hide = hider_of(redact)
        try:
            journal = evolve(parsed(text_of(path), str(path)), hide=hide)
        except JournalError as problem:
            return Failure(problem)
        if journal.torn:
            said = TORN.format(path, journal.torn)
            warnings.warn(said, TornLine, stacklevel=2)
        return Success(journal)

    @staticmethod
    def of(
        config: AnyConfig, start: State, happened: "Iterable[Given | Entry]"
    ) -> "Success[Journal] | Failure[Rejected]":
        """The journal of a run to which this happened: folded, and nothing performed.

        Only what happened, and when, is taken of an `Entry`.
        """
        ledger, state = Ledger(Digests()), start
        entries: list[Entry] = []
        for one in happened:
            given = one if isinstance(one, Entry) else Entry(input_of(one), start.now)
            placed = deliver(state, given.input, at=given.at)
            if isinstance(placed, Failure):
                return placed
            state, effects = step(config, placed.unwrap())
            led, wrote = ledger.entry(state, effects), ledger.wrote(effects)
            entries.append(Entry(given.input, given.at, led, wrote))
        header = header_for(config, start)
        made = Journal(start, tuple(entries), (), header.config, header.hooks)
        return Success(made)

    def write(self, path: AnyPath) -> None:
        """Write it to a new file, which is its owner's alone.

        Raises:
            FileExistsError: if there is such a file.
        """
        text = "".join(self._lines()).encode()
        place = Path(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        with open(place, "xb", opener=private) as file:
            file.write(text)

    def _lines(self) -> Iterable[str]:
        notes = dict[int, list[Note]]()
        for count, note in self.notes:
            notes.setdefault(count, []).append(note)
        data = [header_data(Header(self.start, self.config, self.hooks))]
        for count, entry in enumerate((None, *self.entries)):
            data += [entry_data(entry)] if entry else []
            data += map(note_data, notes.get(count, ()))
        chain = Chain()
        for one in data:
            chain, line = chain.add(one)
            yield line

    def __repr__(self) -> str:
        where = f" in {self.path}" if self.path else ""
        said = f"<journal of {self.run_id}: {len(self.entries)} inputs{where}>"
        return one_line(said)


def text_of(path: AnyPath) -> bytes:
    """What is in a file.

    Raises:
        JournalError: if it cannot be read.
    """
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as problem:  # a name may be no name of a file
        sentence = f"it cannot be read: {getattr(problem, 'strerror', None) or problem}"
        raise JournalError(str(path), 0, sentence) from None


TORN = (
    "{}: the last line was not written whole ({} bytes) and is left out; what it would "
    "have told had not been acted on"
)


def header_for(config: AnyConfig, start: State) -> Header:
    """The header of a journal that begins here."""
    return Header(start, config_digest(config), hook_digests(config))


def parsed(data: bytes, path: str) -> Journal:
    """The journal in this text.

    Raises:
        JournalError: naming the line that is not as it was written, or cannot be read.
    """
    *lines, last = data.split(b"\n")
    if last and _is_whole(lines, last):
        lines, last = [*lines, last], b""
    if not lines:
        raise JournalError(path, 1, _no_header(data))
    chain, header = _first(lines[0], path)
    journal = Journal(
        header.state, (), (), header.config, header.hooks, path, len(last)
    )
    return _rest(journal, chain, lines)


def _no_header(data: bytes) -> str:
    return "its first line was not written whole" if data else "it is empty"


def _is_whole(lines: list[bytes], last: bytes) -> bool:
    """Whether a last line lacks nothing but its LF."""
    try:
        chain = Chain(_link_of(lines[-1])) if lines else Chain()
        chain.take(last)
    except Damaged:
        return False
    return True


def _link_of(line: bytes) -> str:
    return line[-34:-2].decode(errors="replace")


def _first(line: bytes, path: str) -> tuple[Chain, Header]:
    try:
        chain, data = Chain().take(line)
        return chain, header_of(data)
    except Damaged as problem:
        raise JournalError(path, 1, _foreign(line, problem)) from None
    except DecodeError as problem:
        raise JournalError(path, 1, str(problem)) from None


def _foreign(line: bytes, problem: Damaged) -> str:
    if b'"format":"loopcore.journal"' in line.replace(b" ", b""):
        return str(problem)
    return f"it is no journal ({problem})"


def _rest(journal: Journal, chain: Chain, lines: list[bytes]) -> Journal:
    entries: list[Entry] = []
    notes: list[tuple[int, Note]] = []
    for number, line in enumerate(lines[1:], 2):
        try:
            chain, data = chain.take(line)
            found = line_of(data)
        except (Damaged, DecodeError) as problem:
            raise JournalError(journal.path, number, str(problem)) from None
        if isinstance(found, Note):
            notes.append((len(entries), found))
        else:
            entries.append(found)
    return evolve(journal, entries=tuple(entries), notes=tuple(notes), link=chain.link)


def refuse_no_journal(given: object) -> None:
    """Raise for what is no Journal, such as the path of one or the result of reading it."""
    if not isinstance(given, Journal):
        message = (
            f"A Journal is wanted here; it got {a(given)}. Read a file with "
            "`Journal.read(path).unwrap()`."
        )
        raise TypeError(message)
