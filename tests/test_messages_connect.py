"""A model over Messages, connected by its name to a server on this machine."""

import asyncio
import json
from collections.abc import Iterable, Mapping
from typing import Final

import pytest
from attrs import evolve, frozen

from loopcore import (
    AssistantMessage,
    CallModel,
    Interpreter,
    LoopConfig,
    Message,
    ModelError,
    Prompt,
    RunResult,
    Text,
    Thinking,
    ToolResultMessage,
    Usage,
    UserMessage,
    run_sync,
    tool,
)
from loopcore.policies import retry
from loopcore_adapters import connect
from loopcore_adapters.providers import PROVIDERS
from tests import chat_server
from tests.chat_server import (
    Answer,
    Json,
    Request,
    cuts,
    says,
    says_json,
    serving,
)
from tests.messages_reading import (
    ASKS_AND_ANSWERS,
    STOP,
    call,
    ended,
    fails,
    said,
    start,
    text,
    thought,
)
from tests.messages_rules import problems
from tests.reading import Told

MODEL: Final = "anthropic:claude-sonnet-4-5"
SECRET: Final = "sk-ant-very-secret-key"  # noqa: S105  # nobody's
HELLO: Final = AssistantMessage("hello", model=MODEL, usage=Usage(7, 3))


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests have no key, whoever runs them."""
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)


def asked(
    answer: Answer,
    name: str = MODEL,
    base: str = "",
    history: Iterable[Message] = (UserMessage("hi"),),
    **given: Json,
) -> tuple[AssistantMessage | ModelError, Request]:
    """What a model gives when it is called once, and what it was sent."""
    effect = CallModel("i", name, [*history])
    with serving(answer) as server:
        url = server.url.removesuffix("/v1") + base
        model = connect(name, base_url=url, api_key=SECRET, **given)

        async def one_call() -> AssistantMessage | ModelError:
            return await model.call(effect, Told())

        return asyncio.run(one_call()), server.requests[0]


class TestARequest:
    def test_has_the_key_and_the_version_in_their_headers(self) -> None:
        result, sent = asked(says(said("hello")))
        assert result == HELLO
        assert sent.headers["x-api-key"] == SECRET
        assert sent.headers["anthropic-version"] == "2023-06-01"
        assert "authorization" not in sent.headers

    def test_has_the_key_of_the_environment(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "from-the-environment")
        with serving(says(said("hello"))) as server:
            model = connect(MODEL, base_url=server.url)
            run_sync(LoopConfig(model=model), Interpreter(model), "hi")
        assert server.requests[0].headers["x-api-key"] == "from-the-environment"

    def test_has_the_headers_that_were_given_over_its_own(self) -> None:
        given = {"Anthropic-Version": "2026-10-21", "anthropic-beta": "a,b"}
        sent = asked(says(said("hello")), headers=given)[1]
        assert sent.headers["anthropic-version"] == "2026-10-21"
        assert sent.headers["anthropic-beta"] == "a,b"

    def test_asks_for_what_it_needs_beside_what_was_asked_for(self) -> None:
        """Both betas: the one that bound thinking needs, and the user's."""
        name = "anthropic:claude-opus-5-5"
        thought = AssistantMessage([Thinking("hm", "s"), Text("a")], model=name)
        history = (UserMessage("hi"), thought, UserMessage("and?"))
        beta = {"anthropic-beta": "a,b"}
        sent = asked(says(said("hello")), name, history=history, headers=beta)[1]
        assert sent.headers["anthropic-beta"] == (
            "thinking-binding-controls-2026-08-01,a,b"
        )

    @pytest.mark.parametrize("local", ["ollama", "llamacpp", "vllm", "lmstudio"])
    def test_asks_nothing_of_claude_of_a_model_of_ones_own(self, local: str) -> None:
        """Many open models are called after the one that taught them."""
        name = f"{local}:qwen3-8b-claude-opus-5.5-distill"
        thought = AssistantMessage([Thinking("hm", "s"), Text("a")], model=name)
        history = (UserMessage("hi"), thought, UserMessage("and?"))
        sent = asked(says(said("hello")), name, history=history)[1]
        assert "anthropic-beta" not in sent.headers
        assert "thinking" not in sent.body
        assert "cache_control" not in json.dumps(sent.body)

    @pytest.mark.parametrize("base", ["", "/", "/v1", "/v1/"])
    def test_goes_to_one_place_whether_the_base_has_the_version(
        self, base: str
    ) -> None:
        assert asked(says(said("hello")), base=base)[1].path == "/v1/messages"

    def test_goes_below_a_path(self) -> None:
        sent = asked(says(said("hello")), base="/anthropic")[1]
        assert sent.path == "/anthropic/v1/messages"

    @pytest.mark.parametrize(
        ("provider", "place"),
        [
            ("anthropic", "https://api.anthropic.com"),
            ("deepseek", "https://api.deepseek.com/anthropic"),
            ("llamacpp", "http://127.0.0.1:8080/v1"),
        ],
    )
    def test_goes_where_the_provider_has_it(self, provider: str, place: str) -> None:
        known = PROVIDERS[provider]
        assert known.urls.get("messages", known.url) == place
        assert "messages" in known.wires

    def test_has_the_options_of_the_model(self) -> None:
        sent = asked(says(said("hello")), max_tokens=99, temperature=0.5)[1]
        assert (sent.body["max_tokens"], sent.body["temperature"]) == (99, 0.5)

    @pytest.mark.parametrize(
        "name", ["acme:m", "llamacpp:qwen", "deepseek:deepseek-chat"]
    )
    def test_goes_to_any_server_that_speaks_it(self, name: str) -> None:
        result, sent = asked(says(said("hello")), name, wire="messages")
        assert result == evolve(HELLO, model=name)
        assert sent.path == "/v1/messages"

    def test_needs_a_key(self) -> None:
        why = "no API key. Set ANTHROPIC_API_KEY or pass api_key=."
        with pytest.raises(ValueError, match="no API key") as refused:
            connect(MODEL)
        assert str(refused.value) == f"connect({MODEL!r}): {why}"


