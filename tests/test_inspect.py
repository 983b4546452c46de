"""Inspectors: told of every moment, and never in the way."""

import asyncio
import logging
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from loopcore import (
    AssistantMessage,
    CallModel,
    Consult,
    LoopConfig,
    ModelError,
    RequestApproval,
    RunResult,
    RunTool,
    ServiceError,
    Sleep,
    ToolCall,
    ToolResultMessage,
    ToolSpec,
    Usage,
)
from loopcore.events import (
    Ended,
    Event,
    HookWrote,
    MessageAdded,
    RunEnd,
    RunStart,
    Started,
    TurnEnd,
)
from loopcore.frozen import FrozenDict
from loopcore.hooks import Block, Hooks, Need, TurnUpdate
from loopcore.runtime.inspect import Inspector
from loopcore.runtime.interpreter import Interpreter
from loopcore.runtime.log import Log
from loopcore.runtime.run import run
from loopcore.runtime.tool import tool
from loopcore.testing import ScriptedModel
from tests.leaks import alone


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


ADD = ToolCall("add", {"a": 1, "b": 2}, id="c1")


def watched(
    *inspectors: Inspector,
    replies: tuple[Any, ...] = (ADD, "It is 3."),
    **more: Any,  # of LoopConfig
) -> RunResult:
    """The result of a run with one tool call."""
    model = ScriptedModel(*replies)
    config = LoopConfig(model=model, tools=[add], **more)
    return alone(
        run(config, Interpreter(model, add, inspectors=inspectors), "go", run_id="r")
    )


