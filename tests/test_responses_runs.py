"""Runs over Responses against a server on 127.0.0.1: what a user gets of this wire."""

import asyncio
import json
from collections.abc import Callable
from typing import Any, Final

import attrs
import pytest

from loopcore import (
    AssistantMessage,
    CallModel,
    Interpreter,
    LoopConfig,
    ModelError,
    RunResult,
    Thinking,
    Tool,
    ToolResultMessage,
    UserMessage,
    run_sync,
    stream,
    tool,
)
from loopcore.events import Delta
from loopcore.policies import retry
from loopcore_adapters import connect
from tests.chat_server import Answer, ChatServer, cuts, says, says_json, serving
from tests.reading import Told
from tests.responses_reading import body, call, message, thought
from tests.responses_reading import stream as events
from tests.responses_rules import broken

Json = Any
MODEL: Final = "openai:gpt-5.2"
KEY: Final = "sk-nobody"
THOUGHT: Final = thought("I must look.", encrypted_content="gAAA")
ASKS: Final = [THOUGHT, call("look", '{"q": "a"}', "c1")]
CUT: Final[Json] = {
    "status": "incomplete",
    "incomplete_details": {"reason": "max_output_tokens"},
}


def looking() -> tuple[list[str], Tool[Any]]:
    """A tool, and what it was asked."""
    asked: list[str] = []

    @tool
    def look(q: str) -> str:
        """Look something up."""
        asked.append(q)
        return f"{q} is red"

    return asked, look


def ran(
    *answers: Answer, streamed: bool = True, **wishes: Json
) -> tuple[RunResult[Any], ChatServer, list[str]]:
    """A run against these answers: its end, what was asked of the server and of the tool."""
    asked, look = looking()
    with serving(*answers) as server:
        model = connect(MODEL, base_url=server.url, api_key=KEY, stream=streamed)
        config = LoopConfig(model=model, tools=[look], **wishes)
        result = run_sync(config, Interpreter(model, look), "What is a?", run_id="r")
    for request in server.requests:
        assert [] == broken(json.dumps(request.body).encode())
    return result, server, asked


@pytest.mark.parametrize("streamed", [True, False])
def test_a_run_with_a_tool_gives_thoughts_back(*, streamed: bool) -> None:
    """With what they led to; in one conversation, whose prompts the server keeps."""

    def answer(*output: Json) -> Answer:
        return says(*events(*output)) if streamed else says(body(*output))

    result, server, asked = ran(
        answer(*ASKS),
        answer(message("Red.")),
        streamed=streamed,
        thinking="low",
    )
    assert ("Red.", ["a"]) == (result.output, asked)
    first, second = (request.body for request in server.requests)
    assert THOUGHT == second["input"][1]
    assert ["fc_1", "c1"] == [second["input"][2][name] for name in ("id", "call_id")]
    assert {"type": "function_call_output", "call_id": "c1", "output": "a is red"} == (
        second["input"][3]
    )
    assert first["prompt_cache_key"] == second["prompt_cache_key"]
    assert first["input"] == second["input"][:1]


def test_a_stream_tells_what_adds_up_to_the_reply() -> None:
    async def run() -> tuple[list[Delta], AssistantMessage]:
        asked, look = looking()
        with serving(says(*events(*ASKS)), says(*events(message("Red.")))) as server:
            model = connect(MODEL, base_url=server.url, api_key=KEY)
            config = LoopConfig(model=model, tools=[look])
            async with stream(config, Interpreter(model, look), "What is a?") as live:
                told = [event async for event in live if isinstance(event, Delta)]
            assert ["a"] == asked
            reply = live.result.state.transcript[1]
            assert isinstance(reply, AssistantMessage)
            return told, reply

    told, reply = asyncio.run(run())
    (first,) = (part for part in reply.parts if isinstance(part, Thinking))
    assert first.text == "".join(delta.thinking for delta in told)
    assert "look" == "".join(delta.name for delta in told)
    assert '{"q": "a"}' == "".join(delta.arguments for delta in told)
    assert "Red." == "".join(delta.text for delta in told)


def test_a_reply_that_was_cut_runs_no_call() -> None:
    """Reports 65, 66: whole or not; T2: the model is told, and asked again."""
    cut = [call("look", '{"q": "a"}', "c1"), call("look", '{"q"', "c2", id="fc_2")]
    result, server, asked = ran(
        says(*events(*cut, **CUT)), says(*events(message("Ah.")))
    )
    assert ("Ah.", []) == (result.output, asked)
    answers = [m for m in result.messages if isinstance(m, ToolResultMessage)]
    assert ["truncated", "truncated"] == [answer.outcome for answer in answers]
    assert ["function_call_output"] * 2 == [
        item["type"] for item in server.requests[1].body["input"][3:5]
    ]


