"""The code that users are shown works as it is shown: each example is run."""

import asyncio
import importlib
import runpy
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Final, TypeAlias

import pytest

import loopcore_adapters
from loopcore import (
    Interpreter,
    LoopConfig,
    Message,
    Model,
    RunResult,
    State,
    ToolCall,
    ToolResultMessage,
    run_sync,
    tool,
)
from loopcore.hooks import Hooks
from loopcore.testing import ScriptedModel
from tests import messages_reading, standing_in
from tests.chat_server import call, finish, reply, says, serving, usage
from tests.standing_in import ANSWER

EXAMPLES: Final = Path(__file__).parent / "examples"
NAMES: Final = [file.stem for file in EXAMPLES.glob("*.py")]

Load: TypeAlias = Callable[[str], Any]
"""Imports an example, or runs it as a program."""


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Load]:
    """Import examples, fresh, in a folder of their own, with models that need nothing."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(EXAMPLES)
    monkeypatch.setitem(sys.modules, "loopcore_adapters", standing_in)
    yield importlib.import_module
    for name in NAMES:
        sys.modules.pop(name, None)


@pytest.fixture
def program(load: Load) -> Load:
    """Run an example as `python example.py` does."""
    _ = load  # for the folder and the models
    return lambda name: runpy.run_path(
        str(EXAMPLES / f"{name}.py"), run_name="__main__"
    )


def outcomes(result: RunResult) -> list[tuple[str, str]]:
    """Each stored result: its tool, and how it ended."""
    stored = [m for m in result.messages if isinstance(m, ToolResultMessage)]
    return [(m.name, m.outcome) for m in stored]


def texts(messages: Iterable[Message]) -> list[str]:
    """What was said, without tools and models."""
    return [m.text for m in messages]


def test_a_tool_on_a_model(program: Load, capsys: pytest.CaptureFixture[str]) -> None:
    program("app")

    assert f"{ANSWER}\n" == capsys.readouterr().out


def test_two_providers_differ_in_a_string(
    load: Load, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each over its own wire."""
    weather = call(index=0, id="c1", name="weather", arguments='{"city": "Paris"}')
    asks = weather + finish("tool_calls") + usage(5, 2) + b"data: [DONE]\n\n"
    by_chat = [says(asks), says(reply("Take one."))]
    answers = [*map(says, messages_reading.ASKS_AND_ANSWERS), *by_chat]
    with serving(*answers) as server:
        rerouted = ModuleType("loopcore_adapters")
        rerouted.__dict__["connect"] = _rerouting(server.url)
        monkeypatch.setitem(sys.modules, "loopcore_adapters", rerouted)
        load("providers")

    assert [
        "anthropic:claude-sonnet-4-5 -> Take one. Usage(12, 5)",
        "deepseek:deepseek-chat -> Take one. Usage(12, 5)",
    ] == capsys.readouterr().out.splitlines()
    asked = ["claude-sonnet-4-5"] * 2 + ["deepseek-chat"] * 2
    assert asked == [request.body["model"] for request in server.requests]
    paths = ["/v1/messages"] * 2 + ["/v1/chat/completions"] * 2
    assert paths == [request.path for request in server.requests]


def _rerouting(url: str) -> Callable[..., Model]:
    """The real `connect`, but that all servers are the one at this address."""

    def connect(model: str, **options: Any) -> Model:
        if model.startswith("local:"):
            return standing_in.connect(model)
        options |= {"base_url": url, "api_key": "a-key"}
        return loopcore_adapters.connect(model, **options)

    return connect


def test_a_hook_blocks_a_tool(load: Load) -> None:
    block = load("block")

    result = run_sync(block.config, block.interpreter, "Tidy up.")

    assert [("fetch", "raised"), ("delete_file", "blocked")] == outcomes(result)
    assert "file deletion is disabled in this session" in result.messages[3].text


@tool
def fetch(url: str) -> str:
    """Read a page, slowly."""
    raise TimeoutError(url)


