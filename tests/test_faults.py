"""What a status, a header or an error body means."""

import json
import time
from datetime import UTC, datetime
from typing import Final

import pytest

from loopcore import ModelError
from loopcore_adapters.faults import body_fault, http_fault
from loopcore_adapters.loose import Json

NOW: Final = datetime(2026, 11, 29, 12, 0, 0, tzinfo=UTC).timestamp()


def fault(status: int, body: Json = None, **headers: str) -> ModelError:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return http_fault(status, named, data, NOW)


def said(message: str = "m", **more: Json) -> dict[str, Json]:
    return {"error": {"message": message, **more}}


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "bad_request"),
        (401, "auth"),
        (402, "auth"),
        (403, "auth"),
        (404, "bad_request"),
        (405, "bad_request"),
        (408, "timeout"),
        (409, "server"),
        (413, "context_overflow"),
        (422, "bad_request"),
        (425, "server"),
        (429, "rate_limit"),
        (498, "overloaded"),
        (500, "server"),
        (502, "server"),
        (503, "overloaded"),
        (504, "timeout"),
        (524, "timeout"),
        (529, "overloaded"),
        (599, "server"),
    ],
)
def test_a_status_means_a_kind(status: int, kind: str) -> None:
    found = fault(status, said())
    assert (found.kind, found.status, found.message) == (kind, status, "m")


QWEN_LONG: Final = "Range of input length should be [1, 129024]"
QWEN_UNSAFE: Final = "Input data may contain inappropriate content."
ZAI_UNSAFE: Final = "System has detected potentially unsafe or sensitive content in in"
XAI_UNSAFE: Final = "Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE"
OPENAI_UNSAFE: Final = (
    "your prompt was flagged as potentially violating our usage policy"
)
XAI_EMPTY: Final = (
    "Your team x has either used all available credits or reached its mont"
)
FIREWORKS_EMPTY: Final = (
    "Account x is suspended, possibly due to reaching the monthly spendi"
)
TGI_LONG: Final = (
    "Input validation error: `inputs` must have less than 1024 tokens. Given"
)
VLLM_LONG: Final = (
    "The decoder prompt (length 9) is longer than the maximum model length of"
)
AZURE_UNKNOWN: Final = "The API deployment for this resource does not exist."

OWN_WORDS: Final[list[tuple[str, int, Json]]] = [
    ("context_overflow", 400, said("Prompt exceeds max length", code="1261")),
    ("context_overflow", 400, said(QWEN_LONG, code="invalid_parameter_error")),
    ("context_overflow", 422, {"error": TGI_LONG, "error_type": "validation"}),
    ("context_overflow", 400, said(VLLM_LONG, type="BadRequestError")),
    ("context_overflow", 400, said("prompt token count of 9 exceeds the limit of 8")),
    ("content_filter", 400, said("Content Exists Risk", type="invalid_request_error")),
    ("content_filter", 400, said(QWEN_UNSAFE, code="data_inspection_failed")),
    ("content_filter", 400, said("m", code="DataInspectionFailed")),
    ("content_filter", 400, said(ZAI_UNSAFE, code="1301")),
    ("content_filter", 403, {"code": "permission-denied", "error": XAI_UNSAFE}),
    ("content_filter", 400, said(OPENAI_UNSAFE, code="invalid_prompt")),
    ("content_filter", 400, said("considered high risk", type="content_filter")),
    ("auth", 429, said("is suspended", type="exceeded_current_quota_error")),
    ("auth", 400, said("Access denied, please make sure", code="Arrearage")),
    ("auth", 429, {"code": "exhausted", "error": XAI_EMPTY}),
    ("auth", 412, said(FIREWORKS_EMPTY, code="PRECONDITION_FAILED")),
    ("auth", 429, said("Insufficient balance or no resource package.", code="1113")),
    ("no_such_model", 404, said("Not found the model x or Permission denied")),
    ("no_such_model", 404, said("No endpoints found for x/y.", code=404)),
    ("no_such_model", 404, said(AZURE_UNKNOWN, code="DeploymentNotFound")),
    ("no_such_model", 404, said("Unable to access x", code="model_not_available")),
    ("no_such_model", 400, said("No models loaded. Please load a model first.")),
    ("no_such_model", 400, said("Unknown Model, please check it.", code="1211")),
    ("rate_limit", 429, said("High concurrency usage of this API", code="1302")),
    ("bad_request", 404, said("No endpoints found that support tool use.", code=404)),
]
"""What the services that are known by name say, each in its own way."""


@pytest.mark.parametrize(("kind", "status", "body"), OWN_WORDS)
def test_each_service_has_words_of_its_own(kind: str, status: int, body: Json) -> None:
    assert fault(status, body).kind == kind


@pytest.mark.parametrize(
    "message",
    [
        "request (9030 tokens) exceeds the available context size (4096 tokens)",
        "This model's maximum context length is 128000 tokens. However, you requested 9",
        "Input token count (40000) exceeds the maximum number of tokens allowed (32768).",
        "prompt is too long: 208310 tokens > 200000 maximum",
        "This model's maximum prompt length is 131072 but the request contains 537812",
        "Please reduce the length of the messages or completion.",
        "Prompt contains 9 tokens and is too large for a model with 8 maximum context len",
        "invalid params, context window exceeds limit (2013)",
        "Your request exceeded model token limit: 8192",
        "Input is too long for requested model.",
        "`inputs` tokens + `max_new_tokens` must be <= 4097",
        "too many tokens: 9 > 8",
        "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000",
        "Trying to keep the first 9 tokens when the context the overflows",
    ],
)
@pytest.mark.parametrize("status", [400, 413, 422, 500])
def test_an_overflow_has_many_phrasings(message: str, status: int) -> None:
    """Vector 114."""
    assert fault(status, said(message)).kind == "context_overflow"


