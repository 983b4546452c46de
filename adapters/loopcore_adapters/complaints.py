"""What an error's body says, whoever wrote it: its message, words, status and delay."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from attrs import frozen

from loopcore_adapters.loose import Json, dump, items, members, parse, text, whole

BEGINNING: Final = 300
"""How many characters of a body that makes no sense are shown."""

LONGEST: Final = 2000
"""How many characters of a provider's own message, or word, are kept and looked at."""

MOST_WORDS: Final = 20
"""How many words for programs are looked at."""

LONGEST_WAIT: Final = 366 * 86_400.0
"""From how many seconds on it makes no sense to be asked to wait."""

NO_STATUS: Final = 1000
"""From here up a number is no status."""


@frozen
class Complaint:
    """What an error body says: its words for programs, its message, its status.

    `retry_after` is how many seconds it asks to wait.
    """

    message: str
    words: str = ""
    status: int | None = None
    retry_after: float | None = None


def complaint(body: bytes) -> Complaint | None:
    """What an error's body says, if it is JSON that says anything."""
    try:
        value = parse(body)
    except ValueError:
        return None
    return error_member(value) or _plain(value)


def error_member(body: Json) -> Complaint | None:
    """`{"error": ...}`, also inside an array or a choice."""
    top = members(items(body)[0] if items(body) else body)
    error = top.get("error")
    if message := text(error).strip():
        more = text(top.get("message"))
        return Complaint(short(f"{message}: {more}" if more else message, LONGEST))
    said = members(error)
    if not said:
        return None
    status = _status(said) or _status(top)
    return Complaint(_message(said), _words(said), status, _retry_delay(said))


def bare_error(body: Json) -> Complaint | None:
    """An object that is an error itself, and says so."""
    top = members(body)
    marked = "error" in (top.get("object"), top.get("type")) or "detail" in top
    coded = top.get("code") is not None and text(top.get("message"))
    return _plain(body) if marked or coded else None


def _plain(body: Json) -> Complaint | None:
    top = members(body)
    if top.get("choices") is not None or not top:
        return None
    return Complaint(_message(top), _words(top), _status(top))


def _message(said: Mapping[str, Json]) -> str:
    for name in ("message", "detail", "msg", "error_msg", "error_message"):
        if found := text(said.get(name)).strip():
            raw = text(members(said.get("metadata")).get("raw"))
            return short(f"{found}: {raw}" if raw else found, LONGEST)
    return short(dump(said))


def _words(said: Mapping[str, Json]) -> str:
    words = [text(said.get(name)) for name in ("type", "code", "status")]
    for detail in _details(said):
        words.append(text(detail.get("reason")))
        words += (text(members(one).get("quotaId")) for one in _violations(detail))
    return " ".join(word[:LONGEST] for word in words[:MOST_WORDS] if word)


def _details(said: Mapping[str, Json]) -> list[dict[str, Json]]:
    """The details of a `google.rpc.Status`: why, which quota, when to come again."""
    return [members(detail) for detail in items(said.get("details"))]


def _violations(detail: Mapping[str, Json]) -> Sequence[Json]:
    return items(detail.get("violations"))


def _retry_delay(said: Mapping[str, Json]) -> float | None:
    """The seconds of a `google.rpc.RetryInfo`, written as "34.5s"."""
    delays = (text(detail.get("retryDelay")) for detail in _details(said))
    return next((seconds_of(delay[:-1]) for delay in delays if delay[-1:] == "s"), None)


def _status(said: Mapping[str, Json]) -> int | None:
    for name in ("code", "status", "http_code", "status_code"):
        value = said.get(name)
        written = text(value) or (str(value) if (whole(value) or 0) < NO_STATUS else "")
        if re.fullmatch("[45][0-9]{2}", written):
            return int(written)
    return None


def seconds_of(value: str) -> float | None:
    """The seconds to wait, if that is what is written and makes sense."""
    try:
        number = float(value)
    except ValueError:
        return None
    return number if 0 <= number < LONGEST_WAIT else None


def short(value: str, limit: int = BEGINNING) -> str:
    """The beginning of a text."""
    return value if len(value) <= limit else f"{value[:limit]}…"
