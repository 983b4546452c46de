"""The interpreter: performs an effect, gives its answer, never raises."""

import asyncio
import contextvars
import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from returns.result import Failure, Success

from loopcore import (
    Answer,
    Approve,
    AssistantMessage,
    CallModel,
    Consult,
    Effect,
    LoopConfig,
    ModelError,
    RequestApproval,
    RunTool,
    Sleep,
    Tell,
    ToolCall,
    ToolOutput,
    ToolSpec,
)
from loopcore.frozen import FrozenDict, freeze_object, vector
from loopcore.runtime.context import ToolContext
from loopcore.runtime.interpreter import Interpreter, Perform
from loopcore.runtime.model import Model
from loopcore.runtime.tool import Tool, tool
from loopcore.tools import spec_of
from tests.leaks import alone

ASK = CallModel("r1.1.1.model.1", "test:model", vector())


async def say_hi(effect: CallModel, tell: Tell) -> AssistantMessage:
    tell("hi")
    return AssistantMessage("hi", model=effect.model)


MODEL = Model("test:model", say_hi)


def run_of(made: Tool | ToolSpec, **arguments: object) -> RunTool:
    """The effect that runs this tool."""
    spec = spec_of(made)
    return RunTool(
        "r1.1.1.run.0", ToolCall(spec.name, arguments), spec, freeze_object(arguments)
    )


def approval() -> RequestApproval:
    return RequestApproval(
        "r1.1.1.ask.0", ToolCall("pay"), ToolSpec("pay"), FrozenDict()
    )


def value_of(interpreter: Interpreter, effect: Effect) -> Any:  # a value
    """What an effect was answered with; no task or thread is left."""
    answer = alone(interpreter.perform(effect))
    assert answer is not None
    assert answer.effect_id == effect.id
    return answer.value


def output_of(made: Tool, **arguments: object) -> ToolOutput:
    """How a tool call ended."""
    value = value_of(Interpreter(made), run_of(made, **arguments))
    assert isinstance(value, ToolOutput)
    return value


def test_a_model_is_called_and_told_pieces() -> None:
    told: list[str] = []

    def tell(text: str = "", **_: object) -> None:
        told.append(text)

    answer = alone(Interpreter(MODEL).perform(ASK, tell))

    assert answer is not None
    assert answer.value == AssistantMessage("hi", model="test:model")
    assert told == ["hi"]


def test_an_answer_says_how_many_seconds_it_took() -> None:
    answer = alone(Interpreter(MODEL).perform(ASK))

    assert answer is not None
    assert answer.seconds is not None
    assert 0 <= answer.seconds < 60


def test_seconds_that_somebody_else_measured_are_kept() -> None:
    async def around(effect: Effect, tell: Tell, inner: Perform) -> Answer | None:
        del tell, inner
        return Answer(effect.id, None, 12.5)

    answer = alone(Interpreter().wrap(around).perform(Sleep("s", 1)))

    assert answer == Answer("s", None, 12.5)


def failing(problem: object) -> Model:
    """A model that raises this, or returns it."""

    async def call(effect: CallModel, tell: Tell) -> Any:  # noqa: ARG001  # wrong
        if isinstance(problem, BaseException):
            raise problem
        return problem

    return Model("test:model", call)


@pytest.mark.parametrize(
    ("problem", "expected"),
    [
        (ModelError("busy", "overloaded"), ModelError("busy", "overloaded")),
        (KeyError("x"), ModelError("KeyError: 'x'", "raised")),
        (ValueError(), ModelError("ValueError", "raised")),
        (TimeoutError("slow"), ModelError("TimeoutError: slow", "timeout")),
        (asyncio.CancelledError(), ModelError("CancelledError", "raised")),
        (
            "text",
            ModelError(
                "test:model gave a str; a model gives an AssistantMessage or a ModelError",
                "bad_response",
            ),
        ),
    ],
)
def test_whatever_a_model_does_is_a_reply_or_an_error(
    problem: object, expected: ModelError
) -> None:
    assert value_of(Interpreter(failing(problem)), ASK) == expected


def test_a_call_that_is_not_async_says_what_it_has_to_be() -> None:
    def plain(effect: CallModel, tell: Tell) -> Any:  # noqa: ARG001  # as a model's call
        return AssistantMessage("hi")

    assert value_of(Interpreter(Model("test:model", plain)), ASK) == ModelError(
        "The call of test:model gave an AssistantMessage, which cannot be awaited: make "
        "it an `async def`.",
        "bad_response",
    )


