"""The doubles that ship: a scripted model, scripted tools."""

import asyncio
from typing import Any

import pytest

from loopcore import (
    Abort,
    Approve,
    AssistantMessage,
    CallModel,
    Image,
    LoopConfig,
    ModelError,
    Steer,
    Stop,
    Text,
    Thinking,
    ToolCall,
    ToolOutput,
    ToolResultMessage,
    ToolSpec,
    UserMessage,
)
from loopcore.events import Delta
from loopcore.frozen import vector
from loopcore.runtime.interpreter import Interpreter
from loopcore.runtime.run import run, run_sync
from loopcore.runtime.stream import stream
from loopcore.testing import ScriptedModel, ScriptedTools
from tests.leaks import alone

ASK = CallModel("r1.1.1.model.1", "test:script", vector([UserMessage("go")]))
ADD = ToolCall("add", {"a": 1}, id="c1")


def said(model: ScriptedModel, times: int = 1) -> Any:  # a reply
    """What the model says, asked so often."""

    async def main() -> object:
        answers = [await Interpreter(model).perform(ASK) for _ in range(times)]
        return answers[-1] and answers[-1].value

    return alone(main())


def louder(effect: CallModel) -> str:
    return f"{effect.messages[-1].text}!"


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("hi", AssistantMessage("hi", model="test:script")),
        ("", AssistantMessage("", model="test:script")),
        (ADD, AssistantMessage(ADD, model="test:script", finish="tools")),
        (
            ["Well.", ADD, ADD],
            AssistantMessage(
                [Text("Well."), ADD, ADD], model="test:script", finish="tools"
            ),
        ),
        (Thinking("hm"), AssistantMessage(Thinking("hm"), model="test:script")),
        (
            AssistantMessage("x", finish="length"),
            AssistantMessage("x", finish="length"),
        ),
        (ModelError("busy", "overloaded"), ModelError("busy", "overloaded")),
        (louder, AssistantMessage("go!", model="test:script")),
    ],
)
def test_a_reply_is_said(reply: Any, expected: object) -> None:  # a Reply
    assert said(ScriptedModel(reply)) == expected


def test_replies_come_in_order_and_requests_are_kept() -> None:
    model = ScriptedModel("one", "two")

    assert said(model, times=2) == AssistantMessage("two", model="test:script")
    assert model.requests == [ASK, ASK]
    model.assert_complete()


def test_a_reply_is_told_piece_by_piece() -> None:
    told: list[tuple[int, str]] = []

    def tell(
        text: str = "",
        *,
        part: int = 0,
        thinking: str = "",
        name: str = "",
        arguments: str = "",
        **_: object,
    ) -> None:
        told.append((part, text or thinking or name or arguments))

    picture = Image("aGk=", "image/png")
    model = ScriptedModel([Thinking("let me see"), "It is\n17.", ADD, picture])
    alone(Interpreter(model).perform(ASK, tell))

    assert told == [
        (0, "let"),
        (0, " me"),
        (0, " see"),
        (1, "It"),
        (1, " is"),
        (1, "\n17."),
        (2, "add"),
        (2, '{"a":1}'),
    ]


@pytest.mark.parametrize(
    "reply", [Text("one two three"), Thinking("one two three"), [ADD, ADD, ADD]]
)
@pytest.mark.parametrize("after", [1, 2])
def test_a_reply_can_be_stopped_in_the_middle(reply: Any, after: int) -> None:
    async def main() -> int:
        model = ScriptedModel(reply)
        events = stream(LoopConfig(model=model), Interpreter(model), "go")
        pieces = 0
        async for event in events:
            pieces += isinstance(event, Delta)
            if isinstance(event, Delta) and pieces == after:
                events.send(Abort())
        assert events.result.stop == Stop("aborted")
        return pieces

    assert alone(main()) == after