def test_an_overflow_may_be_said_by_a_code() -> None:
    openai = said("m", code="context_length_exceeded", type="invalid_request_error")
    llama = said("m", code=400, type="exceed_context_size_error")
    assert [fault(400, body).kind for body in (openai, llama)] == [
        "context_overflow"
    ] * 2


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (429, "Rate limit: too many tokens, your context size is 9", "rate_limit"),
        (400, "Throttling: too many tokens, please wait", "rate_limit"),
        (429, "Request too large: tokens per minute (TPM) 6000", "rate_limit"),
        (400, "max_tokens is too large: 99999", "bad_request"),
        (401, "no access to context size settings", "auth"),
    ],
)
def test_throttling_is_no_overflow(status: int, message: str, kind: str) -> None:
    """Vector 114: some speak of tokens, and waiting helps, compaction does not."""
    assert fault(status, said(message)).kind == kind


@pytest.mark.parametrize(
    "body",
    [
        said(code="insufficient_quota", type="insufficient_quota"),
        said("Insufficient Balance"),
        said("Your credit balance is too low"),
    ],
)
def test_a_used_up_account_is_not_tried_again(body: Json) -> None:
    found = fault(429, body)
    assert (found.kind, found.retryable) == ("auth", False)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (404, said(code="model_not_found")),
        (404, said("The model `x` does not exist or you do not have access to it.")),
        (404, {"error": "model 'x' not found"}),
        (400, said("x is not a valid model ID")),
        (400, said("Invalid model: x")),
    ],
)
def test_a_model_may_be_unknown(status: int, body: Json) -> None:
    assert fault(status, body).kind == "no_such_model"


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, said(code="content_filter"), "content_filter"),
        (403, said("Your input requires moderation"), "content_filter"),
        (400, said("API key not valid. Please pass a valid API key."), "auth"),
        (500, said("The engine is currently overloaded"), "overloaded"),
        (403, said("Rate limit reached"), "rate_limit"),
    ],
)
def test_words_may_say_more_than_the_status(status: int, body: Json, kind: str) -> None:
    assert fault(status, body).kind == kind


@pytest.mark.parametrize(
    "message",
    [
        "Invalid schema for function 'rate_limit': schema must have type 'object'",
        "Invalid tool name: `content_filter`",
        'Unknown parameter: "moderation"',
        "tools.0: tool 'credit balance' has no description",
    ],
)
def test_the_name_of_a_tool_says_nothing(message: str) -> None:
    assert fault(400, said(message)).kind == "bad_request"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (said("m", metadata={"raw": "upstream says no"}), "m: upstream says no"),
        ({"detail": "Not Found"}, "Not Found"),
        (
            {"detail": [{"msg": "field required"}]},
            '{"detail":[{"msg":"field required"}]}',
        ),
        ({"error": "invalid", "message": "the key"}, "invalid: the key"),
        ({"error": {"code": 7}}, '{"code":7}'),
        ({"message": "m"}, "m"),
        ({"error_msg": "m"}, "m"),
        ([{"error": {"message": "m"}}], "m"),
        ({}, "HTTP 418: {}"),
        (7, "HTTP 418: 7"),
        (b"<html>teapot</html>", "HTTP 418: <html>teapot</html>"),
        (b" \n", "HTTP 418 with an empty body"),
        (b"\xff" * 400, "HTTP 418: " + "\ufffd" * 300 + "…"),
        (said("m" * 3000), "m" * 2000 + "…"),
    ],
)
def test_a_message_is_found_wherever_it_stands(body: Json, message: str) -> None:
    assert fault(418, body).message == message


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        ("1.5", 1.5),
        ("0", 0.0),
        ("Sun, 29 Nov 2026 12:00:30 GMT", 30.0),
        ("Sun, 29 Nov 2026 12:00:30", 30.0),
        ("Sun, 29 Nov 2026 11:59:00 GMT", 0.0),
        ("soon", None),
        ("", None),
        ("-3", None),
        ("nan", None),
        ("inf", None),
        ("Sun, 99 Nov 2026 12:00:30 GMT", None),
    ],
)
def test_a_pause_is_in_seconds_or_until_a_date(
    value: str, seconds: float | None
) -> None:
    """Reports 180 and 181: what is no pause is as if it were absent."""
    assert fault(429, said(), retry_after=value).retry_after == seconds


def test_a_pause_until_a_date_is_rounded_up() -> None:
    """Report 180."""
    headers = {"retry-after": "Sun, 29 Nov 2026 12:00:30 GMT"}
    assert http_fault(429, headers, b"", NOW + 0.5).retry_after == 30.0


def test_a_pause_may_be_in_milliseconds() -> None:
    found = fault(429, said(), retry_after_ms="1500", retry_after="2")
    assert found.retry_after == 1.5
    assert fault(429, said(), retry_after_ms="x", retry_after="2").retry_after == 2.0


@pytest.mark.parametrize("name", ["x_request_id", "request_id", "cf_ray"])
def test_a_request_has_an_id(name: str) -> None:
    assert fault(500, said(), **{name: "req_1"}).request_id == "req_1"
    assert fault(500, said()).request_id is None


def test_only_the_start_of_endless_words_is_looked_at() -> None:
    """A server cannot keep a program busy with them."""
    began = time.process_time()
    found = body_fault({"error": {"message": "x", "type": "model " * 700_000}})
    assert found is not None
    assert time.process_time() - began < 0.1
