"""Lines: how a journal is written down, one JSON object a line, each chained to the last.

Only LF ends a line. The last member of each is its `chain`: a hash of the line before it
(of nothing, for the first) and of its own text up to there. So a byte that changed is
noticed, wherever it is, and so is a line that is missing.
"""

import json
from codecs import BOM_UTF8
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, Final

from attrs import field, frozen

from loopcore.codec import DecodeError, from_json, to_json
from loopcore.frozen import EMPTY, FrozenDict, Json, clean, dump_json, refuse_constant
from loopcore.inputs import Input
from loopcore.journal.shape import check_led, check_wrote, under
from loopcore.state import State

FORMAT: Final = "loopcore.journal"
OLDEST: Final = 1
NEWEST: Final = 1

_CHAIN: Final = ',"chain":"'
_SIZE: Final = 16
_TAIL: Final = len(_CHAIN) + 2 * _SIZE + len('"}')


@frozen
class Header:
    """The first line: where the run began, and digests that tell what it ran under."""

    state: State
    config: str = ""
    hooks: FrozenDict[str] = EMPTY


@frozen
class Entry:
    """What happened, when, and what that led to.

    Args:
        input: what happened.
        at: when, in seconds; None where nobody gave a time.
        led: what the step led to, in digests: see `Ledger.entry`.
        wrote: which hooks wrote what, as hints.
    """

    input: Input
    at: float | None = None
    led: FrozenDict[Json] = EMPTY
    wrote: tuple[Json, ...] = ()


@frozen
class Note:
    """What the driver did meanwhile; a fold skips it.

    Args:
        started: the ids of effects that it was about to perform.
        left: those of them that it did not perform after all: somebody else is to.
        opened: it went on with the file; from here, nothing refers to what stands before.
    """

    started: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    opened: bool = False


class Damaged(ValueError):
    """A line that is not as it was written."""


@frozen
class Chain:
    """Where a chain of lines stands."""

    link: str = field(default="")

    def add(self, data: Mapping[str, Json]) -> "tuple[Chain, str]":
        """The next line, with its LF."""
        text = clean(dump_json(data))
        link = _link(self.link, text[:-1])
        return Chain(link), f'{text[:-1]}{_CHAIN}{link}"}}\n'

    def take(self, line: bytes) -> "tuple[Chain, dict[str, Any]]":
        """What a line says, which is given without its LF.

        Raises:
            Damaged: saying in what way it is not as it was written.
        """
        try:
            text = line.decode()
            data = _parse(text)
        except (ValueError, RecursionError) as problem:
            raise Damaged(_what(line, problem)) from None
        if text.endswith("\r"):
            raise Damaged(CARRIAGE)
        if not isinstance(data, dict) or text[-_TAIL:][: len(_CHAIN)] != _CHAIN:
            raise Damaged(CHAINLESS)
        link = _link(self.link, text[:-_TAIL])
        if text[-_TAIL:] != f'{_CHAIN}{link}"}}':
            raise Damaged(BROKEN)
        del data["chain"]
        return Chain(link), data  # pyright: ignore[reportUnknownVariableType]


CARRIAGE: Final = "it ends with CR LF, and only LF ends a line: an editor changed it"
CHAINLESS: Final = "it does not end with its chain"
BROKEN: Final = (
    "its chain does not hold: it was changed, or a line before it is missing"
)


def _link(before: str, text: str) -> str:
    return blake2b(f"{before}{text}".encode(), digest_size=_SIZE).hexdigest()


def _what(line: bytes, problem: Exception) -> str:
    if not line:
        return EMPTY_LINE
    if line.startswith(BOM_UTF8):
        return "it begins with a byte order mark: an editor changed it"
    match problem:
        case UnicodeDecodeError():
            return f"it is not UTF-8 (byte {problem.start + 1} of the line)"
        case RecursionError():
            return "it is nested too deeply"
        case json.JSONDecodeError():
            return f"it is not JSON: {problem.msg}, at its character {problem.pos + 1}"
        case _:
            return f"it is not JSON: {problem}"


EMPTY_LINE: Final = "it is empty"


_parse: Final = json.JSONDecoder(parse_constant=refuse_constant).decode


def header_data(header: Header) -> dict[str, Json]:
    """A header as the object of its line."""
    said: dict[str, Json] = {"format": FORMAT, "version": NEWEST}
    if header.config:
        said["config"] = header.config
    if header.hooks:
        said["hooks"] = header.hooks
    return {**said, "state": to_json(header.state)}


def entry_data(entry: Entry) -> dict[str, Json]:
    """An entry as the object of its line."""
    said: dict[str, Json] = {} if entry.at is None else {"at": entry.at}
    said["input"] = to_json(entry.input, Input)
    if entry.led:
        said["led"] = entry.led
    if entry.wrote:
        said["wrote"] = list(entry.wrote)
    return said


def note_data(note: Note) -> dict[str, Json]:
    """A note as the object of its line."""
    return {"note": to_json(note)}


def header_of(data: dict[str, Any]) -> Header:
    """The header that a first line holds.

    Raises:
        DecodeError: for another format, a version that cannot be read, or unknown fields.
    """
    if data.pop("format", None) != FORMAT:
        raise DecodeError("", f'is no journal: it has no "format": "{FORMAT}"')
    version = data.pop("version", None)
    if type(version) is not int or not OLDEST <= version <= NEWEST:
        raise DecodeError("", _unreadable(version))
    return from_json(Header, data)


def _unreadable(version: object) -> str:
    newer = type(version) is int and version > NEWEST
    advice = " Upgrade loopcore." if newer else ""
    reads = f"this loopcore reads {OLDEST} to {NEWEST}"
    return f"was written in journal format {version!r}; {reads}.{advice}"


def line_of(data: dict[str, Any]) -> Entry | Note:
    """What any other line holds.

    Raises:
        DecodeError: naming the field that it does not know, or cannot read.
    """
    if "note" in data:
        return from_json(Only, data).note
    entry = from_json(Entry, data)
    under("led", check_led, entry.led)
    under("wrote", check_wrote, entry.wrote)
    return entry


@frozen
class Only:
    """The line of a note."""

    note: Note
