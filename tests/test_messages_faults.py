"""What this protocol's service answers when it gives no reply: status, type, message."""

import json
from typing import Final

import pytest

from loopcore_adapters.faults import http_fault

BAD: Final = "invalid_request_error"
LONG: Final = "prompt is too long: 210000 tokens > 200000 maximum"
ROOM: Final = (
    "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000"
)
SPENT: Final = (
    "You have reached your specified API usage limits. You will regain access on"
)
CREDIT: Final = "Your credit balance is too low to access the Anthropic API."


@pytest.mark.parametrize(
    ("status", "kind", "message", "means"),
    [
        (400, BAD, "messages: at least one message is required", "bad_request"),
        (400, BAD, LONG, "context_overflow"),
        (400, BAD, ROOM, "context_overflow"),
        (400, BAD, CREDIT, "auth"),
        (400, BAD, SPENT, "auth"),
        (400, BAD, "Output blocked by content filtering policy", "content_filter"),
        (401, "authentication_error", "invalid x-api-key", "auth"),
        (402, "billing_error", "Check your payment details.", "auth"),
        (403, "permission_error", "Your key may not use this.", "auth"),
        (404, "not_found_error", "model: claude-9", "no_such_model"),
        (404, "not_found_error", "Not found", "bad_request"),
        (413, "request_too_large", "Request exceeds the maximum", "context_overflow"),
        (429, "rate_limit_error", "Number of input tokens has exceeded", "rate_limit"),
        (500, "api_error", "Internal server error", "server"),
        (504, "timeout_error", "The request timed out", "timeout"),
        (529, "overloaded_error", "Overloaded", "overloaded"),
    ],
)
def test_an_error_is_of_a_kind(
    status: int, kind: str, message: str, means: str
) -> None:
    error = {"type": "error", "error": {"type": kind, "message": message}}
    headers = {"request-id": "req_1", "retry-after": "3"}
    found = http_fault(status, headers, json.dumps(error).encode(), 0.0)
    assert (found.kind, found.status, found.message) == (means, status, message)
    assert (found.request_id, found.retry_after) == ("req_1", 3.0)
