"""Expect this effect, give this answer: scripts of effects, and what they say of a mismatch."""

from typing import Any, Final

import pytest
from returns.result import Failure, Success

from loopcore import (
    Abort,
    Answer,
    Approve,
    AssistantMessage,
    CallModel,
    Consult,
    Continue,
    Edit,
    Interpreter,
    LoopConfig,
    ModelError,
    Prompt,
    Reject,
    Rejected,
    RequestApproval,
    Respond,
    RunTool,
    Sleep,
    Steer,
    Stop,
    ToolCall,
    ToolOutput,
    ToolSpec,
    run_sync,
)
from loopcore.effects import output_of
from loopcore.hooks import ContextUpdate, ContextView, Hooks, Need
from loopcore.policies import retry
from loopcore.testing import EffectScript
from tests.driving import begin, config, spec, typed

PARIS = ToolCall("weather", {"city": "Paris"}, "c1")
PAY = ToolCall("pay", {"cents": 5}, "c2")
WEATHER = typed("weather", "city", city="string")
ASKS = config(tools=[WEATHER, spec("pay", needs_approval=True)])


def texts(script: EffectScript, used: LoopConfig[Any] = ASKS) -> list[str]:
    """The texts of a run along the script."""
    return [message.text for message in script.run(used, "go").messages]


def test_a_run_goes_along_the_script_to_its_end() -> None:
    script = EffectScript(
        [
            (CallModel, ["Let me see.", PARIS]),
            (ToolCall("weather", {"city": "Paris"}), "sunny"),
            ("test:model", "Take no umbrella."),
        ]
    )

    result = script.run(ASKS, "Umbrella?")

    assert result.output == "Take no umbrella."
    assert texts(script) == ["go", "Let me see.", "sunny", "Take no umbrella."]
    script.assert_complete()


def test_a_script_is_the_order_in_which_answers_arrive() -> None:
    calls = [ToolCall("a", id="a"), ToolCall("b", id="b")]
    script = EffectScript(
        [(CallModel, calls), ("b", "second"), ("a", "first"), (CallModel, "done")]
    )

    assert texts(script, config()) == ["go", "", "first", "second", "done"]
    assert "2  b          RunTool b() [r.1.1.run.1]" in script.log


def place(effect: RunTool) -> Any:
    return effect.arguments["city"]


def refusal(effect: RunTool) -> Any:
    return effect.fail("no")


def system(effect: CallModel) -> str:
    return effect.system


def nothing(_: Any) -> bool:
    return False


WHOLE = begin(ASKS).says(PARIS).one(RunTool)


def city(effect: Any) -> bool:
    return isinstance(effect, RunTool) and effect.arguments["city"] == "Paris"


@pytest.mark.parametrize(
    "expected", [RunTool, "weather", "r.1.1.run.0", PARIS, WHOLE, city]
)
def test_an_effect_is_expected_in_many_ways(expected: Any) -> None:
    script = EffectScript([(CallModel, PARIS), (expected, "sunny"), (CallModel, "ok")])

    assert texts(script) == ["go", "", "sunny", "ok"]


@pytest.mark.parametrize(
    ("said", "stored"),
    [
        (ToolOutput("cold", outcome="timeout"), "cold"),
        ({"c": 3}, '{"c":3}'),
        (None, ""),
        (OSError("gone"), "OSError: gone"),
        (place, "Paris"),
        (refusal, "no"),
    ],
)
def test_a_tool_is_answered_as_it_would_answer(said: Any, stored: str) -> None:
    script = EffectScript([(CallModel, PARIS), (RunTool, said), (CallModel, "ok")])

    assert texts(script)[2] == stored


@pytest.mark.parametrize(
    ("said", "stored"),
    [
        (Approve(), "paid"),
        (Edit({"cents": 4}), "paid"),
        (Reject("too much"), "too much"),
        (Respond(output_of("by hand")), "by hand"),
        (RequestApproval.approve, "paid"),
    ],
)
def test_a_person_is_answered_for(said: Any, stored: str) -> None:
    runs = [] if stored != "paid" else [(RunTool, "paid")]
    script = EffectScript(
        [(CallModel, PAY), (RequestApproval, said), *runs, (CallModel, "ok")]
    )

    assert stored in texts(script)[2]


def test_failures_pauses_and_services_are_in_a_script_too() -> None:
    def consult(view: ContextView) -> Any:
        found = view.answers.get("k")
        return ContextUpdate(system=str(found)) if found else Need.service("k", "law")

    hooks = [retry(3, delay=4), Hooks("legal", transform_context=consult)]
    script = EffectScript(
        [
            ("law", {"allowed": True}),
            (CallModel, ModelError("busy", "overloaded")),
            (Sleep, None),
            (Consult, OSError("away")),
            (CallModel, system),
        ]
    )

    output = script.run(config(*hooks), "go").output

    assert output == "<Failure: OSError: away>"
    assert "3  Sleep      Sleep " in script.log
    assert "1  law        Consult law None [r." in script.log


