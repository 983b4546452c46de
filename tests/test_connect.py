"""`connect` makes a model of a name, and says what is wrong before anything is sent."""

import asyncio
import logging
import re
from typing import Final
from urllib.parse import unquote

import pytest

from loopcore import AssistantMessage, CallModel, ModelError, UserMessage
from loopcore_adapters import connect
from loopcore_adapters.connect import WIRES
from loopcore_adapters.providers import PROVIDERS
from loopcore_adapters.transport import Caller, Timeouts
from tests.chat_server import ChatServer, Json, Request, chat_server, says_json
from tests.four_wires import KEYS, by_path, wire_of
from tests.reading import Told

SECRET: Final = "sk-very-secret-key"  # noqa: S105  # nobody's
PLACED: Final = {name: one for name, one in PROVIDERS.items() if one.url}
KEYED: Final = [name for name, one in PLACED.items() if one.key]
KEYLESS: Final = [name for name, one in PLACED.items() if not one.key]
SPOKEN: Final = [(name, wire) for name, one in PROVIDERS.items() for wire in one.wires]


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests have no keys, whoever runs them."""
    for provider in PROVIDERS.values():
        if provider.key:
            monkeypatch.delenv(provider.key, raising=False)


def refusal(model: str, **given: Json) -> str:
    """Why this is refused."""
    with pytest.raises(ValueError, match=re.escape(f"connect({model!r}): ")) as caught:
        connect(model, **given)
    return str(caught.value).removeprefix(f"connect({model!r}): ")


async def one_call(
    name: str, *, options: dict[str, Json] | None = None, **given: Json
) -> tuple[AssistantMessage | ModelError, Request]:
    """What a model gives when it is called once, and what it was sent."""
    async with chat_server(by_path("hello")) as server:
        model = connect(name, base_url=server.url, **given)
        call = CallModel("i", name, [UserMessage("hi")], options=options or {})
        return await model.call(call, Told()), server.requests[0]


def request(name: str, **given: Json) -> Request:
    return asyncio.run(one_call(name, **given))[1]


def key_in(sent: Request) -> str:
    """The key, from the header that its wire has for it."""
    name = KEYS[wire_of(sent.path)]
    return sent.headers.get("api-key") or sent.headers[name].removeprefix("Bearer ")


@pytest.mark.parametrize(("provider", "wire"), SPOKEN)
def test_every_provider_is_called_over_each_of_its_wires(
    provider: str, wire: str
) -> None:
    """Each in its own dialect, against a server that speaks the same wire."""
    name = f"{provider}:some/name:v1"
    result, sent = asyncio.run(one_call(name, api_key=SECRET, wire=wire))
    assert isinstance(result, AssistantMessage)
    assert (result.text, result.model) == ("hello", name)
    assert wire_of(sent.path) == wire
    assert "some/name:v1" in (sent.body.get("model") or unquote(sent.path))
    assert key_in(sent) == SECRET


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_provider_is_called_over_its_first_wire(provider: str) -> None:
    sent = request(f"{provider}:m", api_key=SECRET)
    assert wire_of(sent.path) == next(iter(PROVIDERS[provider].wires))


@pytest.mark.parametrize("provider", KEYED)
def test_a_key_comes_from_the_environment(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PROVIDERS[provider].key or "", f" {SECRET}\n")
    assert key_in(request(f"{provider}:m")) == SECRET
    assert connect(f"{provider}:m").id == f"{provider}:m"


def test_a_given_key_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "from-the-environment")
    sent = request("openai:m", api_key="given")
    assert sent.headers["authorization"] == "Bearer given"


@pytest.mark.parametrize("provider", KEYED)
def test_a_key_is_needed(provider: str) -> None:
    """Mistake 14."""
    assert refusal(f"{provider}:m") == (
        f"no API key. Set {PROVIDERS[provider].key} or pass api_key=."
    )


@pytest.mark.parametrize("blank", ["", " \n"])
def test_a_blank_key_is_none(blank: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Vector 116."""
    assert refusal("openai:m", api_key=blank).startswith("no API key.")
    monkeypatch.setenv("OPENAI_API_KEY", blank)
    assert refusal("openai:m").startswith("no API key.")


@pytest.mark.parametrize("provider", KEYLESS)
def test_a_server_of_ones_own_needs_no_key(provider: str) -> None:
    assert connect(f"{provider}:m").id == f"{provider}:m"


