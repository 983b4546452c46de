"""A real server that speaks three wires: one conversation with tools over all of them.

The weights are fetched if they are not in the user's cache yet.
"""

import asyncio
from importlib.resources import files
from typing import Final

import pytest

from loopcore import (
    AssistantMessage,
    CallModel,
    Interpreter,
    LoopConfig,
    Model,
    ModelError,
    Prompt,
    State,
    UserMessage,
    run,
    tool,
)
from loopcore.hooks import Hooks, TurnUpdate, TurnView
from loopcore_adapters import connect
from loopcore_adapters.local.engine import Running, Setup, engine
from loopcore_adapters.local.known import QWEN
from loopcore_adapters.local.weights import cache
from tests.reading import Told

pytestmark = pytest.mark.real

WIRES: Final = ("chat", "responses", "messages")
LIMITS: Final = {
    "chat": "max_tokens",
    "responses": "max_output_tokens",
    "messages": "max_tokens",
}


@tool
def weather(city: str) -> str:
    """Today's weather in a city."""
    return f"{city}: 17 °C, light rain"


async def started() -> Running:
    """llama.cpp, with the weights of the embedded model."""
    embedded = connect(f"local:{QWEN.name}", max_tokens=1)
    call = CallModel("i", embedded.id, [UserMessage("hi")])
    assert not isinstance(await embedded.call(call, Told()), ModelError)
    template = (files("loopcore_adapters.local") / "qwen.jinja").read_text("utf-8")
    return await engine(Setup(str(cache() / QWEN.file), template)).running()


@pytest.fixture(scope="module")
def models() -> dict[str, Model]:
    """The server over each wire, each under a name of its own."""
    running = asyncio.run(started())
    return {
        wire: connect(
            f"llamacpp:{wire}",
            wire=wire,
            base_url=f"{running.url}/v1",
            api_key=running.key,
            timeout=600,
            headers={"connection": "close"},
            temperature=0,
            **{LIMITS[wire]: 100},
        )
        for wire in WIRES
    }


def in_turn(models: dict[str, Model], *order: str) -> Hooks:
    """A rule that hands each turn to the next of these wires."""

    def next_one(view: TurnView) -> TurnUpdate:
        asked = sum(isinstance(one, AssistantMessage) for one in view.transcript)
        return TurnUpdate(model=models[order[asked % len(order)]])

    return Hooks("in_turn", prepare_next_turn=next_one)


def talk(models: dict[str, Model], order: tuple[str, ...], *say: str) -> State:
    """What was said: each request of the conversation goes over the next wire."""
    config = LoopConfig(
        model=models[order[0]], tools=[weather], hooks=[in_turn(models, *order)]
    )
    interpreter = Interpreter(*models.values(), weather)

    async def all_of_it() -> State:
        state = State.start(config, run_id="r")
        for n, prompt in enumerate(say):
            said = Prompt(prompt, model=models[order[2 * n % len(order)]])
            state = (await run(config, interpreter, said, state=state)).state
        return state

    return asyncio.run(all_of_it())


def replies(state: State) -> list[AssistantMessage]:
    return [one for one in state.transcript if isinstance(one, AssistantMessage)]


def test_each_wire_says_the_same_of_the_same(models: dict[str, Model]) -> None:
    """The server counts as many tokens over each: it makes one prompt of all three."""
    asked = [
        replies(talk(models, (wire,), "Do I need an umbrella in Paris?"))
        for wire in WIRES
    ]
    for wire, (calls, answers) in zip(WIRES, asked, strict=True):
        assert {f"llamacpp:{wire}"} == {calls.model, answers.model}
        assert ["tools", "end"] == [calls.finish, answers.finish]
        assert [{"city": "Paris"}] == [call.arguments for call in calls.calls]
        assert "17" in answers.text
    counted = [
        (calls.usage.input + calls.usage.cache_read, calls.usage.output)
        for calls, _ in asked
    ]
    assert len(set(counted)) == 1


def test_a_conversation_goes_over_three_wires_by_turns(
    models: dict[str, Model],
) -> None:
    """Each call is answered over another wire than it was made over, and back again."""
    order = ("chat", "responses", "messages", "chat", "messages", "responses")

    state = talk(
        models,
        order,
        "Do I need an umbrella in Paris?",
        "Call the weather tool for Oslo.",
        "Call the weather tool for Rome.",
    )

    said = replies(state)
    assert [f"llamacpp:{wire}" for wire in order] == [one.model for one in said]
    assert ["tools", "end"] * 3 == [one.finish for one in said]
    cities = [call.arguments["city"] for one in said for call in one.calls]
    assert ["Paris", "Oslo", "Rome"] == cities
    assert all("17" in one.text for one in said if not one.calls)