def test_inputs_happen_between_the_effects() -> None:
    script = EffectScript(
        [(CallModel, PARIS), Steer("hurry"), (RunTool, "sunny"), (CallModel, "ok")]
    )

    assert texts(script) == ["go", "", "sunny", "hurry", "ok"]
    assert "2  (Steer 'hurry')  happened" in script.log


def test_an_abort_ends_a_run_along_a_script() -> None:
    result = EffectScript([(CallModel, PARIS), Abort("enough")]).run(ASKS, "go")

    assert result.stop == Stop("aborted", "enough")


def test_a_run_goes_on_from_a_state_under_its_name() -> None:
    paused = EffectScript([(CallModel, PAY), (RequestApproval, ...)]).run(
        ASKS, "go", run_id="paused"
    )
    assert [e.id for e in paused.waiting] == ["paused.1.1.ask.1"[:-1] + "0"]

    script = EffectScript([("pay", Reject("no")), (CallModel, "ok")])

    assert script.run(ASKS, state=paused.state).output == "ok"


def test_what_a_run_cannot_take_is_rejected() -> None:
    with pytest.raises(Rejected, match="nothing to answer"):
        EffectScript([]).run(ASKS, Continue())


MISMATCH = """\
The script expects an effect that does not wait:
    1  CallModel             CallModel test:model, shown 1, the last UserMessage([Text('go')]) \
[r.1.1.model.1]
    2  weather(city='Rome')
       what waits:
         RunTool weather(city='Paris') [r.1.1.run.0]
           arguments['city']: expected 'Rome', came 'Paris'
         RequestApproval pay(cents=5) [r.1.1.ask.1]
           calls 'pay'
    3  test:model            (not reached)"""


def test_a_mismatch_is_told_with_the_log() -> None:
    rome = ToolCall("weather", {"city": "Rome"})
    script = EffectScript([(CallModel, [PARIS, PAY]), (rome, ""), ("test:model", "ok")])

    with pytest.raises(AssertionError) as told:
        script.run(ASKS, "go")

    assert str(told.value) == MISMATCH


@pytest.mark.parametrize(
    ("expected", "why"),
    [
        (Sleep, "Sleep\n       what waits:\n         RunTool .*\n +is not Sleep"),
        ("pay", "is not pay"),
        (ToolCall("weather"), r"arguments\['city'\]: only came: 'Paris'"),
        (
            RunTool("r.1.1.run.0", PARIS, WHOLE.spec, ToolCall("", {"x": 1}).arguments),
            r"arguments\['x'\]: only expected: 1",
        ),
        (nothing, "is not nothing"),
    ],
)
def test_it_says_why_what_waits_is_another(expected: Any, why: str) -> None:
    script = EffectScript([(CallModel, PARIS), (expected, "sunny")])

    with pytest.raises(AssertionError, match=why):
        script.run(ASKS, "go")


def test_a_call_is_no_request() -> None:
    with pytest.raises(AssertionError, match="is no call"):
        EffectScript([(PARIS, "sunny")]).run(ASKS, "go")


def test_a_script_may_expect_more_than_ever_waits() -> None:
    script = EffectScript([(CallModel, "ok"), (CallModel, "never")])

    with pytest.raises(AssertionError, match="2  CallModel\n       nothing waits"):
        script.run(ASKS, "go")


def test_a_script_may_not_end_before_the_run() -> None:
    script = EffectScript([(CallModel, PARIS)])

    with pytest.raises(AssertionError, match=r"More effects are wanted(.|\n)*RunTool"):
        script.run(ASKS, "go")


@pytest.mark.parametrize(
    ("entry", "wrong"),
    [
        (CallModel, "entry 2 is <class"),
        (("weather",), "takes pairs"),
        ("weather", "entry 2 is 'weather'"),
    ],
)
def test_what_is_no_entry_is_refused(entry: Any, wrong: str) -> None:
    with pytest.raises(TypeError, match=wrong):
        EffectScript([(CallModel, "ok"), entry])


def test_what_is_no_decision_is_refused() -> None:
    script = EffectScript([(CallModel, PAY), (RequestApproval, "yes")])

    with pytest.raises(TypeError, match=r"asks a person, who says .* not a str: 'yes'"):
        script.run(ASKS, "go")


ASKING: Final = LoopConfig(
    model="test:model",
    tools=[WEATHER, spec("pay", needs_approval=True)],
    hooks=[
        Hooks(
            "asks",
            before_tool_call=lambda view: (
                None if "k" in view.answers else Need.service("k", "policy")
            ),
        ),
        retry(2),
    ],
)
BEFORE: Final[dict[type, list[Any]]] = {
    CallModel: [],
    Consult: [(CallModel, PARIS)],
    RunTool: [(CallModel, PARIS), (Consult, {})],
    RequestApproval: [(CallModel, PAY), (Consult, {})],
    Sleep: [(CallModel, ModelError("busy", "overloaded"))],
}
BELONGS: Final[dict[str, tuple[Any, set[type]]]] = {
    "a decision": (Approve(), {RequestApproval}),
    "another decision": (Reject("no"), {RequestApproval}),
    "an input": (Steer("hurry"), set()),
    "a model's failure": (ModelError("busy"), {CallModel}),
    "a reply": (AssistantMessage("ok"), {CallModel}),
    "an effect": (Sleep("r.1", 3.0), set()),
    "nothing": (None, {RunTool, Consult, Sleep}),
    "a text": ("ok", {CallModel, RunTool, Consult}),
    "a number": (3, {RunTool, Consult}),
    "an exception": (OSError("gone"), {RunTool, Consult}),
    "what is no JSON": (object(), {RunTool}),  # an error, as when a tool returns it
    "somebody else's answer": (Answer("r.9", None), set()),
}
MISPLACED: Final = [
    pytest.param(kind, said, id=f"{name} for {kind.__name__}")
    for name, (said, kinds) in BELONGS.items()
    for kind in BEFORE
    if kind not in kinds
]