def test_a_reply_that_failed_is_asked_for_again() -> None:
    """Report 64: what had come is no part of the history."""
    failed: Json = {"status": "failed"}
    failed["error"] = {"code": "server_error", "message": "The model failed."}
    result, server, _ = ran(
        says(*events(message("so"), **failed)),
        says(*events(message("Red."))),
        hooks=[retry(2, delay=0.0)],
    )
    assert "Red." == result.output
    assert server.requests[0].body == server.requests[1].body


def test_an_output_is_held_to_its_schema() -> None:
    @attrs.frozen
    class Colour:
        name: str

    said = says(*events(message('{"name": "red"}')))
    result, server, _ = ran(said, output=Colour)
    assert Colour("red") == result.unwrap()
    assert "json_schema" == server.requests[0].body["text"]["format"]["type"]


def test_a_refusal_ends_a_run() -> None:
    """D85."""
    refusal = {**message(), "content": [{"type": "refusal", "refusal": "No."}]}
    result, *_ = ran(says(*events(refusal)))
    assert ("done", "No.") == (result.stop.reason if result.stop else "", result.output)


def fails(*answers: Answer) -> ModelError:
    """Why a call of the model fails."""
    with serving(*answers) as server:
        model = connect(MODEL, base_url=server.url, api_key=KEY)
        effect = CallModel("i", MODEL, [UserMessage("hi")])
        found = asyncio.run(_called(model.call, effect))
    assert isinstance(found, ModelError)
    return found


async def _called(call: Callable[..., Any], effect: CallModel) -> Any:
    return await call(effect, Told())


def refused(status: int, code: str, said: str, **headers: str) -> ModelError:
    error = {"message": said, "type": "invalid_request_error", "code": code}
    return fails(says_json({"error": error}, status, **headers))


@pytest.mark.parametrize(
    ("status", "code", "said", "kind"),
    [
        (400, "context_length_exceeded", "Too long.", "context_overflow"),
        (400, "invalid_encrypted_content", "It could not be verified.", "bad_request"),
        (401, "invalid_api_key", "Incorrect API key provided.", "auth"),
        (404, "model_not_found", "The model `m` does not exist.", "no_such_model"),
        (429, "insufficient_quota", "You exceeded your quota.", "auth"),
        (429, "rate_limit_exceeded", "Rate limit reached.", "rate_limit"),
        (500, "server_error", "It broke.", "server"),
        (503, "server_is_overloaded", "Overloaded.", "overloaded"),
    ],
)
def test_a_refusal_by_the_service_is_known(
    status: int, code: str, said: str, kind: str
) -> None:
    found = refused(status, code, said, x_request_id="req-7")
    assert (kind, status, "req-7", said) == (
        found.kind,
        found.status,
        found.request_id,
        found.message,
    )


def test_a_service_says_when_to_come_again() -> None:
    """Report 180."""
    found = refused(429, "rate_limit_exceeded", "Slow down.", retry_after="7")
    assert (7.0, True) == (found.retry_after, found.retryable)


def test_a_connection_that_breaks_leaves_what_had_come() -> None:
    """Report 55."""
    found = fails(cuts(*events(message("some"))[:-4]))
    assert ("cut_stream", True) == (found.kind, found.retryable)
    assert found.partial
    assert "some" == found.partial.text


def test_an_error_in_a_stream_has_the_name_of_the_request() -> None:
    """Report 58: a response that began well may end otherwise."""
    error = {"code": "rate_limit_exceeded", "message": "Slow down."}
    sent = says(*events(message("so"), status="failed", error=error), x_request_id="q")
    found = fails(sent)
    assert ("rate_limit", "q") == (found.kind, found.request_id)


@pytest.mark.parametrize("wire", [None, "responses", "chat"])
def test_openai_is_spoken_to_over_either_wire(wire: str | None) -> None:
    """Over Responses unless asked otherwise."""
    with serving() as server:
        model = connect(MODEL, wire=wire, base_url=server.url, api_key=KEY)
        effect = CallModel("i", MODEL, [UserMessage("hi")])
        asyncio.run(_called(model.call, effect))
    paths = {"chat": "/v1/chat/completions"}
    assert paths.get(wire or "", "/v1/responses") == server.requests[0].path
