"""`connect` over Gemini's own wire, against a server in this process."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

import pytest

from loopcore import (
    AssistantMessage,
    CallModel,
    Interpreter,
    LoopConfig,
    ModelError,
    Prompt,
    RunResult,
    Usage,
    UserMessage,
    run,
    tool,
)
from loopcore_adapters import connect
from loopcore_adapters.loose import Json
from tests.chat_server import (
    Answer,
    ChatServer,
    Request,
    chat_server,
    cuts,
    delta,
    finish,
    says_json,
)
from tests.chat_server import says as answers
from tests.gemini_reading import SIGNED, called, counts, said, says
from tests.reading import Told

KEY: Final = "AIza-very-secret-key"
NAME: Final = "gemini:gemini-3-flash"
HELLO: Final = answers(
    says("hel"), says("lo", reason="STOP", usageMetadata=counts(7, 3))
)
T = TypeVar("T")


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests have no key, whoever runs them."""
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)


def served(*answered: Answer, do: Callable[[ChatServer, str], Awaitable[T]]) -> T:
    """What comes of this against a server that gives these answers."""

    async def running() -> T:
        async with chat_server(*answered) as server:
            return await do(server, server.url.removesuffix("/v1"))

    return asyncio.run(running())


def one_call(
    answer: Answer, base: str = "", name: str = NAME, **given: Json
) -> tuple[AssistantMessage | ModelError, Request]:
    """What a model gives when it is called once, and what it was sent."""

    async def do(
        server: ChatServer, root: str
    ) -> tuple[AssistantMessage | ModelError, Request]:
        model = connect(name, base_url=root + base, **given)
        result = await model.call(CallModel("i", name, [UserMessage("hi")]), Told())
        return result, server.requests[0]

    return served(answer, do=do)


def test_a_model_is_called_with_its_key() -> None:
    result, request = one_call(HELLO, api_key=KEY)

    assert result == AssistantMessage("hello", model=NAME, usage=Usage(7, 3))
    assert request.headers["x-goog-api-key"] == KEY
    assert "authorization" not in request.headers


@pytest.mark.parametrize("base", ["", "/", "/v1beta", "/v1beta/", "/proxy"])
def test_an_address_may_have_the_version(base: str) -> None:
    """It is said once."""
    _, request = one_call(HELLO, base, api_key=KEY)

    before = "/proxy" if base == "/proxy" else ""
    path = "/v1beta/models/gemini-3-flash:streamGenerateContent?alt=sse"
    assert request.path == before + path


def test_a_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    _, request = one_call(HELLO)

    assert request.headers["x-goog-api-key"] == KEY


def test_a_key_is_needed() -> None:
    with pytest.raises(ValueError, match=r"no API key\. Set GEMINI_API_KEY or pass"):
        connect(NAME)


def test_any_provider_may_speak_it() -> None:
    _, request = one_call(HELLO, name="acme:any", wire="gemini", seed=1)

    assert request.path == "/v1beta/models/any:streamGenerateContent?alt=sse"
    assert request.body["generationConfig"] == {"seed": 1}


def test_a_reply_may_come_in_one_piece() -> None:
    result, request = one_call(says_json(said("hello", reason="STOP")), stream=False)

    assert isinstance(result, AssistantMessage)
    assert result.text == "hello"
    assert request.path == "/v1beta/models/gemini-3-flash:generateContent"


def test_an_error_is_of_a_kind_and_shows_no_key() -> None:
    message = f"API key not valid: {KEY}."
    error = {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}
    result, _ = one_call(says_json({"error": error}, 400), api_key=KEY)

    assert isinstance(result, ModelError)
    assert (result.kind, result.status) == ("auth", 400)
    assert result.message == "API key not valid: [hidden]."


def test_an_error_says_when_to_come_again() -> None:
    delay = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s"}
    error = {"code": 429, "message": "m", "status": "RESOURCE_EXHAUSTED"}
    body = {"error": {**error, "details": [delay]}}
    result, _ = one_call(says_json(body, 429), api_key=KEY)

    assert isinstance(result, ModelError)
    assert (result.kind, result.retry_after) == ("rate_limit", 7.0)


def test_a_stream_that_breaks_off_is_a_fault_with_its_beginning() -> None:
    result, _ = one_call(cuts(says("hel")), api_key=KEY)

    assert isinstance(result, ModelError)
    assert result.kind == "cut_stream"
    assert result.partial
    assert result.partial.text == "hel"


@tool
def weather(city: str) -> str:
    """The weather of a city."""
    return f"Rain in {city}."


ASKS: Final = answers(
    says("I look."),
    says(
        called("weather", {"city": "Oslo"}, id="k1", thoughtSignature=SIGNED),
        called("weather", {"city": "Rome"}, id="k2"),
        reason="STOP",
    ),
)


def test_a_run_uses_its_tools_and_gives_signatures_back() -> None:
    async def do(server: ChatServer, root: str) -> tuple[RunResult[Any], Request]:
        model = connect(NAME, base_url=root, api_key=KEY)
        config = LoopConfig(model=model, tools=[weather])
        result = await run(config, Interpreter(model, weather), "Weather?")
        return result, server.requests[1]

    result, request = served(ASKS, HELLO, do=do)
    assert result.stop
    assert result.stop.reason == "done"
    _, asked, given = request.body["contents"]
    assert signatures(asked) == [None, SIGNED, None]
    answered = [part["functionResponse"] for part in given["parts"]]
    assert [(one["id"], one["response"]) for one in answered] == [
        ("k1", {"output": "Rain in Oslo."}),
        ("k2", {"output": "Rain in Rome."}),
    ]


def signatures(turn: Json) -> list[str | None]:
    return [part.get("thoughtSignature") for part in turn["parts"]]


def test_a_run_may_go_to_another_wire_and_come_back() -> None:
    """Signatures stay with their maker; the other model's words are plain ones."""

    async def do(server: ChatServer, root: str) -> list[Request]:
        model = connect(NAME, base_url=root, api_key=KEY)
        other = connect("openai:m", wire="chat", base_url=server.url, api_key=KEY)
        config = LoopConfig(model=model, tools=[weather])
        interpreter = Interpreter(model, other, weather)
        result = await run(config, interpreter, "Weather?")
        for chosen in (other, model):
            asked = Prompt("And now?", model=chosen)
            result = await run(config, interpreter, asked, state=result.state)
        return server.requests

    chat = answers(delta(content="Still rain."), finish("stop"))
    *_, elsewhere, back = served(ASKS, HELLO, chat, HELLO, do=do)
    assert [said["role"] for said in elsewhere.body["messages"]] == (
        ["user", "assistant", "tool", "tool", "assistant", "user"]
    )
    assert SIGNED not in str(elsewhere.body)
    contents = back.body["contents"]
    assert [turn["role"] for turn in contents] == (
        ["user", "model", "user", "model", "user", "model", "user"]
    )
    assert signatures(contents[1]) == [None, SIGNED, None]
    assert contents[5]["parts"] == [{"text": "Still rain."}]