def test_a_hook_rewrites_some_fields_of_a_result(load: Load) -> None:
    rules = load("rewrite").rules

    result = _ran(fetch, rules, 1)

    stored = result.messages[2]
    assert isinstance(stored, ToolResultMessage)
    assert ("ok", "No answer in time; carry on without it.", None) == (
        stored.outcome,
        stored.text,
        stored.details,
    )


def _ran(tool: Any, hooks: list[Hooks], calls: int) -> RunResult:
    """A run that calls this tool so many times at once."""
    asked = [ToolCall("fetch", {"url": f"u{n}"}, f"c{n}") for n in range(calls)]
    model = ScriptedModel(asked, "I give up.")
    config = LoopConfig(model=model, tools=[tool], hooks=hooks)
    return run_sync(config, Interpreter(model, tool), "Read these.")


@tool(name="fetch")
def fetch_first(url: str) -> str:
    """Read the first page."""
    if url == "u0":
        return "A page."
    raise TimeoutError(url)


@pytest.mark.parametrize(
    ("pages", "all_must_fail", "one_is_enough"),
    [
        (fetch_first, "done", "hook: failed: fetch (hook 'any_failed')"),
        (fetch, "terminated", "hook: failed: fetch, fetch (hook 'any_failed')"),
    ],
    ids=["one fails", "both fail"],
)
def test_a_failed_tool_may_end_a_run_in_two_ways(
    load: Load,
    pages: Any,
    all_must_fail: str,
    one_is_enough: str,
) -> None:
    rules = load("stop_on_error")

    assert all_must_fail == str(_ran(pages, [rules.all_must_fail], 2).stop)
    assert one_is_enough == str(_ran(pages, [rules.one_is_enough], 2).stop)


def test_a_stronger_model_reviews(
    load: Load, capsys: pytest.CaptureFixture[str]
) -> None:
    review = load("review")

    assert f"{ANSWER}\n" == capsys.readouterr().out
    (asked,) = review.strong.requests
    assert ["A release note for 2.0", ANSWER] == texts(asked.messages)[:2]
    assert texts(asked.messages)[2].startswith("Review the draft above")


def test_ready_made_rules_go_together(load: Load) -> None:
    """D87: this stand-in knows no price, and a limit of cost says so."""
    window = load("window")

    result = run_sync(
        window.config, Interpreter(window.model, window.weather), "Go on."
    )

    assert [("weather", "ok")] == outcomes(result)
    assert str(result.stop).startswith("limit: a cost of 0.5 cannot be kept")


def test_a_hook_has_a_memory(load: Load) -> None:
    memory = load("memory")
    model = ScriptedModel(*[ToolCall("weather", {"city": "Paris"})] * 4, "Enough.")

    result = run_sync(
        LoopConfig(model=model, tools=[memory.weather], hooks=memory.config.hooks),
        Interpreter(model, memory.weather),
        "Look four times.",
    )

    wanted = [("weather", "ok")] * 3 + [("weather", "blocked")]
    assert wanted == outcomes(result)
    assert "weather was already used 3 times" in result.messages[8].text


def test_a_hook_asks_a_model_for_a_summary(load: Load) -> None:
    model = ScriptedModel("One.", "Two.", "They counted.", "Three.", "Four.")
    config = LoopConfig(
        model=model, hooks=[load("compacting").compacting(at=4, keep=1)]
    )
    interpreter = Interpreter(model)
    state = State.start(config, run_id="r")
    for prompt in ("1?", "2?", "3?", "4?"):
        state = run_sync(config, interpreter, prompt, state=state).state

    shown = [texts(request.messages) for request in model.requests]
    assert ["1?", "One.", "2?", "Two.", "Summarise the work so far."] == shown[2]
    assert ["They counted.", "3?"] == shown[3]
    assert ["They counted.", "3?", "Three.", "4?"] == shown[4]
    assert ["1?", "One.", "2?", "Two.", "3?", "Three.", "4?", "Four."] == texts(
        state.transcript
    )