def test_a_model_that_is_not_here_names_the_hook_that_chose_it() -> None:
    """D74."""
    effect = CallModel(
        "r1.1.2.model.1", "test:mdel", vector(), by=FrozenDict(model="then_review")
    )

    assert value_of(Interpreter(MODEL), effect) == ModelError(
        "Hook 'then_review' chose the model 'test:mdel' in turn 2, but this Interpreter "
        "cannot call it. Did you mean 'test:model'? It can run: (no tools). It can call: "
        "'test:model'.",
        "no_such_model",
    )


def test_a_model_that_is_not_here_and_nobody_chose() -> None:
    value = value_of(Interpreter(), ASK)

    assert value == ModelError(
        "The run asks for the model 'test:model' in turn 1, but this Interpreter cannot "
        "call it. It can run: (no tools). It can call: (no models).",
        "no_such_model",
    )


@tool
def greet(name: str) -> str:
    """Greet."""
    return f"hello {name}"


@tool
async def greet_later(name: str) -> str:
    """Greet."""
    await asyncio.sleep(0)
    return f"hello {name}"


@pytest.mark.parametrize("made", [greet, greet_later])
def test_a_tool_runs_with_its_arguments(made: Tool) -> None:
    assert output_of(made, name="Ada") == ToolOutput("hello Ada")


def returning(value: object) -> Tool:
    """A tool that returns this, or raises it."""

    def work() -> object:
        """Work."""
        if isinstance(value, BaseException):
            raise value
        return value

    return tool(work)


def returning_later(value: object) -> Tool:
    """The same, asynchronous."""

    async def work() -> object:
        """Work."""
        if isinstance(value, BaseException):
            raise value
        return value

    return tool(work)


@pytest.mark.parametrize("kind", [returning, returning_later])
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, ToolOutput("")),
        ({"a": [1]}, ToolOutput('{"a":[1]}')),
        (ToolOutput("x", terminate=True), ToolOutput("x", terminate=True)),
        (Success("fine"), ToolOutput("fine")),
        (Failure("no luck"), ToolOutput("no luck", outcome="error")),
        (Failure(OSError("gone")), ToolOutput("OSError: gone", outcome="error")),
        (KeyError("x"), ToolOutput("KeyError: 'x'", outcome="raised")),
        (TimeoutError("slow"), ToolOutput("TimeoutError: slow", outcome="timeout")),
        (asyncio.CancelledError(), ToolOutput("CancelledError", outcome="cancelled")),
    ],
)
def test_whatever_a_tool_does_is_an_output(
    kind: Callable[[object], Tool], value: object, expected: ToolOutput
) -> None:
    """D26: a tool whose own outcome is cancelled; report 88."""
    assert output_of(kind(value)) == expected


@pytest.mark.parametrize("value", [b"\x00\xff", {1, 2}, float("nan"), object()])
def test_what_is_not_json_is_an_error_that_says_so(value: object) -> None:
    """D77; report 97."""
    output = output_of(returning(value))

    assert output.outcome == "error"
    assert output.text.startswith("The tool's output is not JSON")


def test_a_tool_that_runs_out_of_items_only_fails() -> None:
    output = output_of(returning(StopIteration()))

    assert output == ToolOutput("RuntimeError: StopIteration", outcome="raised")


def test_arguments_that_do_not_fit_the_types_are_told_with_their_path() -> None:
    output = output_of(greet, name=3)

    assert output == ToolOutput(
        "The arguments do not fit the tool 'greet'; it was not run:\n"
        "- 'name': Expected `str`, got `int`\n"
        "Call it again with arguments that fit.",
        outcome="invalid_arguments",
    )


def test_a_sync_function_that_gives_a_coroutine_is_awaited() -> None:
    def delegate() -> object:
        """Delegate."""
        return greet_later.fn("Ada")

    assert output_of(tool(delegate)) == ToolOutput("hello Ada")


def test_a_sync_tool_sees_the_callers_context_and_leaks_nothing_back() -> None:
    """Report 174."""
    user = contextvars.ContextVar("user", default="nobody")

    @tool
    def who() -> str:
        """Who?"""
        found = user.get()
        user.set("the tool")
        return found

    async def main() -> tuple[Any, str]:
        user.set("Ada")
        answer = await Interpreter(who).perform(run_of(who))
        return answer and answer.value, user.get()

    assert alone(main()) == (ToolOutput("Ada"), "Ada")