class TestAFault:
    def test_of_a_stream_has_the_name_of_the_request(self) -> None:
        answer = says(start(), fails("overloaded_error"), request_id="req_7")
        found = asked(answer)[0]
        assert isinstance(found, ModelError)
        assert (found.kind, found.request_id) == ("overloaded", "req_7")

    def test_over_http_says_when_to_come_again(self) -> None:
        error = {"type": "rate_limit_error", "message": "Slow down."}
        body = {"type": "error", "error": error}
        found = asked(says_json(body, 429, retry_after="7", request_id="req_7"))[0]
        assert found == ModelError(
            "Slow down.", "rate_limit", retry_after=7.0, status=429, request_id="req_7"
        )

    def test_never_shows_the_key(self) -> None:
        error = {"type": "authentication_error", "message": f"invalid: {SECRET}"}
        found = asked(says_json({"type": "error", "error": error}, 401))[0]
        assert SECRET not in repr(found)

    def test_that_breaks_the_connection_leaves_what_came(self) -> None:
        found = asked(cuts(start() + text(0, "half")))[0]
        assert isinstance(found, ModelError)
        assert found.kind in {"network", "cut_stream"}
        assert found.partial
        assert found.partial.text == "half"

    def test_of_a_place_that_is_none_asks_for_the_base(self) -> None:
        error = {"type": "not_found_error", "message": "Not found"}
        found = asked(says_json({"type": "error", "error": error}, 404))[0]
        assert isinstance(found, ModelError)
        assert found.message.startswith("Not found (Is base_url right?")


@tool
def weather(city: str) -> str:
    """Tells the weather in a city."""
    return f"Sunny in {city}."


@frozen
class Point:
    """A place on a map."""

    x: int
    y: int


def ran(
    *answers: Answer,
    name: str = MODEL,
    given: Mapping[str, Json] | None = None,
    **fields: Json,
) -> tuple[RunResult[Json], list[Request]]:
    """A run against these answers, and its requests; each is one that is taken."""
    with serving(*answers) as server:
        wire: dict[str, Json] = {} if name == MODEL else {"wire": "messages"}
        model = connect(
            name, base_url=server.url, api_key=SECRET, **wire, **(given or {})
        )
        config = LoopConfig(model=model, **fields)
        result = run_sync(config, Interpreter(model, weather), "And Paris?")
    for request in server.requests:
        assert problems(json.dumps(request.body).encode()) == []
    return result, server.requests