def test_another_address_needs_no_key() -> None:
    assert "authorization" not in request("openai:m").headers


def test_any_provider_will_do_with_wire_and_address() -> None:
    sent = request("acme:m", wire="chat")
    assert sent.path == "/v1/chat/completions"
    assert sent.body["model"] == "m"


def test_a_provider_of_another_wire_may_have_a_compatible_endpoint() -> None:
    assert request("mistral:m", wire="messages").body["model"] == "m"


def test_a_provider_is_not_where_it_would_speak_another_wire() -> None:
    assert refusal("mistral:m", wire="messages") == (
        "mistral speaks chat; for messages give base_url=."
    )


@pytest.mark.parametrize(
    ("provider", "wire", "place"),
    [
        ("openai", None, "https://api.openai.com/v1"),
        ("openai", "chat", "https://api.openai.com/v1"),
        ("deepseek", "chat", "https://api.deepseek.com/v1"),
        ("deepseek", "messages", "https://api.deepseek.com/anthropic"),
        ("gemini", "chat", "https://generativelanguage.googleapis.com/v1beta/openai"),
        ("ollama", "messages", "http://127.0.0.1:11434/v1"),
    ],
)
def test_each_wire_of_a_provider_has_its_place(
    provider: str, wire: str | None, place: str
) -> None:
    called = connect(f"{provider}:m", wire=wire, api_key=SECRET).call
    assert isinstance(called, Caller)
    assert called.endpoint.place == place


def test_an_unknown_provider_is_refused() -> None:
    """Mistake 14: named by edit distance, if one is near."""
    assert refusal("antropic:m") == (
        "no provider 'antropic'. Did you mean 'anthropic'? For a compatible server give "
        "wire= and base_url=."
    )
    assert "There are openai, anthropic," in refusal("acme:m")
    assert refusal("acme:m", wire="chat") == refusal("acme:m")
    assert refusal("acme:m", base_url="http://h/v1") == refusal("acme:m")


def test_a_provider_may_have_a_place_for_each_user(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", SECRET)
    assert refusal("azure:m") == (
        "azure has a place for each of its users; give it as base_url=."
    )
    assert request("azure:m").headers["api-key"] == SECRET


@pytest.mark.parametrize("wire", ["chat", "responses"])
def test_azure_has_keys_and_tokens_in_headers_of_their_own(wire: str) -> None:
    """Below a deployment's address it refuses a key that is no token of Entra."""
    jwt = "eyJ0eXAiOiJKV1QifQ.e30.c2lnbmVk"
    keyed = request("azure:m", wire=wire, api_key=SECRET).headers
    assert (keyed["api-key"], "authorization" in keyed) == (SECRET, False)
    sent = request("azure:m", wire=wire, api_key=jwt).headers
    assert (sent["authorization"], "api-key" in sent) == (f"Bearer {jwt}", False)


def test_an_unknown_wire_is_refused() -> None:
    assert refusal("openai:m", wire="morse").startswith(
        "no wire 'morse'; this version speaks chat"
    )


@pytest.mark.parametrize("name", ["gpt-5.2", "openai:", ":gpt-5.2", ""])
def test_a_name_has_two_halves(name: str) -> None:
    assert refusal(name) == (
        "a model is named 'provider:name', such as 'openai:gpt-5.2'."
    )


@pytest.mark.parametrize(
    "url",
    [
        *("127.0.0.1:8080", "ftp://h/v1", "http://", "/v1", "http://[::1"),
        *("http://h:99999", "http://h/v1\n", "http://h\x00/v1", "http://a h/v1"),
    ],
)
def test_an_address_has_a_scheme_and_a_host(url: str) -> None:
    assert refusal("ollama:m", base_url=url) == (
        f"base_url={url!r} is no address; write 'https://host/v1'."
    )


@pytest.mark.parametrize("key", [5, b"sk-of-mine", ["sk-of-mine"], {}])
def test_a_key_is_text_or_a_function(key: Json) -> None:
    """And is not shown, whatever it is."""
    assert refusal("openai:m", api_key=key) == (
        f"api_key= is of type {type(key).__name__}; give text, or a function of none."
    )


@pytest.mark.parametrize("headers", [{"X-Title": 5}, {5: "sk-of-mine"}])
def test_headers_are_text(headers: Json) -> None:
    said = refusal("openai:m", api_key=SECRET, headers=headers)
    assert said.endswith("and its value have to be text.")
    assert "sk-of-mine" not in said


def test_an_address_has_no_password() -> None:
    said = refusal("ollama:m", base_url=f"http://me:{SECRET}@host/v1")
    assert said == "base_url holds a name or a password; pass api_key= or headers=."


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), None, "60"])
def test_a_timeout_is_above_nothing(seconds: Json) -> None:
    assert refusal("ollama:m", timeout=seconds) == (
        f"timeout={seconds!r}; give a number of seconds above 0."
    )