def test_the_context_has_the_effect_id_and_brings_progress_from_a_thread() -> None:
    told: list[object] = []

    @tool
    def work(context: ToolContext) -> str:
        """Work."""
        context.progress({"done": [1]})
        context.progress("half")
        return context.effect_id

    def tell(text: str = "", *, progress: object = None, **_: object) -> None:
        del text
        told.append(progress)

    answer = alone(Interpreter(work).perform(run_of(work), tell))

    assert answer is not None
    assert answer.value == ToolOutput("r1.1.1.run.0")
    assert told == [{"done": (1,)}, "half"]


def test_progress_after_the_end_is_ignored() -> None:
    told: list[object] = []
    contexts: list[ToolContext] = []

    @tool
    async def work(context: ToolContext) -> None:
        """Work."""
        contexts.append(context)

    def tell(text: str = "", *, progress: object = None, **_: object) -> None:
        del text
        told.append(progress)

    async def main() -> None:
        await Interpreter(work).perform(run_of(work), tell)
        contexts[0].progress("late")
        await asyncio.to_thread(contexts[0].progress, "later")

    asyncio.run(main())

    assert told == []


def test_an_async_tool_that_takes_too_long_is_cancelled_and_awaited() -> None:
    """Reports 101 and 102."""
    ended: list[str] = []

    @tool(timeout=0.001)
    async def hang() -> None:
        """Hang."""
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append("yes")

    output = output_of(hang)

    assert output == ToolOutput(
        "hang timed out after 0.001 s. What it had started may still be running.",
        outcome="timeout",
    )
    assert ended == ["yes"]


def test_an_async_tool_that_answers_its_cancellation_has_still_timed_out() -> None:
    @tool(timeout=0.001)
    async def stubborn() -> str:
        """Hang."""
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "never mind"
        return "never"

    assert output_of(stubborn).outcome == "timeout"


