"""The embedded model itself: real weights, a real runtime, a real model's calls.

The weights are fetched if they are not in the user's cache yet.
"""

import asyncio
import json
from typing import Final

import pytest

from loopcore import (
    AssistantMessage,
    CallModel,
    Interpreter,
    LoopConfig,
    Model,
    ModelError,
    RunResult,
    Tell,
    ToolResultMessage,
    UserMessage,
    stream,
    tool,
)
from loopcore.events import Delta, Event
from loopcore_adapters import connect
from tests.reading import Told

pytestmark = pytest.mark.real

QUESTION: Final = "Do I need an umbrella in Paris?"


@tool
def weather(city: str) -> str:
    """Today's weather in a city."""
    return f"{city}: 17 °C, light rain"


@pytest.fixture(scope="module")
def model() -> Model:
    """The model; it is loaded once for all tests."""
    return connect("local:qwen2.5-coder-0.5b")


async def watched(model: Model) -> tuple[list[Event], RunResult[str]]:
    """What is seen of a run, and what it comes to."""
    config = LoopConfig(model=model, tools=[weather])
    events: list[Event] = []
    async with stream(config, Interpreter(model, weather), QUESTION) as run:
        async for event in run:
            events.append(event)  # noqa: PERF401  # a comprehension would not be read
        return events, run.result


def a_call(model: Model, text: str, **options: object) -> CallModel:
    """A request with only this in it."""
    return CallModel("i", model.id, [UserMessage(text)], options=options)


async def reply_to(
    model: Model, call: CallModel, tell: Tell
) -> AssistantMessage | ModelError:
    """The model's reply."""
    return await model.call(call, tell)


def say(model: Model, text: str, **options: object) -> AssistantMessage | ModelError:
    """What the model says to this, without tools."""
    return asyncio.run(reply_to(model, a_call(model, text, **options), Told()))


def test_a_question_is_answered_from_a_tools_result(model: Model) -> None:
    events, result = asyncio.run(watched(model))
    _, asked, told, answered = result.state.transcript
    assert isinstance(asked, AssistantMessage)
    assert [(c.name, c.arguments) for c in asked.calls] == [
        ("weather", {"city": "Paris"})
    ]
    assert isinstance(told, ToolResultMessage)
    assert told.text == "Paris: 17 °C, light rain"
    assert isinstance(answered, AssistantMessage)
    assert "rain" in answered.text
    assert answered.usage.output > 0
    deltas = [event for event in events if isinstance(event, Delta)]
    assert answered.text == "".join(d.text for d in deltas if d.turn == 2)
    streamed = "".join(d.arguments for d in deltas if d.turn == 1)
    assert json.loads(streamed) == {"city": "Paris"}
    assert len(deltas) > 10


def test_a_reply_has_the_length_that_was_asked_for(model: Model) -> None:
    reply = say(model, "Count from 1 to 100.", max_tokens=5)
    assert isinstance(reply, AssistantMessage)
    assert (reply.finish, reply.usage.output) == ("length", 5)


def test_a_reply_has_the_shape_that_was_asked_for(model: Model) -> None:
    """The runtime's grammar sees to it."""
    schema = {
        "type": "object",
        "properties": {"town": {"type": "string"}},
        "required": ["town"],
        "additionalProperties": False,
    }
    shape = {"type": "json_schema", "json_schema": {"name": "town", "schema": schema}}
    reply = say(model, "The capital of France?", response_format=shape)
    assert isinstance(reply, AssistantMessage)
    assert list(json.loads(reply.text)) == ["town"]


def test_a_prompt_that_is_too_long_is_told_as_such(model: Model) -> None:
    error = say(model, "word " * 9000)
    assert isinstance(error, ModelError)
    assert (error.kind, error.status) == ("context_overflow", 400)


def test_calls_wait_for_each_other_and_a_cancelled_one_makes_way(model: Model) -> None:
    """More of them than the runtime has threads for."""

    async def work() -> tuple[AssistantMessage | ModelError, ...]:
        begun = asyncio.Event()

        def tell(*_: object, **__: object) -> None:
            begun.set()

        endless = a_call(model, "Count from 1 to 9999.", max_tokens=7000)
        first = asyncio.create_task(reply_to(model, endless, tell))
        await begun.wait()
        short = a_call(model, "Hi", max_tokens=3)
        rest = asyncio.gather(*(reply_to(model, short, Told()) for _ in range(8)))
        first.cancel()
        async with asyncio.timeout(200):  # the first takes twice as long at the least
            return tuple(await rest)

    for reply in asyncio.run(work()):
        assert isinstance(reply, AssistantMessage), reply


def test_a_file_that_is_no_model_is_told(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    file = tmp_path_factory.mktemp("models") / "words.gguf"
    file.write_text("these are no weights")
    error = say(connect(f"local:{file}"), "hi")
    assert isinstance(error, ModelError)
    assert error.message.startswith(f"llama.cpp could not load '{file}': ")