def test_a_person_decides_tomorrow(
    program: Load, capsys: pytest.CaptureFixture[str]
) -> None:
    program("today")
    assert "paused: transfer(to='ACME', cents=4900) needs approval" in (
        capsys.readouterr().out
    )

    program("tomorrow")
    assert f"{ANSWER}\n" == capsys.readouterr().out


def test_a_person_steers(load: Load, capsys: pytest.CaptureFixture[str]) -> None:
    steer = load("steer")

    asyncio.run(steer.main(asyncio.Event()))

    assert f"done {ANSWER}\n" == capsys.readouterr().out
    requests = sys.modules["app"].model.requests
    said = [text for text in texts(requests[-1].messages) if "." in text]
    assert [
        "Indoors only, please.",
        ANSWER,
        "Then put it in a table.",
    ] == said[-3:]


def test_a_person_stops_a_run(load: Load, capsys: pytest.CaptureFixture[str]) -> None:
    steer = load("steer")
    stop = asyncio.Event()
    stop.set()

    asyncio.run(steer.main(stop))

    assert "aborted: the user pressed stop None\n" == capsys.readouterr().out


def test_an_inspector_counts(load: Load, capsys: pytest.CaptureFixture[str]) -> None:
    meter = load("meter")

    wanted = {"requests": 2, "replies": 2, "weather": 1, "ok": 1, "turns": 2}
    assert wanted == dict(meter.meter.seen)
    assert capsys.readouterr().out.startswith("weather 0.")


def test_a_run_is_driven_by_hand(
    load: Load, capsys: pytest.CaptureFixture[str]
) -> None:
    load("by_hand")

    assert "Take one. Paris: 17 °C, light rain.\n" == capsys.readouterr().out


def test_an_app_is_tested(load: Load) -> None:
    load("test_app").test_it_looks_before_it_answers()


def test_a_hook_is_tested_by_its_laws(load: Load) -> None:
    load("test_hooks").test_it_is_a_hook()


def test_a_hook_is_tested_by_a_property(load: Load) -> None:
    load("test_hooks").test_every_shown_result_follows_its_call()


def test_every_order_is_gone_through(load: Load) -> None:
    load("test_orders").test_every_call_is_answered_once_whatever_comes_first()


def test_a_run_is_shown_in_a_terminal(
    program: Load, capsys: pytest.CaptureFixture[str]
) -> None:
    program("terminal")

    assert [
        "",
        "· weather {'city': 'Paris'}",
        "  0.0 s",
        ANSWER,
        "[done]",
        "Usage()",
    ] == capsys.readouterr().out.splitlines()


def test_a_run_is_a_tool_of_another_run(
    load: Load, capsys: pytest.CaptureFixture[str]
) -> None:
    subagent = load("subagent")

    assert f"{ANSWER}\n" == capsys.readouterr().out
    assert "Answer from the handbook only." == subagent.quick.requests[0].system
    assert "Paid leave: 30 days." == subagent.quick.requests[1].messages[-1].text
    assert ANSWER == subagent.strong.requests[1].messages[-1].text


def test_tools_come_from_a_server(
    load: Load, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(standing_in.ARGUMENTS, "git_log", {"since": "Monday"})
    rerouted = ModuleType("loopcore_adapters")
    rerouted.__dict__.update(connect=standing_in.connect, mcp=_served)
    monkeypatch.setitem(sys.modules, "loopcore_adapters", rerouted)

    asyncio.run(load("mcp_tools").main())

    assert f"{ANSWER}\n" == capsys.readouterr().out
    requests = sys.modules["app"].model.requests
    assert "Three commits since Monday." == requests[-1].messages[-1].text


def _served(*_: str, **options: Any) -> Any:
    """The real `mcp`, but that the command is of a server that is here."""
    command = [sys.executable, "-P", str(EXAMPLES.parent / "mcp_git.py")]
    return loopcore_adapters.mcp(*command, **options)


def test_nothing_is_done_unless_it_is_let_through(
    load: Load, capsys: pytest.CaptureFixture[str]
) -> None:
    load("wrap")

    said = capsys.readouterr().out
    assert said.startswith("would run weather {'city': 'Paris'} with key ")
    assert said.endswith(".1.1.run.0\n")