def test_a_sync_tool_that_takes_too_long_is_told_and_waited_for(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Report 101."""

    @tool(timeout=0.001)
    def hang(context: ToolContext) -> None:
        """Hang."""
        context.cancelled.wait()

    assert output_of(hang).outcome == "timeout"
    assert caplog.messages == []


def test_a_thread_that_does_not_listen_is_left_with_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    release = threading.Event()

    @tool(timeout=0.001)
    def deaf() -> None:
        """Hang."""
        release.wait()

    before = set(threading.enumerate())
    answer = asyncio.run(Interpreter(deaf, grace=0).perform(run_of(deaf)))
    (thread,) = set(threading.enumerate()) - before
    release.set()
    thread.join()

    assert answer is not None
    assert isinstance(answer.value, ToolOutput)
    assert answer.value.outcome == "timeout"
    assert thread.daemon
    assert "\n".join(caplog.messages) == (
        "tool deaf was told to stop and still runs in its thread, which "
        "nothing can end. Long work should look at ToolContext.cancelled now and then."
    )


async def _stubbornly() -> None:
    """Hang, whoever says what."""
    while True:
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()


@tool(timeout=0.001)
async def stubborn() -> None:
    """Hang."""
    await _stubbornly()


@tool(timeout=0.1)
def stubborn_in_turn() -> Any:  # what is then awaited
    """Hang."""
    return _stubbornly()


@pytest.mark.parametrize("made", [stubborn, stubborn_in_turn])
def test_a_task_that_swallows_its_cancellation_is_left_with_a_warning(
    made: Tool, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither the call nor the end of the loop waits for it."""
    answer = asyncio.run(Interpreter(made, grace=0).perform(run_of(made)))

    assert answer is not None
    assert isinstance(answer.value, ToolOutput)
    assert answer.value.outcome == "timeout"
    assert "\n".join(caplog.messages) == (
        f"tool {made.spec.name} was cancelled and goes on all the same: it swallows "
        "asyncio.CancelledError. Code that catches it should clean up, and raise it again."
    )


async def stubborn_model(_: CallModel, tell: Tell) -> AssistantMessage:
    tell("hm")
    await _stubbornly()
    return AssistantMessage("never")


async def stubborn_approval(_: RequestApproval) -> None:
    await _stubbornly()


@pytest.mark.parametrize("effect", [ASK, approval()])
def test_whatever_swallows_its_cancellation_is_left(
    effect: Effect, caplog: pytest.LogCaptureFixture
) -> None:
    model = Model("test:model", stubborn_model)
    interpreter = Interpreter(model, approve=stubborn_approval, grace=0)

    async def perform() -> None:
        async with asyncio.timeout(0.01):
            await interpreter.perform(effect)

    with pytest.raises(TimeoutError):
        asyncio.run(perform())
    assert "it swallows asyncio.CancelledError" in "\n".join(caplog.messages)


def test_a_late_thread_finds_its_loop_closed_and_says_nothing() -> None:
    """Report 89."""
    release = threading.Event()

    @tool(timeout=0.001)
    def deaf(context: ToolContext) -> None:
        """Hang."""
        release.wait()
        context.progress("late")

    before = set(threading.enumerate())
    asyncio.run(Interpreter(deaf, grace=0).perform(run_of(deaf)))
    (thread,) = set(threading.enumerate()) - before
    release.set()
    thread.join()

    assert not thread.is_alive()


def cancelled_while(made: Tool, started: asyncio.Event) -> None:
    """Cancel from outside, once the tool has started; it must be over at once."""

    async def main() -> None:
        task = asyncio.create_task(Interpreter(made).perform(run_of(made)))
        await started.wait()
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        alone(main())


def test_cancelling_from_outside_cancels_and_awaits_an_async_tool() -> None:
    """D84; report 88."""
    started, ended = asyncio.Event(), asyncio.Event()

    @tool
    async def hang() -> None:
        """Hang."""
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.set()

    cancelled_while(hang, started)

    assert ended.is_set()


def test_cancelling_from_outside_tells_and_awaits_a_thread(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """D84; report 89."""
    started, ended = asyncio.Event(), threading.Event()

    @tool
    def hang(context: ToolContext) -> None:
        """Hang."""
        context.progress("started")
        context.cancelled.wait()
        ended.set()

    async def main() -> None:
        def tell(*_: object, **__: object) -> None:
            started.set()

        task = asyncio.create_task(Interpreter(hang).perform(run_of(hang), tell))
        await started.wait()
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        alone(main())
    assert ended.is_set()
    assert caplog.messages == []


def test_a_second_cancellation_does_not_wait_for_a_deaf_thread(
    caplog: pytest.LogCaptureFixture,
) -> None:
    release = threading.Event()

    @tool
    def deaf() -> None:
        """Hang."""
        release.wait()

    async def main() -> None:
        able = Interpreter(deaf, grace=3600)
        task = asyncio.create_task(able.perform(run_of(deaf)))
        for _ in range(2):
            await asyncio.sleep(0)
            task.cancel()
        await asyncio.wait([task])
        release.set()
        await task

    with pytest.raises(asyncio.CancelledError):
        alone(main())
    assert "tool deaf was told to stop" in caplog.text


def test_whatever_an_async_tool_started_is_told_to_stop_too() -> None:
    contexts: list[ToolContext] = []
    started = asyncio.Event()

    @tool
    async def hang(context: ToolContext) -> None:
        """Hang."""
        contexts.append(context)
        started.set()
        await asyncio.Event().wait()

    cancelled_while(hang, started)

    assert contexts[0].cancelled


def test_to_stop_waiting_is_not_to_be_told_to_stop() -> None:
    context = ToolContext("r1.1.1.run.0")

    async def main() -> None:
        waiting = asyncio.ensure_future(context.cancelled)
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])

    alone(main())

    assert not context.cancelled


def test_an_async_tool_may_await_being_told_to_stop() -> None:
    context = ToolContext("r1.1.1.run.0")

    async def main() -> bool:
        waiting = asyncio.ensure_future(context.cancelled)
        await asyncio.sleep(0)
        context.cancelled.set()
        context.cancelled.set()
        await waiting
        return bool(context.cancelled)

    assert alone(main())


@pytest.mark.parametrize("kind", [returning, returning_later])
@pytest.mark.parametrize("problem", [KeyboardInterrupt(), SystemExit(3)])
def test_leaving_the_program_passes_through(
    kind: Callable[[object], Tool], problem: BaseException
) -> None:
    made = kind(problem)

    with pytest.raises(type(problem)):
        Interpreter(made).perform_sync(run_of(made))


