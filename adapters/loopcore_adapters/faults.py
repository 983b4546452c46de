"""Why a model gave no reply: from an HTTP response, or from an error inside a body.

Statuses and error bodies are much alike over all wires, so all of them use this.
"""

import math
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final

from attrs import evolve

from loopcore import AssistantMessage, ModelError
from loopcore_adapters.complaints import (
    LONGEST,
    LONGEST_WAIT,
    Complaint,
    bare_error,
    complaint,
    error_member,
    seconds_of,
    short,
)
from loopcore_adapters.fault_kinds import kind_of
from loopcore_adapters.loose import Json

LONGEST_ID: Final = 200
"""How many characters of a request's id are kept."""

REQUEST_IDS: Final = ("x-request-id", "request-id", "x-amzn-requestid", "cf-ray")


def http_fault(
    status: int, headers: Mapping[str, str], body: bytes, now: float
) -> ModelError:
    """A response that is no success, as a fault. `now` is the time in seconds."""
    said = complaint(body) or Complaint(_beginning(status, body))
    return ModelError(
        said.message,
        kind_of(status, said),
        retry_after=_first_of(retry_after(headers, now), said.retry_after),
        status=status,
        request_id=request_id(headers),
    )


def _first_of(one: float | None, other: float | None) -> float | None:
    return other if one is None else one


def body_fault(body: Json) -> ModelError | None:
    """The error that a body or an event of a successful response holds, if it does."""
    said = error_member(body) or bare_error(body)
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
    said = short(fault.message, 2 * LONGEST)
    request_id = fault.request_id and short(fault.request_id, LONGEST_ID)
    return evolve(fault, message=said, request_id=request_id, partial=partial)


def bad_response(what: str, body: bytes | str) -> ModelError:
    """What came is no reply of this protocol; its beginning is shown."""
    shown = body if isinstance(body, str) else body.decode(errors="replace")
    return ModelError(f"{what}: {short(shown.strip())}", "bad_response")


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """How many seconds the server asks to wait; None if it says nothing sensible."""
    if (millis := seconds_of(headers.get("retry-after-ms", ""))) is not None:
        return millis / 1000
    value = headers.get("retry-after", "")
    seconds = seconds_of(value)
    return _until(value, now) if seconds is None else seconds


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
    return found and short(found, LONGEST_ID)


def _beginning(status: int, body: bytes) -> str:
    shown = short(body.decode(errors="replace").strip())
    return f"HTTP {status}: {shown}" if shown else f"HTTP {status} with an empty body"
