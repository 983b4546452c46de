"""Models without a script: one that makes valid calls from schemas, one by function."""

import asyncio
import json
import re
from functools import partial
from typing import Any, Final

import pytest
from attrs import evolve, frozen

from loopcore import (
    AssistantMessage,
    CallModel,
    Interpreter,
    LoopConfig,
    ModelError,
    State,
    Stop,
    ToolCall,
    ToolOutput,
    ToolResultMessage,
    ToolSpec,
    UserMessage,
    advance,
    run_sync,
    tool,
)
from loopcore.frozen import freeze
from loopcore.hooks import ContextUpdate, ContextView, Hooks, Need
from loopcore.testing import AutoModel, FunctionModel, ScriptedModel, ScriptedTools
from tests.driving import typed

TOOLS = [typed(name, "x", x="integer") for name in "abcde"]


def calls_of(config: LoopConfig[Any], model: AutoModel, run_id: str = "r") -> Any:
    """The calls of each reply in a run."""
    tools = ScriptedTools(config, {})
    result = run_sync(config, Interpreter(model, *tools), "go", run_id=run_id)
    assert result.stop == Stop("done")
    replies = [m for m in result.messages if isinstance(m, AssistantMessage)]
    return [reply.calls for reply in replies]


@pytest.mark.parametrize("seed", range(8))
def test_every_tool_is_called_once_and_then_the_run_ends(seed: int) -> None:
    model = AutoModel(seed)
    config = LoopConfig(model=model, tools=TOOLS)

    batches = calls_of(config, model)

    names = [call.name for batch in batches for call in batch]
    assert sorted(names) == list("abcde")
    assert all(1 <= len(batch) <= 3 for batch in batches[:-1])
    assert batches[-1] == ()
    assert len(model.requests) == len(batches)


def test_tools_are_called_as_often_as_asked() -> None:
    model = AutoModel(rounds=3)
    config = LoopConfig(model=model, tools=TOOLS[:2])

    names = [call.name for batch in calls_of(config, model) for call in batch]

    assert sorted(names) == list("aaabbb")


def test_what_it_says_depends_on_the_seed_alone() -> None:
    config = LoopConfig(model="test:auto", tools=TOOLS)

    one, other = (calls_of(config, AutoModel(4), run_id) for run_id in ("r", "s"))

    assert one == other
    assert one != calls_of(config, AutoModel(5))


def test_call_ids_are_never_the_same_in_a_conversation() -> None:
    model = AutoModel(rounds=2)
    config = LoopConfig(model=model, tools=TOOLS)
    interpreter = Interpreter(model, *ScriptedTools(config, {}))
    first = run_sync(config, interpreter, "go")
    second = run_sync(config, interpreter, "and again", state=first.state)

    ids = [
        m.call_id for m in second.state.transcript if isinstance(m, ToolResultMessage)
    ]
    assert len(ids) == len(set(ids)) == 20


def test_its_arguments_need_no_repair() -> None:
    """A real tool gets them as they are, whatever its types."""
    got: list[Any] = []

    @frozen
    class Place:
        city: str
        floors: list[int]

    @tool
    def visit(place: Place, days: float = 1.0, note: str | None = None) -> str:
        """Go there."""
        got.append(place)
        assert isinstance(days, float)
        assert note is None or note
        return "been there"

    for seed in range(20):
        model = AutoModel(seed)
        config = LoopConfig(model=model, tools=[visit])
        result = run_sync(config, Interpreter(model, visit), "go")
        assert "been there" in [m.text for m in result.messages]

    assert len(got) == 20
    assert all(isinstance(place, Place) for place in got)


def test_it_says_a_value_of_the_output_that_is_wanted() -> None:
    @frozen
    class Answer:
        city: str
        degrees: float

    model = AutoModel()
    config = LoopConfig(model=model, output=Answer)

    assert isinstance(run_sync(config, Interpreter(model), "go").output, Answer)


def test_it_calls_no_tool_for_a_hook_that_asks_it() -> None:
    def ask(view: ContextView) -> Any:
        if "key" in view.answers:
            return ContextUpdate(system=view.answers["key"].unwrap().text)
        return Need.model("key", UserMessage("what is it?"))

    model = AutoModel()
    config = LoopConfig(model=model, hooks=[Hooks("asking", transform_context=ask)])

    assert run_sync(config, Interpreter(model), "go").output == "Done."
    assert model.requests[1].system == "Done."


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"properties": {"a": False}, "required": ["a"]}, "'a': nothing fits a part"),
        ({"type": "string"}, "its schema wants something else than an object"),
    ],
)
def test_it_says_which_arguments_it_cannot_make(schema: Any, why: str) -> None:
    model = AutoModel()
    config = LoopConfig(model=model, tools=[ToolSpec("odd", parameters=schema)])

    result = run_sync(config, Interpreter(model, *ScriptedTools(config, {})), "go")

    assert result.stop is not None
    assert result.stop.reason == "model_error"
    assert f"cannot make arguments for the tool 'odd': {why}" in result.stop.detail
    assert "Give this test a script instead: ScriptedModel" in result.stop.detail