def test_a_tool_that_is_not_here_is_an_output_that_names_the_nearest() -> None:
    """D76."""
    effect = run_of(ToolSpec("gret"), name="Ada")

    assert value_of(Interpreter(greet), effect) == ToolOutput(
        "Nobody here can run the tool 'gret'. Did you mean 'greet'? Go on without it.",
        outcome="unknown_tool",
    )


@pytest.mark.parametrize(
    "effect",
    [
        run_of(ToolSpec("browser", elsewhere=True)),
        run_of(ToolSpec("greet", elsewhere=True)),
        approval(),
        Consult("r1.1.1.before_tool_call.0.h.k", "policy"),
    ],
)
def test_what_cannot_be_had_here_is_none(effect: Effect) -> None:
    """D76, for the tool that somebody else answers."""
    assert alone(Interpreter(greet).perform(effect)) is None


async def approve_later(ask: RequestApproval) -> Answer:
    return ask.approve()


@pytest.mark.parametrize("approve", [RequestApproval.approve, approve_later])
def test_a_person_is_asked(approve: Any) -> None:  # two kinds of function
    effect = approval()

    assert value_of(Interpreter(approve=approve), effect) == effect.approve().value


def test_a_person_may_say_not_now() -> None:
    assert alone(Interpreter(approve=lambda _: None).perform(approval())) is None


def test_an_approval_that_fails_is_a_reject() -> None:
    def approve(ask: RequestApproval) -> Answer:
        raise OSError(ask.id)

    effect = approval()

    expected = effect.reject("OSError: r1.1.1.ask.0").value
    assert value_of(Interpreter(approve=approve), effect) == expected


