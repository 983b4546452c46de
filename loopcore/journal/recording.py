"""A journal that is being written."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, Self, TypeAlias

from attrs import frozen
from returns.result import Failure, Success

from loopcore.config import AnyConfig
from loopcore.events import RunEnd, TurnEnd
from loopcore.frozen import Json
from loopcore.hiding import hide_record
from loopcore.inputs import Input
from loopcore.journal.digests import Digests
from loopcore.journal.file import JournalFile
from loopcore.journal.journal import JournalError
from loopcore.journal.ledger import Ledger
from loopcore.journal.lines import Chain, Entry, Note, entry_data, note_data
from loopcore.reducer import Effects, Given, deliver, step
from loopcore.reducer.door import input_of
from loopcore.reducer.out import NOTHING
from loopcore.reducer.step import Moved
from loopcore.state import Rejected, State

if TYPE_CHECKING:
    from loopcore.journal.recorder import Recorder


@frozen
class Move:
    """An input, and what a step made of it."""

    input: Input
    state: State
    effects: Effects


Moves: TypeAlias = Success[tuple[Move, ...]] | Failure[Rejected]


class Recording:
    """Writes each input before it is acted on. Made by `Recorder.open`; to be closed.

    Closed, it opens its file again for a further input. `in_flight` are the ids of the
    effects that had been started when the file was left before.
    """

    def __init__(
        self,
        recorder: "Recorder",
        file: JournalFile | None = None,
        chain: Chain = Chain(),  # noqa: B008  # it is frozen
        in_flight: frozenset[str] = frozenset(),
    ) -> None:
        self._recorder, self._file = recorder, file
        self._chain, self.in_flight = chain, in_flight
        self._ledger = Ledger(Digests(recorder.hide))
        self._waiting = bytearray()
        self._size = file.size if file else 0
        self._begun = False

    def advance(
        self, config: AnyConfig, state: State, *given: Given, at: float | None = None
    ) -> Moved:
        """`loopcore.advance`, recorded; what is refused is not in the file."""
        moves = folded(config, state, given, at)
        if isinstance(moves, Failure):
            return moves
        self.add(moves.unwrap(), at)
        return Success(total(state, moves.unwrap()))

    def add(self, moves: Sequence[Move], at: float | None) -> None:
        """These happened at this time, in this order. Nothing of it was acted on yet.

        Raises:
            OSError: if that cannot be written. Then nothing of it is in the file.
        """
        entries = [self._entry(move, at) for move in moves]
        ends = any(_ends_turn(move.effects) for move in moves)
        self._add(map(entry_data, entries), at_turn=ends)

    def started(self, effect_ids: Iterable[str]) -> None:
        """These are about to be performed. Should the process end, they may have been."""
        self._note(Note(started=tuple(effect_ids)))

    def left(self, effect_ids: Iterable[str]) -> None:
        """These were not performed after all: somebody else is to."""
        self._note(Note(left=tuple(effect_ids)))

    def write(self, data: dict[str, Json]) -> None:
        """Have this as the next line."""
        self._chain, line = self._chain.add(data)
        self._waiting += line.encode()

    def close(self) -> None:
        """Write what still waits, and let others have the file."""
        try:
            if self._begun and self._waiting:
                self._pass_on()
        finally:
            if self._file:
                self._file.close()
            self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _entry(self, move: Move, at: float | None) -> Entry:
        hide = self._recorder.hide
        seen = hide_record(move.input, hide) if hide else move.input
        led = self._ledger.entry(move.state, move.effects)
        return Entry(seen, at, led, self._ledger.wrote(move.effects))

    def _note(self, note: Note) -> None:
        self._add([note_data(note)], at_turn=False)

    def _add(self, lines: Iterable[dict[str, Json]], *, at_turn: bool) -> None:
        """Add these lines, or none: where that fails, all is as before."""
        begun, chain, size = self._begun, self._chain, len(self._waiting)
        flush, self._begun = self._recorder.flush, True
        try:
            self._file = self._file or self._opened()
            for data in lines:
                self.write(data)
            if flush == "input" or (flush == "turn" and at_turn):
                self._pass_on()
        except BaseException:
            self._begun, self._chain = begun, chain
            del self._waiting[size:]
            self._ledger.reset()
            self.write(note_data(Note(opened=True)))
            raise

    def _pass_on(self) -> None:
        """Give what waits to the system."""
        file = self._file or self._opened()
        try:
            file.append(bytes(self._waiting), sync=self._recorder.fsync)
        finally:
            self._file, self._size = (file if file.size else None), file.size
        self._waiting.clear()
        self._begun = False

    def _opened(self) -> JournalFile:
        """The file, as it was when it was closed."""
        file = self._recorder.file(new=not self._size)
        if file.size != self._size:
            file.close()
            raise JournalError(str(file.path), 0, CHANGED)
        return file


CHANGED: Final = (
    "somebody else wrote to it while this run rested. A journal is of one run: give the "
    "other one another path."
)


def _ends_turn(effects: Effects) -> bool:
    return any(isinstance(event, TurnEnd | RunEnd) for event in effects.tell)


def folded(
    config: AnyConfig, state: State, given: Iterable[Given], at: float | None
) -> Moves:
    """Each of these, and what a step made of it: all, or none."""
    moves: list[Move] = []
    for one in map(input_of, given):
        placed = deliver(state, one, at=at)
        if isinstance(placed, Failure):
            return placed
        state, effects = step(config, placed.unwrap())
        moves.append(Move(one, state, effects))
    return Success(tuple(moves))


def total(state: State, moves: Sequence[Move]) -> tuple[State, Effects]:
    """Where these led to, and all that they want."""
    effects = sum((move.effects for move in moves), NOTHING)
    return (moves[-1].state if moves else state), effects