def test_it_says_that_it_cannot_make_an_output() -> None:
    effect = CallModel("r.1.1.model.1", "test:auto", (), output=freeze({"not": {}}))

    said = AutoModel().says(effect)

    assert isinstance(said, ModelError)
    assert "cannot make the output that is wanted: the last of 60" in said.message


def test_an_auto_model_prints_as_what_makes_it() -> None:
    assert repr(AutoModel(7)) == "AutoModel(7)"


# By function.


def first_request(config: LoopConfig[Any]) -> CallModel:
    state, _ = advance(config, State.start(config, run_id="r"), "go").unwrap()
    (effect,) = state.waiting
    assert isinstance(effect, CallModel)
    return effect


def test_a_function_says_what_the_model_says() -> None:
    def shout(request: CallModel) -> str:
        return f"{request.messages[-1].text}!"

    model = FunctionModel(shout)

    result = run_sync(LoopConfig(model=model), Interpreter(model), "go")

    assert result.output == "go!"
    assert model.requests[0].model == "test:function"


def test_the_function_may_be_asynchronous() -> None:
    async def shout(request: CallModel) -> list[Any]:
        return ["Well.", ToolCall("add")] if len(request.messages) == 1 else ["done"]

    model = FunctionModel(shout, id="test:mine")
    config = LoopConfig(model=model, tools=[ToolSpec("add")])
    tools = ScriptedTools(config, {"add": [ToolOutput("3")]})

    result = run_sync(config, Interpreter(model, *tools), "go")

    assert [m.text for m in result.messages] == ["go", "Well.", "3", "done"]


def busy(_: CallModel) -> ModelError:
    return ModelError("busy", "overloaded")


def broken(_: CallModel) -> str:
    raise OSError("gone")


def missing(request: CallModel) -> str:
    known: dict[str, str] = {}
    return known[request.model]


def misread(_: CallModel) -> str:
    return str(json.loads("{"))


async def later(request: CallModel) -> str:
    await asyncio.sleep(0)
    return broken(request)


@pytest.mark.parametrize(
    ("function", "error"),
    [
        (busy, ModelError("busy", "overloaded")),
        (
            broken,
            ModelError("OSError: gone at test_doubles_auto.py:{}", "raised"),
        ),
        (
            later,
            ModelError("OSError: gone at test_doubles_auto.py:{}", "raised"),
        ),
        (
            partial(misread),
            ModelError(
                "JSONDecodeError: Expecting property name enclosed in double quotes: line 1 "
                "column 2 (char 1) at test_doubles_auto.py:{}",
                "raised",
            ),
        ),
        (
            missing,
            ModelError(
                "KeyError: 'test:function' at test_doubles_auto.py:{}",
                "raised",
            ),
        ),
        (
            misread,
            ModelError(
                "JSONDecodeError: Expecting property name enclosed in double quotes: line 1 "
                "column 2 (char 1) at test_doubles_auto.py:{}",
                "raised",
            ),
        ),
    ],
)
def test_what_a_function_raises_or_gives_as_an_error_is_one(
    function: Any, error: ModelError
) -> None:
    model = FunctionModel(function)
    interpreter = Interpreter(model)

    answer = interpreter.perform_sync(first_request(LoopConfig(model=model)))

    assert answer is not None
    failure: Any = answer.value
    assert error == evolve(failure, message=LINE.sub(":{}", failure.message))


def test_what_a_function_in_a_script_raises_is_told_with_its_line() -> None:
    model = ScriptedModel("hi", broken)
    interpreter = Interpreter(model)

    answers = [
        interpreter.perform_sync(first_request(LoopConfig(model=model))) for _ in "ab"
    ]

    assert answers[1] is not None
    assert "gone at test_doubles_auto.py:" in str(answers[1].value)


LINE: Final = re.compile(r"(?<=\.py):\d+")


def test_what_is_no_function_is_refused() -> None:
    text: Any = "hello"

    with pytest.raises(TypeError, match=r"takes a function of the request.*'hello'"):
        FunctionModel(text)


def test_a_function_model_prints_short() -> None:
    assert repr(FunctionModel(lambda _: "hi")) == "FunctionModel(id='test:function')"
