"""What users are shown of models that are handed over to, over the wires of these models."""

import asyncio
import importlib
import sys
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

import loopcore_adapters
from loopcore import (
    Continue,
    Interpreter,
    LoopConfig,
    Model,
    RunResult,
    run,
    tool,
)
from loopcore.journal import Journal, fork
from tests.chat_server import ChatServer, chat_server, serving
from tests.four_wires import Called, Thought, by_path, wire_of
from tests.wire_rules import broken_json

EXAMPLES: Final = Path(__file__).parent / "examples"


def test_a_draft_of_a_quick_model_is_reviewed_over_another_wire(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """1.6: the stronger model is shown the draft as its own wire has it."""
    monkeypatch.syspath_prepend(EXAMPLES)
    with serving(by_path("A draft."), by_path("The final version.")) as server:
        rerouted = ModuleType("loopcore_adapters")
        rerouted.__dict__["connect"] = partial(_connect, server)
        monkeypatch.setitem(sys.modules, "loopcore_adapters", rerouted)
        importlib.import_module("review")
    sys.modules.pop("review")

    assert capsys.readouterr().out == "The final version.\n"
    quick, strong = server.requests
    assert ["chat", "messages"] == [wire_of(one.path) for one in (quick, strong)]
    assert strong.body["model"] == "claude-sonnet-4-5"
    shown = [(one["role"], _text(one["content"])) for one in strong.body["messages"]]
    assert shown == [
        ("user", "A release note for 2.0"),
        ("assistant", "A draft."),
        ("user", "Review the draft above, then write the final version."),
    ]


def _connect(server: ChatServer, name: str) -> Model:
    """The real `connect`; what is local speaks Chat Completions, as the embedded one does."""
    where: dict[str, Any] = {"base_url": server.url, "api_key": "a-key"}
    if name.startswith("local:"):
        where |= {"wire": "chat"}
    return loopcore_adapters.connect(name.replace("local:", "near:"), **where)


def _text(content: Any) -> str:
    parts = [content] if isinstance(content, str) else [p["text"] for p in content]
    return "".join(parts)


@tool
def weather(city: str) -> str:
    """Today's weather in a city."""
    return f"{city}: 17 °C, light rain"


async def recorded_and_forked(folder: Path, server: ChatServer) -> RunResult:
    """A run over one wire, and another that goes on from its third turn over another."""
    model = _connect(server, "local:qwen")
    strong = _connect(server, "anthropic:claude-sonnet-4-5")
    config = LoopConfig(model=model, tools=[weather])
    interpreter = Interpreter(model, strong, weather)
    await run(config, interpreter, "Hm?", journal=folder / "r1.jsonl", run_id="r1")
    past = Journal.read(folder / "r1.jsonl").unwrap()
    state = fork(config, past, turn=3, run_id="r1-strong").unwrap()
    again = Continue(model=strong)
    return await run(config, interpreter, again, state=state)


def test_a_run_is_forked_to_a_model_over_another_wire(tmp_path: Path) -> None:
    """1.17: what the first model did is the second one's past, and its thoughts are not."""
    calls = [Called(f"call|{n}", "weather", {"city": "Paris"}) for n in range(4)]
    turns = [by_path(Thought(f"Turn {n}.", ""), call) for n, call in enumerate(calls)]

    async def ran() -> tuple[RunResult, ChatServer]:
        answers = *turns, by_path("Umbrella."), by_path("Take two.")
        async with chat_server(*answers) as server:
            return await recorded_and_forked(tmp_path, server), server

    result, server = asyncio.run(ran())
    assert result.output == "Take two."
    asked = server.requests[-1]
    assert wire_of(asked.path) == "messages"
    assert broken_json(asked.path, asked.body) == []
    said = asked.body["messages"]
    assert ["user", *["assistant", "user"] * 3] == [one["role"] for one in said]
    made = [block for one in said for block in one["content"] if "id" in block]
    assert [{"city": "Paris"}] * 3 == [block["input"] for block in made]
    assert "Turn 1." not in str(said)
