"""Why a model gave no reply: from an HTTP response, or from an error inside a body.

Statuses and error bodies are much alike over all wires, so all of them use this.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final, Literal, TypeAlias

from attrs import evolve, frozen

from loopcore import AssistantMessage, ModelError
from loopcore_adapters.loose import Json, dump, items, members, parse, text, whole

Fault: TypeAlias = Literal[
    "network",
    "timeout",
    "cut_stream",
    "rate_limit",
    "overloaded",
    "server",
    "auth",
    "bad_request",
    "context_overflow",
    "content_filter",
    "no_such_model",
    "bad_response",
]
"""The kinds of fault that a wire can have."""

BEGINNING: Final = 300
"""How many characters of a body that makes no sense are shown."""

LONGEST: Final = 2000
"""How many characters of a provider's own message, or word, are kept and looked at."""

LONGEST_ID: Final = 200
"""How many characters of a request's id are kept."""

MOST_WORDS: Final = 20
"""How many words for programs are looked at."""

LONGEST_WAIT: Final = 366 * 86_400.0
"""From how many seconds on it makes no sense to be asked to wait."""

REQUEST_IDS: Final = ("x-request-id", "request-id", "x-amzn-requestid", "cf-ray")

TOO_LARGE: Final = 413
SERVERS: Final = 500
UNCLEAR: Final = (None, 400, 404, 422, 500)
"""Statuses that say so little that the message is asked what is wrong."""

STATUSES: Final[Mapping[int, Fault]] = {
    401: "auth",
    402: "auth",
    403: "auth",
    408: "timeout",
    409: "server",
    TOO_LARGE: "context_overflow",
    425: "server",
    429: "rate_limit",
    498: "overloaded",
    499: "server",  # "cancelled", and nobody here did
    503: "overloaded",
    504: "timeout",
    524: "timeout",
    529: "overloaded",
}
"""What a status means, where it is not plainly the server's fault or the request's."""


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns))


QUOTA: Final = _any(
    "insufficient_(quota|balance|credit)",
    "insufficient (balance|credit|fund)",
    "credit balance",
    "billing_(hard_limit|not_active|error)",
    "reached your specified .{0,20}usage limit",
    "exceeded_current_quota_error",
    "payment.required",
    "arrearage",
    "used all available credits",
    "spend(ing)? limit",
    "account .{0,60}suspended",
    "(requests|tokens)[a-z]{0,40}perday",  # Google's: used up until midnight
)
THROTTLED: Final = _any(
    "rate.?limit", "too.many.requests", "tokens per (minute|day)", "throttl"
)
OVERFLOW: Final = _any(
    "exceed_context_size",
    "context_(length|window)_exceeded",
    "context (length|size|window|limit)",
    "maximum context",
    "maximum (prompt|model) length",
    "prompt exceeds (the )?max",
    "prompt token count.{0,20}exceeds",
    "range of input length",
    "must have less than.{0,20}tokens",
    "(prompt|input|request) (is|was) too (long|large)",
    "too many (input )?tokens",
    "exceeds? the (maximum|max|limit).{0,40}tokens",
    "exceeded model token limit",
    "reduce the length",
    "context.{0,20}overflow",
    "tokens? \\+ .{0,20}max_new_tokens",
)
NO_MODEL: Final = _any(
    "model_not_found",
    "model_not_exist",
    "model_not_available",
    "deploymentnotfound",
    "(no such|unknown|invalid) model",
    "not a valid model",
    "not found the model",
    "no models loaded",
    "no endpoints found for",
    "not_found_error\\s+model:",
    "models?\\b.{0,120}\\b(not found|does not exist|not exist|doesn't exist)",
)

SPECIFIC: Final[tuple[tuple[re.Pattern[str], Fault], ...]] = (
    (QUOTA, "auth"),
    (THROTTLED, "rate_limit"),
    (_any("overloaded", "over capacity", "capacity_exceeded"), "overloaded"),
    (_any("content.filter", "content_policy", "moderation"), "content_filter"),
    (_any("policy_violation", "(bio|cyber)_policy"), "content_filter"),
    (_any("violat.{0,20}usage.(polic|guideline)"), "content_filter"),
    (_any("data.?inspection", "content exists risk"), "content_filter"),
    (_any("(inappropriate|sensitive) content"), "content_filter"),
    (_any("invalid_api_key", "api.key.not.valid", "incorrect api key"), "auth"),
)
"""Words that say more than the status does."""

GENERAL: Final[tuple[tuple[re.Pattern[str], Fault], ...]] = (
    (_any("authentication", "permission", "unauthori[sz]ed", "forbidden"), "auth"),
    (_any("time.?out", "timed out"), "timeout"),
    (_any("unavailable"), "overloaded"),
    (_any("invalid.request", "bad.request", "not_found"), "bad_request"),
    (_any("invalid_(prompt|image|base64)", "image_(too|parse|file)"), "bad_request"),
    (_any("(unsupported|empty|download)_image", "residency"), "bad_request"),
)
"""Words that are looked at where there is no status."""