@pytest.mark.parametrize(("kind", "said"), MISPLACED)
def test_an_answer_of_another_kind_is_refused(kind: type, said: Any) -> None:
    """What a person says, say, does not become the result of a tool."""
    script = EffectScript([*BEFORE[kind], (kind, said)])

    with pytest.raises(TypeError) as caught:
        script.run(ASKING, "go")
    assert str(caught.value).startswith("r.1.")


@pytest.mark.parametrize(("kind", "said"), MISPLACED)
def test_an_answer_of_another_kind_is_told_at_the_end(kind: type, said: Any) -> None:
    """Under an interpreter too, where what is raised would be the tool's own failure."""
    script = EffectScript([*BEFORE[kind], (kind, said)])

    run_sync(ASKING, script.interpreter(ASKING), "go")
    with pytest.raises(AssertionError, match=r"^\w+\.1\.1\."):
        script.assert_complete()


@pytest.mark.parametrize(
    ("said", "stored"),
    [
        (Success("sunny"), "sunny"),
        (Success(3), "3"),
        (Failure("no such city"), "no such city"),
        (Failure(OSError("gone")), "OSError: gone"),
    ],
)
def test_a_tool_may_answer_with_success_and_failure(said: Any, stored: str) -> None:
    """As a tool may return them."""
    script = EffectScript([(CallModel, PARIS), (RunTool, said), (CallModel, "ok")])

    assert texts(script)[2] == stored


@pytest.mark.parametrize(
    "expected", [3, None, Approve, Approve(), str, object, ["pay"], Steer("hurry")]
)
def test_what_no_effect_can_be_is_not_expected(expected: Any) -> None:
    with pytest.raises(TypeError, match=r"entry 2 expects .*, and no effect is that"):
        EffectScript([(CallModel, "ok"), (expected, "ok")])


# As an interpreter.


def test_code_that_takes_an_interpreter_can_be_given_the_script() -> None:
    script = EffectScript(
        [(CallModel, [PARIS, PAY]), (PARIS, "sunny"), (PAY, ...), (CallModel, "ok")]
    )

    def anybody(interpreter: Interpreter) -> Any:
        return run_sync(ASKS, interpreter, "go")

    paused = anybody(script.interpreter(ASKS))

    assert [asked.spec.name for asked in paused.approvals] == ["pay"]
    with pytest.raises(AssertionError, match=r"4  CallModel$"):
        script.assert_complete()


def test_an_interpreter_that_followed_its_script_is_complete() -> None:
    inner = LoopConfig(model="test:inner").as_tool("ask", "Asks.")
    nested = LoopConfig(model="test:outer", tools=[inner])
    script = EffectScript(
        [
            ("test:outer", ToolCall("ask", {"prompt": "?"})),
            ("test:inner", "!"),
            ("test:outer", AssistantMessage("ok")),
        ]
    )

    assert run_sync(nested, script.interpreter(nested), "go").output == "ok"
    script.assert_complete()


def test_a_mismatch_under_an_interpreter_is_told_at_the_end() -> None:
    script = EffectScript([(CallModel, PARIS), ("pay", "sunny"), (CallModel, "ok")])

    run_sync(ASKS, script.interpreter(ASKS), "go")

    with pytest.raises(
        AssertionError, match=r"weather\(city='Paris'\).*\n +is not pay"
    ):
        script.assert_complete()


def test_more_effects_than_expected_are_told_at_the_end() -> None:
    script = EffectScript([(CallModel, PARIS)])

    run_sync(ASKS, script.interpreter(ASKS), "go")

    with pytest.raises(AssertionError, match=r"More effects are wanted(.|\n)*RunTool"):
        script.assert_complete()


def test_an_interpreter_gives_a_run_no_inputs() -> None:
    script = EffectScript([(CallModel, "hi"), Prompt("and now?")])

    with pytest.raises(ValueError, match="an interpreter only performs effects"):
        script.interpreter(ASKS)


def test_a_script_prints_short() -> None:
    assert repr(EffectScript([(CallModel, "hi")])) == "<script of 1 effects, 0 taken>"


def test_a_tool_without_arguments_is_expected_by_its_call() -> None:
    used = config(tools=[ToolSpec("a")])

    assert texts(
        EffectScript(
            [(CallModel, ToolCall("a")), (ToolCall("a"), 1), (CallModel, "ok")]
        ),
        used,
    ) == ["go", "", "1", "ok"]
