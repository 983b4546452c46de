"""Common slips in what a run or an interpreter is given say what to write instead."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from loopcore import (
    Approve,
    Inspector,
    Interpreter,
    Log,
    LoopConfig,
    Rejected,
    RequestApproval,
    RunResult,
    State,
    ToolCall,
    ToolOutput,
    UserMessage,
    run_sync,
    stream,
    tool,
)
from loopcore.journal import Journal, diff, explain, fork, refold, replay, shrink
from loopcore.runtime.run import run
from loopcore.testing import ScriptedModel
from tests.leaks import alone


@tool(needs_approval=True)
def pay(cents: int) -> str:
    """Pay."""
    return f"paid {cents}"


MODEL = ScriptedModel(*[ToolCall("pay", {"cents": 1})] * 2)
CONFIG = LoopConfig(model=MODEL, tools=[pay])
ABLE = Interpreter(MODEL, pay)
PAUSED: RunResult = run_sync(CONFIG, ABLE, "go", run_id="r")
ASK: RequestApproval = PAUSED.approvals[0]


async def awaited(*given: Any, **more: Any) -> object:
    return await run(*given, **more)


def in_a_loop(*given: Any, **more: Any) -> object:
    return alone(awaited(*given, **more))


WAYS = pytest.mark.parametrize("way", [in_a_loop, run_sync, stream])


class Told(Inspector):
    """Counts what it is told."""

    def __init__(self) -> None:
        self.events = 0

    def on_event(self, event: object) -> None:  # noqa: ARG002  # only counted
        self.events += 1


SLIPS: dict[str, tuple[tuple[Any, ...], dict[str, Any], str]] = {
    "swapped": ((ABLE, CONFIG, "go"), {}, "write `run(config, interpreter, ...)`"),
    "no config": ((MODEL, ABLE, "go"), {}, "a LoopConfig as its first argument"),
    "no interpreter": (
        (CONFIG, "go"),
        {},
        "second argument, but got 'go'. Write `run(config, Interpreter(model, *tools)",
    ),
    "a model for an interpreter": ((CONFIG, MODEL), {}, "Interpreter(model, *tools)"),
    "not unwrapped": (
        (CONFIG, ABLE),
        {"state": State.loads(PAUSED.state.dumps())},
        "state= needs a State but got `<Success: <run r",
    ),
    "nothing to unwrap": (
        (CONFIG, ABLE),
        {"state": State.loads(b"{}")},
        "state= needs a State but got `<Failure: ",
    ),
    "not loaded": (
        (CONFIG, ABLE),
        {"state": PAUSED.state.dumps()},
        "write `state=State.loads(saved).unwrap()`",
    ),
    "a result": ((CONFIG, ABLE), {"state": PAUSED}, "write `state=result.state`"),
    "a step's pair": ((CONFIG, ABLE), {"state": (PAUSED.state, None)}, "needs a State"),
    "a numbered run": ((CONFIG, ABLE, "go"), {"run_id": 3}, "run_id= takes text"),
}

NO_INPUTS: dict[str, tuple[object, str]] = {
    "a question": (ASK, "r.1.1.ask.0 is a RequestApproval, which is a question and no"),
    "how to answer": (ASK, "Build the answer from it: `effect.approve()`"),
    "a bare Approve": (Approve(), "Approve does not say what it answers. Build the"),
    "a bare output": (ToolOutput("x"), "ToolOutput does not say what it answers."),
    "answers": ([ASK.approve()], "each as an argument of its own, `*answers`"),
    "questions": ((ASK,), "A tuple is no input: give each as an argument of its own"),
    "texts": (["a", "b"], "A list of texts is no input: give one text"),
    "messages": ([UserMessage("a")], "say them with `Prompt(messages)`"),
    "nothing": ([], "An empty list is no input: leave it out"),
    "a state": (PAUSED.state, "A State is no input: give it as `state=`"),
    "a result": (PAUSED, "A RunResult is no input: give it as `state=`"),
    "a number": (3, "int is no input; give text, a message, Prompt"),
    "None": (None, "NoneType is no input; give text"),
}


@WAYS
@pytest.mark.parametrize(("given", "more", "said"), SLIPS.values(), ids=SLIPS)
def test_a_slip_in_what_a_run_is_given_is_a_sentence(
    way: Callable[..., object],
    given: tuple[Any, ...],
    more: dict[str, Any],
    said: str,
) -> None:
    with pytest.raises(TypeError) as refused:
        way(*given, **more)

    assert said in str(refused.value)


@WAYS
@pytest.mark.parametrize(("given", "said"), NO_INPUTS.values(), ids=NO_INPUTS)
def test_what_is_no_input_is_refused_before_anything_starts(
    way: Callable[..., object], given: object, said: str
) -> None:
    told = Told()
    able = Interpreter(MODEL, pay, inspectors=[told])

    with pytest.raises(TypeError) as refused:
        way(CONFIG, able, "go", given)

    assert said in str(refused.value)
    assert told.events == 0


def test_what_a_run_raises_is_not_told_after_an_error_of_its_own() -> None:
    with pytest.raises(Rejected) as refused:
        run_sync(CONFIG, ABLE, "one", "two")

    assert refused.value.__context__ is None


@WAYS
def test_a_second_text_is_refused_as_busy_and_told_of_steering(
    way: Callable[..., object],
) -> None:
    with pytest.raises(Rejected, match=r"say more with Steer\(...\) or FollowUp") as no:
        way(CONFIG, ABLE, "one", "two")

    assert no.value.kind == "busy"
    assert '"busy": `Steer` and `FollowUp`' in (run.__doc__ or "")


def test_what_is_sent_to_a_stream_is_looked_at_too() -> None:
    live = stream(CONFIG, ABLE, state=PAUSED.state)

    with pytest.raises(TypeError, match="question and no answer"):
        live.send(ASK)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # wrong on purpose


PARTS: dict[str, tuple[tuple[Any, ...], dict[str, Any], str]] = {
    "a nested configuration": (
        (MODEL, CONFIG.as_tool("ask", "Asks.")),
        {},
        "The nested configuration 'ask' acts through its own model and tools: give those",
    ),
    "a model's name": (
        ("openai:gpt-5.2", pay),
        {},
        "'openai:gpt-5.2' is only a name. Give the object itself: the model that `connect`",
    ),
    "a constant": ((), {"approve": True}, "lambda ask: ask.approve()`; it got True"),
    "a list of services": ((), {"services": [print]}, 'as in {"policy": policy}; it'),
    "no service": ((), {"services": {"policy": 3}}, "it got {'policy': 3}"),
    "a class": ((), {"inspectors": [Log]}, "has the class Log: write Log()"),
    "no list": ((), {"inspectors": Log()}, "takes a list of inspectors"),
    "no inspector": ((), {"inspectors": [print]}, "inherits from Inspector; it got <"),
    "patience in words": ((), {"grace": "long"}, "takes seconds, 0 or more; it got"),
}


@pytest.mark.parametrize(("given", "more", "said"), PARTS.values(), ids=PARTS)
def test_a_slip_in_what_an_interpreter_is_made_of_is_a_sentence(
    given: tuple[Any, ...], more: dict[str, Any], said: str
) -> None:
    with pytest.raises((TypeError, ValueError)) as refused:
        Interpreter(*given, **more)

    assert said in str(refused.value)


def performed(effect: Any) -> object:
    """What comes of performing this where a loop runs."""
    return alone(ABLE.perform(effect))


@pytest.mark.parametrize("given", ["x", None, ASK.approve(), PAUSED])
@pytest.mark.parametrize("how", [ABLE.perform_sync, performed])
def test_only_effects_are_performed(how: Callable[..., object], given: object) -> None:
    with pytest.raises(TypeError, match="performs an effect, such as one of"):
        how(given)


def read_nothing() -> Any:
    return Journal.read("nowhere.jsonl")


NO_JOURNALS: dict[str, tuple[Callable[[], Any], str]] = {
    "its path": (lambda: "runs/r1.jsonl", "a str"),
    "not unwrapped": (read_nothing, "a Failure"),
    "the configuration": (lambda: CONFIG, "a LoopConfig"),
}
READERS: dict[str, Callable[[Any], object]] = {
    "replay": partial(replay, CONFIG),
    "fork": partial(fork, CONFIG, run_id="other"),
    "refold": partial(refold, CONFIG, at=1, replace="go"),
    "explain": lambda given: explain(CONFIG, given, "stop"),
    "diff": lambda given: diff(CONFIG, given, given),
    "shrink": lambda given: shrink(CONFIG, given, bool),
}


@pytest.mark.parametrize("given", NO_JOURNALS)
@pytest.mark.parametrize("reader", READERS)
def test_what_is_no_journal_is_told_how_to_read_one(reader: str, given: str) -> None:
    made, kind = NO_JOURNALS[given]

    with pytest.raises(TypeError) as raised:
        READERS[reader](made())

    assert str(raised.value) == (
        f"A Journal is wanted here; it got {kind}. Read a file with "
        "`Journal.read(path).unwrap()`."
    )
