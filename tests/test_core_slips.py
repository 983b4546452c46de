"""Common slips are told in a sentence, and nothing goes unguarded by accident."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from returns.result import Success

from loopcore import (
    Answer,
    AssistantMessage,
    CallModel,
    Continue,
    FollowUp,
    Image,
    LoopConfig,
    ModelError,
    NotDone,
    Prompt,
    Rejected,
    RunResult,
    RunTool,
    State,
    Steer,
    Text,
    ToolCall,
    ToolOutput,
    ToolSpec,
    Usage,
    UserMessage,
    Withdraw,
    tool,
)
from loopcore.hooks import (
    Allow,
    Block,
    Hooks,
    Need,
    ToolCallUpdate,
    ToolCallView,
    apply,
)
from loopcore.policies import ask_before, limits, retry
from tests.driving import MODEL, Run, begin, call, config


@tool
def slow(x: int) -> int:
    """Takes its time."""
    return x


@tool
def low(x: int) -> int:
    """Another one."""
    return x


def block(_: object) -> Block:
    return Block("no")


@pytest.mark.parametrize(
    "hook",
    [
        ask_before(slow),
        ask_before("slow"),
        Hooks("h", tools=[slow], before_tool_call=block),
        Hooks("h", before_tool_call=block).for_tools(slow),
    ],
)
def test_a_tool_is_named_by_itself_or_by_its_name(hook: Hooks) -> None:
    run = begin(config(hook, tools=[slow, low])).says(
        call("slow", x=1), call("low", x=1)
    )

    assert ["low"] == run.started


SOME: Any = {
    "names": ["slow"],
    "tool": slow,
    "hook": limits(),
    "function": block,
    "number": 3,
    "text": "x",
}
"""Things of a kind that is not wanted, as no type checker sees them."""


@pytest.mark.parametrize(
    ("slip", "sentence"),
    [
        (lambda: ask_before(SOME["names"]), "is no tool"),
        (lambda: apply(SOME["hook"], seen()), r"write `apply\(\[rule\], view\)`"),
        (lambda: Hooks("h", tools="slow"), r"write tools=\['slow'\]"),
        (lambda: Hooks(SOME["function"]), r"Hooks\(before_tool_call=block\)"),
        (lambda: LoopConfig(model=MODEL, tools=SOME["tool"]), r"Write tools=\[...\]"),
        (lambda: LoopConfig(model=MODEL, hooks=SOME["hook"]), r"Write hooks=\[...\]"),
        (
            lambda: LoopConfig(model=MODEL, system=SOME["number"]),
            r"LoopConfig\(system=...\) takes str",
        ),
        (
            lambda: LoopConfig(model=MODEL, parallel=SOME["text"]),
            "takes bool; it got a str",
        ),
        (
            lambda: LoopConfig(model=MODEL, repairs=SOME["text"]),
            "takes int; it got a str",
        ),
        (
            lambda: Prompt("p", system=SOME["number"]),
            r"Prompt\(system=...\) takes str; it got an int",
        ),
        (lambda: Steer("x", key=SOME["number"]), r"Steer\(key=...\) takes str or None"),
        (lambda: FollowUp("x", key=SOME["number"]), r"FollowUp\(key=...\)"),
        (lambda: Withdraw(SOME["number"]), r"Withdraw\(key=...\)"),
        (
            lambda: AssistantMessage("x", model=SOME["number"]),
            r"AssistantMessage\(model=...\)",
        ),
        (lambda: Usage(SOME["text"]), r"Usage\(input=...\) takes int; it got a str"),
        (lambda: Text(SOME["number"]), "text is wanted here; it got an int"),
        (lambda: Block(SOME["number"]), "text is wanted here"),
        (lambda: Image(SOME["number"], "image/png"), r"Image\(data=...\) takes str"),
        (lambda: ToolSpec(SOME["number"]), r"ToolSpec\(name=...\)"),
        (lambda: ToolSpec("a", timeout=SOME["text"]), "takes int or float or None"),
        (
            lambda: ModelError("x", retry_after=SOME["text"]),
            r"ModelError\(retry_after=...\)",
        ),
    ],
)
def test_a_thing_of_the_wrong_kind_is_refused(
    slip: Callable[[], Any], sentence: str
) -> None:
    with pytest.raises(TypeError, match=sentence):
        slip()


NAMELESS = Hooks(before_tool_call=lambda _: None)
TAKEN: list[tuple[type, str]] = [
    (UserMessage, "content takes text or parts"),
    (AssistantMessage, "content takes text or parts"),
    (ToolOutput, "content takes text or parts"),
    (Prompt, "one says text or messages"),
    (Steer, "one says text or messages"),
    (FollowUp, "one says text or messages"),
]


@pytest.mark.parametrize(("kind", "takes"), TAKEN)
@pytest.mark.parametrize(
    ("content", "got"),
    [
        (3, "it got an int"),
        (None, "it got a NoneType"),
        (ValueError("x"), "it got a ValueError"),
        (b"x", "it got a bytes"),
        ({"type": "text", "text": "x"}, "it got a dict"),
        ([{"type": "text", "text": "x"}], "item 0 is a dict"),
        ((Usage(),), "item 0 is a Usage"),
    ],
)
def test_what_is_no_content_is_told_by_its_kind(
    kind: type, takes: str, content: object, got: str
) -> None:
    with pytest.raises(TypeError) as refused:
        kind(content)

    assert str(refused.value).startswith(takes)
    assert str(refused.value).endswith(f"; {got}")


REQUEST: CallModel = begin(config(tools=[slow])).one_request
CALL: RunTool = begin(config(tools=[slow])).says(call("slow", x=1)).one(RunTool)
STRANGE: list[Any] = [3, None, {"role": "assistant"}, ValueError("x"), UserMessage("x")]
PART: list[Any] = [call("slow", x=1), [call("slow", x=1)], Text("x"), [Text("x")]]


@pytest.mark.parametrize("given", [*STRANGE, *PART], ids=repr)
def test_a_reply_that_is_none_says_what_a_reply_is(given: Any) -> None:
    with pytest.raises(TypeError, match=r"it got an? .*AssistantMessage") as refused:
        REQUEST.reply(given)

    assert type(given).__name__ in str(refused.value)


@pytest.mark.parametrize("fail", [REQUEST.fail, CALL.fail], ids=["model", "tool"])
@pytest.mark.parametrize("given", STRANGE, ids=repr)
def test_a_failure_that_is_no_text_says_what_to_write(
    fail: Callable[[Any], Answer], given: Any
) -> None:
    with pytest.raises(
        TypeError, match=r"Write `effect\.fail\(str\(error\)\)`"
    ) as refused:
        fail(given)

    assert f"{type(given).__name__}. " in str(refused.value)


@pytest.mark.parametrize(
    ("slip", "sentence"),
    [
        (
            lambda: Prompt("p", thinking=SOME["text"]),
            r"Prompt\(thinking=...\) takes one of",
        ),
        (
            lambda: Continue(thinking=SOME["text"]),
            r"Continue\(thinking=...\) takes one of",
        ),
        (lambda: LoopConfig(model=MODEL, repairs=-1), "take 0 or more"),
        (
            lambda: LoopConfig(model=MODEL, optional=True),
            "says nothing without output=",
        ),
        (lambda: ToolSpec(""), "is empty"),
        (
            lambda: LoopConfig(model=MODEL).as_tool("ask Ada", "Asks."),
            r"as_tool\('ask Ada'\): model services take names of up to 64 letters",
        ),
        (
            lambda: LoopConfig(model=MODEL).as_tool("a" * 65, "Asks."),
            "up to 64 letters",
        ),
        (
            lambda: LoopConfig(model=MODEL, hooks=[Hooks(before_tool_call=block)] * 2),
            r"Rename one: `Hooks\(\.\.\.\)\.named\(\"block_too\"\)`",
        ),
        (
            lambda: LoopConfig(model=MODEL, hooks=[NAMELESS, NAMELESS]),
            r"Two hooks are named '<lambda>'.*\.named\(\"a name of its own\"\)",
        ),
    ],
)
def test_a_value_that_says_nothing_is_refused(
    slip: Callable[[], Any], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        slip()


@asynccontextmanager
async def server() -> AsyncGenerator[list[Any]]:
    """Tools that there are once it is entered, as of `mcp(...)`."""
    yield [slow]


@pytest.mark.parametrize(
    "given", [server(), [server()], [slow, server()]], ids=["it", "in", "among"]
)
def test_tools_that_were_not_opened_say_how(given: Any) -> None:
    with pytest.raises(
        TypeError, match=r"yet to be opened: `async with \.\.\. as tools:`"
    ):
        LoopConfig(model=MODEL, tools=given)


def test_one_fallback_may_stand_alone() -> None:
    run = begin(config(retry(1, fallback="test:b"))).fails().woke()

    assert "test:b" == run.one_request.model


def seen(**more: Any) -> ToolCallView:
    """What a gate sees of one call."""
    state = State.start(LoopConfig(model=MODEL), run_id="r")
    made = call("a")
    fields: dict[str, Any] = {
        "call": made,
        "spec": ToolSpec("a"),
        "arguments": {"x": 1},
    } | more
    return ToolCallView(state=state, message=AssistantMessage([made]), **fields)


def test_a_test_of_hooks_gives_answers_through_the_view() -> None:
    def ask(view: ToolCallView) -> Block | Need | None:
        match view.answers.get("verdict"):
            case Success({"allow": True}):
                return None
            case None:
                return Need.service("verdict", "policy")
            case _:
                return Block("no")

    view = seen(answers={"verdict": Success({"allow": True})})

    assert None is apply([Hooks(before_tool_call=ask)], view).view.decision


def test_a_test_of_hooks_gives_a_memory_through_the_view() -> None:
    def count(view: ToolCallView) -> ToolCallUpdate:
        return ToolCallUpdate(memo=view.memo + 1)

    hook = Hooks(memo=0, before_tool_call=count)

    assert 5 == apply([hook], seen(memo=4)).update.memo


def test_a_paused_run_names_the_service_it_waits_for() -> None:
    hook = Hooks("h", transform_context=lambda _: Need.service("k", "policy"))

    assert "services={'policy': ...}" in repr(begin(config(hook)).state)


@pytest.mark.parametrize(
    ("finish", "said"),
    [
        ("end", "done"),
        ("length", "done: the reply was cut off at the length limit"),
        ("refusal", "done: the model refused"),
    ],
)
def test_a_run_that_ends_with_a_cut_reply_says_so(finish: Any, said: str) -> None:
    assert said == str(begin(config()).says("so far", finish=finish).stop)


class Denied(Block):
    """A kind of block of one's own."""