def test_an_approval_that_fails_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A model reads why, and can put nothing right."""

    def approve(ask: RequestApproval) -> Answer:
        raise KeyError(ask.call.name)

    interpreter = Interpreter(approve=approve)
    for _ in range(2):
        value_of(interpreter, approval())

    (record,) = caplog.records
    assert record.levelname == "ERROR"
    assert record.getMessage().startswith(
        "approve=, or a function put round, raised when it was asked of r1.1.1.ask.0. It "
        "counts as a reject"
    )
    assert record.exc_info is not None
    assert record.exc_info[0] is KeyError


def test_an_approval_that_is_no_answer_is_a_reject() -> None:
    def approve(ask: RequestApproval) -> Any:  # noqa: ARG001  # wrong on purpose
        return True

    value = value_of(Interpreter(approve=approve), approval())

    assert value.reason == (
        "TypeError: the answer to r1.1.1.ask.0 is built from the effect, as in "
        "effect.fail('why'), or is None; this is True"
    )


async def truly(*_: object) -> Any:
    """No answer to anything."""
    return True


def barely(_: RequestApproval) -> Any:
    """A decision that does not say on what."""
    return Approve()


WRONG: Any = [
    Interpreter(approve=truly),
    Interpreter(approve=barely),
    Interpreter().wrap(truly),
]


class Speechless(Exception):
    """Cannot be shown in any way."""

    def __str__(self) -> str:
        raise ValueError

    __repr__ = __str__


async def raise_speechless(*_: object) -> Any:
    raise Speechless


@tool
async def fail_speechless() -> None:
    """Fail."""
    raise Speechless


SPEECHLESS = "Speechless: (its text cannot be had: ValueError)"


@pytest.mark.parametrize(
    ("effect", "expected"),
    [
        (ASK, ASK.fail(ModelError(SPEECHLESS, "raised"))),
        (
            run_of(fail_speechless),
            run_of(fail_speechless).reply(ToolOutput(SPEECHLESS, outcome="raised")),
        ),
        (approval(), approval().fail(SPEECHLESS)),
    ],
)
def test_an_exception_that_cannot_speak_is_an_answer(
    effect: Effect, expected: Answer
) -> None:
    model = Model("test:model", raise_speechless)
    interpreter = Interpreter(model, fail_speechless, approve=raise_speechless)

    assert value_of(interpreter, effect) == expected.value


def test_an_approval_that_cannot_be_shown_is_a_reject() -> None:
    def approve(_: RequestApproval) -> Any:  # of no sensible type
        return Speechless()

    value = value_of(Interpreter(approve=approve), approval())

    assert "<Speechless, whose repr raised ValueError>" in str(value)


def test_what_cannot_be_shown_is_refused_in_a_sentence() -> None:
    given: Any = Speechless()
    for refused in (
        lambda: Interpreter(given),
        lambda: Interpreter(approve=given),
        lambda: Interpreter(services=given),
        lambda: Interpreter(inspectors=given),
        lambda: asyncio.run(Interpreter().perform(given)),
    ):
        with pytest.raises(TypeError, match="whose repr raised ValueError"):
            refused()


@pytest.mark.parametrize("able", WRONG)
def test_a_developer_is_told_once_of_answers_that_are_none(
    able: Interpreter, caplog: pytest.LogCaptureFixture
) -> None:
    """The model that reads of it can put nothing right."""
    for _ in range(2):
        value_of(able, approval())

    (record,) = caplog.records
    assert (record.name, record.levelname) == ("loopcore", "ERROR")
    assert "Return `effect.approve()`" in record.getMessage()
    assert "the answer to r1.1.1.ask.0 is built from the effect" in record.getMessage()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"ok": True}, Consult("c", "policy").reply({"ok": True})),
        (Success(1), Consult("c", "policy").reply(1)),
        (Failure("closed"), Consult("c", "policy").fail("closed")),
        (OSError("down"), Consult("c", "policy").fail("OSError: down")),
    ],
)
def test_a_service_is_consulted(given: object, expected: Answer) -> None:
    asked: list[object] = []

    def policy(data: object) -> object:
        asked.append(data)
        if isinstance(given, Exception):
            raise given
        return given

    interpreter = Interpreter(services={"policy": policy})
    value = value_of(interpreter, Consult("c", "policy", freeze_object({"q": 1})))

    assert value == expected.value
    assert asked == [{"q": 1}]


def test_a_service_that_gives_no_json_fails() -> None:
    interpreter = Interpreter(services={"policy": lambda _: {1, 2}})

    assert value_of(interpreter, Consult("c", "policy")) == (
        Consult("c", "policy")
        .fail("NotJson: the value is a set, which JSON does not have")
        .value
    )


@pytest.mark.parametrize(
    "sleep",
    [
        Sleep("s", 0),
        Sleep("s", 1e9, until=41.0),
        Sleep("s", 0, until=1e9),
    ],
)
def test_a_pause_lasts_until_its_time_and_no_longer_than_its_length(
    sleep: Sleep,
) -> None:
    async def through(effect: Effect, tell: Tell, inner: Perform) -> Answer | None:
        return await inner(effect, tell)

    interpreter = Interpreter().wrap(through).wrap(now=lambda: 42.0)

    assert value_of(interpreter, sleep) is None


def test_a_function_can_be_put_round_every_effect() -> None:
    async def dry(effect: Effect, tell: Tell, inner: Perform) -> Answer | None:
        if isinstance(effect, RunTool):
            return effect.reply(f"key {effect.id}")
        return await inner(effect, tell)

    plain = Interpreter(MODEL, greet)
    wrapped = plain.wrap(dry)

    assert value_of(wrapped, run_of(greet, name="Ada")) == ToolOutput(
        "key r1.1.1.run.0"
    )
    assert value_of(wrapped, ASK) == AssistantMessage("hi", model="test:model")
    assert value_of(plain, run_of(greet, name="Ada")) == ToolOutput("hello Ada")


def test_the_last_function_put_round_is_the_outermost() -> None:
    order: list[str] = []

    def noting(name: str) -> Any:  # an Around
        async def around(effect: Effect, tell: Tell, inner: Perform) -> Answer | None:
            order.append(name)
            return await inner(effect, tell)

        return around

    interpreter = Interpreter(MODEL).wrap(noting("inner")).wrap(noting("outer"))

    value_of(interpreter, ASK)
    assert order == ["outer", "inner"]


@pytest.mark.parametrize(
    ("effect", "expected"),
    [
        (ASK, ModelError("OSError: no", "raised")),
        (run_of(greet), ToolOutput("OSError: no", outcome="raised")),
        (Consult("c", "policy"), Consult("c", "policy").fail("OSError: no").value),
        (Sleep("s", 1), None),
    ],
)
def test_a_function_put_round_that_raises_is_an_answer(
    effect: Effect, expected: object
) -> None:
    async def around(effect: Effect, tell: Tell, inner: Perform) -> Answer | None:
        del effect, tell, inner
        raise OSError("no")

    assert value_of(Interpreter().wrap(around), effect) == expected


def test_a_function_put_round_that_cancels_itself_is_an_answer() -> None:
    async def around(effect: Effect, tell: Tell, inner: Perform) -> Answer | None:
        del effect, tell, inner
        raise asyncio.CancelledError

    expected = ModelError("CancelledError", "raised")
    assert value_of(Interpreter().wrap(around), ASK) == expected


def test_the_clock_and_the_run_ids_can_be_replaced() -> None:
    interpreter = Interpreter().wrap(now=lambda: 7.0, new_run_id=lambda: "r7")

    assert (interpreter.now(), interpreter.new_run_id()) == (7.0, "r7")


def test_run_ids_are_new_each_time() -> None:
    interpreter = Interpreter()

    assert interpreter.new_run_id() != interpreter.new_run_id()


def test_performing_without_a_loop() -> None:
    answer = Interpreter(greet).perform_sync(run_of(greet, name="Ada"))

    assert answer is not None
    assert answer.value == ToolOutput("hello Ada")


def test_performing_without_a_loop_where_one_runs_says_what_to_write() -> None:
    """Mistake 13, for perform_sync."""

    async def main() -> None:
        Interpreter(greet).perform_sync(run_of(greet, name="Ada"))

    with pytest.raises(RuntimeError) as refused:
        asyncio.run(main())

    assert str(refused.value) == (
        "interpreter.perform_sync() cannot be used here: an event loop is already running "
        "(notebooks have one). Write `answer = await interpreter.perform(effect)`."
    )


def test_a_tool_that_is_offered_and_not_here_is_refused() -> None:
    """Mistake 2."""
    config = LoopConfig(model=MODEL, tools=[greet])

    with pytest.raises(ValueError, match="offers the tool") as refused:
        Interpreter(MODEL).check(config)

    assert str(refused.value) == (
        "The configuration offers the tool 'greet', but this Interpreter cannot run it. "
        "Write `Interpreter(model, greet)`. It can run: (no tools). It can call: "
        "'test:model'."
    )


def test_a_model_that_is_not_here_is_refused() -> None:
    """Mistake 2."""
    config = LoopConfig(model="test:other", tools=[greet])

    with pytest.raises(ValueError, match="calls the model") as refused:
        Interpreter(MODEL, greet).check(config)

    assert str(refused.value) == (
        "The configuration calls the model 'test:other', but this Interpreter cannot call "
        "it. Write `Interpreter(model, greet)`. It can run: 'greet'. It can call: "
        "'test:model'."
    )


@pytest.mark.parametrize(
    ("able", "wanted"),
    [
        (Interpreter(MODEL), "nested configuration 'ask' offers the tool 'greet'"),
        (Interpreter(MODEL, greet), "nested configuration 'ask' calls the model 'a:b'"),
    ],
    ids=["a tool", "a model"],
)
def test_what_a_nested_configuration_wants_is_checked_too(
    able: Interpreter, wanted: str
) -> None:
    """The line to write has the tools of all, and those that act here."""
    away = ToolSpec("browser", elsewhere=True)
    inner = LoopConfig(model="a:b", tools=[greet, away]).as_tool("ask", "Asks.")
    config = LoopConfig(model=MODEL, tools=[inner, away])

    with pytest.raises(ValueError, match=wanted) as refused:
        able.check(config)

    assert (
        "Write `Interpreter(model, greet)`, with the models of the nested configurations "
        "as well. It can run: "
    ) in str(refused.value)


def test_a_tool_that_is_answered_elsewhere_need_not_be_here() -> None:
    config = LoopConfig(model=MODEL, tools=[ToolSpec("browser", elsewhere=True)])

    Interpreter(MODEL).check(config)


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="Two tools are called 'work'"):
        Interpreter(returning(1), returning(2))


def test_the_same_capability_twice_is_one() -> None:
    assert repr(Interpreter(MODEL, MODEL, greet, greet)) == (
        "<interpreter: It can run: 'greet'. It can call: 'test:model'.>"
    )


def test_what_is_no_capability_is_refused() -> None:
    given: Any = [greet]

    with pytest.raises(TypeError, match=r"got \[<tool greet>\]. Decorate"):
        Interpreter(given)


def test_threads_of_one_interpreter_are_named_after_their_tool() -> None:
    names: list[str] = []

    @tool
    def who() -> None:
        """Who?"""
        names.append(threading.current_thread().name)

    output_of(who)
    assert names == ["tool who (r1.1.1.run.0)"]


def test_nothing_is_logged_of_what_went_well(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "loopcore")

    output_of(greet, name="Ada")

    assert caplog.messages == []
