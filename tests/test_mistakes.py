"""The commonest mistakes say what happened, where, and what to write instead."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from loopcore import (
    Abort,
    Answer,
    AssistantMessage,
    Continue,
    LoopConfig,
    NotDone,
    RunResult,
    State,
    Steer,
    Stop,
    UserMessage,
    advance,
    deliver,
    step,
)
from loopcore.codec import DecodeError
from loopcore.hooks import (
    Ask,
    ContextUpdate,
    ContextView,
    Hooks,
    ToolCallUpdate,
    ToolCallView,
)
from tests.driving import Run, Spy, begin, call, config, spec, typed

HERE = Path(__file__).name
PAY = typed("transfer", to="string", cents="integer")


def paused() -> Run:
    """A run that waits for a person."""
    made = config(Hooks("ask", before_tool_call=Spy(Ask())), tools=[PAY])
    return begin(made).says(call("transfer", to="ACME", cents=4900))


def has(text: object, *facts: str) -> None:
    """Every fact is in the text, in this order."""
    place = 0
    for fact in facts:
        assert fact in str(text)[place:], f"{fact!r} is not in {str(text)[place:]!r}"
        place = str(text).index(fact, place) + len(fact)


def line(function: Any, more: int = 0) -> str:
    """Where a hook is: its file and the line so many after its first."""
    return f"{HERE}:{function.__code__.co_firstlineno + more}"


# 1. Forgot to unwrap.


@pytest.mark.parametrize("which", ["step", "advance", "deliver"])
def test_a_result_is_no_state(which: str) -> None:
    """Mistake 1."""
    run = begin(config())
    result: Any = deliver(run.state, Steer("hi"))
    use: dict[str, Any] = {
        "step": lambda: step(run.config, result),
        "advance": lambda: advance(run.config, result, "hi"),
        "deliver": lambda: deliver(result, "hi"),
    }
    with pytest.raises(TypeError) as raised:
        use[which]()

    has(raised.value, "needs a State but got `<Success: <run r", ">`")
    has(
        raised.value,
        f"{which}() needs",
        "return a result",
        "`deliver(...).unwrap()`",
        "`deliver(...).value_or(state)`",
    )


@pytest.mark.parametrize("which", [step, advance])
def test_a_configuration_after_the_state_is_no_state(which: Callable[..., Any]) -> None:
    run = begin(config())
    with pytest.raises(TypeError) as raised:
        which(run.state, run.config)

    has(raised.value, f"configuration comes first, then the state: `{which.__name__}(")


@pytest.mark.parametrize("which", ["step", "advance", "deliver"])
def test_a_steps_pair_is_no_state(which: str) -> None:
    run = begin(config())
    pair: Any = step(run.config, run.state)
    use: dict[str, Any] = {
        "step": lambda: step(run.config, pair),
        "advance": lambda: advance(run.config, pair),
        "deliver": lambda: deliver(pair, "hi"),
    }
    with pytest.raises(TypeError) as raised:
        use[which]()

    has(
        raised.value,
        f"{which}() needs a State",
        "`state, effects = step(config, state)`",
    )


def test_the_door_takes_no_configuration() -> None:
    run = begin(config())
    door: Any = deliver
    with pytest.raises(TypeError, match=r"write `deliver\(state, given\)`"):
        door(run.config, run.state)


@pytest.mark.parametrize("at", ["now", [1]])
def test_a_time_is_a_number(at: Any) -> None:
    with pytest.raises(TypeError, match="a time is a finite number of seconds"):
        deliver(begin(config()).state, Steer("hi"), at=at)


@pytest.mark.parametrize("seed", [None, 1])
def test_a_run_is_named_by_a_text(seed: int | None) -> None:
    number: Any = 3
    with pytest.raises(TypeError, match=r"run_id= takes text.* it got 3"):
        State.start(config(), run_id=number, seed=seed)


# 3. Prompted a run that is not over.


def test_a_prompt_to_a_paused_run_says_what_it_waits_for() -> None:
    """Mistake 3."""
    refused = paused().refuses("and?")

    assert refused.kind == "busy"
    has(
        refused,
        "Cannot take a Prompt",
        "run 'r' is paused in turn 1",
        "approval of transfer(to='ACME', cents=4900)",
        "`state.approvals[0].approve()`",
        "Steer(...) or FollowUp(...)",
        "Abort()",
    )


def test_a_prompt_to_a_working_run_says_what_it_waits_for() -> None:
    """Mistake 3."""
    refused = begin(config()).refuses("and?")

    has(refused, "Cannot take a Prompt", "'r'", "turn 1", "r.1.1.model.1")
    has(refused, "`state.waiting`", "Steer(...)", "Abort()")


# 4. Answered twice, too late, or with the wrong thing.


def test_a_second_answer_says_when_the_first_came() -> None:
    """Mistake 4."""
    run = begin(config()).says(call("a")).give(Steer("x"))
    answer = run.tool("a").reply("A")
    refused = run.give(answer).says(call("a", "2")).refuses(answer)

    assert refused.kind == "duplicate"
    has(refused, "r.1.1.run.0", "run 'r'", "turn that is over", "Nothing changed.")
    run = begin(config()).says(call("a"), call("b")).ran("a", "A")
    has(run.refuses(answer), "r.1.1.run.0 was answered already (input 3)")


def test_a_late_answer_says_what_cancelled_its_effect() -> None:
    """Mistake 4."""
    run = begin(config())
    answer = run.one_request.reply("hi")
    refused = run.give(Steer("x"), Abort()).refuses(answer)

    assert refused.kind == "stranger"
    has(refused, "r.1.1.model.1 is not waiting in run 'r'")
    has(refused, "cancelled by the Abort at input 3", "Nothing changed.")


def test_a_wrong_answer_says_what_is_wanted() -> None:
    """Mistake 4."""
    run = begin(config()).says(call("a"))
    refused = run.refuses(Answer("r.1.1.run.0", AssistantMessage("A")))

    assert refused.kind == "wrong_kind"
    has(refused, "r.1.1.run.0 is RunTool 'a'", "cannot take an AssistantMessage")
    has(refused, "`effect.reply(...)`")


# 5. A hook returned the wrong thing.


def no_deletes(_: ToolCallView) -> Any:
    return "file deletion is disabled in this session"


def test_a_hook_that_returned_the_wrong_thing_is_told_what_it_may() -> None:
    """Mistake 5."""
    made = config(Hooks(before_tool_call=no_deletes), tools=["delete_file"])
    stop = begin(made).says(call("delete_file", "c3")).stop

    assert (stop.reason, stop.hook, stop.point) == (
        "hook_error",
        "no_deletes",
        "before_tool_call",
    )
    has(stop.detail, "Hook 'no_deletes' returned a str at before_tool_call")
    has(stop.detail, f"({line(no_deletes)}, call c3 'delete_file', turn 1)")
    has(
        stop.detail,
        "Return a ToolCallUpdate, Allow(), Ask(...), Block(...), Need or None",
    )
    has(stop.detail, 'Did you mean `Block("file deletion is')


# 6. A hook raised.


def budget(view: ToolCallView) -> ToolCallUpdate:
    spent = view.memo
    return ToolCallUpdate(memo=spent["calls"] + 1)


def test_a_hook_that_raised_is_named_with_its_line() -> None:
    """Mistake 6."""
    hook = Hooks(before_tool_call=budget, memo={})
    stop = begin(config(hook)).says(call("a")).stop
    assert stop.reason == "hook_error"

    run = begin(config(parallel=False)).says(call("a"), call("b", "c3"))
    run = run.under(config(hook, parallel=False)).ran("a", "A")
    assert run.outcomes == {"a": "ok", "c3": "cancelled"}
    has(run.stop.detail, "Hook 'budget' raised KeyError: 'calls' at before_tool_call")
    has(run.stop.detail, f"({line(budget, 2)}, call c3 'b', turn 1)", "stored")
    has(run.stop.detail, "answered", "the run stopped", "`result.state`")
    assert run.stop.error == "KeyError: 'calls'"


# 7. An async hook.


async def policy(_: ToolCallView) -> None: ...


def generated(_: ToolCallView) -> Iterator[None]:
    yield


def test_an_async_hook_is_refused_with_what_to_write_instead() -> None:
    """Mistake 7."""
    function: Any = policy
    with pytest.raises(TypeError) as raised:
        Hooks(before_tool_call=function)

    has(raised.value, "Hook 'policy' at before_tool_call is a coroutine function")
    has(raised.value, "pure", "replayed", '`Need.service("verdict", "policy", {...})`')
    has(raised.value, '`view.answers["verdict"]`', 'services={"policy": policy}')
    function = generated
    with pytest.raises(TypeError, match=r"'generated' .* is a generator function"):
        Hooks(before_tool_call=function)


# 8. Two hooks of one name.


def at_most(times: int) -> Hooks:
    return Hooks("at_most", memo=times, before_tool_call=Spy())


def test_two_hooks_of_one_name_are_told_apart() -> None:
    """Mistake 8."""
    hooks = [Hooks("x", memo=1), at_most(3), Hooks("y", memo=1), at_most(4)]
    with pytest.raises(ValueError, match="at_most") as raised:
        LoopConfig(model="test:m", hooks=hooks)

    has(raised.value, "Two hooks are named 'at_most' (hooks[1] and hooks[3])")
    has(raised.value, "memory is kept under its name", '.named("at_most_')


# 9. Tried to change the view.


def tidy(view: Any) -> None:
    view.parts = ()


def forget(view: Any) -> None:
    del view.parts


def extra(view: ContextView) -> None:
    view.messages.append(UserMessage("more"))


@pytest.mark.parametrize("change", [tidy, forget])
def test_a_hook_cannot_change_its_view(change: Any) -> None:
    """Mistake 9."""
    run = begin(config(Hooks(after_tool_call=change))).says(call("a")).ran("a", "A")
    name = change.__name__

    assert run.script[2] == "a ok: A"
    has(run.stop.detail, f"Hook '{name}' tried to set ToolResultView.parts")
    has(
        run.stop.detail, line(change, 1), "Views cannot be changed", "ToolResultUpdate("
    )


def test_a_hook_that_drops_a_grown_vector_is_refused() -> None:
    """Mistake 9: when it is built, as nothing can be seen of it when it runs."""
    with pytest.raises(TypeError) as raised:
        Hooks(transform_context=extra)

    has(
        raised.value,
        "Hook 'extra' called view.messages.append(...)",
        "dropped the result",
    )
    has(raised.value, f"({line(extra, 1)})", "A PVector is not changed by append")
    has(raised.value, "`return view.messages.append(...)`")


# 10. A memo that cannot be saved.


def seen(_: ContextView) -> ContextUpdate:
    return ContextUpdate(memo={"urls": {"https://example.org"}})


def test_a_memo_that_cannot_be_saved_says_where() -> None:
    """Mistake 10."""
    stop = begin(config(Hooks(transform_context=seen))).stop

    assert stop.reason == "hook_error"
    has(stop.detail, "Hook 'seen' wrote a memo", line(seen), "memo['urls'] is a set")
    has(stop.detail, "saved, forked and replayed", "JSON", "sorted list")


# 12. Unwrapped a run that is not done.


def unwrapped(run: Run) -> NotDone:
    with pytest.raises(NotDone) as raised:
        RunResult.of(run.config, run.state).unwrap()
    assert raised.value.state is run.state
    return raised.value


def test_a_paused_run_says_who_must_decide() -> None:
    """Mistake 12."""
    why = unwrapped(paused())

    assert why.stop is None
    has(why, "Run 'r' has no output: it is paused, waiting for approval of")
    has(why, "transfer(to='ACME', cents=4900)", "Save `why.state`")
    has(why, "`why.state.approvals[0].approve()`", "run again")


def test_a_stopped_run_says_why_and_how_to_go_on() -> None:
    """Mistake 12."""
    stop = Hooks("limits", should_stop_after_turn=Spy(Stop("limit", "30 turns")))
    why = unwrapped(begin(config(stop)).says("so far"))

    assert why.stop is not None
    has(why, "Run 'r' has no output: limit", "30 turns", "'limits'", "`why.state`")
    has(why, "run(config, interpreter, Continue(), state=why.state)")


def test_a_run_that_works_says_what_it_waits_for() -> None:
    """Mistake 12."""
    has(unwrapped(begin(config())), "waiting for r.1.1.model.1", "`why.state.waiting`")


def test_a_run_that_has_not_begun_says_how_to_begin() -> None:
    """Mistake 12."""
    idle = Run(config(), State.start(config(), run_id="r"))

    has(
        unwrapped(idle),
        "it is idle",
        'run(config, interpreter, "...", state=why.state)',
    )


def test_a_run_that_a_hook_failed_reads_as_sentences() -> None:
    """Mistake 12."""
    text = str(unwrapped(begin(config(Hooks(transform_context=seen)))))

    assert ".." not in text.replace("...", "")


def test_a_done_run_is_unwrapped() -> None:
    """Mistake 12's other side."""
    run = begin(config()).says("hi")

    assert RunResult.of(run.config, run.state).unwrap() == "hi"