def test_a_verdict_of_ones_own_kind_is_joined_like_its_kind() -> None:
    hooks = [
        Hooks("a", before_tool_call=lambda _: Allow()),
        Hooks("b", before_tool_call=lambda _: Denied("no")),
    ]
    run = begin(config(*hooks)).says(call("a"))

    assert {"a": "blocked"} == run.outcomes


class Unreadable:
    """Reading any attribute of it fails."""

    def __getattr__(self, name: str) -> object:
        raise KeyError(name)

    def __call__(self, view: object) -> object:
        raise ValueError(view)


class Mute(Exception):
    """It cannot even be printed."""

    def __str__(self) -> str:
        raise Mute


class Odd(list[object]):
    """A list that fails when it is looked at."""

    def __iter__(self) -> Any:
        raise Mute


class MyNeed(Need):
    """A need whose effect fails."""

    def effect(self, effect_id: str, model: str) -> Any:
        raise KeyError(effect_id, model)


FAILING: list[Callable[[object], object]] = [
    Unreadable(),
    lambda _: Odd([1]),
    lambda _: MyNeed("k"),
    lambda _: Need("k", messages=SOME["number"]),
    lambda _: Need("k", data=object()),
    lambda _: Need("k", service_name=SOME["number"]),
]


@pytest.mark.parametrize("function", FAILING, ids=range(len(FAILING)))
def test_however_a_hook_fails_its_failure_is_the_stop(function: Any) -> None:
    """D39."""
    assert "hook_error" == begin(config(Hooks("h", transform_context=function))).reason


