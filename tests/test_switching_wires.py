"""A run goes over another wire at any turn, and back; history is adapted on its way out."""

import asyncio
import json
from base64 import b64encode
from itertools import permutations
from typing import Any, Final

import pytest

from loopcore import (
    AssistantMessage,
    Interpreter,
    LoopConfig,
    Model,
    RunResult,
    ToolResultMessage,
    run,
    tool,
)
from loopcore.hooks import Hooks, TurnUpdate, TurnView
from loopcore_adapters import connect
from tests.chat_server import ChatServer, chat_server
from tests.four_wires import Called, Said, Thought, over, wire_of
from tests.wire_rules import MODELS, broken_json

Orders = list[tuple[str, ...]]
ORDERS: Final[Orders] = [(*one, *reversed(one)) for one in permutations(MODELS)]
"""There and back: every wire follows every other, in both directions."""

SIGNATURES: Final = {wire: b64encode(wire.encode()).decode() for wire in MODELS}


@tool
def weather(city: str) -> str:
    """The weather of a city."""
    return f"rain in {city}"


def said(wire: str, turn: int) -> tuple[Said, ...]:
    """What a model says in this turn: it thinks, and calls with an id that comes again."""
    call = Called(f"call_{turn % 2}", "weather", {"city": f"city {turn}"})
    return Thought(f"Turn {turn}.", SIGNATURES[wire]), call


def switching(order: tuple[str, ...], models: dict[str, Model]) -> Hooks:
    """A rule that hands each turn to the wire whose turn it is."""

    def other(view: TurnView) -> TurnUpdate:
        return TurnUpdate(model=models[order[view.turn % len(order)]])

    return Hooks("other", prepare_next_turn=other)


async def ran(order: tuple[str, ...]) -> tuple[RunResult, ChatServer]:
    """The run, and what its server was asked."""
    *calling, last = order
    answers = [over(wire, *said(wire, turn)) for turn, wire in enumerate(calling)]
    async with chat_server(*answers, over(last, "Umbrella.")) as server:
        base = server.url.removesuffix("/v1")
        models = {
            wire: connect(name, wire=wire, base_url=base, api_key="nobody's")
            for wire, name in MODELS.items()
        }
        config = LoopConfig(
            model=models[order[0]], tools=[weather], hooks=[switching(order, models)]
        )
        interpreter = Interpreter(*models.values(), weather)
        result = await run(config, interpreter, "Umbrella?", run_id="r")
    return result, server


@pytest.mark.parametrize("order", ORDERS, ids=" ".join)
def test_a_run_goes_over_any_wire_at_any_turn(order: tuple[str, ...]) -> None:
    result, server = asyncio.run(ran(order))

    assert result.output == "Umbrella."
    assert list(order) == [wire_of(request.path) for request in server.requests]
    replies = [m for m in result.messages if isinstance(m, AssistantMessage)]
    assert [MODELS[wire] for wire in order] == [reply.model for reply in replies]
    results = [m.text for m in result.messages if isinstance(m, ToolResultMessage)]
    assert [f"rain in city {turn}" for turn in range(len(order) - 1)] == results
    for request in server.requests:
        assert broken_json(request.path, request.body) == []


def signed(request: Any) -> set[str]:
    """Whose signatures a request holds."""
    body = json.dumps(request.body)
    return {wire for wire, signature in SIGNATURES.items() if signature in body}


def test_a_model_gets_its_own_signatures_back_and_no_others() -> None:
    """The chat wire has none; each of the others gets them when it speaks again."""
    order = ("responses", "messages", "gemini", "chat") * 2

    _, server = asyncio.run(ran(order))

    first, second = server.requests[:4], server.requests[4:]
    assert [signed(request) for request in first] == [set()] * 4
    assert [signed(request) for request in second] == (
        [{"responses"}, {"messages"}, {"gemini"}, set()]
    )
