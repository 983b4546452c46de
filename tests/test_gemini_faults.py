"""Errors of Google's services: what a `google.rpc.Status` means."""

import json
from typing import Final

import pytest

from loopcore import ModelError
from loopcore_adapters.faults import body_fault, http_fault
from loopcore_adapters.loose import Json, items

RPC: Final = "type.googleapis.com/google.rpc."
NO_QUOTA: Final = "You exceeded your current quota, please check your plan."


def body(code: int, status: str, message: str, *details: Json) -> dict[str, Json]:
    said = {"code": code, "message": message, "status": status}
    return {"error": {**said, "details": list(details)} if details else said}


def fault(said: Json, **headers: str) -> ModelError:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    first: Json = [said, *items(said)][-1]
    status = first["error"]["code"]
    return http_fault(status, named, json.dumps(said).encode(), 0.0)


def retry_in(delay: Json) -> dict[str, Json]:
    return {"@type": f"{RPC}RetryInfo", "retryDelay": delay}


def quota(name: str) -> dict[str, Json]:
    return {"@type": f"{RPC}QuotaFailure", "violations": [{"quotaId": name}]}


PER_MINUTE: Final = quota("GenerateRequestsPerMinutePerProjectPerModel-FreeTier")
PER_DAY: Final = quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier")
KEY: Final = "API key not valid. Please pass a valid API key."
KEY_REASON: Final = {"@type": f"{RPC}ErrorInfo", "reason": "API_KEY_INVALID"}
TOO_MANY: Final = (
    "The input token count (1200000) exceeds the maximum number of tokens allowed "
    "(1048576)."
)
NO_SUCH: Final = (
    "models/gemini-0 is not found for API version v1beta, or is not supported for "
    "generateContent. Call ListModels to see the list of available models."
)
OVERLOADED: Final = "The model is overloaded. Please try again later."


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (body(400, "INVALID_ARGUMENT", 'Unknown name "x".'), "bad_request"),
        (body(400, "INVALID_ARGUMENT", KEY, KEY_REASON), "auth"),
        (body(400, "INVALID_ARGUMENT", TOO_MANY), "context_overflow"),
        (
            body(400, "FAILED_PRECONDITION", "User location is not supported."),
            "bad_request",
        ),
        (body(403, "PERMISSION_DENIED", "The caller has no permission."), "auth"),
        (body(404, "NOT_FOUND", NO_SUCH), "no_such_model"),
        (body(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted."), "rate_limit"),
        (body(429, "RESOURCE_EXHAUSTED", NO_QUOTA, PER_MINUTE), "rate_limit"),
        (body(499, "CANCELLED", "The operation was cancelled."), "server"),
        (body(500, "INTERNAL", "An internal error has occurred."), "server"),
        (body(503, "UNAVAILABLE", OVERLOADED), "overloaded"),
        (body(504, "DEADLINE_EXCEEDED", "Deadline expired."), "timeout"),
    ],
)
def test_a_status_of_google_means_a_kind(said: Json, kind: str) -> None:
    assert (kind, said["error"]["message"]) == (fault(said).kind, fault(said).message)


def test_an_error_in_an_array_is_the_same() -> None:
    """What a stream without events is answered."""
    said = body(503, "UNAVAILABLE", OVERLOADED)

    assert fault(said) == fault([said])


def test_a_quota_of_the_day_is_not_tried_again() -> None:
    """Row 121: the pause that is named beside it would not help."""
    found = fault(body(429, "RESOURCE_EXHAUSTED", NO_QUOTA, PER_DAY, retry_in("9s")))

    assert ("auth", False) == (found.kind, found.retryable)


@pytest.mark.parametrize(
    ("delay", "seconds"),
    [
        ("34.07s", 34.07),
        ("9s", 9.0),
        ("0s", 0.0),
        ("soon", None),
        ("", None),
        (9, None),
    ],
)
def test_a_pause_is_read_from_the_body(delay: Json, seconds: float | None) -> None:
    said = body(429, "RESOURCE_EXHAUSTED", NO_QUOTA, PER_MINUTE, retry_in(delay))

    assert seconds == fault(said).retry_after


def test_a_pause_in_the_headers_comes_first() -> None:
    said = body(429, "RESOURCE_EXHAUSTED", NO_QUOTA, retry_in("9s"))

    assert 3.0 == fault(said, retry_after="3").retry_after


def test_a_pause_is_read_from_an_error_in_a_stream_too() -> None:
    """Report 57: the response has status 200, the error in it has its own."""
    found = body_fault(body(429, "RESOURCE_EXHAUSTED", NO_QUOTA, retry_in("9s")))

    assert found
    assert ("rate_limit", 429, 9.0) == (found.kind, found.status, found.retry_after)


@pytest.mark.parametrize("details", [None, 7, [None], ["x"], [{"violations": [7]}]])
def test_details_may_be_anything(details: Json) -> None:
    said = body(429, "RESOURCE_EXHAUSTED", NO_QUOTA)
    said["error"]["details"] = details

    assert "rate_limit" == fault(said).kind