def test_a_printed_state_is_one_line_whatever_a_model_says() -> None:
    hook = Hooks("h", should_stop_after_turn=lambda _: "a\n\x1b[31mb")

    assert r"a\n\x1b[31mb" in repr(begin(config(hook)).says("x").state)


STEERING = "a\n\x1b[31mb"


def test_a_configuration_and_a_rule_are_printed_in_one_line() -> None:
    """The tools of a server, and so their names, are somebody else's."""
    hook = Hooks(STEERING, tools=[STEERING], before_tool_call=lambda _: None)
    made = LoopConfig(model=STEERING, tools=[ToolSpec(STEERING)], hooks=[hook])

    assert (True, True) == (repr(made).isprintable(), repr(hook).isprintable())


def test_what_a_person_is_asked_to_approve_is_one_line_whatever_a_model_says() -> None:
    """The names of arguments are the model's."""
    run = begin(config(tools=[ToolSpec("pay", needs_approval=True)]))
    run = run.says(ToolCall("pay", {STEERING: STEERING}))
    result = RunResult.of(run.config, run.state)

    with pytest.raises(NotDone) as why:
        result.unwrap()

    assert (True, True) == (str(why.value).isprintable(), str(busy(run)).isprintable())
    assert r"pay(a\n\x1b[31mb='a\n\x1b[31mb')" in str(why.value)


def busy(run: Run) -> Rejected:
    """Why a run that is paused takes no prompt."""
    return run.refuses(Prompt("more"))
