"""JSON of which nothing is certain: what is not there, or not of its kind, is empty."""

import json
from collections.abc import Sequence
from typing import Any, Final, TypeAlias, cast

import msgspec

Json: TypeAlias = Any
HUGE: Final = 2**63
"""From here up it is no count of anything; NaN and infinity are not below it."""


def parse(text: str | bytes) -> Json:
    """The JSON; `ValueError` if it is none, or nested too deeply to be read."""
    try:
        return msgspec.json.decode(text)  # six times as fast
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return _parse(text)


def _parse(text: str | bytes) -> Json:
    """The same for what the strict reader refuses: half a character, NaN, UTF-16."""
    try:
        return json.loads(text)
    except RecursionError:
        message = "nested too deeply"
        raise ValueError(message) from None


def dump(value: Json) -> str:
    """Compact JSON text, keys in their order."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:  # what could just be read need not be writable
        return '"nested too deeply"'


def members(value: Json) -> dict[str, Json]:
    """The value, if it is an object."""
    return cast("dict[str, Json]", value) if isinstance(value, dict) else {}


def items(value: Json) -> Sequence[Json]:
    """The value, if it is an array."""
    return cast("Sequence[Json]", value) if isinstance(value, list) else ()


def text(value: Json) -> str:
    """The value, if it is text."""
    return value if isinstance(value, str) else ""


def as_text(value: Json) -> str:
    """Text as it is, other JSON as its text; nothing for null."""
    if isinstance(value, str):
        return value
    return "" if value is None else dump(value)


def filled(value: Json) -> dict[str, Json]:
    """The members of an object that are not null."""
    return {name: each for name, each in members(value).items() if each is not None}


def whole(value: Json) -> int | None:
    """The value, if it is an integer."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def amount(value: Json) -> float | None:
    """The value, if it is a finite number from 0 up."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if 0 <= value < HUGE else None


def count(value: Json) -> int:
    """The value, if it is a number from 0 up."""
    return int(amount(value) or 0)