class TestARun:
    def test_calls_a_tool_and_answers(self) -> None:
        result, requests = ran(*map(says, ASKS_AND_ANSWERS), tools=[weather])
        assert (result.output, result.usage) == ("Take one.", Usage(12, 5))
        _, reply, answered = requests[1].body["messages"]
        assert reply["content"][0]["input"] == {"city": "Paris"}
        (block,) = answered["content"]
        assert block["tool_use_id"] == "toolu_1"
        assert block["content"] == [{"type": "text", "text": "Sunny in Paris."}]

    def test_goes_on_after_broken_arguments(self) -> None:
        """Report 84."""
        broken = start() + call(0, "c1", "weather", '{"a": 1 "b"}') + ended("tool_use")
        answers = says(broken, STOP), says(said("Sorry."))
        result, requests = ran(*answers, tools=[weather])
        assert result.output == "Sorry."
        _, reply, answered = requests[1].body["messages"]
        assert reply["content"][0]["input"] == {}
        assert answered["content"][0]["is_error"] is True

    def test_sends_thinking_back_with_its_signature(self) -> None:
        first = (
            start() + thought(0, "sig", "hm") + call(1, "c1", "weather", '{"city":"a"}')
        )
        answers = says(first, ended("tool_use"), STOP), says(said("Done."))
        result, requests = ran(*answers, tools=[weather], thinking="low")
        assert result.output == "Done."
        assert requests[1].body["messages"][1]["content"][0] == (
            {"type": "thinking", "thinking": "hm", "signature": "sig"}
        )
        assert requests[1].body["thinking"]["type"] == "enabled"

    def test_tries_again_when_the_service_is_overloaded(self) -> None:
        """Within a stream too: nothing of the first attempt is kept."""
        first = says(start(), text(0, "half"), fails("overloaded_error"))
        second = says_json(
            {"type": "error", "error": {"type": "overloaded_error", "message": "m"}},
            529,
        )
        answers = first, second, says(said("hello"))
        result, requests = ran(*answers, hooks=[retry(3, delay=0.001)])
        assert (result.output, len(requests)) == ("hello", 3)
        assert requests[2].body["messages"] == requests[0].body["messages"]

    def test_comes_to_a_value_by_the_mode_of_the_wire(self) -> None:
        result, (sent, *_) = ran(says(said('{"x": 1, "y": 2}')), output=Point)
        assert result.output == Point(1, 2)
        schema = sent.body["output_config"]["format"]["schema"]
        assert schema["$defs"]["Point"]["additionalProperties"] is False

    def test_comes_to_a_value_by_a_tool_where_there_is_no_mode(self) -> None:
        name = "llamacpp:qwen"
        given = '{"x": 1, "y": 2}'
        body = start() + call(0, "k", "final_output", given) + ended("tool_use") + STOP
        result, (sent, *_) = ran(says(body), name=name, output=Point)
        assert result.output == Point(1, 2)
        assert sent.body["tool_choice"] == {"type": "any"}

    def test_repairs_a_value_in_the_same_conversation(self) -> None:
        answers = says(said('{"x": 1}')), says(said('{"x": 1, "y": 2}'))
        result, requests = ran(*answers, output=Point, repairs=1)
        assert result.output == Point(1, 2)
        assert [m["role"] for m in requests[1].body["messages"]] == [
            "user",
            "assistant",
            "user",
        ]

    def test_ends_at_a_limit_and_says_so(self) -> None:
        body = start() + text(0, "Once") + ended("max_tokens") + STOP
        result, _ = ran(says(body))
        assert result.output == "Once"
        assert result.stop
        assert "cut" in result.stop.detail


class TestASwitch:
    def test_of_wires_in_mid_run_keeps_the_conversation(self) -> None:
        """There and back: ids, results and thinking, each as its wire takes it."""
        by_messages = (
            start() + thought(0, "sig", "hm") + text(1, "Hi.") + ended() + STOP
        )
        asks = chat_server.call(
            index=0, id="call|1", name="weather", arguments='{"city": "Rome"}'
        )
        by_chat = asks + chat_server.finish("tool_calls") + chat_server.DONE
        answers = (
            says(by_messages),
            says(by_chat),
            says(chat_server.reply("Sunny.")),
            says(said("Bye.")),
        )
        result, first, last = self.switched(*answers)
        assert result.output == "Bye."
        assert problems(json.dumps(last.body).encode()) == []
        assert last.body["messages"][0] == _unmarked(first.body["messages"][0])
        kinds = [[b["type"] for b in m["content"]] for m in last.body["messages"]]
        assert kinds == [
            ["text"],
            ["thinking", "text"],
            ["text"],
            ["tool_use"],
            ["tool_result"],
            ["text"],
            ["text"],
        ]
        stored = [
            m for m in result.state.transcript if isinstance(m, ToolResultMessage)
        ]
        assert [m.call_id for m in stored] == ["call|1"]

    def switched(self, *answers: Answer) -> tuple[RunResult, Request, Request]:
        """Three prompts, the second to another wire; the first request, and the last."""
        with serving(*answers) as server:
            claude = connect(MODEL, base_url=server.url, api_key=SECRET)
            other = connect("openai:m", wire="chat", base_url=server.url, api_key="k")
            config = LoopConfig(model=claude, tools=[weather])
            work = Interpreter(claude, other, weather)
            state = run_sync(config, work, "Hi").state
            state = run_sync(
                config, work, Prompt("Rome?", model=other), state=state
            ).state
            result = run_sync(config, work, "Bye", state=state)
        return result, server.requests[0], server.requests[-1]


def _unmarked(message: Json) -> Json:
    return {
        **message,
        "content": [
            {name: value for name, value in block.items() if name != "cache_control"}
            for block in message["content"]
        ],
    }
