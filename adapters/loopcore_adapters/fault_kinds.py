"""Which kind a fault is of: by its words where they say more than its status."""

import re
from collections.abc import Iterable, Mapping
from typing import Final, Literal, TypeAlias

from loopcore_adapters.complaints import Complaint

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


_NAMES: Final = re.compile(
    r"\b(function|tool|parameter|argument|field|property)s?( name)?:? "
    r"([`'\"])[^`'\"]{0,64}\3"
)
"""Names that somebody gave, whatever words these are made of."""


def kind_of(status: int | None, said: Complaint) -> Fault:
    """The kind of fault: specific words first, then the status, then general words."""
    words = _NAMES.sub("", f"{said.words} {said.message}".lower())
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
