"""What golden journals hold: every kind of thing that a journal can hold.

What is in none of them could become unreadable, and no test would fail.
"""

from collections.abc import Iterator
from typing import Any, Final, get_args

import attrs
import pytest
from attrs import frozen

from loopcore.effects import Effect
from loopcore.events import REASONS
from loopcore.frozen import FrozenDict
from loopcore.inputs import RECORDS, Input
from loopcore.journal import Journal, Note
from loopcore.journal.journal import parsed
from loopcore.journal.shape import EFFECT, KINDS, LED
from loopcore.messages import FAULTS, FINISHES, OUTCOMES, Message, Part, transcript
from loopcore.state import Closed, Known, Queued, Slot, State, Turn
from tests.golden import FOLDER, config

NEWEST: Final = max(FOLDER.parent.iterdir(), key=lambda folder: int(folder.name))
NEVER: Final = {"ending", "inbox"}
"""Winding up waits for nothing, and what was delivered is a journal's first input."""


@frozen
class Held:
    """Everything in a journal, wherever it is in it."""

    values: tuple[Any, ...]

    @property
    def kinds(self) -> set[str]:
        return {type(value).__name__ for value in self.values}

    def given(self, kind: str, name: str) -> set[Any]:
        """What this field of these records is."""
        ours = (value for value in self.values if type(value).__name__ == kind)
        return {getattr(value, name) for value in ours}


def inside(value: Any) -> Iterator[Any]:
    """This, and all that it holds."""
    yield value
    for part in parts(value):
        yield from inside(part)


def parts(value: Any) -> list[Any]:
    kind: Any = value.__class__
    if kind is FrozenDict:
        return [*value.values()]
    if kind in (tuple, list, transcript().__class__):
        return [*value]
    return [getattr(value, name, None) for name in fields_of(kind)]


def fields_of(kind: Any) -> list[str]:
    return [field.name for field in attrs.fields(kind)] if attrs.has(kind) else []


@pytest.fixture(scope="module")
def journals() -> list[Journal]:
    files = sorted(NEWEST.glob("*.jsonl"))
    return [parsed(file.read_bytes(), file.name) for file in files]


@pytest.fixture(scope="module")
def held(journals: list[Journal]) -> Held:
    whole = [(one.start, one.entries, one.notes) for one in journals]
    return Held(tuple(inside(whole)))


UNIONS: Final = {
    "inputs": get_args(Input),
    "answers": RECORDS,
    "messages": get_args(Message),
    "parts": get_args(Part),
    "effects that wait": get_args(Effect),
    "calls": get_args(Slot),
    "parts of a state": (Turn, Closed, Known, Queued),
}


@pytest.mark.parametrize("of", UNIONS)
def test_every_kind_of_record_is_in_a_golden_journal(held: Held, of: str) -> None:
    missing = {kind.__name__ for kind in UNIONS[of]} - held.kinds

    assert missing == set()


@pytest.mark.parametrize(
    ("kind", "name", "all_of_them"),
    [
        ("ToolOutput", "outcome", OUTCOMES),
        ("ToolOutput", "terminate", (False, True)),
        ("ModelError", "kind", FAULTS),
        ("AssistantMessage", "finish", FINISHES),
    ],
)
def test_every_word_for_how_it_ended_is_in_a_golden_journal(
    held: Held, kind: str, name: str, all_of_them: tuple[Any, ...]
) -> None:
    assert {*all_of_them} - held.given(kind, name) == set()


def test_every_field_of_a_first_state_is_in_a_golden_journal(
    journals: list[Journal],
) -> None:
    bare = State.start(config(), run_id="r")
    fields = [field.name for field in attrs.fields(State)]

    written = {
        name
        for name in fields
        for one in journals
        if getattr(one.start, name) != getattr(bare, name)
    }

    assert {*fields} - written == NEVER


def test_every_field_of_every_input_is_in_a_golden_journal(held: Held) -> None:
    """Set, and left out where that can be."""
    kinds: tuple[Any, ...] = (*get_args(Input), *RECORDS, *get_args(Message))
    fields = [(kind.__name__, field) for kind in kinds for field in attrs.fields(kind)]

    never = [
        f"{kind}.{field.name}"
        for kind, field in fields
        if all(value == field.default for value in held.given(kind, field.name))
    ]

    assert never == [], never


def test_every_field_of_a_note_is_in_a_golden_journal(held: Held) -> None:
    names = [field.name for field in attrs.fields(Note)]

    assert [name for name in names if not any(held.given("Note", name))] == []


def test_all_that_a_line_tells_of_a_step_is_in_a_golden_journal(
    journals: list[Journal],
) -> None:
    led = [entry.led for one in journals for entry in one.entries]
    asked = [ask for one in led for ask in one.get("ask", ())]

    assert {*LED} - {name for one in led for name in one} == set()
    assert {*EFFECT, "messages"} - {name for one in asked for name in one} == set()
    assert KINDS - {ask["kind"] for ask in asked} == set()


def test_every_reason_to_stop_is_in_a_golden_journal(
    journals: list[Journal], held: Held
) -> None:
    """In a line, or in the state that a journal begins with."""
    told = {
        stop["reason"]
        for one in journals
        for entry in one.entries
        for stop in entry.led.get("stop", ())
    }

    assert {*REASONS} - told - held.given("Stop", "reason") == set()