@frozen
class Complaint:
    """What an error body says: its words for programs, its message, its status.

    `retry_after` is how many seconds it asks to wait.
    """

    message: str
    words: str = ""
    status: int | None = None
    retry_after: float | None = None


def http_fault(
    status: int, headers: Mapping[str, str], body: bytes, now: float
) -> ModelError:
    """A response that is no success, as a fault. `now` is the time in seconds."""
    said = _complaint(body) or Complaint(_beginning(status, body))
    return ModelError(
        said.message,
        kind_of(status, said),
        retry_after=_first_of(retry_after(headers, now), said.retry_after),
        status=status,
        request_id=request_id(headers),
    )


def body_fault(body: Json) -> ModelError | None:
    """The error that a body or an event of a successful response holds, if it does."""
    said = _error_member(body) or _bare_error(body)
    if said is None:
        return None
    return ModelError(
        said.message,
        kind_of(said.status, said),
        retry_after=said.retry_after,
        status=said.status,
    )


def told(fault: ModelError, partial: AssistantMessage | None) -> ModelError:
    """The fault with what had come of the reply; a server's words in it are cut."""
    said = _short(fault.message, 2 * LONGEST)
    request_id = fault.request_id and _short(fault.request_id, LONGEST_ID)
    return evolve(fault, message=said, request_id=request_id, partial=partial)


def bad_response(what: str, body: bytes | str) -> ModelError:
    """What came is no reply of this protocol; its beginning is shown."""
    shown = body if isinstance(body, str) else body.decode(errors="replace")
    return ModelError(f"{what}: {_short(shown.strip())}", "bad_response")


def kind_of(status: int | None, said: Complaint) -> Fault:
    """The kind of fault: specific words first, then the status, then general words."""
    words = f"{said.words} {said.message}".lower()
    if status in UNCLEAR and not THROTTLED.search(words):
        if OVERFLOW.search(words):
            return "context_overflow"
        if NO_MODEL.search(words):
            return "no_such_model"
    specific = None if status == TOO_LARGE else _first(SPECIFIC, words)
    general = status is None and _first(GENERAL, said.words.lower())
    return specific or general or _by_status(SERVERS if status is None else status)


def _by_status(status: int) -> Fault:
    return STATUSES.get(status) or ("server" if status >= SERVERS else "bad_request")


def _first(table: Iterable[tuple[re.Pattern[str], Fault]], words: str) -> Fault | None:
    return next((kind for pattern, kind in table if pattern.search(words)), None)


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """How many seconds the server asks to wait; None if it says nothing sensible."""
    if (millis := _number(headers.get("retry-after-ms", ""))) is not None:
        return millis / 1000
    value = headers.get("retry-after", "")
    seconds = _number(value)
    return _until(value, now) if seconds is None else seconds


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if 0 <= number < LONGEST_WAIT else None


def _until(value: str, now: float) -> float | None:
    try:
        date = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    seconds = float(math.ceil(date.timestamp() - now))
    return max(0.0, seconds) if seconds < LONGEST_WAIT else None


def request_id(headers: Mapping[str, str]) -> str | None:
    """The provider's name for this request, for its support."""
    found = next((headers[name] for name in REQUEST_IDS if headers.get(name)), None)
    return found and _short(found, LONGEST_ID)


def _complaint(body: bytes) -> Complaint | None:
    try:
        value = parse(body)
    except ValueError:
        return None
    return _error_member(value) or _plain(value)


def _error_member(body: Json) -> Complaint | None:
    """`{"error": ...}`, also inside an array or a choice."""
    top = members(items(body)[0] if items(body) else body)
    error = top.get("error")
    if message := text(error).strip():
        more = text(top.get("message"))
        return Complaint(_short(f"{message}: {more}" if more else message, LONGEST))
    said = members(error)
    if not said:
        return None
    status = _status(said) or _status(top)
    return Complaint(_message(said), _words(said), status, _retry_delay(said))


def _bare_error(body: Json) -> Complaint | None:
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
            return _short(f"{found}: {raw}" if raw else found, LONGEST)
    return _short(dump(said))


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
    return next((_number(delay[:-1]) for delay in delays if delay[-1:] == "s"), None)


def _first_of(one: float | None, other: float | None) -> float | None:
    return other if one is None else one


def _status(said: Mapping[str, Json]) -> int | None:
    for name in ("code", "status", "http_code", "status_code"):
        value = said.get(name)
        written = text(value) or (
            str(value) if (whole(value) or 0) < SERVERS * 2 else ""
        )
        if re.fullmatch("[45][0-9]{2}", written):
            return int(written)
    return None


def _beginning(status: int, body: bytes) -> str:
    shown = _short(body.decode(errors="replace").strip())
    return f"HTTP {status}: {shown}" if shown else f"HTTP {status} with an empty body"


def _short(value: str, limit: int = BEGINNING) -> str:
    return value if len(value) <= limit else f"{value[:limit]}…"