@pytest.mark.parametrize(
    ("reply", "wrong"),
    [
        (3, "3 is none"),
        (None, "None is none"),
        (b"hi", "b'hi' is none"),
        ({"a": 1}, "{'a': 1} is none"),
        (["hi", 3], "3 is none"),
        (UserMessage("hi"), r"UserMessage\(.* is none"),
        ([AssistantMessage("hi")], r"AssistantMessage\(.* is none"),
    ],
)
def test_what_no_model_says_is_refused(reply: Any, wrong: str) -> None:
    with pytest.raises(TypeError, match=wrong):
        ScriptedModel("one", reply)


def test_what_no_model_says_is_refused_of_a_function_too() -> None:
    def wrong(_: CallModel) -> Any:
        return 3

    value = said(ScriptedModel(wrong))

    assert isinstance(value, ModelError)
    assert "3 is none of these" in value.message


def test_a_script_that_is_too_short_says_so_and_is_not_complete() -> None:
    model = ScriptedModel("one")

    value = said(model, times=2)

    assert value == ModelError(
        "The script of 'test:script' has 1 replies, and was asked 2 times. Last shown: "
        "UserMessage([Text('go')])",
        "bad_request",
    )
    with pytest.raises(AssertionError, match="was asked 2 times"):
        model.assert_complete()


def test_a_script_that_is_too_long_is_not_complete() -> None:
    model = ScriptedModel("one", "two")
    said(model)

    with pytest.raises(AssertionError, match=r"was not asked for \['two'\]"):
        model.assert_complete()


def test_a_scripted_model_prints_short() -> None:
    assert repr(ScriptedModel("a", "b", id="test:m")) == (
        "ScriptedModel(id='test:m', 2 replies)"
    )


def test_scripted_tools_give_their_outcomes_one_call_after_the_other() -> None:
    model = ScriptedModel([ADD, ADD], ADD, ADD, "done")
    config = LoopConfig(model=model, tools=[ToolSpec("add"), ToolSpec("unused")])
    outcomes = [1, OSError("gone"), ToolOutput("x", outcome="timeout")]
    tools = ScriptedTools(config, {"add": outcomes})

    result = run_sync(config, Interpreter(model, *tools), "go")

    results = (m for m in result.messages if isinstance(m, ToolResultMessage))
    found = [(m.text, m.outcome) for m in results]
    assert found == [
        ("1", "ok"),
        ("OSError: gone", "raised"),
        ("x", "timeout"),
        ("The script of the tool 'add' has no outcome left for {'a': 1}.", "error"),
    ]


def test_scripted_tools_are_there_for_nested_runs_too() -> None:
    model = ScriptedModel(
        ToolCall("ask", {"prompt": "?"}), ToolCall("add"), "inner", "outer"
    )
    inner = LoopConfig(model=model, tools=[ToolSpec("add")]).as_tool("ask", "Asks.")
    config = LoopConfig(model=model, tools=[inner])

    tools = ScriptedTools(config, {"add": ["3"]})
    result = asyncio.run(run(config, Interpreter(model, *tools), "go"))

    assert result.output == "outer"


def test_outcomes_of_a_tool_that_is_not_offered_are_refused() -> None:
    config = LoopConfig(model="test:script", tools=[ToolSpec("add")])

    with pytest.raises(ValueError, match="does not offer 'sub'; its tools are: add"):
        ScriptedTools(config, {"sub": []})


def test_a_text_is_no_list_of_outcomes() -> None:
    """Its letters would come one by one."""
    config = LoopConfig(model="test:script", tools=[ToolSpec("add")])

    with pytest.raises(TypeError, match=r"are a list, .*; write \{'add': \['abc'\]\}"):
        ScriptedTools(config, {"add": "abc"})


@pytest.mark.parametrize(
    "outcome", [Approve(), Steer("hurry"), ModelError("busy"), AssistantMessage("ok")]
)
def test_an_outcome_that_no_tool_has_is_refused(outcome: object) -> None:
    offers = LoopConfig(model="test:m", tools=[ToolSpec("echo")])

    with pytest.raises(TypeError, match=r"outcome 2 of 'echo' is .*; a tool returns"):
        ScriptedTools(offers, {"echo": ["fine", outcome]})