def test_options_go_into_each_request() -> None:
    sent = request("acme:m", wire="chat", temperature=0, model="other", stop=["a"])
    assert (sent.body["temperature"], sent.body["stop"]) == (0, ["a"])
    assert sent.body["model"] == "other"


def test_options_of_the_request_come_first() -> None:
    given = {"seed": 2}
    sent = request("acme:m", wire="chat", options=given, seed=1, top_p=0.5)
    assert (sent.body["seed"], sent.body["top_p"]) == (2, 0.5)


@pytest.mark.parametrize("odd", [object(), float("nan"), {1, 2}])
def test_options_are_json(odd: object) -> None:
    assert refusal("ollama:m", extra=odd).startswith("the option extra= is not JSON: ")


def test_a_misspelt_word_is_no_option() -> None:
    """A key would be sent in every body."""
    said = refusal("ollama:m", apikey=SECRET)
    assert said == "apikey= would go into each request. Did you mean api_key=?"


def test_headers_go_with_each_request() -> None:
    sent = request("acme:m", wire="chat", headers={"X-Title": "mine"})
    assert sent.headers["x-title"] == "mine"


@pytest.mark.parametrize("value", ["a\nb", "é", "\x00"])
def test_headers_can_be_sent(value: str) -> None:
    """And their values are not shown."""
    assert refusal("ollama:m", headers={"X-Title": value}) == (
        "headers['X-Title'] has a character that no header has."
    )
    assert refusal("ollama:m", headers={value: "x"}) == (
        f"headers: {value!r} is no name of a header."
    )


def test_timeouts_may_say_more() -> None:
    model = connect("ollama:m", timeout=Timeouts(total=9))
    assert "total=9" in repr(model.call)


def test_a_model_does_not_show_its_key() -> None:
    model = connect("openai:m", api_key=SECRET, headers={"x": SECRET}, timeout=5)
    assert SECRET not in f"{model!r} {model.call!r}"


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("status", [200, 401])
def test_a_key_is_shown_over_no_wire(
    wire: str, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Though the server repeats it, in an error's body or in a stream's."""
    caplog.set_level(logging.DEBUG)
    error = {"type": "error", "error": {"message": f"bad key {SECRET}", "code": "x"}}

    async def run() -> AssistantMessage | ModelError:
        async with chat_server(says_json(error, status)) as server:
            model = connect("t:m", wire=wire, base_url=server.url, api_key=SECRET)
            call = CallModel("i", "t:m", [UserMessage("hi")])
            return await model.call(call, Told())

    found = asyncio.run(run())
    assert isinstance(found, ModelError)
    assert found.message == "bad key [hidden]"
    assert SECRET not in f"{found!r} {caplog.text}"


def test_nothing_is_sent_before_the_model_is_called() -> None:
    async def run() -> ChatServer:
        async with chat_server() as server:
            connect("acme:m", wire="chat", base_url=server.url)
        return server

    assert asyncio.run(run()).connections == 0


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"api_key": SECRET}, "api_key="),
        ({"base_url": "http://h"}, "base_url="),
        ({"wire": "chat"}, "wire="),
        ({"headers": {}}, "headers="),
    ],
)
def test_a_local_model_has_no_address(given: dict[str, Json], word: str) -> None:
    assert refusal("local:m", **given) == (
        f"a local model runs on this machine; leave out {word}."
    )


def test_a_local_model_is_known_by_its_own_names() -> None:
    """What is wrong with it is said by the embedded runtime."""
    with pytest.raises(ValueError, match="local:no-such-model"):
        connect("local:no-such-model", max_tokens=5)


def test_an_address_that_is_none_is_shown_without_its_query() -> None:
    with pytest.raises(ValueError, match="base_url='ftp://host' is no address"):
        connect("x:y", wire="chat", base_url="ftp://me:s3cret@host?key=s3cret")
