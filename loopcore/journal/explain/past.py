"""A journal folded again, to be asked about."""

from collections.abc import Iterator
from typing import Any, Final, NoReturn

import attrs
from attrs import frozen

from loopcore.config import AnyConfig
from loopcore.journal.folding import Step, notes_of, steps
from loopcore.journal.history import Performed, Stored, performed, stored
from loopcore.journal.journal import Journal
from loopcore.state import State

WIDE: Final = 72
"""How many characters of a value are told."""


class Unknown(LookupError):
    """What was asked about is not in the journal."""


@frozen
class Past:
    """A journal folded again, to be asked about."""

    journal: Journal
    steps: tuple[Step, ...]
    end: State
    messages: list[Stored]
    effects: dict[str, Performed]
    notes: tuple[str, ...] = ()


def folded(config: AnyConfig, journal: Journal) -> Past:
    """The journal, folded as far as its inputs fit."""
    every = tuple(steps(config, journal))
    taken = tuple(one for one in every if isinstance(one, Step))
    end = taken[-1].state if taken else journal.start
    messages = stored(journal.start.transcript, journal.run_id, taken)
    return Past(journal, taken, end, messages, performed(taken), notes_of(every))


def unknown(text: str) -> NoReturn:
    """Say that there is no such thing.

    Raises:
        Unknown: always.
    """
    raise Unknown(text)


def has_field(record: object, name: str) -> bool:
    """Whether a record says this: a field of it, or a property."""
    kind: Any = type(record)
    fields = {field.name for field in attrs.fields(kind)}
    return name in fields or isinstance(getattr(kind, name, None), property)


def told_input(step: Step) -> str:
    """An input in a few words."""
    kind = type(step.input).__name__
    of = getattr(step.input, "effect_id", "")
    return f"input {step.number}, {f'answer to {of}' if of else kind}"


def aligned(pairs: Iterator[tuple[str, str]]) -> Iterator[str]:
    """Names and what is said of them, below each other."""
    for name, text in pairs:
        yield f"  {name:<11} {text}"