# 15. Another version than the record was made with.


def loading(**changes: Any) -> DecodeError:
    saved = {**json.loads(paused().state.dumps()), **changes}
    return State.loads(json.dumps(saved)).failure()


def test_a_newer_format_says_what_can_be_read() -> None:
    """Mistake 15."""
    why = loading(version=3)

    has(why, "was written in state format 3")
    assert re.search(r"this loopcore reads \d+ to \d+", str(why))
    has(why, "Upgrade loopcore")


def test_an_unknown_field_is_named_with_its_place() -> None:
    """Mistake 15: nothing is loaded."""
    saved = json.loads(paused().state.dumps())
    saved["state"]["turn"]["slots"][0]["priority"] = 1
    why = State.loads(json.dumps(saved)).failure()

    has(why, "unknown field 'turn.slots[0].priority'")


@pytest.mark.parametrize("data", ["{", "[]", "{}", "", "null", '{"format": "other"}'])
def test_what_is_no_saved_state_says_so(data: str) -> None:
    """Mistake 15."""
    assert re.search("not JSON|not a saved state", str(State.loads(data).failure()))


# What else is refused.


def test_nothing_to_go_on_from_says_what_to_do() -> None:
    refused = begin(config()).says("hi").refuses(Continue())

    has(refused, "Cannot take a Continue: run 'r' has nothing to answer", "Prompt")


def test_an_edit_that_does_not_fit_says_where() -> None:
    run = paused()
    refused = run.refuses(run.asked("transfer").edit(cents="much"))

    has(refused, "edit of r.1.1.ask.0", "stays open", "'transfer'", "'cents'")


def test_what_is_no_tool_is_told_how_to_be_one() -> None:
    function: Any = len
    with pytest.raises(TypeError, match=r"is no tool\. .*@tool.*ToolSpec"):
        LoopConfig(model="test:m", tools=[spec("a"), function])


def test_what_is_no_model_is_told_how_to_be_one() -> None:
    nothing: Any = None
    with pytest.raises(TypeError, match=r"None is no model; .*provider:name"):
        LoopConfig(model=nothing)