class Moments(Inspector):
    """Notes each moment."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def on_run_start(self, event: RunStart) -> None:
        self.seen.append(f"run start {len(event.messages)}")

    def on_model_start(self, event: Started, effect: CallModel) -> None:
        self.seen.append(f"model start {len(effect.messages)} {event.turn}")

    def on_model_end(self, event: Ended, effect: CallModel) -> None:
        self.seen.append(f"model end {effect.model} {type(event.value).__name__}")

    def on_tool_start(self, event: Started, effect: RunTool) -> None:
        self.seen.append(f"tool start {effect.spec.name} {event.turn}")

    def on_tool_end(self, event: Ended, effect: RunTool) -> None:
        assert event.seconds is not None
        self.seen.append(f"tool end {effect.spec.name}")

    def on_tool_result(self, event: MessageAdded, message: ToolResultMessage) -> None:
        self.seen.append(f"result {message.text} {event.turn}")

    def on_turn_end(self, event: TurnEnd) -> None:
        self.seen.append(f"turn end {len(event.results)}")

    def on_run_end(self, event: RunEnd) -> None:
        self.seen.append(f"run end {event.stop}")


def test_an_inspector_is_told_of_each_moment() -> None:
    """The table of the second source document."""
    moments = Moments()

    watched(moments)

    assert moments.seen == [
        "run start 1",
        "model start 1 1",
        "model end test:script AssistantMessage",
        "tool start add 1",
        "tool end add",
        "result 3 1",
        "turn end 1",
        "model start 3 2",
        "model end test:script AssistantMessage",
        "turn end 0",
        "run end done",
    ]


def test_the_result_of_a_call_that_never_ran_is_told_too() -> None:
    moments = Moments()

    watched(moments, hooks=[Hooks("no", before_tool_call=lambda _: Block("no"))])

    assert "result no 1" in moments.seen
    assert "tool start add 1" not in moments.seen


class Failing(Inspector):
    """Raises at each event."""

    def on_event(self, event: Event) -> None:
        raise OSError(type(event).__name__)

    def __repr__(self) -> str:
        return "Failing()"


def test_an_inspector_that_raises_changes_nothing_and_is_logged_once_a_kind(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """D83."""
    moments = Moments()

    result = watched(Failing(), moments)

    assert result.output == "It is 3."
    assert len(moments.seen) == 11
    kinds = [
        "RunStart",
        "MessageAdded",
        "Started",
        "Delta",
        "Ended",
        "TurnEnd",
        "RunEnd",
    ]
    assert caplog.messages == [
        f"Inspector Failing() raised at {kind}; the run goes on. This is logged once for "
        "each kind of event."
        for kind in kinds
    ]
    assert all(record.exc_info for record in caplog.records)


def test_each_inspector_that_raises_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """D83."""
    watched(Failing(), Failing(), replies=(ModelError("bad", "auth"),))

    assert sum("at RunStart" in message for message in caplog.messages) == 2


def test_a_cancelled_future_that_an_inspector_asks_cancels_no_run() -> None:
    """It cancelled whoever awaited the run, in silence."""

    class Asking(Inspector):
        def on_event(self, event: Event) -> None:
            future = asyncio.get_running_loop().create_future()
            future.cancel(type(event).__name__)
            future.result()

    assert watched(Asking()).output == "It is 3."


def test_leaving_the_program_from_an_inspector_passes_through() -> None:
    class Leaving(Inspector):
        def on_run_end(self, event: RunEnd) -> None:
            raise SystemExit(str(event.stop))

    with pytest.raises(SystemExit, match="done"):
        watched(Leaving())


def logged(
    caplog: pytest.LogCaptureFixture,
    log: Log,
    **more: Any,
) -> list[str]:
    """The lines of a run, without how long anything took."""
    caplog.set_level(logging.DEBUG, "loopcore")
    watched(log, **more)
    return [line.partition(", 0.0")[0] for line in caplog.messages]


def test_the_log_has_a_line_for_each_moment_and_no_content(
    caplog: pytest.LogCaptureFixture,
) -> None:
    replies = (
        AssistantMessage(ADD, finish="tools", usage=Usage(10, 5)),
        "It is 3.",
    )

    assert logged(caplog, Log(), replies=replies) == [
        "r turn 1: run starts, 1 messages",
        "r turn 1: UserMessage stored, 2 characters",
        "r turn 1: model test:script starts, 1 messages, 1 tools",
        "r turn 1: model test:script ended, tools, 1 calls, 15 tokens",
        "r turn 1: AssistantMessage stored, 0 characters",
        "r turn 1: tool add starts, 2 arguments",
        "r turn 1: tool add ended, ok, 1 characters",
        "r turn 1: ToolResultMessage stored, 1 characters",
        "r turn 1: turn ends, 1 results, 15 tokens",
        "r turn 2: model test:script starts, 3 messages, 1 tools",
        "r turn 2: model test:script ended, end, 0 calls, 0 tokens",
        "r turn 2: AssistantMessage stored, 8 characters",
        "r turn 2: turn ends, 0 results, 0 tokens",
        "r turn 2: run ends: done, 15 tokens",
    ]
    assert {record.levelname for record in caplog.records} == {"DEBUG"}


def test_the_log_of_tools_only(caplog: pytest.LogCaptureFixture) -> None:
    assert logged(caplog, Log("INFO", only="tools")) == [
        "r turn 1: tool add starts, 2 arguments",
        "r turn 1: tool add ended, ok, 1 characters",
        "r turn 1: ToolResultMessage stored, 1 characters",
    ]
    assert {record.levelname for record in caplog.records} == {"INFO"}


def test_the_log_of_the_loop_only(caplog: pytest.LogCaptureFixture) -> None:
    lines = logged(caplog, Log(only="loop"))

    assert len(lines) == 11
    assert not any("tool add" in line for line in lines)


def test_the_log_shows_content_only_if_asked(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "loopcore")
    watched(Log(content=True, only="tools"))

    assert caplog.messages[0] == 'r turn 1: tool add starts, 2 arguments: {"a":1,"b":2}'
    assert caplog.messages[2] == "r turn 1: ToolResultMessage stored, 1 characters: 3"


def test_the_log_knows_failures_hooks_services_and_pauses(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def consult(view: Any) -> Any:  # a view and an update
        if "k" in view.answers:
            return TurnUpdate(memo=1)
        return Need.service("k", "policy", {"q": 1})

    hooks = [Hooks("rule", prepare_next_turn=consult)]
    lines = logged(caplog, Log(content=True), replies=("hi",), hooks=hooks)
    assert lines[-1] == "r turn 1: service policy starts"

    caplog.clear()
    lines = logged(caplog, Log(content=True), replies=(ModelError("no key", "auth"),))
    assert "r turn 1: model test:script ended, failed: auth" in lines
    assert lines[-1].startswith(
        "r turn 1: run ends: model_error, 0 tokens: model_error"
    )


def test_the_log_knows_approvals_pauses_and_what_was_cancelled(
    caplog: pytest.LogCaptureFixture,
) -> None:
    where: dict[str, Any] = {"run_id": "r", "turn": 1, "at": None}
    spec, call = ToolSpec("pay"), ToolCall("pay")
    ask = RequestApproval("r.1.1.ask.0", call, spec, FrozenDict(cents=5))
    sleep = Sleep("r.1.1.sleep.1", 2.5)
    consult = Consult("r.1.1.c", "policy")
    caplog.set_level(logging.DEBUG, "loopcore")

    log = Log(content=True)
    for event in (
        Started(ask, **where),
        Ended(ask, cancelled=True, **where),
        Started(sleep, **where),
        Ended(sleep, None, 2.5, **where),
        Ended(consult, ServiceError("down"), **where),
        HookWrote(hook="h", point="p", update=None, **where),
    ):
        log.on_event(event)

    assert caplog.messages == [
        'r turn 1: approval of pay starts, 1 arguments: {"cents":5}',
        "r turn 1: approval of pay was cancelled",
        "r turn 1: pause of 2.5 s starts",
        "r turn 1: pause of 2.5 s ended, NoneType, 2.50 s",
        "r turn 1: service policy ended, ServiceError",
        "r turn 1: hook h wrote at p",
    ]


def test_a_log_that_nobody_reads_costs_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING, "loopcore")

    watched(Log("INFO"))

    assert caplog.messages == []


@pytest.mark.parametrize(
    "given", [{"level": "LOUD"}, {"only": "models"}], ids=["level", "only"]
)
def test_a_log_of_what_there_is_not_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"the level is one of .* only= one of all"):
        Log(**given)


def test_what_is_said_forges_no_lines_of_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """One event is one line, and no terminal is driven by it."""
    caplog.set_level(logging.DEBUG, "loopcore")
    said = "ok\nr turn 9: run ends: FORGED\r\x1b[31m\x9b1m\u2028\u202e"
    watched(Log(content=True), replies=(said,))

    assert "" == "".join(
        one for one in "".join(caplog.messages) if not one.isprintable()
    )
    assert r"ok\nr turn 9: run ends: FORGED\r\x1b[31m\x9b1m\u2028\u202e" in caplog.text


async def _waits(*_: object) -> None: ...


async def _yields_late(*_: object) -> AsyncIterator[None]:
    yield


def _yields(*_: object) -> Iterator[None]:
    yield


@pytest.mark.parametrize("moment", [n for n in vars(Inspector) if n.startswith("on_")])
@pytest.mark.parametrize("kind", [_waits, _yields_late, _yields])
def test_a_moment_that_nothing_would_wait_for_is_refused(
    moment: str, kind: Callable[..., object]
) -> None:
    """Its body would never be run, and nobody would be told."""
    slow = type("Slow", (Inspector,), {moment: kind})()

    with pytest.raises(
        TypeError, match=rf"Slow\.{moment} is a coroutine .* `def {moment}"
    ):
        Interpreter(inspectors=[slow])


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("on_tool_ends", "on_tool_end"),
        ("on_tool_results", "on_tool_result"),
        ("on_modal_start", "on_model_start"),
        ("on_turn_finished", None),
        ("on_event", None),
        ("tool_end", None),
    ],
)
def test_a_moment_that_is_nearly_one_is_a_warning(
    written: str, meant: str | None
) -> None:
    """Nobody would call it, and nobody would be told."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        type("Mine", (Inspector,), {written: _waits})

    assert [str(one.message) for one in said] == [
        f"Mine.{written} is no moment of an Inspector, so nobody calls it. Did you mean "
        f"{meant!r}?"
        for _ in range(1 if meant else 0)
    ]
